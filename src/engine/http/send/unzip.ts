import { pipeline, Readable } from 'node:stream';
import { createInflateRaw, crc32 } from 'node:zlib';
import type { Entry, RandomAccessReader, ZipFile } from 'yauzl';
import { reasonOf, HttpError } from '../../../lib/errors.ts';
import { loadYauzl } from '../../../lib/on-demand.ts';
import { shownText } from '../../../lib/shown-text.ts';
import type { LargeBody } from '../../shared/message.ts';
import { CHUNK_BYTES } from './decode.ts';
import { CURL, failure, type FailedAttempt } from './network-error.ts';

type Archive = Pick<LargeBody, 'bytes' | 'read'>;

/** A file of an archive. */
export interface ZipMember {
  readonly name: string;
  /** Its plain bytes; throws behind the last one when they do not fit the check sum. */
  readonly chunks: () => AsyncGenerator<Uint8Array>;
}

const READ_BYTES = 2 ** 18;
/** Files and bytes of a directory: more is no export of an API. */
const MOST_FILES = 100_000;
const MOST_DIRECTORY = 2 ** 26;
/** Sizes of the fixed parts of a directory entry, and of the header in front of a file. */
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const LOCAL_SIGNATURE = 0x04034b50;
/** Size and check sum stand behind the file: in 32 or 64 bits, with a signature or without. */
const HAS_DESCRIPTOR = 8;
const DESCRIPTOR_BYTES = [0, 12, 16, 20, 24];
/** How the records begin that may follow a directory: its signature, and its end in two forms. */
const BEHIND_DIRECTORY: readonly number[] = [0x05054b50, 0x06064b50, 0x06054b50];

/**
 * Lists the files of a zip archive that are wanted, in the order of its directory, which stands at its end: an archive
 * that was cut has none. Stored and deflated files, also beyond 4 GiB.
 *
 * @throws {HttpError} `response.broken`; retryable for an archive that was cut
 */
export async function unzip(
  archive: Archive,
  isWanted: (name: string) => boolean,
  attempt: FailedAttempt,
): Promise<readonly ZipMember[]> {
  const zip = await openArchive(archive, attempt);
  const all = await entriesOf(zip, archive, attempt);
  refuseOverlaps(all, attempt);
  refuseUnlisted(all, archive, attempt);
  const files = all.filter(({ name }) => !name.endsWith('/') && !isLitter(name));
  const wanted = files.filter(({ name }) => isWanted(name));
  if (wanted.length === 0 && files.length > 0) {
    const names = files.slice(0, 10).map(({ name }) => shown(name));
    const more = files.length > names.length ? ` and ${files.length - names.length} more` : '';
    throw new HttpError(
      'response.broken',
      `The zip file of ${attempt.origin} has no file that “zip.members” names. It has ${names.join(', ')}${more}.`,
      { hint: 'Correct the pattern, or leave it out to read all files.' },
    );
  }
  return wanted.map((file) => ({ name: file.name, chunks: () => chunksOf({ zip, archive }, file, attempt) }));
}

interface Opened {
  readonly zip: ZipFile;
  readonly archive: Archive;
}

interface File {
  readonly name: string;
  readonly entry: Entry;
}

/** Tells whether a file is metadata that macOS adds to archives. */
function isLitter(name: string): boolean {
  return /(?:^|\/)(?:__MACOSX\/|\.DS_Store$)/.test(name);
}

async function openArchive(archive: Archive, attempt: FailedAttempt): Promise<ZipFile> {
  try {
    // names are shown and compared, and never paths: they are decoded here, without the rules for paths
    const options = { autoClose: false, decodeStrings: false };
    return await loadYauzl().fromRandomAccessReaderPromise(readerOf(archive), archive.bytes, options);
  } catch (cause) {
    throw directoryError(cause, attempt);
  }
}

/** @throws {HttpError} also where the directory goes on behind the last file that its end counts */
async function entriesOf(zip: ZipFile, archive: Archive, attempt: FailedAttempt): Promise<readonly File[]> {
  const { getFileNameLowLevel } = loadYauzl();
  const files: File[] = [];
  let bytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      bytes += ENTRY_BYTES + entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength;
      if (files.length >= MOST_FILES || bytes > MOST_DIRECTORY)
        throw unusable(`it has more than ${files.length} files`, attempt);
      const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
      files.push({
        name: getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false),
        entry,
      });
    }
  } catch (cause) {
    throw cause instanceof HttpError ? cause : directoryError(cause, attempt);
  }
  // a number, although the types of the package say otherwise
  const end = Number(zip.readEntryCursor);
  if (!BEHIND_DIRECTORY.includes(numberAt(archive, end)))
    throw unusable(
      `its directory says that it has ${files.length} ${files.length === 1 ? 'file' : 'files'}, and goes on behind ${files.length === 1 ? 'it' : 'them'}`,
      attempt,
    );
  return files;
}

function numberAt(archive: Archive, at: number): number {
  const bytes = Buffer.from(archive.read(at, 4));
  return bytes.length < 4 ? 0 : bytes.readUInt32LE(0);
}

/** Refuses archives whose files share bytes, which are made to unpack to more than the archive could hold. */
function refuseOverlaps(files: readonly File[], attempt: FailedAttempt): void {
  const places = files
    .map(({ name, entry }) => ({
      name,
      from: entry.relativeOffsetOfLocalHeader,
      end: entry.relativeOffsetOfLocalHeader + LOCAL_BYTES + entry.compressedSize,
    }))
    .toSorted((a, b) => a.from - b.from);
  for (const [i, { name, end }] of places.entries()) {
    const next = places[i + 1];
    if (next !== undefined && next.from < end)
      throw unusable(`${shown(name)} and ${shown(next.name)} share their bytes`, attempt);
  }
}

/**
 * Throws for a file behind another, or in front of all, that the directory lacks. An older state of a file that it has
 * is left behind by some who write zip files.
 */
function refuseUnlisted(files: readonly File[], archive: Archive, attempt: FailedAttempt): void {
  const names = new Set(files.map(({ name }) => name));
  const places = new Set(files.map(({ entry }) => entry.relativeOffsetOfLocalHeader));
  for (const at of [0, ...files.flatMap(({ entry }) => endsOf(entry, archive))]) {
    const head = places.has(at) ? undefined : localHead(archive, at);
    if (head === undefined || head.readUInt32LE(0) !== LOCAL_SIGNATURE) continue;
    const name = Buffer.from(archive.read(at + LOCAL_BYTES, head.readUInt16LE(26))).toString('utf8');
    if (!names.has(name) && !name.endsWith('/'))
      throw unusable(`it has the file ${shown(name)}, which its directory lacks`, attempt);
  }
}

/** Offsets where the bytes of a file may end, of which one is right. */
function endsOf(
  { relativeOffsetOfLocalHeader: at, compressedSize }: Entry,
  archive: Archive,
): readonly number[] {
  const head = localHead(archive, at);
  if (head === undefined) return [];
  const end = at + LOCAL_BYTES + head.readUInt16LE(26) + head.readUInt16LE(28) + compressedSize;
  const hasDescriptor = (head.readUInt16LE(6) & HAS_DESCRIPTOR) !== 0;
  return hasDescriptor ? DESCRIPTOR_BYTES.map((bytes) => end + bytes) : [end];
}

/** The fixed part of what stands in front of a file. */
function localHead(archive: Archive, at: number): Buffer | undefined {
  if (at + LOCAL_BYTES > archive.bytes) return undefined;
  return Buffer.from(archive.read(at, LOCAL_BYTES));
}

async function* chunksOf(
  opened: Opened,
  { name, entry }: File,
  attempt: FailedAttempt,
): AsyncGenerator<Uint8Array> {
  if (entry.isEncrypted()) throw unusable(`${shown(name)} is encrypted`, attempt);
  if (!entry.canDecodeFileData())
    throw unusable(`${shown(name)} is packed by method ${entry.compressionMethod}`, attempt);
  let size = 0;
  let sum = 0;
  for await (const chunk of plainBytes(opened, { name, entry }, attempt)) {
    size += chunk.length;
    if (size > entry.uncompressedSize) break;
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (size !== entry.uncompressedSize || sum !== entry.crc32)
    throw damaged(`${shown(name)} does not fit its size or its check sum`, attempt);
}

/** Unpacks a file directly: the stream of the package passes through three more streams, at half the speed. */
async function* plainBytes(
  { zip, archive }: Opened,
  { name, entry }: File,
  attempt: FailedAttempt,
): AsyncGenerator<Uint8Array> {
  try {
    const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const packed = partsOf(archive, start, start + entry.compressedSize);
    if (entry.isCompressed()) {
      const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
      // its failures are those of the last stream, which is read below
      pipeline(Readable.from(packed, { objectMode: false }), inflate, () => {});
      yield* inflate as AsyncIterable<Uint8Array>;
    } else yield* packed;
  } catch (cause) {
    throw damaged(`${shown(name)} cannot be unpacked`, attempt, cause);
  }
}

function readerOf(archive: Archive): RandomAccessReader {
  const { RandomAccessReader: Reader } = loadYauzl();
  return new (class extends Reader {
    override read(
      buffer: Buffer,
      offset: number,
      length: number,
      position: number,
      callback: (error: Error | null) => void,
    ): void {
      const isInside = position + length <= archive.bytes;
      if (isInside) buffer.set(archive.read(position, length), offset);
      callback(isInside ? null : new Error(TOO_SHORT));
    }
  })();
}

function* partsOf(archive: Archive, start: number, end: number): Generator<Uint8Array> {
  for (let at = start; at < end; at += READ_BYTES) yield archive.read(at, Math.min(READ_BYTES, end - at));
}

function shown(name: string): string {
  return `“${shownText(name.slice(0, MOST_SHOWN))}”`;
}

const MOST_SHOWN = 200;

const TOO_SHORT = 'the archive ends too early';

function directoryError(cause: unknown, attempt: FailedAttempt): HttpError {
  const why = reasonOf(cause);
  const isCut = why === TOO_SHORT || why.startsWith('End of central directory record signature not found');
  // the messages of the package have numbers of the archive in them, and no names
  if (!isCut) return unusable(`its directory is damaged (${why})`, attempt, cause);
  return failure(CURL.receive, `The zip file of ${attempt.origin} was cut off: its directory is not whole.`, {
    code: 'response.broken',
    cause,
  });
}

function damaged(why: string, { origin }: FailedAttempt, cause?: unknown): HttpError {
  return failure(CURL.encoding, `The zip file of ${origin} is damaged: ${why}.`, {
    code: 'response.broken',
    cause,
  });
}

function unusable(why: string, { origin }: FailedAttempt, cause?: unknown): HttpError {
  return new HttpError('response.broken', `The zip file of ${origin} cannot be used: ${why}.`, {
    cause,
    hint: 'Ask the API for a gzip file, or for plain text.',
  });
}
