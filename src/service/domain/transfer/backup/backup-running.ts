import { join, relative, sep } from 'node:path';
import { StorageError } from '../../../../lib/errors.ts';
import type { Env } from '../../../../lib/env.ts';
import { recordingsOf } from '../../../../storage/protocol/recordings.ts';
import { objectPath } from '../../../stores/objects/folder/layout.ts';
import { walkObjects } from '../../../stores/objects/folder/walk.ts';
import { localToken } from '../../../stores/folder/local-token.ts';
import { META, TABLES } from './snapshot.ts';
import { writeTarball, type Tarball, type Written } from './tarball.ts';
import { sqlite } from '../../../../lib/sqlite.ts';

/**
 * Does the work of `backUp` while a service runs over the folder: the service copies metadata and tables as of one
 * time, and the bytes of files, which never change, are those that the metadata names. A file that is deleted
 * meanwhile is not in the backup.
 *
 * @param address the address of the service
 */
export async function backUpRunning(dir: string, file: string, address: string, env: Env): Promise<Written> {
  const token = await localToken(dir, env);
  const ask = async (method: string, path: string): Promise<unknown> => {
    const reply = await fetch(`${address}/folder/snapshots${path}`, {
      method,
      headers: { 'X-StorageApi-Token': token },
    }).catch((error: unknown) => {
      throw unexpected('It could not be reached.', error);
    });
    const text = await reply.text();
    if (!reply.ok) throw unexpected(`It answered ${reply.status}: ${text.slice(0, 500)}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const { name } = (await ask('POST', '')) as { name: string }; // the service's own schema
  try {
    const snapshot = join(dir, 'tables', 'compact', name);
    return await writeTarball(file, new Date(env.now()), async (tarball) => {
      await addObjects(tarball, dir, join(snapshot, META));
      forgetDeleted(dir, join(snapshot, META));
      for (const [as, path] of [
        ['objects.secret', join(dir, 'objects.secret')],
        ['encryption.key', join(dir, 'encryption.key')],
        ['tables/tables.duckdb', join(snapshot, TABLES)],
        ['meta.sqlite', join(snapshot, META)],
      ] as const)
        await tarball.add(as, path);
    });
  } finally {
    await ask('DELETE', `/${name}`).catch(() => undefined);
  }
}

function unexpected(what: string, cause?: unknown): StorageError {
  return new StorageError('storage.unexpected', `The service of the folder made no copy. ${what}`, {
    hint: 'Look into its log; or stop it, and give the command again.',
    cause,
  });
}

async function addObjects(tarball: Tarball, dir: string, meta: string): Promise<void> {
  const objects = join(dir, 'objects', 'objects');
  const add = async (path: string): Promise<boolean> =>
    await tarball.add(`objects/objects/${path.split(sep).join('/')}`, join(objects, path));
  const database = new (sqlite().DatabaseSync)(meta, { readOnly: true });
  try {
    const files = database.prepare('SELECT object_key AS key, is_sliced AS isSliced FROM files ORDER BY id');
    for (const row of files.iterate()) {
      const { key, isSliced } = row as { key: string; isSliced: number }; // the columns of the query
      if (isSliced === 0) await add(objectPath(key));
      else
        for await (const { file } of walkObjects(objects, Buffer.from(key), new Uint8Array()))
          await add(relative(objects, file));
    }
    // Nothing is added to what is kept of a run that has ended.
    const runs = database.prepare('SELECT id FROM runs WHERE ended IS NOT NULL ORDER BY id');
    for (const { id } of runs.all() as { id: number }[])
      // the column of the query
      for await (const { file } of walkObjects(
        objects,
        Buffer.from(recordingsOf(String(id))),
        new Uint8Array(),
      ))
        await add(relative(objects, file));
  } finally {
    database.close();
  }
}

/** Removes files from the copy of the metadata that were deleted since: their bytes may be there in part. */
function forgetDeleted(dir: string, meta: string): void {
  const now = new (sqlite().DatabaseSync)(join(dir, META), { readOnly: true, timeout: 10_000 });
  const database = new (sqlite().DatabaseSync)(meta);
  try {
    const isKnown = now.prepare('SELECT 1 FROM files WHERE id = ?');
    const files = database.prepare('SELECT id FROM files').all() as { id: number }[]; // the column of the query
    const deletions = ['file_tags WHERE file_id', 'exports WHERE file_id', 'files WHERE id'].map((what) =>
      database.prepare(`DELETE FROM ${what} = ?`),
    );
    database.exec('BEGIN');
    for (const { id } of files)
      if (isKnown.get(id) === undefined) for (const deletion of deletions) deletion.run(id);
    database.exec('COMMIT');
    // All of it in the one file.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
    now.close();
  }
}
