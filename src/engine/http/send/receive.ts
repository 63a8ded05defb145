import { Readable, type Duplex } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { HttpError } from '../../../lib/errors.ts';
import type { ApiResponse, FileRule, Headers } from '../../shared/message.ts';
import { CHUNK_BYTES, codecOf, decodeError, Growth, tooLarge } from './decode.ts';
import { BodyReader, readable } from './body-reader.ts';
import { CURL, failure, type FailedAttempt } from './network-error.ts';
import { unzip } from './unzip.ts';

type Chunks = AsyncIterable<Uint8Array>;

export interface ReceiveOptions {
  readonly rule: FileRule;
  readonly headers: Headers;
  /** Limit of bodies held in memory; a body that goes to a file has the limit only if one was configured. */
  readonly maxBytes: number;
  readonly isLimited: boolean;
  readonly attempt: FailedAttempt;
}

/** A body that was received as a file. */
export type Received = Pick<ApiResponse, 'body' | 'large' | 'unpacked'>;

/**
 * Receives a body as it comes: undoes its content encoding, unpacks it, and puts what is large into a file. No faster
 * than the file takes it, and with memory that does not grow with the body.
 *
 * @throws {HttpError} retryable when the body, or the gzip data in it, was cut; `http.tooLarge` beyond the limits
 */
export async function receive(source: Chunks, options: ReceiveOptions): Promise<Received> {
  const { rule, headers, attempt } = options;
  const growth = new Growth(attempt);
  let chunks: Chunks = growth.packed(source);
  const encodings = headers['content-encoding']?.toLowerCase().split(',').reverse() ?? [];
  for (const encoding of encodings.map((name) => name.trim()))
    chunks = transformed(chunks, (first) => codecOf(encoding, first)?.stream({ chunkSize: CHUNK_BYTES }), {
      failed: (cause) => decodeError(cause, encoding, attempt),
      unpacked: growth,
    });
  const { first, all } = await begun(chunks, 4);
  const packed = packedAs(first, rule, attempt);
  if (packed === 'zip') return await receiveZip(all, options, growth);
  if (packed === undefined) return await taken(all, options);
  const plain = transformed(all, () => createGunzip({ chunkSize: CHUNK_BYTES }), {
    failed: (cause) => damagedGzip(cause, attempt),
    unpacked: growth,
  });
  return { ...(await taken(plain, options)), unpacked: { as: 'gzip' } };
}

/** Receives a whole body that was not unpacked, such as that of a `Send` that knows nothing of files. */
export async function receiveWhole(
  body: Uint8Array,
  options: Omit<ReceiveOptions, 'headers'>,
): Promise<Received> {
  return await receive(once(body), { ...options, headers: {} });
}

/** Tells by its first bytes whether a whole body is a packed file. */
export function looksPacked(body: Uint8Array): boolean {
  return magicOf(body) === 'gzip' || magicOf(body) === 'zip';
}

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) yield body.subarray(at, at + CHUNK_BYTES);
}

/** Receives an archive and unpacks its files; the archive itself is kept only until then. */
async function receiveZip(source: Chunks, options: ReceiveOptions, growth: Growth): Promise<Received> {
  const { rule, attempt } = options;
  const archive = new BodyReader(rule.scratch);
  const reader = new BodyReader(rule.open);
  try {
    await fill(archive, source, options, rule.scratch !== undefined);
    const members: { name: string; bytes: number }[] = [];
    for (const { name, chunks } of await unzip(readable(archive.take()), rule.member, attempt)) {
      const before = reader.bytes;
      await fill(reader, growth.unpacked(chunks()), options, rule.open !== undefined);
      members.push({ name, bytes: reader.bytes - before });
    }
    return { ...reader.take(), unpacked: { as: 'zip', members } };
  } catch (error) {
    reader.abandon();
    throw error;
  } finally {
    archive.abandon();
  }
}

async function taken(source: Chunks, options: ReceiveOptions): Promise<Received> {
  const { open } = options.rule;
  const reader = new BodyReader(open);
  try {
    await fill(reader, source, options, open !== undefined);
    return reader.take();
  } catch (error) {
    reader.abandon();
    throw error;
  }
}

/** @param hasFile what is too large for memory has a place: the limit is then only the one that was given */
async function fill(
  reader: BodyReader,
  source: Chunks,
  { maxBytes, isLimited, attempt }: ReceiveOptions,
  hasFile: boolean,
): Promise<void> {
  const most = hasFile && !isLimited ? Infinity : maxBytes;
  for await (const chunk of source) {
    if (reader.bytes + chunk.length > most) throw tooLarge(maxBytes, attempt);
    reader.add(chunk);
  }
}

interface Transforming {
  readonly failed: (cause: unknown) => HttpError;
  readonly unpacked: Growth;
}

/** Transforms chunks by a codec that is chosen by the first of them; without one they stay as they are. */
async function* transformed(
  source: Chunks,
  choose: (first: Uint8Array) => Duplex | undefined,
  { failed, unpacked }: Transforming,
): AsyncGenerator<Uint8Array> {
  const { first, all } = await begun(source, 2);
  const transform = first.length === 0 ? undefined : choose(first);
  if (transform === undefined) {
    yield* all;
    return;
  }
  const packed = Readable.from(all);
  packed.once('error', (error) => transform.destroy(error));
  packed.pipe(transform);
  try {
    for await (const chunk of transform as AsyncIterable<Uint8Array>) {
      unpacked.grow(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw isOfCodec(error) ? failed(error) : error;
  } finally {
    packed.destroy();
    transform.destroy();
  }
}

function isOfCodec(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(?:Z_|ERR__?ERROR|ERR_BROTLI|ERR_ZSTD|ZSTD_)/.test(code);
}

/** Reads the first bytes, and returns them with all chunks, these included. */
async function begun(source: Chunks, count: number): Promise<{ first: Uint8Array; all: Chunks }> {
  const chunks = source[Symbol.asyncIterator]();
  let first: Uint8Array = new Uint8Array(0);
  while (first.length < count) {
    const next = await chunks.next();
    if (next.done === true) break;
    first = first.length === 0 ? next.value : Buffer.concat([first, next.value]);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      if (first.length > 0) yield first;
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    } finally {
      await chunks.return?.();
    }
  }
  return { first, all: all() };
}

type Magic = 'gzip' | 'zip' | 'zstd' | 'bzip2' | 'xz';

function magicOf([a, b, c, d = 0]: Uint8Array): Magic | undefined {
  if (a === 0x1f && b === 0x8b) return 'gzip';
  if (a === 0x50 && b === 0x4b && ((c === 3 && d === 4) || (c === 5 && d === 6))) return 'zip';
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return 'zstd';
  if (a === 0x42 && b === 0x5a && c === 0x68 && d >= 0x31 && d <= 0x39) return 'bzip2';
  return a === 0xfd && b === 0x37 && c === 0x7a && d === 0x58 ? 'xz' : undefined;
}

function packedAs(
  first: Uint8Array,
  { compression }: FileRule,
  attempt: FailedAttempt,
): 'gzip' | 'zip' | undefined {
  if (compression === 'none' || first.length === 0) return undefined;
  const magic = magicOf(first);
  if (compression === 'auto' && (magic === undefined || magic === 'gzip' || magic === 'zip')) return magic;
  if (compression === magic) return magic;
  throw new HttpError(
    'response.broken',
    magic === undefined
      ? `The response of ${attempt.origin} is no ${compression} file.`
      : `The response of ${attempt.origin} is a ${magic} file${compression === 'auto' ? '' : `, not ${compression}`}.`,
    {
      hint:
        magic === 'gzip' || magic === 'zip' || magic === undefined
          ? 'Set “compression” of the job to "auto", or leave it out: packed files are known by their first bytes.'
          : 'Ask the API for a gzip file, a zip file or plain text.',
    },
  );
}

function damagedGzip(cause: unknown, { origin }: FailedAttempt): HttpError {
  const wasCut = (cause as { code?: unknown }).code === 'Z_BUF_ERROR';
  return failure(
    wasCut ? CURL.receive : CURL.encoding,
    wasCut
      ? `The gzip file of ${origin} was cut off: its end is missing.`
      : `The gzip file of ${origin} is damaged: its contents do not fit its check sum.`,
    { code: 'response.broken', cause },
  );
}
