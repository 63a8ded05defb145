import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { StorageError } from '../../../../lib/errors.ts';
import { readTar } from '../../../../lib/tar/untar.ts';
import { META } from './snapshot.ts';
import { SEAL, type Seal, type Written } from './tarball.ts';

/** A file of a folder, as it is met in a backup. */
export interface BackupEntry {
  /** Its path below the folder: none that leads out of it. */
  readonly parts: readonly string[];
  /** Offset of its bytes in the backup. */
  readonly start: number;
  readonly bytes: number;
  /** Need not be read; once. */
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * Reads a backup to its end and finds out whether it is whole. What was taken from it on the way is of use only when
 * this resolves.
 *
 * @throws {StorageError} `storage.differs` for a file that is cut, damaged or no backup
 */
export async function readBackup(
  file: string,
  take: (entry: BackupEntry) => Promise<void>,
): Promise<Written> {
  const source = await open(file, 'r');
  try {
    return await readEntries(file, source, take);
  } catch (error) {
    if (isThereAlready(error)) throw notWhole(file, 'it has a file twice');
    throw error instanceof SyntaxError || error instanceof RangeError ? notWhole(file, error.message) : error;
  } finally {
    await source.close();
  }
}

async function readEntries(
  file: string,
  source: FileHandle,
  take: (entry: BackupEntry) => Promise<void>,
): Promise<Written> {
  const hash = createHash('sha256');
  const written = { files: 0, bytes: 0, damaged: [] };
  let isSealed = false;
  let hasMeta = false;
  for await (const { name, start, bytes, head, content, padding } of readTar(source)) {
    if (isSealed) throw notWhole(file, 'it goes on behind its end');
    if (name === SEAL) {
      isSealed = true;
      const seal = JSON.parse(await textOf(content)) as Partial<Seal>; // compared below
      if (seal.sha256 !== hash.digest('hex')) throw notWhole(file, 'its check sum is another one');
      continue;
    }
    hasMeta ||= name === META;
    hash.update(head);
    const hashed = hashing(content, (chunk) => void hash.update(chunk));
    await take({ parts: partsOf(file, name), start, bytes, content: hashed });
    // Entries that were not taken are checked all the same.
    for await (const _ of hashed);
    hash.update(padding());
    written.files++;
    written.bytes += bytes;
  }
  if (!isSealed) throw notWhole(file, 'it does not end as one that gex storage backup wrote');
  if (!hasMeta) throw notWhole(file, `it has no ${META}`);
  return written;
}

/** Tells whether an entry, a file or a row for each of its names, was created before. */
function isThereAlready(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'EEXIST') || error.message.startsWith('UNIQUE constraint failed');
}

async function* hashing(
  content: AsyncIterable<Uint8Array>,
  look: (chunk: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    look(chunk);
    yield chunk;
  }
}

/** A name must not lead out of the folder. */
function partsOf(file: string, name: string): string[] {
  const parts = name.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0')))
    throw notWhole(file, `it has the name “${name}”`);
  return parts;
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks).toString();
}

function notWhole(file: string, why: string): StorageError {
  return new StorageError('storage.differs', `The backup is cut, damaged, or none: ${why}.`, {
    where: { file },
    hint: 'Take another backup. Nothing was restored.',
  });
}
