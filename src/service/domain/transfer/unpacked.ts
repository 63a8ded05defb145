import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Env } from '../../../lib/env.ts';
import { lockFolder, type FolderLock } from '../../stores/folder/lock.ts';
import { readBackup } from './backup/read-backup.ts';
import { writeEntry } from './backup/restore.ts';
import { errnoOf, ObjectError } from '../../stores/objects/errors.ts';
import { described } from '../../stores/objects/folder/described.ts';
import { readBlocks } from '../../stores/objects/folder/blocks.ts';
import { keyOfPath } from '../../stores/objects/folder/layout.ts';
import type { ObjectMeta } from '../../stores/objects/folder/meta.ts';
import { readTrailer, type Extent, type Sums } from '../../stores/objects/folder/object-file.ts';
import { FOLDER_BUCKET } from '../../stores/objects/folder-store.ts';
import { OBJECTS } from './packed-objects.ts';
import type { ObjectReader } from './storage.ts';
import { sqlite } from '../../../lib/sqlite.ts';

/** A folder for what a command needs on its way; emptied when it is taken, and removed in the end. */
export async function withScratch<T>(
  dir: string,
  env: Pick<Env, 'now'>,
  work: (dir: string) => Promise<T>,
): Promise<T> {
  // Not its parents: a name that was mistyped is to be told.
  await mkdir(dir, { mode: 0o700 }).catch((error: unknown) => {
    if (errnoOf(error) !== 'EEXIST') throw error;
  });
  const lock: FolderLock = await lockFolder(dir, env.now());
  try {
    for (const name of await readdir(dir))
      if (!name.startsWith('service.')) await rm(join(dir, name), { recursive: true, force: true });
    return await work(dir);
  } finally {
    await lock.release();
    await rm(dir, { recursive: true, force: true });
  }
}

export interface UnpackedObjects extends ObjectReader {
  close(): Promise<void>;
}

/**
 * Reads a backup, finds out whether it is whole, and unpacks it into a folder, but for the bytes of objects: these stay
 * where they are, and are read from there.
 *
 * @throws {StorageError} `storage.differs` for a file that is cut, damaged or no backup
 */
export async function unpack(file: string, dir: string): Promise<UnpackedObjects> {
  const index = new (sqlite().DatabaseSync)(join(dir, `${randomUUID()}.sqlite`));
  try {
    index.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    index.exec(
      'CREATE TABLE objects (key BLOB PRIMARY KEY, start INTEGER, bytes INTEGER) WITHOUT ROWID; BEGIN',
    );
    const insert = index.prepare('INSERT INTO objects VALUES (?, ?, ?)');
    await readBackup(file, async (entry) => {
      const [first, second, ...rest] = entry.parts;
      const isObject = first === OBJECTS[0] && second === OBJECTS[1];
      const key = isObject ? keyOfPath(rest.join('/')) : undefined;
      if (key !== undefined) insert.run(key, entry.start, entry.bytes);
      else if (!isObject) await writeEntry(entry, dir);
    });
    index.exec('COMMIT');
    return await objectsOf(file, index);
  } catch (error) {
    index.close();
    throw error;
  }
}

async function objectsOf(file: string, index: DatabaseSync): Promise<UnpackedObjects> {
  const handle = await open(file, 'r');
  const one = index.prepare('SELECT start, bytes FROM objects WHERE key = ?');
  const some = index.prepare(
    'SELECT key, start, bytes FROM objects WHERE key >= ? AND key < ? ORDER BY key LIMIT 1000',
  );
  const trailer = async (extent: Extent): Promise<ObjectMeta & Sums> =>
    await readTrailer<ObjectMeta>(handle, extent, `${file} at ${extent.start}`);
  // The columns of the query.
  const find = (key: string): Extent | undefined => one.get(Buffer.from(key)) as Extent | undefined;

  return {
    bucket: FOLDER_BUCKET,
    root: '',
    async head(key) {
      const extent = find(key);
      return extent === undefined ? undefined : described(await trailer(extent));
    },
    async read(key, range) {
      const extent = find(key);
      if (extent === undefined) throw new ObjectError('NoSuchKey', 'The object does not exist.');
      const { start } = extent;
      const { bytes, blocks: sums } = await trailer(extent);
      const end = Math.min(range?.end ?? Infinity, bytes - 1);
      const name = `${file} at ${start}`;
      return readBlocks(
        { handle, start, bytes, sums, name, isClosed: false },
        { start: range?.start ?? 0, end },
      );
    },
    async *list(prefix) {
      // No byte of UTF-8 is the last one, so there is one more.
      const end = Buffer.from(prefix);
      end[end.length - 1] = (end.at(-1) ?? 0) + 1;
      for (let from = Buffer.from(prefix); ;) {
        const rows = some.all(from, end) as unknown as (Extent & { key: Uint8Array })[]; // the columns of the query
        for (const row of rows)
          yield { key: Buffer.from(row.key).toString(), bytes: (await trailer(row)).bytes };
        const last = rows.at(-1);
        if (last === undefined) return;
        from = Buffer.concat([last.key, Buffer.of(0)]);
      }
    },
    async close() {
      index.close();
      await handle.close();
    },
  };
}
