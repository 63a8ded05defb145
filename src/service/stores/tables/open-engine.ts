import { join } from 'node:path';
import { findBranch } from '../metadata/branches.ts';
import { StorageError } from '../../../lib/errors.ts';
import { lazyEngine } from './lazy.ts';
import { checkEpoch, renewEpoch, type EpochEngine } from './folder-epoch.ts';
import { tablesKind } from './kind.ts';
import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Meta } from '../metadata/database.ts';
import type { DuckDatabaseOptions } from './duckdb/database.ts';
import type { DuckDbEngine } from './duckdb/engine.ts';
import type { TableEngine } from './engine.ts';
import type { LakeEngine, LakeEngineOptions } from './lake/engine.ts';
import type { LakeOfDatabase } from './lake/place.ts';

export interface ServiceTables {
  readonly engine: TableEngine;
  /** The engine of the folder, opened. @throws when the tables are in a database */
  ofFolder(): Promise<DuckDbEngine | LakeEngine>;
}

/** Access to a lake, where tables are in one. */
export interface LakeAccess {
  /** Folder with the extensions of DuckDB; undefined: those that DuckDB has, or installs. */
  readonly extensions: string | undefined;
  /** The database and the object store of a storage that several processes share. */
  readonly shared?: (Pick<LakeOfDatabase, 'objects' | 'url'> & { readonly root: string }) | undefined;
}

/**
 * Opens the engine for the tables of the service: in its database when it has one, else in a file of its folder; or in
 * a lake beside either.
 */
export function serviceEngine({
  dir,
  database,
  meta,
  env,
  log,
  lake,
}: {
  readonly dir: string | undefined;
  readonly database?: Database | undefined;
  readonly meta: Meta;
  readonly env: Env;
  readonly log: Log;
  readonly lake: LakeAccess;
}): ServiceTables {
  let ofFolder: DuckDbEngine | LakeEngine | undefined;
  const engine =
    database === undefined
      ? lazyEngine(false, async () => {
          if (dir === undefined) throw new Error('There is no folder for the tables.');
          if ((await tablesKind(meta)) === 'lake') {
            const opened = await lakeOfFolder(meta, dir, lake);
            ofFolder = opened;
            return { ...opened, compact: async () => await compacted(opened) };
          }
          const opened = await folderEngine(meta, dir);
          ofFolder = opened;
          return { ...opened, compact: async () => await compacted(opened) };
        })
      : lazyEngine(true, async () => {
          const shownBucket = await nameInMain(meta);
          if ((await tablesKind(meta)) === 'lake')
            return await lakeOfDatabase(database, lake, { shownBucket, log });
          const { createPostgresEngine } = await import('./postgres/engine.ts');
          const { pool, schema } = database;
          return createPostgresEngine({ pool, schema, log, shownBucket });
        });
  return {
    engine,
    async ofFolder() {
      await engine.open();
      if (ofFolder === undefined) throw new Error('The tables are not in the folder.');
      return ofFolder;
    },
  };

  async function compacted(opened: EpochEngine): Promise<{ readonly freedBytes: number }> {
    const freed = await opened.compact();
    await renewEpoch(meta, opened, env);
    return freed;
  }
}

/** Opens the lake of a storage that several processes share, to read what it was. */
export async function openLake({
  meta,
  database,
  lake,
}: {
  readonly meta: Meta;
  readonly database: Database;
  readonly lake: LakeAccess;
}): Promise<LakeEngine> {
  const engine = await lakeOfDatabase(database, lake, { shownBucket: await nameInMain(meta) });
  await engine.open();
  return engine;
}

/** Buckets of the default branch are called by their names alone. */
async function nameInMain(meta: Meta): Promise<(bucket: string) => string> {
  const main = `${(await findBranch(meta, 'default'))?.id}/`;
  return (bucket) => (bucket.startsWith(main) ? bucket.slice(main.length) : bucket);
}

/** Makes the engine of a folder, whichever it has. */
export async function tablesOfFolder(
  meta: Meta,
  dir: string,
  lake: LakeAccess,
  limits: Pick<DuckDatabaseOptions, 'memoryLimitMb' | 'threads'> = {},
): Promise<TableEngine> {
  return (await tablesKind(meta)) === 'lake'
    ? await lakeOfFolder(meta, dir, lake)
    : await folderEngine(meta, dir, limits);
}

async function lakeOfFolder(meta: Meta, dir: string, { extensions }: LakeAccess): Promise<LakeEngine> {
  const { createLakeEngine } = await import('./lake/engine.ts');
  const engine = createLakeEngine({
    place: { kind: 'folder', folder: join(dir, 'tables', 'lake') },
    workFolder: join(dir, 'tables', 'work'),
    extensions,
    shownBucket: await nameInMain(meta),
  });
  return { ...engine, open: async () => await openChecked(meta, engine, dir) };
}

async function lakeOfDatabase(
  { pool, schema }: Database,
  { extensions, shared }: LakeAccess,
  given: Pick<LakeEngineOptions, 'log' | 'shownBucket'>,
): Promise<LakeEngine> {
  if (shared === undefined) throw new Error('A lake over a database has its files in an object store.');
  const [{ createLakeEngine }, { mkdtemp }, { tmpdir }] = await Promise.all([
    import('./lake/engine.ts'),
    import('node:fs/promises'),
    import('node:os'),
  ]);
  return createLakeEngine({
    place: { kind: 'database', pool, schema, ...shared },
    workFolder: await mkdtemp(join(tmpdir(), 'gex-lake-')),
    extensions,
    ...given,
  });
}

/** Makes the engine of a folder, which opens tables that are of the time of the metadata. */
async function folderEngine(
  meta: Meta,
  dir: string,
  limits: Pick<DuckDatabaseOptions, 'memoryLimitMb' | 'threads'> = {},
): Promise<DuckDbEngine> {
  const { createDuckDbEngine } = await import('./duckdb/engine.ts');
  const engine = createDuckDbEngine({ folder: join(dir, 'tables'), ...limits });
  return {
    ...engine,
    async open() {
      const opening = {
        ...engine,
        open: async () =>
          await engine.open().catch((error: unknown) => {
            throw unopened(error, dir);
          }),
      };
      await openChecked(meta, opening, dir);
    },
  };
}

/** Opens tables that are of the time of the metadata. */
async function openChecked(meta: Meta, engine: EpochEngine, dir: string): Promise<void> {
  await engine.open();
  try {
    await checkEpoch(meta, engine, dir);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Returns the error for tables that cannot be opened; one of the file system as it is. */
function unopened(error: unknown, dir: string): unknown {
  if (!(error instanceof Error) || 'syscall' in error) return error;
  const [message = ''] = error.message.split('\n');
  return new StorageError('storage.damaged', `The tables of the folder cannot be opened: ${message}`, {
    where: { file: join(dir, 'tables', 'tables.duckdb') },
    hint: [
      'Check its owner and permissions, and the room on its disk.',
      'One that a newer version has written is read by that version. One that is damaged comes back with its backup: gex storage restore FILE --to DIR',
    ],
    cause: error,
  });
}
