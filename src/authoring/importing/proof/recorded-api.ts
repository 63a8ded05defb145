import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ApiRequest, Send } from '../../../engine/shared/message.ts';
import { systemEnv, type Env } from '../../../lib/env.ts';
import { RunError } from '../../../lib/errors.ts';
import {
  getKey,
  isList,
  isObject,
  jsonOf,
  numberOf,
  isInteger,
  objectOf,
  textAt,
  type AnyObject,
} from '../../../lib/json/index.ts';
import { isHar } from '../../init/requests.ts';
import { readExchanges } from '../../testing/exchanges.ts';
import { partsOf, type RequestParts } from './request-parts.ts';

/** A recorded request and its answer. */
interface RecordedExchange {
  readonly parts: RequestParts;
  readonly key: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A recording that stands in the API's place. */
export interface RecordedApi {
  readonly send: Send;
  /** The clock of the time when it was recorded; waiting takes no time. */
  readonly env: Env;
}

/**
 * Opens a recording: a HAR file, or a folder with the exchanges of a fixture. A request is answered by what was recorded
 * of the same method, address, parameters and body, in whatever order its parameters stand.
 *
 * @throws {RunError} `recording.invalid` for a file or a folder that is none
 */
export function openRecordedApi(source: string): RecordedApi {
  const isFolder = statSync(source, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder && !existsSync(source)) throw invalid(source, 'There is no such file or folder.');
  const { exchanges, at } = isFolder ? fromFolder(source) : fromHar(source);
  if (exchanges.length === 0) throw invalid(source, 'There are no answers in it.');
  const used = new Set<RecordedExchange>();
  return {
    env: clockAt(at),
    send: async (request) => {
      const asked = partsOf(request);
      const key = keyOf(asked);
      const fitting = exchanges.filter((each) => each.key === key && isHost(each.parts, asked));
      const found = fitting.find((each) => !used.has(each)) ?? fitting.at(-1);
      if (found === undefined) throw unknown(request, asked, exchanges);
      used.add(found);
      const { status, headers, body } = found;
      return { status, headers, url: request.url, body };
    },
  };
}

function isHost(recorded: RequestParts, { host }: RequestParts): boolean {
  return recorded.host === '' || recorded.host === host;
}

function keyOf({ method, path: at, query, body }: RequestParts): string {
  return JSON.stringify([method, at, query.map((pair) => pair.join('=')).toSorted(), body]);
}

function fromFolder(folder: string): { exchanges: readonly RecordedExchange[]; at: number | undefined } {
  const exchanges = readExchanges(folder).map(({ method, host, target, body, status, headers, response }) => {
    const parts = partsOf({ method, url: `https://${host ?? 'any'}${target}`, headers: {}, body });
    const known = { ...parts, host: host ?? '' };
    return { parts: known, key: keyOf(known), status, headers: lowered(headers), body: response };
  });
  return { exchanges, at: clockOf(folder) };
}

/** Returns the clock of the fixture that the folder is, or is a part of. */
function clockOf(folder: string): number | undefined {
  const file = [folder, path.dirname(path.resolve(folder))]
    .map((each) => path.join(each, 'fixture.json'))
    .find((each) => existsSync(each));
  const settings = file === undefined ? undefined : jsonOf(readFileSync(file, 'utf8'));
  const clock = isObject(settings) ? getKey(settings, 'clock') : undefined;
  const first = isList(clock) ? clock[0] : clock;
  const at = typeof first === 'string' ? Date.parse(first) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function fromHar(file: string): { exchanges: readonly RecordedExchange[]; at: number | undefined } {
  const har = jsonOf(readFileSync(file, 'utf8'));
  if (har === undefined || !isHar(har)) throw invalid(file, 'It is no HAR file.');
  const entries = getKey(objectAt(har, 'log'), 'entries');
  const objects = isList(entries) ? entries.filter(isObject) : [];
  const begun = objects.flatMap((entry) => {
    const at = Date.parse(textAt(entry, 'startedDateTime') ?? '');
    return Number.isNaN(at) ? [] : [at];
  });
  return {
    exchanges: objects.flatMap(exchangeIn),
    at: begun.length === 0 ? undefined : Math.min(...begun),
  };
}

function exchangeIn(entry: AnyObject): readonly RecordedExchange[] {
  const [request, response] = [objectAt(entry, 'request'), objectAt(entry, 'response')];
  const [method, url] = [textAt(request, 'method'), textAt(request, 'url')];
  const status = getKey(response, 'status');
  if (method === undefined || url === undefined || !isInteger(status)) return [];
  const content = objectAt(response, 'content');
  const text = textAt(content, 'text') ?? '';
  const isBase64 = textAt(content, 'encoding') === 'base64';
  const parts = partsOf({
    method: method.toUpperCase(),
    url,
    headers: Object.fromEntries(pairsAt(request, 'headers')),
    body: textAt(objectAt(request, 'postData'), 'text') ?? '',
  });
  return [
    {
      parts,
      key: keyOf(parts),
      status: numberOf(status),
      // the text of a HAR is decoded already
      headers: lowered(pairsAt(response, 'headers').filter(([name]) => !/^content-encoding$/i.test(name))),
      body: Buffer.from(text, isBase64 ? 'base64' : 'utf8'),
    },
  ];
}

function objectAt(node: AnyObject, key: string): AnyObject {
  const value = getKey(node, key);
  return isObject(value) ? value : objectOf([]);
}

function pairsAt(node: AnyObject, key: string): readonly (readonly [string, string])[] {
  const list = getKey(node, key);
  if (!isList(list)) return [];
  return list.filter(isObject).flatMap((item) => {
    const [name, value] = [textAt(item, 'name'), textAt(item, 'value')];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
}

function lowered(headers: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
}

function clockAt(at: number | undefined): Env {
  let waitedMs = 0;
  return {
    ...systemEnv,
    now: () => (at ?? systemEnv.now()) + waitedMs,
    async sleep(waitMs, signal) {
      signal?.throwIfAborted();
      waitedMs += waitMs;
    },
  };
}

/** Refuses a request that was not recorded, with the difference from the one that is most like it. */
function unknown(
  { method, url }: ApiRequest,
  asked: RequestParts,
  exchanges: readonly RecordedExchange[],
): RunError {
  const alike = exchanges
    .filter(({ parts }) => parts.method === asked.method && parts.path === asked.path && isHost(parts, asked))
    .map(({ parts }) => differences(asked, parts))
    .toSorted((a, b) => distanceOf(a) - distanceOf(b))[0];
  return new RunError('replay.missing', `The recording has no answer to ${method} ${url}.`, {
    details: { isKnownPath: alike !== undefined },
    ...(alike === undefined ? {} : { hint: `The nearest that was recorded: ${alike.join('; ')}.` }),
  });
}

/** Parameters that one of them lacks are further away than other values. */
function distanceOf(differing: readonly string[]): number {
  return differing.reduce((sum, text) => sum + (text.includes(' there, and not ') ? 2 : 3), 0);
}

function differences(asked: RequestParts, recorded: RequestParts): readonly string[] {
  const known = new Map(recorded.query);
  const sent = new Map(asked.query);
  const names = [...new Set([...known.keys(), ...sent.keys()])];
  const query = names.flatMap((name) => {
    const [there, here] = [known.get(name), sent.get(name)];
    if (there === here) return [];
    if (there === undefined) return [`it has no ${name}=${here ?? ''}`];
    return [
      here === undefined ? `it has ${name}=${there}, too` : `${name} is ${there} there, and not ${here}`,
    ];
  });
  const body = asked.body === recorded.body ? [] : ['the body is another'];
  const all = [...query, ...body];
  return all.length === 0 ? ['parameters stand there several times'] : all;
}

function invalid(file: string, message: string): RunError {
  return new RunError('recording.invalid', message, {
    where: { file },
    hint: 'Give a HAR file, or a folder with the exchanges of a fixture; gex fixture makes one of a recording.',
  });
}
