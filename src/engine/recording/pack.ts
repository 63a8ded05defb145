import { closeSync, createReadStream, createWriteStream, openSync, readSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Secrets } from '../../lib/secrets.ts';
import { CompressedFile } from './compressed-file.ts';
import type { RecordingCopy } from './copy.ts';
import type { ExchangeJson } from './exchange.ts';
import { encodeRecord } from './format.ts';
import { PART_BYTES, RecordedBody } from './large.ts';
import type { RecordFile } from './record-file.ts';
import { exchangeOf, recordsOf, type RecordingScan } from './scan.ts';

/**
 * One compressed file of recordings, one behind the other, that is made to be sent away. Digests of the configuration's
 * values are left out: they serve for going on, and might be guessed from. Secrets that an API repeats in its answers are
 * masked.
 */
export class Pack implements RecordingCopy {
  readonly #file: CompressedFile;
  readonly #secrets: Secrets;
  /** Before compression: where the next record begins. */
  #bytes = 0;

  constructor(path: string, secrets: Secrets) {
    this.#file = new CompressedFile(path);
    this.#secrets = secrets;
  }

  async add(file: RecordFile, scanned: RecordingScan): Promise<void> {
    for (const bytes of recordBytes(file, scanned, this.#secrets, this.#bytes)) {
      if (!(await this.#file.write(bytes))) return;
      this.#bytes += bytes.length;
    }
  }

  async end(): Promise<void> {
    await this.#file.end();
  }
}

function* recordBytes(
  file: RecordFile,
  { head, from, end }: RecordingScan,
  secrets: Secrets,
  offset: number,
): Generator<Uint8Array> {
  const { keys: _, ...open } = head;
  const parts = partsOf(file, { from, end });
  const moved = new Map<number, number>();
  const masked = new Set<number>();
  let written = offset;
  const counted = (bytes: Uint8Array): Uint8Array => {
    written += bytes.length;
    return bytes;
  };
  yield counted(encodeRecord('head', JSON.stringify(open)));
  for (const record of recordsOf(file, from)) {
    if (record.at >= end) return;
    const { kind, body } = record;
    const part = kind === 'part' ? parts.get(body.at) : undefined;
    if (kind === 'part' && part === undefined) continue; // of a body that did not come to its end
    const given = file.bytes(body.at, body.bytes);
    const bytes = part === undefined ? maskedBody(given, secrets) : maskedPart(part, body.bytes, secrets);
    const isMasked = !given.equals(bytes);
    if (part !== undefined && isMasked) masked.add(body.at);
    const json = kind === 'exchange' ? changed(record.json, { moved, masked, isMasked }) : record.json;
    yield counted(encodeRecord(kind, maskedFacts(json, secrets), bytes));
    if (part !== undefined) moved.set(body.at, written);
    if (bytes.length > 0) yield counted(bytes);
  }
}

/** A part of a large body. */
interface Part {
  readonly body: RecordedBody;
  readonly index: number;
}

/** Returns the parts that exchanges are made of, by their places. */
function partsOf(file: RecordFile, { from, end }: Pick<RecordingScan, 'from' | 'end'>): Map<number, Part> {
  const parts = new Map<number, Part>();
  for (const record of recordsOf(file, from)) {
    if (record.at >= end) break;
    const large = record.kind === 'exchange' ? exchangeOf(record).large : undefined;
    if (large === undefined) continue;
    const body = new RecordedBody(file, large);
    for (const [index, at] of large.parts.entries()) parts.set(at, { body, index });
  }
  return parts;
}

/** Bytes around a part in which a secret may stand that is cut by its ends. */
const AROUND_BYTES = 1 << 15;

function maskedPart({ body, index }: Part, bytes: number, secrets: Secrets): Uint8Array {
  const start = index * PART_BYTES;
  let from = Math.max(0, start - AROUND_BYTES);
  const window = body.read(from, start - from + bytes + AROUND_BYTES);
  // from one character to another, or it would be no text
  let cut = 0;
  if (from > 0) while (cut < 4 && ((window[cut] ?? 0) & 0xc0) === 0x80) cut++;
  from += cut;
  const masked = secrets.mask(wholeCharacters(window.subarray(cut)));
  return masked.subarray(start - from, start - from + bytes);
}

/** Cuts an incomplete character off the end, unless that is all there is. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    if (byte >= 0xc0) end = bytes.length - back;
    break;
  }
  return bytes.length - end < AROUND_BYTES && bytes.length > AROUND_BYTES ? bytes.subarray(0, end) : bytes;
}

/**
 * Masks secrets in the JSON of a record, except in the numbers at the beginning of a note: only its texts and the facts
 * read from an answer come from outside.
 */
function maskedFacts(json: string, secrets: Secrets): string {
  const [own = ''] = /^\{"of":\d+(?:,"rows":\d+)?/.exec(json) ?? [];
  const rest = Buffer.from(json.slice(own.length));
  return own + Buffer.from(secrets.maskJson(rest, own === '' ? 'kept' : 'masked')).toString('utf8');
}

function maskedBody(bytes: Uint8Array, secrets: Secrets): Uint8Array {
  const first = bytes.find((byte) => byte > 0x20);
  return first === 0x7b || first === 0x5b ? secrets.maskJson(bytes) : secrets.mask(bytes);
}

interface Changes {
  readonly moved: ReadonlyMap<number, number>;
  /** Parts with secrets, by where they lay. */
  readonly masked: ReadonlySet<number>;
  readonly isMasked: boolean;
}

function changed(json: string, { moved, masked, isMasked }: Changes): string {
  const exchange = JSON.parse(json) as ExchangeJson; // its check sum is that of what the writer made
  const { large } = exchange;
  const told = isMasked || large?.parts.some((at) => masked.has(at)) === true ? { isMasked: true } : {};
  if (large === undefined) return isMasked ? JSON.stringify({ ...exchange, ...told }) : json;
  const parts = large.parts.map((at) => moved.get(at) ?? at);
  return JSON.stringify({ ...exchange, ...told, large: { ...large, parts } });
}

/** Limits of the plain form: so many bytes however small the recording is, and beyond that so many times its size. */
const ALWAYS_UNPACKED = 2 ** 28;
const MOST_TIMES = 1000;

export interface UnpackOptions {
  /** Bytes of the plain form; by default only how much it grows is bounded. */
  readonly mostBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes the plain form of a recording, which may be compressed. Nothing is left of one that is refused.
 *
 * @throws {Error} for one that grows to more than a recording does
 */
export async function unpack(
  source: string,
  target: string,
  { mostBytes = Infinity, signal }: UnpackOptions = {},
): Promise<void> {
  const steps = isCompressed(source) ? [createZstdDecompress()] : [];
  const most = Math.min(mostBytes, Math.max(ALWAYS_UNPACKED, statSync(source).size * MOST_TIMES));
  const file = createWriteStream(target, { mode: 0o600 });
  try {
    await pipeline([createReadStream(source), ...steps, bounded(most), file], { signal });
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

function bounded(most: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Uint8Array, _, done) {
      bytes += chunk.length;
      if (bytes <= most) done(null, chunk);
      else done(new Error(`it unpacks to more than ${most} bytes; unpack it by “zstd -d” if that is meant`));
    },
  });
}

const ZSTD = 0xfd2fb528;

function isCompressed(file: string): boolean {
  const bytes = Buffer.alloc(4);
  const fd = openSync(file, 'r');
  try {
    return readSync(fd, bytes) === bytes.length && bytes.readUInt32LE(0) === ZSTD;
  } finally {
    closeSync(fd);
  }
}
