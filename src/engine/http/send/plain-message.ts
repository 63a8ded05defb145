import type { IncomingMessage } from 'node:http';
import type { ApiRequest, Headers } from '../../shared/message.ts';
import { wireHeaders } from './headers.ts';
import type { Target } from './target.ts';

/** The head of an answer of the plain form. */
export interface PlainHead {
  readonly status: number;
  readonly headers: Headers;
  /** Places of the body's begin and end, counted from the answer's begin. */
  readonly from: number;
  readonly to: number;
  /** False when the server closes the connection behind the body. */
  readonly isKept: boolean;
}

/** An answer so short leaves those behind it room to grow. */
const SHORT_BYTES = 32_768;

/** More fields than that are not of the plain form. */
const MAX_LINES = 100;

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
const STATUS = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\t\x20-\x7e]*)?$/;
const FIELD = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)$/;
const LENGTH = /^(?:0|[1-9]\d{0,8})$/;

/** Fields that say where a message ends, or what becomes of its connection. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Fields of an answer that is not of the plain form. */
const OTHERS = new Set(['proxy-connection', 'trailer', 'transfer-encoding', 'upgrade']);

/**
 * Returns a request of the plain form, byte for byte as the runtime's client writes it: a GET without a body, with one
 * ASCII field of each name, and none that is about the connection. Undefined for any other request.
 */
export function plainRequest(request: ApiRequest, target: Target): string | undefined {
  if (request.method !== 'GET' || request.body !== undefined) return undefined;
  let text = `GET ${target.path} HTTP/1.1\r\n`;
  const seen = new Set<string>();
  const headers = wireHeaders(request, target);
  const names = Object.keys(headers);
  for (const name of names) {
    const value = String(headers[name]);
    const key = name.toLowerCase();
    if (!NAME.test(name) || !VALUE.test(value) || FRAMING.has(key)) return undefined;
    seen.add(key);
    text += `${name}: ${value}\r\n`;
  }
  if (seen.size < names.length) return undefined;
  if (!seen.has('host')) text += `Host: ${target.host}\r\n`;
  return `${text}Connection: keep-alive\r\n\r\n`;
}

/** Reads heads of answers; most of their lines come again with each answer, and are not taken apart again. */
export class PlainHeads {
  #lines: readonly string[] = [];
  #fields: readonly (readonly [key: string, value: string])[] = [];

  /**
   * Reads the head of an answer of the plain form: HTTP/1.1, one ASCII field of each name, none of them folded, and a
   * body whose length is told.
   *
   * @param bytes what came first of the answer
   * @returns undefined for any other form, for a head that did not come whole, and for what is no HTTP
   */
  read(bytes: Buffer): PlainHead | undefined {
    const end = bytes.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const lines = bytes.toString('latin1', 0, end).split('\r\n');
    const status = Number(STATUS.exec(lines[0] ?? '')?.[1] ?? 0);
    if (status === 0 || status === 204 || status === 304 || lines.length > MAX_LINES) return undefined;
    const headers: Record<string, string> = {};
    const fields: (readonly [string, string])[] = [['', '']];
    for (let i = 1; i < lines.length; i++) {
      const line = lines[i] ?? '';
      const field = (line === this.#lines[i] ? this.#fields[i] : undefined) ?? fieldOf(line);
      if (field === undefined) return undefined;
      const [key, value] = field;
      if (headers[key] !== undefined || OTHERS.has(key)) return undefined;
      headers[key] = value;
      fields.push(field);
    }
    this.#lines = lines;
    this.#fields = fields;
    const { connection = 'keep-alive', 'content-length': length = '' } = headers;
    const option = connection.toLowerCase();
    if (!LENGTH.test(length) || (option !== 'keep-alive' && option !== 'close')) return undefined;
    const from = end + 4;
    return { status, headers, from, to: from + Number(length), isKept: option === 'keep-alive' };
  }
}

function fieldOf(line: string): readonly [key: string, value: string] | undefined {
  const [, name = '', value = ''] = FIELD.exec(line) ?? [];
  return name === '' ? undefined : [name.toLowerCase(), value];
}

/**
 * Tells whether an answer that the runtime's client read was a short one of the plain form, as far as its fields show
 * it.
 */
export function isPlain({ rawHeaders, headers }: IncomingMessage): boolean {
  const { 'content-length': length = '' } = headers;
  const isOnceEach = rawHeaders.length === 2 * Object.keys(headers).length;
  return isOnceEach && LENGTH.test(length) && Number(length) <= SHORT_BYTES;
}
