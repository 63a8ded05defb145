import { isAscii, isUtf8 } from 'node:buffer';
import { remember } from '../../lib/remember.ts';
import { headerOf, type Headers } from '../shared/message.ts';

/** Encoding of a text as its answer declares it. */
export interface Charset {
  /** Label of the Encoding Standard; undefined when none is declared, or the label is unknown. */
  readonly label: string | undefined;
  /** The declared label, when it is unknown. */
  readonly unknown?: string;
}

/** Remarks on the encoding of a response that was read all the same. */
export interface TextRemarks {
  readonly unknown?: string | undefined;
  /** The declared encoding of a text that turned out to be UTF-8. */
  readonly contradicted?: string | undefined;
  readonly invalid?: InvalidText | undefined;
}

/** Bytes that are no characters in the encoding of their text. */
export interface InvalidText {
  readonly encoding: string;
  /** UTF-8: number of bytes left out; any other encoding: number of places that became U+FFFD. */
  readonly count: number;
  /** Place of the first, from 1. */
  readonly line: number;
  readonly column: number;
}

/** UTF-8 bytes without a byte order mark. */
export interface CleanText {
  readonly bytes: Uint8Array;
  readonly remarks?: TextRemarks | undefined;
}

const UTF8 = /^utf-?8$/i;

/** Reads the encoding of a text from `Content-Type`. */
export function charsetOf(headers: Headers): Charset {
  return charsetIn(headerOf(headers, 'content-type') ?? '');
}

const charsetIn = remember((contentType): Charset => {
  const said = /;\s*charset\s*=\s*["']?([^\s;,"']+)/i.exec(contentType)?.[1];
  if (said === undefined) return { label: undefined };
  return isEncoding(said) ? { label: said } : { label: undefined, unknown: said };
});

export function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

/**
 * Encodes a JSON text as UTF-8: a byte order mark decides, then the declared charset. JSON is UTF-8 by its standard,
 * and a text that is UTF-8 is not changed when no text of the declared encoding would look so by chance.
 */
export function jsonText(body: Uint8Array, { label, unknown }: Charset): CleanText {
  const encoding = otherThanUtf8(markedEncoding(body) ?? label);
  if (encoding === undefined) {
    const clean = validUtf8(withoutMark(body));
    return unknown === undefined ? clean : { ...clean, remarks: { ...clean.remarks, unknown } };
  }
  if (isTellable(encoding, body) && isUtf8(body))
    return isAscii(body)
      ? { bytes: body }
      : { bytes: withoutMark(body), remarks: { contradicted: encoding } };
  return decoded(body, encoding);
}

/** Returns the label, unless it is that of UTF-8. */
export function otherThanUtf8(label: string | undefined): string | undefined {
  return label === undefined || UTF8.test(label) ? undefined : label;
}

/** Decodes a response as text, whatever it is. */
export function textOf(body: Uint8Array, headers: Headers): string {
  const encoding = markedEncoding(body) ?? charsetOf(headers).label ?? 'utf-8';
  return new TextDecoder(encoding).decode(body);
}

/** Removes the bytes that are no UTF-8. */
export function validUtf8(bytes: Uint8Array): CleanText {
  return isUtf8(bytes) ? { bytes } : withoutInvalid(bytes);
}

/** Returns the encoding that a byte order mark tells. */
export function markedEncoding([a, b, c]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' | undefined {
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  return a === 0xfe && b === 0xff ? 'utf-16be' : undefined;
}

/** Joins the remarks on a further part of a text, or a further response. */
export function joinedRemarks(
  known: TextRemarks | undefined,
  next: TextRemarks | undefined,
): TextRemarks | undefined {
  if (known === undefined || next === undefined) return known ?? next;
  const { invalid } = known;
  return {
    unknown: known.unknown ?? next.unknown,
    contradicted: known.contradicted ?? next.contradicted,
    invalid: invalid && { ...invalid, count: invalid.count + (next.invalid?.count ?? 0) },
    ...(invalid === undefined ? { invalid: next.invalid } : {}),
  };
}

function decoded(body: Uint8Array, encoding: string): CleanText {
  const text = new TextDecoder(encoding).decode(body);
  const invalid = replacedIn(text, encoding);
  return { bytes: Buffer.from(text), remarks: invalid && { invalid } };
}

/** Counts the places of a decoded text that had no character. */
export function replacedIn(text: string, encoding: string): InvalidText | undefined {
  const first = text.indexOf('\uFFFD');
  if (first < 0) return undefined;
  return { encoding, count: text.split('\uFFFD').length - 1, ...placeBehind(text.slice(0, first)) };
}

/**
 * Tells whether a text of the declared encoding is nearly never UTF-8 by chance: every byte is a character by itself.
 * In UTF-16, each JSON text begins with zeros.
 */
export function isTellable(label: string, beginning: Uint8Array): boolean {
  const { encoding } = new TextDecoder(label);
  return encoding.startsWith('utf-16')
    ? !beginning.subarray(0, 64).includes(0)
    : /^(?:windows-|iso-8859|koi8|macintosh|x-mac|ibm866)/.test(encoding);
}

function withoutMark(bytes: Uint8Array): Uint8Array {
  return markedEncoding(bytes) === 'utf-8' ? bytes.subarray(3) : bytes;
}

function withoutInvalid(bytes: Uint8Array): CleanText {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  let first = 0;
  for (let at = 0; at < bytes.length;) {
    const size = sequenceLength(bytes, at);
    if (size === 0) {
      if (length === at) first = at;
      at++;
    } else for (let i = 0; i < size; i++) out[length++] = bytes[at++] ?? 0;
  }
  const place = placeBehind(Buffer.from(bytes.subarray(0, first)).toString('utf8'));
  const invalid = { encoding: 'UTF-8', count: bytes.length - length, ...place };
  return { bytes: out.subarray(0, length), remarks: { invalid } };
}

function placeBehind(text: string): { readonly line: number; readonly column: number } {
  const lines = text.split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

/** Returns the length of the valid UTF-8 sequence at an offset (RFC 3629), or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const size =
    first >= 0xc2 && first <= 0xdf
      ? 2
      : first >= 0xe0 && first <= 0xef
        ? 3
        : first >= 0xf0 && first <= 0xf4
          ? 4
          : 0;
  if (size === 0 || at + size > bytes.length) return 0;
  return isUtf8(bytes.subarray(at, at + size)) ? size : 0;
}
