import { hash } from 'node:crypto';
import {
  headerOf,
  withoutHeader,
  type ApiRequest,
  type ApiResponse,
  type Headers,
  type Unpacked,
} from '../shared/message.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { RecordedBody, type StoredLarge } from './large.ts';
import type { Position } from './position.ts';
import type { BodyPlace, RecordFile } from './record-file.ts';

/** JSON of an `exchange`: a recorded request and its answer, but for the body of the answer. */
export interface ExchangeJson {
  readonly position: Position;
  /** Before authentication, signing and login; secret values are replaced. */
  readonly request: ExchangeRequest;
  /** Digest of the request with the secret values replaced: equal text means an equal request. */
  readonly digest: string;
  readonly status: number;
  /** Names in lower case. Cookies are left out, and secret values replaced. */
  readonly headers: Headers;
  /** The URL that answered, when it is not that of the request. */
  readonly url?: string;
  /** Milliseconds since 1970: when the run of the job began, for the functions in its requests and columns. */
  readonly began: number;
  /** Milliseconds since 1970: when the answer had come. */
  readonly at: number;
  /** How long it took, with waiting and retries. */
  readonly ms: number;
  /** Times that it was sent, when more than once. */
  readonly attempts?: number;
  /** The body, where it is too large for memory; that of the record is empty then. */
  readonly large?: StoredLarge;
  /** Format that the body was unpacked from. */
  readonly unpacked?: Unpacked;
  /** The body has secrets of the configuration in it, which are masked. */
  readonly isMasked?: true;
  /** Milliseconds that the run had stood still before this exchange, when it was stopped and went on. */
  readonly pausedMs?: number;
  /** The same, before the run of the job began. */
  readonly pausedBeforeMs?: number;
}

export interface ExchangeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body?: string;
}

/** A moment of a run: by the clock, and by a clock that stands still while the run is stopped. */
export interface ExchangeMoment {
  readonly now: number;
  readonly pausedMs: number;
}

export function requestDigest({ method, url, body }: ApiRequest, secrets: Secrets): string {
  const text = `${method} ${url}${body === undefined ? '' : `\n${textOf(body)}`}`;
  return hash('sha1', secrets.redact(text), 'base64url');
}

export function shownRequest({ method, url, headers, body }: ApiRequest, secrets: Secrets): ExchangeRequest {
  return {
    method,
    url: secrets.redactUrl(url),
    headers: secrets.redactHeaders(headers),
    ...(body === undefined ? {} : { body: secrets.redactBody(textOf(body)) }),
  };
}

/** @param wanted names of headers that the pagination reads, in lower case: they are kept as they are */
function keptHeaders(headers: Headers, wanted: readonly string[], secrets: Secrets): Headers {
  const kept: Record<string, string> = secrets.redactHeaders(withoutHeader(headers, 'set-cookie'));
  for (const name of wanted) {
    const value = headerOf(headers, name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** Facts of an exchange beside its request and the headers of the answer. */
export type ExchangeFacts = Pick<ExchangeJson, 'position' | 'digest' | 'status' | 'began' | 'at' | 'ms'> & {
  readonly [Name in Exclude<keyof ExchangeJson, 'request' | 'headers'>]?: ExchangeJson[Name] | undefined;
};

/** Writes the JSON of exchanges. Most headers come again with each of them: they are not redacted and written again. */
export class ExchangeWriter {
  readonly #secrets: Secrets;
  /** Members by their names: requests and answers have some in common. */
  readonly #asked = new Map<string, HeaderText>();
  readonly #answered = new Map<string, HeaderText>();
  /** Headers of the last request: the pages of a job have the same ones. */
  #lastAsked: { readonly headers: Headers; readonly text: string } | undefined;
  #version = 0;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /**
   * Returns what `JSON.stringify` makes of an {@link ExchangeJson}.
   *
   * @param wanted see {@link keptHeaders}
   */
  text(request: ApiRequest, headers: Headers, wanted: readonly string[], facts: ExchangeFacts): string {
    const { position, digest, status, ...rest } = facts;
    const kept =
      wanted.length === 0
        ? this.#headers(headers, this.#answered, 'set-cookie')
        : JSON.stringify(keptHeaders(headers, wanted, this.#secrets));
    return `{"position":${JSON.stringify(position)},"request":${this.#request(request)},"digest":"${digest}","status":${status},"headers":${kept},${JSON.stringify(rest).slice(1)}`;
  }

  #request({ method, url, headers, body }: ApiRequest): string {
    const text = `{"method":${JSON.stringify(method)},"url":${JSON.stringify(this.#secrets.redactUrl(url))},"headers":${this.#askedHeaders(headers)}`;
    if (body === undefined) return `${text}}`;
    return `${text},"body":${JSON.stringify(this.#secrets.redactBody(textOf(body)))}}`;
  }

  #askedHeaders(headers: Headers): string {
    this.#forget();
    if (this.#lastAsked?.headers !== headers)
      this.#lastAsked = { headers, text: this.#headers(headers, this.#asked) };
    return this.#lastAsked.text;
  }

  /** Forgets what may hold a secret that was learned since. */
  #forget(): void {
    const { version } = this.#secrets;
    if (version === this.#version) return;
    this.#asked.clear();
    this.#answered.clear();
    this.#lastAsked = undefined;
    this.#version = version;
  }

  #headers(headers: Headers, known: Map<string, HeaderText>, left?: string): string {
    this.#forget();
    let text = '';
    for (const name of Object.keys(headers)) {
      const value = headers[name] ?? '';
      let member = known.get(name);
      if (member?.value !== value) {
        const isLeft = name.toLowerCase() === left;
        const redacted = JSON.stringify(this.#secrets.redactHeaders({ [name]: value })).slice(1, -1);
        member = { value, text: isLeft ? '' : redacted };
        if (known.size >= MOST_HEADERS) known.clear();
        known.set(name, member);
      }
      if (member.text !== '') text += text === '' ? member.text : `,${member.text}`;
    }
    return `{${text}}`;
  }
}

/** A header as a member of a JSON object; empty for one that is left out. */
interface HeaderText {
  readonly value: string;
  readonly text: string;
}

/** Headers that are remembered. */
const MOST_HEADERS = 200;

/**
 * Returns the times of an answer: by a clock that stands still while the run is stopped, and by that of the machine.
 */
export function timesOf({ at, ms, pausedMs = 0 }: Pick<ExchangeFacts, 'at' | 'ms' | 'pausedMs'>): {
  now: number;
  asked: { from: number; to: number };
} {
  return { now: at - pausedMs, asked: { from: at - ms, to: at } };
}

/** Returns the recorded answer, for the request that is made again. */
export function responseOf(
  json: ExchangeJson,
  request: Pick<ApiRequest, 'url'>,
  { file, place }: { readonly file: RecordFile; readonly place: BodyPlace },
): ApiResponse {
  const { status, headers, url, attempts, large, unpacked } = json;
  const body = large === undefined ? undefined : new RecordedBody(file, large);
  return {
    status,
    headers,
    url: url === undefined ? request.url : withUserOf(request.url, url),
    body: body === undefined ? file.bytes(place.at, place.bytes) : body.read(0, SHOWN_BYTES),
    ...(body === undefined ? {} : { large: body }),
    ...(unpacked === undefined ? {} : { unpacked }),
    ...(attempts === undefined ? {} : { attempts }),
  };
}

/** Bytes at the beginning of a large body that are examined, in place of all of a small one. */
const SHOWN_BYTES = 2 ** 16;

/** Restores user and password in a link of the same host: they are not in a recording. */
function withUserOf(from: string, url: string): string {
  const user = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*@)/i.exec(from)?.[1];
  return user === undefined
    ? url
    : url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, (_, scheme: string) => scheme + user);
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
}
