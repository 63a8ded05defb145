import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { silentLog, type Log } from '../../../../lib/log.ts';
import { literal } from '../duckdb/identifiers.ts';
import { sessionOf, type DuckSession } from '../duckdb/session.ts';
import { createPlaces } from '../turns.ts';
import { attachError, attachStatements, keysOf, LAKE } from './attach.ts';
import { extensionsFor, loadExtensions, NO_OTHERS } from './extensions.ts';
import { toLakeError } from './failures.ts';
import { dataPath, type LakePlace } from './place.ts';

export interface LakeDatabaseOptions {
  readonly place: LakePlace;
  /** Folder for files that are loaded or exported, and for what does not fit into memory; made when it is missing. */
  readonly workFolder: string;
  /** Folder with the extensions of DuckDB; undefined: those that DuckDB has, or installs. */
  readonly extensions?: string | undefined;
  /** Memory limit of DuckDB in megabytes; more goes to temporary files. Default 512: tables of 1,200 columns need it. */
  readonly memoryLimitMb?: number | undefined;
  /**
   * Threads at work. Default: one for two processors, 4 at most. While one thread writes a file in its order, DuckDB
   * may keep another busy with waiting.
   */
  readonly threads?: number | undefined;
  readonly log?: Log | undefined;
}

/** DuckDB in memory, with a lake attached. */
export interface LakeDatabase {
  readonly spoolFolder: string;
  /** A connection of its own for `work`, which does not touch the tables of the lake. */
  use<T>(work: (session: DuckSession) => Promise<T>): Promise<T>;
  /**
   * Like {@link use}, in one transaction over the lake: all of it is stored, or nothing when it throws.
   */
  transaction<T>(work: (session: DuckSession) => Promise<T>, options?: ChangeOptions): Promise<T>;
  /**
   * Like {@link use}, for statements that read some tables, each in a transaction of its own: a slow reader keeps none
   * open.
   *
   * @param tables as named in SQL, with their version
   * @param work gets two connections: statements of one go on beside those of the other
   */
  read<T>(
    tables: readonly string[],
    work: (session: DuckSession, other: DuckSession) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

export interface ChangeOptions {
  /** Tables that are read at an earlier version, as named in SQL. */
  readonly tables?: readonly string[];
  /**
   * Bytes that it reads and writes, about. Small ones are made one after the other: of two that go on beside each other
   * the second one to commit begins its commit again, which takes twice the round trips to the database. Default: many.
   */
  readonly bytes?: number;
}

/** Changes of fewer bytes take less time than a commit that is begun again. */
const SMALL_BYTES = 4 * 1024 * 1024;

/** Connections at a time; a slow reader of an export keeps its own. */
const SESSIONS = 32;

/** Statements at a time: each takes a thread of the runtime's pool of four, which files and compression use as well. */
const STATEMENTS = 3;

/** @throws {RunError} `lake.extension`, `lake.version`, `database.otherFiles` */
export async function openLakeDatabase(options: LakeDatabaseOptions): Promise<LakeDatabase> {
  const { place, workFolder, extensions, memoryLimitMb = 512, threads, log = silentLog } = options;
  const spoolFolder = join(workFolder, 'spool');
  const tempFolder = join(workFolder, 'temp');
  // Files of a killed process; no other process uses the folder now.
  for (const leftover of [spoolFolder, tempFolder]) await rm(leftover, { recursive: true, force: true });
  await mkdir(spoolFolder, { recursive: true, mode: 0o700 });
  if (place.kind === 'folder') await mkdir(dataPath(place), { recursive: true, mode: 0o700 });
  const sessions = createPlaces(SESSIONS);
  const statements = createPlaces(STATEMENTS);
  // DuckLake reads the schema of a version when it is first needed, and frees what statements that are running use when
  // it does so, and when a change is committed: wrong schemas, and crashes. So a transaction that may make it read begins
  // while no statement runs, and so does the commit of a change; and one at a time begins or commits.
  const turn = createPlaces(1);
  const line = createPlaces(1);
  const tellOfFiles = tellerOfFiles(log);
  /** Statements whose schemas have been read. */
  const known = new Set<string>();
  let instance: DuckDBInstance | undefined = await start();

  return {
    spoolFolder,
    use: (work) => sessions.use(() => connected(work)),
    transaction: (work, { tables = [], bytes = Number.POSITIVE_INFINITY } = {}) => {
      const change = () =>
        sessions.use(() =>
          connected((session, own) =>
            inOne(own, true, [NEWEST, ...tables.map(nothingOf)], () => work(session)),
          ),
        );
      return bytes < SMALL_BYTES ? line.use(change) : change();
    },
    read: (tables, work) =>
      sessions.use(() =>
        connected((session, own) =>
          connected((other, ofOther) => work(reader(tables, session, own), reader(tables, other, ofOther))),
        ),
      ),
    close: () =>
      sessions.alone(async () => {
        instance?.closeSync();
        instance = undefined;
        await rm(tempFolder, { recursive: true, force: true });
      }),
  };

  function reader(tables: readonly string[], session: DuckSession, own: DuckSession): DuckSession {
    const rows = (sql: string): ReturnType<DuckSession['rows']> =>
      inOne(own, false, tables.map(nothingOf), () => session.rows(sql));
    return {
      rows,
      run: async (sql) => void (await rows(sql)),
      number: async (sql) => Number((await rows(sql))[0]?.[0] ?? 0),
    };
  }

  /** @param first statements for which DuckLake reads the schemas of the versions that are used */
  async function inOne<T>(
    own: DuckSession,
    isChange: boolean,
    first: readonly string[],
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      await begin(own, first);
      const result = await work();
      await turn.use(() =>
        isChange ? statements.alone(() => commit(own)) : statements.use(() => own.run('COMMIT')),
      );
      return result;
    } catch (error) {
      // A failed COMMIT has rolled back by itself. Where the catalogue is away, the rollback fails as a statement; that of
      // a connection which is closed in the middle of a transaction would end the process.
      await statements.alone(() => own.run('ROLLBACK')).catch(() => undefined);
      throw error;
    }
  }

  async function begin(own: DuckSession, first: readonly string[]): Promise<void> {
    const work = async (): Promise<void> => {
      await own.run('BEGIN TRANSACTION');
      for (const statement of first) await own.run(statement);
    };
    const isRead = first.every((statement) => known.has(statement));
    await turn.use(() => (isRead ? statements.use(work) : statements.alone(work)));
    if (known.size > MOST_KNOWN) known.clear();
    for (const statement of first) if (statement !== NEWEST) known.add(statement);
  }

  /** Commits while no other statement runs, so that none needs the keys that DuckDB has not meanwhile. */
  async function commit(own: DuckSession): Promise<void> {
    const keys = keysOf(place);
    if (keys === undefined) return await own.run('COMMIT');
    const other = await opened().connect();
    try {
      await other.run(keys.without);
      await own.run('COMMIT');
    } catch (error) {
      tellOfFiles();
      throw error;
    } finally {
      await other.run(keys.withAll);
      other.disconnectSync();
    }
  }

  async function start(): Promise<DuckDBInstance> {
    const started = await DuckDBInstance.create(':memory:', {
      memory_limit: `${memoryLimitMb}MB`,
      temp_directory: tempFolder,
      preserve_insertion_order: 'true',
      ...NO_OTHERS,
      threads: String(threads ?? Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2)))),
      // Freed memory goes back to the system at once, and not after the next load.
      allocator_background_threads: 'true',
      allocator_flush_threshold: '16MB',
      allocator_bulk_deallocation_flush_threshold: '64MB',
    });
    try {
      const connection = await started.connect();
      try {
        await loadExtensions(connection, extensionsFor(place.kind), extensions);
        for (const statement of attachStatements(place)) await connection.run(statement);
        // Statements can reach no file but these.
        const folders = [`${spoolFolder}/`, dataPath(place)].map(literal);
        await connection.run(`SET allowed_directories = [${folders.join(', ')}]`);
        await connection.run('SET enable_external_access = false');
        await connection.run('SET lock_configuration = true');
      } finally {
        connection.disconnectSync();
      }
      return started;
    } catch (error) {
      started.closeSync();
      throw toLakeError(attachError(error, place));
    }
  }

  function opened(): DuckDBInstance {
    if (instance === undefined) throw new Error('The table engine is closed.');
    return instance;
  }

  /** @param work gets the statements, and those which wait for no others: only within what is held here */
  async function connected<T>(work: (session: DuckSession, own: DuckSession) => Promise<T>): Promise<T> {
    const connection = await opened().connect();
    try {
      return await work(
        sessionOf(connection, statements, () => undefined),
        sessionOf(connection, createPlaces(1), () => undefined),
      );
    } catch (error) {
      throw toLakeError(error);
    } finally {
      connection.disconnectSync();
    }
  }
}

/**
 * Has the schema of the newest version read, and changes nothing: the schema is there always. A statement that looks at
 * all catalogs would keep the keys of the store as they are now for the whole transaction, its COMMIT included.
 */
const NEWEST = `CREATE SCHEMA IF NOT EXISTS ${LAKE}.main`;

const MOST_KNOWN = 10_000;

/** Milliseconds in which files that are left are told once: a database that is away lets many commits fail. */
const TOLD_MS = 10 * 60_000;

/** Tells that commits have failed, whose files stay in the store. */
function tellerOfFiles(log: Log): () => void {
  let commits = 0;
  let toldMs = Number.NEGATIVE_INFINITY;
  return () => {
    commits++;
    const nowMs = performance.now();
    if (nowMs - toldMs < TOLD_MS) return;
    log.warn(
      'A change of the lake was not committed, and files that were written for it may stay in the store. From two days on “gex storage tables orphans” lists those that no table has, and deletes what it has listed.',
      { commits },
    );
    toldMs = nowMs;
    commits = 0;
  };
}

const nothingOf = (table: string): string => `SELECT 1 FROM ${table} LIMIT 0`;

/** Table of the catalogue's own, as DuckDB sees it; the catalogue of a folder has no other reader. */
export const METADATA = `__ducklake_metadata_${LAKE}`;
