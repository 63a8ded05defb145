import type { CurlCommand } from '../actions/curl/command.ts';
import {
  jsonOf,
  textAt,
  entriesOf,
  getKey,
  isList,
  isObject,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { findRows, type RowsPlace } from './rows.ts';
import { addressCommand } from './target.ts';

/** A request that somebody recorded, and the rows that its answer had. */
export interface RecordedRequest {
  readonly command: CurlCommand;
  /** `GET https://…`, without the query and without a login: what it is told apart by. */
  readonly what: string;
  readonly place: RowsPlace;
}

export function isHar(value: Json): value is AnyObject {
  const log = isObject(value) ? getKey(value, 'log') : undefined;
  return isObject(log) && isList(getKey(log, 'entries'));
}

/**
 * Returns requests of a HAR file whose answers were lists, those with most rows first; of the same address the first
 * page.
 */
export function requestsInHar(har: AnyObject): readonly RecordedRequest[] {
  const log = getKey(har, 'log');
  const entries = isObject(log) ? getKey(log, 'entries') : undefined;
  const found = new Map<string, RecordedRequest>();
  for (const entry of isList(entries) ? entries : []) {
    const recorded = isObject(entry) ? recordedOf(entry) : undefined;
    if (recorded === undefined) continue;
    const before = found.get(recorded.what);
    if (before === undefined || isFurther(before, recorded)) found.set(recorded.what, recorded);
  }
  return [...found.values()].toSorted((a, b) => b.place.rows.length - a.place.rows.length);
}

/**
 * Tells whether the known request is for a later page than the other, whose shorter address has no position in the
 * list.
 */
function isFurther(known: RecordedRequest, other: RecordedRequest): boolean {
  return other.command.url.length < known.command.url.length && known.command.data.length === 0;
}

function recordedOf(entry: AnyObject): RecordedRequest | undefined {
  const request = getKey(entry, 'request');
  const response = getKey(entry, 'response');
  if (!isObject(request) || !isObject(response)) return undefined;
  const [method, url] = [textAt(request, 'method'), textAt(request, 'url')];
  if (method === undefined || url === undefined || !/^https?:/i.test(url) || !/^(?:GET|POST)$/i.test(method))
    return undefined;
  const body = jsonIn(getKey(response, 'content'));
  if (body === undefined) return undefined;
  const address = (url.split(/[?#]/, 1)[0] ?? url).replace(/^(https?:\/\/)[^/]*@/i, '$1');
  const [place] = findRows(body, address.split('/').findLast((part) => part !== '') ?? '');
  if (place === undefined || place.kind === 'one' || place.score < 40 || place.rows.length === 0)
    return undefined;
  return { command: commandOf(request, method, url), what: `${method} ${address}`, place };
}

function commandOf(request: AnyObject, method: string, url: string): CurlCommand {
  const post = getKey(request, 'postData');
  const text = isObject(post) ? textAt(post, 'text') : undefined;
  return {
    ...addressCommand(url.split('#', 1)[0] ?? url),
    method,
    headers: pairsIn(getKey(request, 'headers')),
    data: text === undefined ? [] : [{ kind: 'data', text }],
  };
}

/** Returns the pairs of `[{"name": …, "value": …}]`. */
function pairsIn(list: Json | undefined): (readonly [string, string])[] {
  if (!isList(list)) return [];
  return list.flatMap((item) => {
    const [name, value] = isObject(item) ? [textAt(item, 'name'), getKey(item, 'value')] : [];
    return name === undefined || typeof value !== 'string' ? [] : [[name, value] as const];
  });
}

function jsonIn(content: Json | undefined): Json | undefined {
  if (!isObject(content)) return undefined;
  const text = textAt(content, 'text');
  if (text === undefined) return undefined;
  const plain =
    textAt(content, 'encoding') === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text;
  return /^\s*[[{]/.test(plain) ? jsonOf(plain) : undefined;
}

/** Returns the names of the keys of an object, for messages. */
export function keysShown(value: AnyObject): string {
  return entriesOf(value)
    .slice(0, 8)
    .map(([key]) => `“${key}”`)
    .join(', ');
}
