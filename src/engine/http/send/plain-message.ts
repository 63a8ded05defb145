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
  const { host, authorization } = target;
  let known = plainFields.get(request.headers);
  if (known?.host !== host || known.authorization !== authorization) {
    known = { host, authorization, text: fieldsOf(request, target) };
    plainFields.set(request.headers, known);
  }
  return known.text === undefined ? undefined : `GET ${target.path} HTTP/1.1\r\n${known.text}`;
}

/** The fields of requests of the plain form, by their headers: the pages of a job have the same ones. */
const plainFields = new WeakMap<
  Headers,
  Pick<Target, 'host' | 'authorization'> & { readonly text: string | undefined }
>();

function fieldsOf(request: ApiRequest, target: Target): string | undefined {
  let text = '';
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

/** The lines of a head, and what is in them. */
interface HeadLines {
  readonly lines: readonly string[];
  readonly status: number;
  /** Names of the fields by their lines; that of the status has none. */
  readonly keys: readonly string[];
  readonly headers: Headers;
}

/** Reads heads of answers; most of their lines come again with each answer, and are not taken apart again. */
export class PlainHeads {
  #last: HeadLines | undefined;

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
    const last = this.#last;
    const head = (last === undefined ? undefined : likeBefore(lines, last)) ?? headOf(lines);
    if (head === undefined) return undefined;
    this.#last = head;
    const { status, headers } = head;
    const { connection = 'keep-alive', 'content-length': length = '' } = headers;
    const option = connection.toLowerCase();
    if (!LENGTH.test(length) || (option !== 'keep-alive' && option !== 'close')) return undefined;
    const from = end + 4;
    return { status, headers, from, to: from + Number(length), isKept: option === 'keep-alive' };
  }
}

/** Takes all lines of a head apart. */
function headOf(lines: readonly string[]): HeadLines | undefined {
  const status = Number(STATUS.exec(lines[0] ?? '')?.[1] ?? 0);
  if (status === 0 || status === 204 || status === 304 || lines.length > MAX_LINES) return undefined;
  const headers: Record<string, string> = {};
  const keys = [''];
  for (let i = 1; i < lines.length; i++) {
    const [key, value] = fieldIn(lines[i] ?? '') ?? [];
    if (key === undefined || value === undefined || headers[key] !== undefined || OTHERS.has(key))
      return undefined;
    headers[key] = value;
    keys.push(key);
  }
  return { lines, status, keys, headers };
}

/** Takes apart the lines that are others than those of a head with the same fields; undefined where it has others. */
function likeBefore(lines: readonly string[], last: HeadLines): HeadLines | undefined {
  const { status, keys } = last;
  if (lines.length !== keys.length || lines[0] !== last.lines[0]) return undefined;
  const headers: Record<string, string> = { ...last.headers };
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? '';
    if (line === last.lines[i]) continue;
    const [key, value] = fieldIn(line) ?? [];
    if (key === undefined || value === undefined || key !== keys[i]) return undefined;
    headers[key] = value;
  }
  return { lines, status, keys, headers };
}

function fieldIn(line: string): readonly [key: string, value: string] | undefined {
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
