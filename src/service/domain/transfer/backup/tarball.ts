import { createHash } from 'node:crypto';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { tarEnd, tarHeader, tarPadding } from '../../../../lib/tar/tar.ts';
import { DamagedObject } from '../../../stores/objects/errors.ts';
import { createBlockSums, type BlockSums } from '../../../stores/objects/folder/blocks.ts';
import type { ObjectMeta } from '../../../stores/objects/folder/meta.ts';
import { readTrailer } from '../../../stores/objects/folder/object-file.ts';
import { openIfThere } from '../../../../lib/open-if-there.ts';

/** A tar file of a storage folder that is being written. */
export interface Tarball {
  /** Adds a file of the disk; false when there is none. What it has when it is opened is written, also when it is replaced. */
  add(name: string, path: string): Promise<boolean>;
  /** Adds content from elsewhere, or nothing of it when that fails, so that it can be tried again. */
  addContent(content: BackupContent): Promise<void>;
}

export interface BackupContent {
  readonly name: string;
  /** All that `chunks` gives. */
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Error about another number of bytes than announced. */
export class OtherSize extends Error {}

export interface Written {
  readonly files: number;
  readonly bytes: number;
  /** Objects that are in it as they are on the disk, where they are damaged. */
  readonly damaged: readonly string[];
}

/** The last entry: what was written in front of it is whole when its digest fits. */
export const SEAL = 'backup.json';

export interface Seal {
  readonly made: string;
  /** SHA-256 of all bytes of the tar file in front of this entry, in hex. */
  readonly sha256: string;
}

/** Writes a tar file by one rename: it appears when it is whole, and ends with a seal. */
export async function writeTarball(
  file: string,
  made: Date,
  work: (tarball: Tarball) => Promise<void>,
): Promise<Written> {
  const temporary = `${file}.tmp`;
  const target = await open(temporary, 'w', 0o600);
  try {
    let hash = createHash('sha256');
    let end = 0;
    const written = { files: 0, bytes: 0, damaged: [] as string[] };
    const write = async (bytes: Uint8Array): Promise<void> => {
      hash.update(bytes);
      for (let done = 0; done < bytes.length;)
        done += (await target.write(bytes, done, bytes.length - done, end + done)).bytesWritten;
      end += bytes.length;
    };
    await work({
      async add(name, path) {
        const source = await openIfThere(path);
        if (source === undefined) return false;
        try {
          const sums =
            name.startsWith(OBJECTS) && name.endsWith(',o') ? await knownSums(source, path) : undefined;
          const { bytes, isWhole } = await addFile(write, name, source, sums);
          written.bytes += bytes;
          written.files++;
          if (!isWhole) written.damaged.push(path);
          return true;
        } finally {
          await source.close();
        }
      },
      async addContent({ name, bytes, chunks }) {
        const before = { hash: hash.copy(), end };
        try {
          await write(tarHeader({ name, bytes, modifiedAt: made.getTime() }));
          const first = end;
          for await (const chunk of chunks) await write(chunk);
          if (end - first !== bytes)
            throw new OtherSize(`${name} has ${end - first} bytes, and not ${bytes}.`);
          await write(tarPadding(bytes));
        } catch (error) {
          ({ hash, end } = before);
          await target.truncate(end);
          throw error;
        }
        written.files++;
        written.bytes += bytes;
      },
    });
    const seal: Seal = { made: made.toISOString(), sha256: hash.copy().digest('hex') };
    const text = Buffer.from(`${JSON.stringify(seal)}\n`);
    await write(
      Buffer.concat([
        tarHeader({ name: SEAL, bytes: text.length, modifiedAt: made.getTime() }),
        text,
        tarPadding(text.length),
        tarEnd(),
      ]),
    );
    await target.sync();
    await target.close();
    await rename(temporary, file);
    return written;
  } catch (error) {
    await target.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Prefix of objects, each with the checksums of its bytes. */
const OBJECTS = 'objects/objects/';

/** Returns the checksums of an object; `damaged` when they are not readable. */
async function knownSums(source: FileHandle, path: string): Promise<ObjectSums | 'damaged'> {
  try {
    const { bytes, blocks } = await readTrailer<ObjectMeta>(
      source,
      { start: 0, bytes: (await source.stat()).size },
      path,
    );
    return { bytes, blocks };
  } catch (error) {
    if (error instanceof DamagedObject) return 'damaged';
    throw error;
  }
}

interface ObjectSums {
  readonly bytes: number;
  readonly blocks: BlockSums | undefined;
}

async function addFile(
  write: (bytes: Uint8Array) => Promise<void>,
  name: string,
  source: FileHandle,
  sums?: ObjectSums | 'damaged',
): Promise<{ readonly bytes: number; readonly isWhole: boolean }> {
  const { size, mtimeMs } = await source.stat();
  await write(tarHeader({ name, bytes: size, modifiedAt: mtimeMs }));
  const known = typeof sums === 'object' && sums.blocks !== undefined ? sums : undefined;
  const found = createBlockSums(known?.blocks?.bytes);
  let bytes = 0;
  // Without an encoding a file gives buffers.
  const chunks = source.createReadStream({
    autoClose: false,
    start: 0,
    highWaterMark: 1024 * 1024,
  }) as AsyncIterable<Buffer>;
  for await (const chunk of chunks) {
    await write(chunk);
    if (known !== undefined) found.update(chunk.subarray(0, Math.max(0, known.bytes - bytes)));
    bytes += chunk.length;
  }
  if (bytes !== size) throw new Error(`${name} changed while it was copied.`);
  await write(tarPadding(size));
  const isSame = known === undefined || found.finish().crc32 === known.blocks?.crc32;
  return { bytes, isWhole: isSame && sums !== 'damaged' };
}
