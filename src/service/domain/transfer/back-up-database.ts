import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import { openDatabase, type Database, type DatabaseOptions } from '../../platform/database/database.ts';
import { META, TABLES } from './backup/snapshot.ts';
import { writeTarball, type Written } from './backup/tarball.ts';
import { lastId, startIds } from '../../stores/metadata/counter.ts';
import { openMeta, reclaimSpace, type Meta } from '../../stores/metadata/database.ts';
import type { Connecting } from '../../stores/metadata/postgres.ts';
import type { ExternalStoreOptions } from '../../stores/objects/external-store.ts';
import type { TableEngine, TableReader } from '../../stores/tables/engine.ts';
import { extensionsFolder, tablesKind } from '../../stores/tables/kind.ts';
import { openLake } from '../../stores/tables/open-engine.ts';
import type { TableMoment } from '../../stores/tables/postgres/moment.ts';
import { encryptionKey } from '../storage-identity.ts';
import { openFiles, type DatabaseFiles } from './database-files.ts';
import { refuseOtherVersions } from './database.ts';
import { MEMORY_MB } from './folder.ts';
import { copyMetadata, digestMetadata } from './metadata.ts';
import { agreeOnKey, AS_IT_IS, compareMetadata, differs } from './move.ts';
import { packObjects } from './packed-objects.ts';
import { compareRows, copyRows } from './rows.ts';
import { forgetSteps } from './steps.ts';
import type { Moving } from './storage.ts';
import { withScratch } from './unpacked.ts';
import { filesAfter, PAGE } from './files.ts';

export interface DatabaseBackupOptions extends Pick<Moving, 'signal' | 'told'> {
  readonly database: DatabaseOptions;
  /** Object store with the bytes of files; undefined where they are in the database. */
  readonly objects: Omit<ExternalStoreOptions, 'env'> | undefined;
  /** The tar file. Beside it, metadata and tables are gathered meanwhile. */
  readonly file: string;
  readonly env: Env;
  readonly log: Log;
}

export interface DatabaseBackup extends Written {
  readonly tables: number;
  readonly rows: number;
  /** Names of files that were deleted, or expired, while the copy was made: they are not in it. */
  readonly deleted: readonly string[];
  /** Id of the key of `#` values, which is not in it. */
  readonly encryptionKey: string | undefined;
}

/**
 * Writes everything of a database and its files into one tar file, in the form of a folder, while any number of
 * processes of a service go on. Metadata and tables are those of one moment; the bytes of files, which never change, are
 * those that the metadata tells of.
 *
 * @throws {StorageError} `storage.differs` when what was written down is not what was read
 */
export async function backUpDatabase(options: DatabaseBackupOptions): Promise<DatabaseBackup> {
  const { file, env } = options;
  const { connectPostgres } = await import('../../stores/metadata/postgres.ts');
  const database = await openDatabase({ ...options.database, poolSize: CONNECTIONS }, options.log);
  let files: DatabaseFiles | undefined;
  try {
    const now = connectPostgres(database, { isBounded: false });
    await refuseOtherVersions(now, database.address);
    files = await openFiles(database, now, { ...options, role: 'source' });
    const store = files.objects;
    return await withScratch(`${file}.parts`, env, async (dir) => {
      const copied = await copyMoment(database, dir, options, store.root);
      const state: { deleted: readonly string[] } = { deleted: [] };
      if (existsSync(join(dir, 'tables', `${TABLES}.wal`)))
        throw new Error('Not all of the tables was written down.');
      const written = await writeTarball(file, new Date(env.now()), async (tarball) => {
        const meta = await openMeta(join(dir, META));
        try {
          await packObjects(meta, tarball, { ...options, objects: store });
          state.deleted = await withoutDeleted(meta, now);
          while ((await reclaimSpace(meta)) > 0);
        } finally {
          await meta.destroy();
        }
        await tarball.add(`tables/${TABLES}`, join(dir, 'tables', TABLES));
        await tarball.add(META, join(dir, META));
      });
      return { ...written, ...copied, ...state };
    });
  } finally {
    files?.close();
    await database.close();
  }
}

/** Connections: one for the snapshot, the other for queries about files since then. */
const CONNECTIONS = 2;

/** Copies metadata and tables, as they are at one moment, into files of a folder. */
async function copyMoment(
  database: Database,
  dir: string,
  options: DatabaseBackupOptions,
  root: string,
): Promise<Pick<DatabaseBackup, 'encryptionKey' | 'rows' | 'tables'>> {
  const { createDuckDbEngine } = await import('../../stores/tables/duckdb/engine.ts');
  const meta = await openMeta(join(dir, META));
  const engine = createDuckDbEngine({ folder: join(dir, 'tables'), memoryLimitMb: MEMORY_MB, threads: 1 });
  try {
    await engine.open();
    const key = await copyAsItIs(database, { meta, engine }, options, root);
    const { tables, rows, differences } = await compareRows({ ...options, to: { meta, engine } });
    if (differences.length > 0)
      throw differs('The copy is not what was read.', differences, 'Check the disk, and begin again.');
    await forgetSteps(meta);
    // The log of the database is merged into its file.
    await engine.compact();
    return { tables, rows, encryptionKey: key };
  } finally {
    await engine.close();
    await meta.destroy();
  }
}

/** @returns the id of the key that the service encrypts with */
async function copyAsItIs(
  database: Database,
  to: { readonly meta: Meta; readonly engine: TableEngine },
  options: DatabaseBackupOptions,
  root: string,
): Promise<string | undefined> {
  const { signal, told, env } = options;
  const [{ openMoment }, { connectPostgres }] = await Promise.all([
    import('../../stores/tables/postgres/moment.ts'),
    import('../../stores/metadata/postgres.ts'),
  ]);
  const moment = await openMoment(database);
  const isDone = keepAwake(moment.client, env);
  try {
    const pool: Connecting = {
      connect: async () =>
        await Promise.resolve({ query: moment.client.query.bind(moment.client), release: () => undefined }),
    };
    const meta = connectPostgres({ pool, schema: database.schema }, { isBounded: false });
    const copying = { place: AS_IT_IS, signal };
    await copyMetadata(meta, to.meta, {
      ...copying,
      told: (name, count) => told({ work: 'copy', what: 'metadata', name, count }),
    });
    await startIds(to.meta, await lastId(meta));
    const key = await encryptionKey(meta);
    await agreeOnKey(to.meta, key);
    const [wanted, found] = [
      await digestMetadata(meta, AS_IT_IS, signal),
      await digestMetadata(to.meta, AS_IT_IS, signal),
    ];
    const differences = compareMetadata(wanted, found);
    if (differences.length > 0)
      throw differs('The copy is not what was read.', differences, 'Check the disk, and begin again.');
    const lake =
      (await tablesKind(meta)) === 'lake'
        ? await lakeAtMoment(database, { meta, moment }, options, root)
        : undefined;
    await moment.freeMetadata();
    const from = { meta: to.meta, engine: lake?.tables ?? moment.tables };
    const problems = await copyRows({ from, to, signal, told }).finally(async () => await lake?.close());
    if (problems.length > 0)
      throw differs('Not every table can be copied.', problems, 'Mend it in the storage, and begin again.');
    return key;
  } finally {
    isDone();
    await moment.end();
  }
}

/** Opens the lake of a database, as its catalogue is at the moment of the metadata. */
async function lakeAtMoment(
  database: Database,
  { meta, moment }: { readonly meta: Meta; readonly moment: TableMoment },
  { database: { url }, objects }: DatabaseBackupOptions,
  root: string,
): Promise<{ readonly tables: TableReader; close(): Promise<void> }> {
  const { rows } = await moment.client.query<{ readonly version: string }>(
    `SELECT max(snapshot_id) AS version FROM "${database.schema}_lake".ducklake_snapshot`,
  );
  const lake = { extensions: extensionsFolder(process.env), shared: objects && { url, objects, root } };
  const engine = await openLake({ meta, database, lake });
  return { tables: engine.at(Number(rows[0]?.version)), close: async () => await engine.close() };
}

/** Milliseconds between two queries: the database releases the locks of a silent connection. */
const AWAKE_MS = 10_000;

/** Says something to the database now and then, also while this process is busy with what it has read. @returns what ends it */
function keepAwake(client: TableMoment['client'], env: Env): () => void {
  const over = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      await env.sleep(AWAKE_MS, over.signal).catch(() => undefined);
      // The next reader gets the error.
      if (!over.signal.aborted) await client.query('SELECT 1').catch(() => undefined);
    }
  })();
  return () => over.abort();
}

/**
 * Removes files from a copy of the metadata that were deleted since it was made: their bytes may be there in part.
 *
 * @returns their names
 */
async function withoutDeleted(copy: Meta, now: Meta): Promise<string[]> {
  const names: string[] = [];
  for (let last = 0; ;) {
    const files = await filesAfter(copy, last, PAGE);
    const end = files.at(-1)?.id;
    if (end === undefined) return names;
    last = end;
    const ids = files.map(({ id }) => id);
    const there = await now.selectFrom('files').select('id').where('id', 'in', ids).execute();
    const known = new Set(there.map(({ id }) => id));
    const gone = files.filter(({ id }) => !known.has(id));
    if (gone.length === 0) continue;
    names.push(...gone.map(({ name }) => name));
    const without = gone.map(({ id }) => id);
    await copy.transaction().execute(async (tx) => {
      await tx.deleteFrom('file_tags').where('file_id', 'in', without).execute();
      await tx.deleteFrom('exports').where('file_id', 'in', without).execute();
      await tx.deleteFrom('files').where('id', 'in', without).execute();
    });
  }
}
