import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import { createCheckpoints } from './checkpoint.ts';
import { copyTables } from './copy.ts';
import { literal } from './identifiers.ts';
import { toTableError } from './failures.ts';
import { inTransaction, sessionOf, type DuckSession } from './session.ts';
import { createPlaces } from '../turns.ts';

export interface DuckDatabaseOptions {
  /** Folder of the database file and its temporary files; made when missing. */
  readonly folder: string;
  /** Memory limit of the engine in megabytes; more goes to temporary files. Default 512. */
  readonly memoryLimitMb?: number | undefined;
  /** Threads at work. Default: one for each processor, 4 at most. */
  readonly threads?: number | undefined;
}

export interface DuckDatabase {
  readonly spoolFolder: string;
  /** A connection of its own for `work`. */
  use<T>(work: (session: DuckSession) => Promise<T>): Promise<T>;
  /** Like {@link use}, in one transaction: all of it is stored, or nothing when it throws. */
  transaction<T>(work: (session: DuckSession) => Promise<T>): Promise<T>;
  /** After work that the disk had no room for. */
  makeRoom(): Promise<void>;
  compact(): Promise<{ freedBytes: number }>;
  /**
   * Writes all that is committed at one moment into a new database file, while others go on. `atMoment` is called at
   * that moment: no transaction is committed before it returns. The file is below `copyFolder`.
   */
  copyTo(file: string, atMoment: () => void): Promise<void>;
  readonly copyFolder: string;
  close(): Promise<void>;
}

/** Transactions at a time; a slow reader of an export keeps its own open. */
const SESSIONS = 64;

/** Statements at a time: each takes a thread of the runtime's pool of four, which files and compression use as well. */
const STATEMENTS = 3;

/** Freed space below this is not worth a rewrite. */
const COMPACT_FROM_BYTES = 32 * 1024 * 1024;

/** Opens the database file of a folder, which no other process may have open. @throws TableError (`storage.tables.locked`) */
export async function openDatabase({
  folder,
  memoryLimitMb = 512,
  threads,
}: DuckDatabaseOptions): Promise<DuckDatabase> {
  const file = join(folder, 'tables.duckdb');
  const freshFolder = join(folder, 'compact');
  const spoolFolder = join(folder, 'spool');
  const tempFolder = join(folder, 'temp');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const sessions = createPlaces(SESSIONS);
  const statements = createPlaces(STATEMENTS);
  const commits = createPlaces(SESSIONS);
  const copies = new Set<DuckDBConnection>();
  let copied = 0;
  let instance: DuckDBInstance | undefined = await start();
  let isClosed = false;
  let isBroken = false;
  // Files of a killed process; no other process uses the folder now.
  for (const leftover of [spoolFolder, freshFolder, tempFolder])
    await rm(leftover, { recursive: true, force: true });
  for (const needed of [spoolFolder, freshFolder]) await mkdir(needed, { recursive: true, mode: 0o700 });

  const checkpoints = createCheckpoints(file, {
    beside: () => sessions.use(() => connected(toFile)),
    alone: () => sessions.alone(() => connected(toFile)),
  });

  return {
    spoolFolder,
    use: (work) => repaired(() => sessions.use(() => connected(work))),
    async transaction(work) {
      const result = await repaired(() =>
        sessions.use(() => connected((session) => inTransaction(session, commits, work))),
      );
      await checkpoints.afterCommit();
      return result;
    },
    makeRoom: () => checkpoints.afterDiskFull(),
    // It would wait for the end of a copy, and everybody else for it.
    compact: async () =>
      copies.size > 0 ? { freedBytes: 0 } : await repaired(() => sessions.alone(rewrite)),
    copyFolder: freshFolder,
    copyTo: (path, atMoment) => repaired(() => sessions.use(() => copy(path, atMoment))),
    close() {
      for (const connection of copies) connection.interrupt();
      return sessions.alone(() => {
        isClosed = true;
        stop();
        return Promise.resolve();
      });
    },
  };

  function stop(): void {
    instance?.closeSync();
    instance = undefined;
  }

  /**
   * A full disk can make the database refuse everything until it is opened again. What was committed is in its log,
   * and is there then.
   */
  async function repaired<T>(work: () => Promise<T>): Promise<T> {
    if (isBroken)
      await sessions.alone(async () => {
        if (!isBroken || isClosed) return;
        stop();
        instance = await start();
        isBroken = false;
      });
    return await work();
  }

  async function start(): Promise<DuckDBInstance> {
    try {
      // Two instances of one file in a process would not see each other's rows: the cache gives the same one.
      const started = await DuckDBInstance.fromCache(file, {
        memory_limit: `${memoryLimitMb}MB`,
        temp_directory: tempFolder,
        preserve_insertion_order: 'true',
        // The smallest: a load holds some blocks for each column, so large ones leave no memory for wide tables.
        default_block_size: '16384',
        // Never by itself: see checkpoint.ts.
        checkpoint_threshold: '1TB',
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
        allow_community_extensions: 'false',
        threads: String(threads ?? Math.min(4, availableParallelism())),
      });
      const connection = await started.connect();
      try {
        // Statements can reach no file but these.
        await connection.run(
          `SET allowed_directories = [${[spoolFolder, freshFolder].map((path) => literal(`${path}/`)).join(', ')}]`,
        );
        await connection.run('SET enable_external_access = false');
        await connection.run('SET lock_configuration = true');
      } finally {
        connection.disconnectSync();
      }
      return started;
    } catch (error) {
      throw toTableError(error);
    }
  }

  async function connected<T>(work: (session: DuckSession) => Promise<T>): Promise<T> {
    if (instance === undefined) throw new Error('The table engine is closed.');
    const connection = await instance.connect();
    try {
      return await work(sessionOf(connection, statements, onError));
    } finally {
      connection.disconnectSync();
    }
  }

  async function copy(path: string, atMoment: () => void): Promise<void> {
    if (instance === undefined) throw new Error('The table engine is closed.');
    const name = `"copy ${++copied}"`;
    const connection = await instance.connect();
    copies.add(connection);
    const session = sessionOf(connection, statements, onError);
    // Does not wait for statements of others, which all commits would wait for then.
    const first = sessionOf(connection, createPlaces(1), onError);
    try {
      await session.run(`ATTACH ${literal(path)} AS ${name}`);
      await commits.alone(async () => {
        await first.run('BEGIN TRANSACTION');
        // The first query fixes the snapshot that the transaction sees.
        await first.rows('SELECT count(*) FROM main.catalog');
        atMoment();
      });
      await copyTables(session, name);
      await session.run('COMMIT');
      await session.run(`CHECKPOINT ${name}`);
      await session.run(`DETACH ${name}`);
    } catch (error) {
      await session.run('ROLLBACK').catch(() => undefined);
      await session.run(`DETACH ${name}`).catch(() => undefined);
      throw error;
    } finally {
      copies.delete(connection);
      connection.disconnectSync();
    }
    await sync(path);
  }

  function onError(error: unknown): void {
    if (error instanceof Error && /^FATAL Error|has been invalidated/.test(error.message)) isBroken = true;
  }

  async function rewrite(): Promise<{ freedBytes: number }> {
    const fresh = join(freshFolder, 'tables.duckdb');
    const bytesBefore = (await stat(file)).size;
    const isWorth = await connected(async (session) => {
      await session.run('CHECKPOINT');
      const [row] = await session.rows(
        'SELECT free_blocks * block_size, total_blocks * block_size FROM pragma_database_size()',
      );
      const [free, total] = (row ?? []).map(Number);
      if ((free ?? 0) < COMPACT_FROM_BYTES || (free ?? 0) * 2 < (total ?? 0)) return false;
      await session.run(`ATTACH ${literal(fresh)} AS fresh`);
      try {
        await session.run('COPY FROM DATABASE tables TO fresh');
        await session.run('CHECKPOINT fresh');
      } catch (error) {
        await session.run('DETACH fresh').catch(() => undefined);
        for (const leftover of [fresh, `${fresh}.wal`]) await rm(leftover, { force: true });
        throw error;
      }
      await session.run('DETACH fresh');
      return true;
    });
    // The checkpoint frees the space at the end of the file.
    if (!isWorth) return { freedBytes: bytesBefore - (await stat(file)).size };
    await sync(fresh);
    stop();
    await rename(fresh, file);
    await sync(folder);
    instance = await start();
    return { freedBytes: bytesBefore - (await stat(file)).size };
  }
}

function toFile(session: DuckSession): Promise<void> {
  return session.run('CHECKPOINT');
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
