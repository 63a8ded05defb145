import { open, type FileHandle } from 'node:fs/promises';
import { errnoOf, ObjectError } from '../errors.ts';

/**
 * One file holds an object and what is known of it: the bytes, then JSON, then the length of the JSON (4 bytes,
 * big-endian) and a mark. With a single file, one rename publishes both, and no crash can leave one without the other.
 */
export function trailerOf(meta: object): Buffer {
  const json = Buffer.from(JSON.stringify(meta));
  const end = Buffer.alloc(4 + MARK.length);
  end.writeUInt32BE(json.length);
  MARK.copy(end, 4);
  return Buffer.concat([json, end]);
}

export interface OpenFile<Meta> {
  readonly handle: FileHandle;
  readonly meta: Meta;
}

/** Opens it for reading; the caller closes the handle. Undefined when there is no such file. */
export async function openObjectFile<Meta extends { bytes: number }>(
  file: string,
): Promise<OpenFile<Meta> | undefined> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    return { handle, meta: await readTrailer<Meta>(handle, { start: 0, bytes: size }, file) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export async function readObjectFile<Meta extends { bytes: number }>(
  file: string,
): Promise<Meta | undefined> {
  const opened = await openObjectFile<Meta>(file);
  await opened?.handle.close();
  return opened?.meta;
}

const MARK = Buffer.from('gexobj01');
const FIRST_LOOK = 2048;

/** Where such a file is: all of a file, or a part of an archive. */
export interface Extent {
  readonly start: number;
  readonly bytes: number;
}

/** @param file what it is called, for who looks for the damage */
export async function readTrailer<Meta extends { bytes: number }>(
  handle: FileHandle,
  extent: Extent,
  file: string,
): Promise<Meta> {
  let tail = await readEnd(handle, extent, FIRST_LOOK);
  const endLength = 4 + MARK.length;
  if (tail.length >= endLength && tail.subarray(-MARK.length).equals(MARK)) {
    const length = tail.readUInt32BE(tail.length - endLength);
    if (length + endLength > tail.length) tail = await readEnd(handle, extent, length + endLength);
    if (length + endLength <= tail.length) {
      const json = tail.subarray(tail.length - endLength - length, tail.length - endLength);
      // Written by `trailerOf` with this type; the mark and the length below prove that the file is whole.
      const meta = JSON.parse(json.toString()) as Meta;
      if (meta.bytes + length + endLength === extent.bytes) return meta;
    }
  }
  throw new ObjectError('InternalError', 'A file of the object store is damaged.', {
    cause: new Error(file),
  });
}

async function readEnd(handle: FileHandle, { start, bytes }: Extent, wanted: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.min(bytes, wanted));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start + bytes - buffer.length);
  return buffer.subarray(0, bytesRead);
}
