import { open, type FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { DamagedObject, errnoOf } from '../errors.ts';
import type { BlockSums } from './blocks.ts';

/**
 * One file holds an object and what is known of it: the bytes, then JSON, then the length of the JSON (4 bytes,
 * big-endian) and a mark. With a single file, one rename publishes both, and no crash can leave one without the other.
 * The JSON has the sums of the blocks of bytes, and ends with a sum of itself; that of files of before has neither.
 */
export function trailerOf(meta: object, blocks: BlockSums): Buffer {
  const text = JSON.stringify({ ...meta, blocks });
  const json = Buffer.from(`${text.slice(0, -1)},"sum":"${sumOf(text)}"}`);
  const end = Buffer.alloc(4 + MARK.length);
  end.writeUInt32BE(json.length);
  MARK.copy(end, 4);
  return Buffer.concat([json, end]);
}

/** Checksums that prove that the bytes are those that were written; older files have none. */
export interface Sums {
  readonly blocks?: BlockSums;
}

export interface OpenFile<Meta> {
  readonly handle: FileHandle;
  readonly meta: Meta & Sums;
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
): Promise<(Meta & Sums) | undefined> {
  const opened = await openObjectFile<Meta>(file);
  await opened?.handle.close();
  return opened?.meta;
}

const MARK = Buffer.from('gexobj01');
/** Size of a page of the disk: enough for the facts about most objects, with the checksums of a hundred megabytes. */
const FIRST_LOOK = 4096;

/** Extent of such a file: a whole file, or a part of an archive. */
export interface Extent {
  readonly start: number;
  readonly bytes: number;
}

/** @param file name for the search for the damage */
export async function readTrailer<Meta extends { bytes: number }>(
  handle: FileHandle,
  extent: Extent,
  file: string,
): Promise<Meta & Sums> {
  let tail = await readEnd(handle, extent, FIRST_LOOK);
  const endLength = 4 + MARK.length;
  if (tail.length >= endLength && tail.subarray(-MARK.length).equals(MARK)) {
    const length = tail.readUInt32BE(tail.length - endLength);
    if (length + endLength > tail.length) tail = await readEnd(handle, extent, length + endLength);
    if (length + endLength <= tail.length) {
      const json = tail.subarray(tail.length - endLength - length, tail.length - endLength);
      const meta = readMeta(json.toString());
      // Written by `trailerOf` with this type: the sum, the mark and the length prove that it is whole.
      if (meta !== undefined && meta.bytes + length + endLength === extent.bytes) return meta as Meta & Sums;
    }
  }
  throw new DamagedObject(file);
}

const SUM = /,"sum":"(?<sum>[\da-f]{8})"\}$/;

/** Undefined for what doesn't fit its sum. */
function readMeta(text: string): (Sums & { readonly bytes: number }) | undefined {
  const end = SUM.exec(text);
  if (end !== null && sumOf(`${text.slice(0, end.index)}}`) !== end.groups?.['sum']) return undefined;
  try {
    const meta = JSON.parse(text) as Sums & { bytes: number }; // what every trailer has
    return end === null && meta.blocks !== undefined ? undefined : meta;
  } catch {
    return undefined;
  }
}

const sumOf = (text: string): string => crc32(text).toString(16).padStart(8, '0');

async function readEnd(handle: FileHandle, { start, bytes }: Extent, wanted: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.min(bytes, wanted));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start + bytes - buffer.length);
  return buffer.subarray(0, bytesRead);
}
