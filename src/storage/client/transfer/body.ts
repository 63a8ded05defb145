import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { StorageError } from '../../../lib/errors.ts';

/** Content that can be opened again, so that an upload can be repeated. */
export interface UploadBody {
  /** Undefined when it isn't known before the end. */
  readonly bytes: number | undefined;
  /** From the first byte, every time. The upload reads it to its end or destroys it. */
  open(): Readable;
}

/** Content that is in memory. */
export function bytesBody(content: Uint8Array | string): UploadBody {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { bytes: bytes.length, open: () => Readable.from(piecesOf(bytes), { objectMode: false }) };
}

/**
 * A file, as long as it is now: what is written behind that later is not sent.
 *
 * @throws {StorageError} `storage.refused` for what is no file, as a folder or a pipe; what the file system says, as it is
 */
export async function fileBody(path: string): Promise<UploadBody> {
  const found = await stat(path);
  // A pipe has the size 0, and can be read only once.
  if (!found.isFile())
    throw new StorageError('storage.refused', `“${path}” is no file.`, {
      hint: 'Give a file; what comes from a pipe is to be written into one first.',
      where: { file: path },
    });
  const { size } = found;
  return {
    bytes: size,
    open: () =>
      size === 0
        ? Readable.from([])
        : createReadStream(path, { highWaterMark: FILE_CHUNK_BYTES, end: size - 1 }),
  };
}

/** The content compressed on the way. */
export function gzipBody(body: UploadBody): UploadBody {
  return {
    bytes: undefined,
    open: () => {
      const gzip = createGzip({ level: 6 });
      // A failure of the source arrives at the reader of the gzip.
      pipeline(body.open(), gzip, () => {});
      return gzip;
    },
  };
}

const PIECE_BYTES = 64 * 1024;
const FILE_CHUNK_BYTES = 256 * 1024;

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
