import { crc32, createInflateRaw } from 'node:zlib';
import { HttpError } from '../../errors.ts';
import type { LargeBody } from '../message.ts';
import { CURL, failure, type Attempt } from './network-error.ts';

type Archive = Pick<LargeBody, 'bytes' | 'read'>;

/** A file of an archive. */
export interface ZipMember {
  readonly name: string;
  /** Its plain bytes; throws behind the last one when they do not fit the check sum. */
  readonly chunks: () => AsyncGenerator<Uint8Array>;
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly check: number;
  readonly packed: number;
  readonly bytes: number;
  /** Of its local header. */
  readonly at: number;
}

const END_BYTES = 22;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_BYTES = 20;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const MOST_COMMENT = 0xffff;
const READ_BYTES = 2 ** 18;
const CHUNK_BYTES = 2 ** 17;
/** Of a directory: more is no export of an API. */
const MOST_DIRECTORY = 2 ** 26;

/**
 * The files of a zip archive that are wanted, in the order of its directory, which stands at its end: an archive that
 * was cut has none. Stored and deflated files, also beyond 4 GiB.
 *
 * @throws {HttpError} `response.broken`; retryable for an archive that was cut
 */
export function unzip(
  archive: Archive,
  isWanted: (name: string) => boolean,
  attempt: Attempt,
): readonly ZipMember[] {
  const files = directory(archive, attempt).filter(({ name }) => !name.endsWith('/') && !isLitter(name));
  const wanted = files.filter(({ name }) => isWanted(name));
  if (wanted.length === 0 && files.length > 0) {
    const names = files.slice(0, 10).map(({ name }) => `“${name}”`);
    const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
    throw new HttpError(
      'response.broken',
      `The zip file of ${attempt.origin} has no file that “zip.members” names. It has ${names.join(', ')}${more}.`,
      { hint: 'Correct the pattern, or leave it out to read all files.' },
    );
  }
  return wanted.map((entry) => ({
    name: entry.name,
    chunks: () => chunksOf(archive, entry, attempt),
  }));
}

/** What one system puts into archives for itself. */
function isLitter(name: string): boolean {
  return /(?:^|\/)(?:__MACOSX\/|\.DS_Store$)/.test(name);
}

async function* chunksOf(archive: Archive, entry: Entry, attempt: Attempt): AsyncGenerator<Uint8Array> {
  const { name, method, bytes, check } = entry;
  if (entry.isEncrypted) throw unusable(`“${name}” is encrypted`, attempt);
  if (method !== 0 && method !== 8) throw unusable(`“${name}” is packed by method ${method}`, attempt);
  let size = 0;
  let sum = 0;
  for await (const chunk of method === 0
    ? packedBytes(archive, entry, attempt)
    : inflated(archive, entry, attempt)) {
    size += chunk.length;
    if (size > bytes) break;
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (size !== bytes || sum !== check)
    throw failure(
      CURL.encoding,
      `The zip file of ${attempt.origin} is damaged: “${name}” does not fit its check sum.`,
      { code: 'response.broken' },
    );
}

async function* inflated(archive: Archive, entry: Entry, attempt: Attempt): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const feed = async (): Promise<void> => {
    for (const part of packedBytes(archive, entry, attempt)) {
      if (inflate.destroyed) return;
      if (!inflate.write(part))
        await new Promise<void>((resolve) => inflate.once('drain', resolve).once('close', resolve));
    }
    inflate.end();
  };
  const feeding = feed().catch((error: unknown) => inflate.destroy(error as Error)); // it throws nothing but errors
  try {
    yield* inflate as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (cause instanceof HttpError) throw cause;
    throw failure(CURL.encoding, `The zip file of ${attempt.origin} is damaged in “${entry.name}”.`, {
      code: 'response.broken',
      cause,
    });
  } finally {
    inflate.destroy();
    await feeding;
  }
}

function* packedBytes(
  archive: Archive,
  { name, at, packed }: Entry,
  attempt: Attempt,
): Generator<Uint8Array> {
  const local = bufferOf(archive.read(at, 30));
  if (local.length < 30 || local.readUInt32LE(0) !== LOCAL)
    throw cut(`“${name}” is not where its directory says`, attempt);
  const from = at + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  for (let done = 0; done < packed;) {
    const part = archive.read(from + done, Math.min(READ_BYTES, packed - done));
    if (part.length === 0) throw cut(`“${name}” ends too early`, attempt);
    done += part.length;
    yield part;
  }
}

function directory(archive: Archive, attempt: Attempt): Entry[] {
  const from = Math.max(0, archive.bytes - END_BYTES - MOST_COMMENT);
  const tail = bufferOf(archive.read(from, archive.bytes - from));
  const end = endOf(tail);
  if (end === undefined) throw cut('its directory is missing', attempt);
  let count = tail.readUInt16LE(end + 10);
  let size = tail.readUInt32LE(end + 12);
  let at = tail.readUInt32LE(end + 16);
  const locator = end - LOCATOR_BYTES;
  if (locator >= 0 && tail.readUInt32LE(locator) === LOCATOR_64) {
    const end64 = bufferOf(archive.read(Number(tail.readBigUInt64LE(locator + 8)), 56));
    if (end64.length < 56 || end64.readUInt32LE(0) !== END_64) throw cut('its directory is missing', attempt);
    count = Number(end64.readBigUInt64LE(32));
    size = Number(end64.readBigUInt64LE(40));
    at = Number(end64.readBigUInt64LE(48));
  }
  if (size > MOST_DIRECTORY) throw unusable(`it has ${count} files`, attempt);
  const bytes = bufferOf(archive.read(at, size));
  const entries: Entry[] = [];
  for (let offset = 0; entries.length < count;) {
    if (offset + 46 > bytes.length || bytes.readUInt32LE(offset) !== ENTRY)
      throw cut('its directory is not whole', attempt);
    const nameEnd = offset + 46 + bytes.readUInt16LE(offset + 28);
    const extraEnd = nameEnd + bytes.readUInt16LE(offset + 30);
    entries.push(entryOf(bytes, offset, nameEnd, extraEnd));
    offset = extraEnd + bytes.readUInt16LE(offset + 32);
  }
  return entries;
}

function entryOf(bytes: Buffer, offset: number, nameEnd: number, extraEnd: number): Entry {
  const flags = bytes.readUInt16LE(offset + 8);
  const isUtf8 = (flags & 0x800) !== 0;
  const sizes = [
    bytes.readUInt32LE(offset + 24),
    bytes.readUInt32LE(offset + 20),
    bytes.readUInt32LE(offset + 42),
  ];
  const [size = 0, packed = 0, at = 0] = wide(sizes, bytes.subarray(nameEnd, extraEnd));
  return {
    name: bytes.toString(isUtf8 ? 'utf8' : 'latin1', offset + 46, nameEnd),
    method: bytes.readUInt16LE(offset + 10),
    isEncrypted: (flags & 1) !== 0,
    check: bytes.readUInt32LE(offset + 16),
    packed,
    bytes: size,
    at,
  };
}

/** Numbers of 64 bits stand in an extra field, in this order, where those of 32 bits are all ones. */
function wide(numbers: readonly number[], extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let next = at + 4;
    return numbers.map((number) => {
      if (number !== 0xffffffff || next + 8 > extra.length) return number;
      next += 8;
      return Number(extra.readBigUInt64LE(next - 8));
    });
  }
  return [...numbers];
}

/** Where the last record of an archive begins, which a comment may follow. */
function endOf(tail: Buffer): number | undefined {
  for (let at = tail.length - END_BYTES; at >= 0; at--)
    if (tail.readUInt32LE(at) === END && at + END_BYTES + tail.readUInt16LE(at + 20) <= tail.length)
      return at;
  return undefined;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function cut(why: string, { origin }: Attempt): HttpError {
  return failure(CURL.receive, `The zip file of ${origin} was cut off: ${why}.`, { code: 'response.broken' });
}

function unusable(why: string, { origin }: Attempt): HttpError {
  return new HttpError('response.broken', `The zip file of ${origin} cannot be used: ${why}.`, {
    hint: 'Ask the API for a gzip file, or for plain text.',
  });
}
