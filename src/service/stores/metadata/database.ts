import { chmodSync, closeSync, openSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
} from 'kysely';
import type { Database } from '../../platform/database/database.ts';
import { refusalOf } from '../../platform/database/failures.ts';
import { postgresSchema } from './dialect.ts';
import { migrate } from './migrate.ts';
import type { MetadataTables } from './tables.ts';
import { sqlite } from '../../../lib/sqlite.ts';

export type Meta = Kysely<MetadataTables>;

/**
 * Opens the metadata of one service and brings its tables up to date. Every acknowledged change is on disk
 * (WAL, synchronous FULL); transactions begin immediately, so that two processes never lose one to a lock.
 *
 * @param place a file of SQLite, `:memory:`, or a PostgreSQL database, which stays open when the metadata is destroyed
 * @throws {RunError} `database.newer` when a newer version of this program has changed the tables, `database.older` when
 *   they are those of a version that is too old
 */
export async function openMeta(place: Database | string): Promise<Meta> {
  if (typeof place !== 'string') return await openPostgres(place);
  const meta = connectMeta(place);
  try {
    await migrate(meta);
    return meta;
  } catch (error) {
    await meta.destroy();
    throw error;
  }
}

/** Loaded where it is needed only: a folder needs no driver of PostgreSQL. */
async function openPostgres(database: Database): Promise<Meta> {
  const { connectPostgres } = await import('./postgres.ts');
  try {
    // A migration of much takes as long as it takes.
    await migrate(connectPostgres(database, { isBounded: false }));
  } catch (error) {
    // The schema may be that of another user.
    throw refusalOf(error, database.address) ?? error;
  }
  return connectPostgres(database);
}

/** The same without its tables: they are as they were left. */
export function connectMeta(file: string): Meta {
  if (file !== ':memory:') keepPrivate(file);
  const database = new (sqlite().DatabaseSync)(file, { timeout: 10_000 });
  for (const pragma of PRAGMAS) database.exec(`PRAGMA ${pragma}`);
  return new Kysely<MetadataTables>({ dialect: new ImmediateDialect(database) });
}

/** For its user alone, from its first byte on: it has hashes of tokens and what was configured. Its log files are as it is. */
function keepPrivate(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  try {
    chmodSync(file, 0o600);
  } catch {
    // It is another user's, and may be used here all the same.
  }
}

const PRAGMAS = [
  'auto_vacuum = INCREMENTAL',
  'journal_mode = WAL',
  'synchronous = FULL',
  'case_sensitive_like = ON',
];

/** Pages that are given back at once: some hundredths of a second. */
const PAGES_AT_ONCE = 1000;

/**
 * Gives space of deleted rows back to the disk, a part at a time; PostgreSQL does that by itself.
 *
 * @returns how many pages; 0 when none is left
 */
export async function reclaimSpace(meta: Meta): Promise<number> {
  if (postgresSchema(meta) !== undefined) return 0;
  const before = await countFreePages(meta);
  if (before > 0) await meta.executeQuery(CompiledQuery.raw(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`));
  else await meta.executeQuery(CompiledQuery.raw('PRAGMA wal_checkpoint(TRUNCATE)'));
  return Math.min(before, PAGES_AT_ONCE);
}

async function countFreePages(meta: Meta): Promise<number> {
  const { rows } = await meta.executeQuery<{ readonly freelist_count: number }>(
    CompiledQuery.raw('PRAGMA freelist_count'),
  );
  return rows[0]?.freelist_count ?? 0;
}

// A deferred `begin` that reads and then writes fails with "database is locked" as soon as another process wrote.
class ImmediateDialect extends SqliteDialect {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super({ database: adapt(database) });
    this.#database = database;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#database);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

// So that a process killed in the middle of a migration leaves nothing of it.
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super({ database: adapt(database) });
    this.#database = database;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  // A full disk ends the transaction by itself; a second rollback would fail, and its error would hide the real one.
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }
}

/** Prepared statements kept for reuse; queries differ little, so this is seldom reached. */
const MAX_STATEMENTS = 500;

function adapt(database: DatabaseSync): {
  close(): void;
  prepare(sql: string): ReturnType<typeof adaptStatement>;
} {
  const statements = new Map<string, ReturnType<typeof adaptStatement>>();
  return {
    close: () => database.close(),
    prepare(sql) {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      if (statements.size >= MAX_STATEMENTS) statements.clear();
      const statement = adaptStatement(database.prepare(sql), sql);
      statements.set(sql, statement);
      return statement;
    },
  };
}

function adaptStatement(
  statement: StatementSync,
  sql: string,
): {
  readonly reader: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>;
} {
  return {
    // A pragma may work a step for each row that is asked for, though it has none to give.
    reader: statement.columns().length > 0 || sql.startsWith('PRAGMA'),
    all: (parameters) => statement.all(...parameters.map(inputValue)),
    run: (parameters) => statement.run(...parameters.map(inputValue)),
    iterate: (parameters) => statement.iterate(...parameters.map(inputValue)),
  };
}

function inputValue(value: unknown): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Date) return value.toISOString();
  if (value === undefined) return null;
  // The tables' types admit strings, numbers and null only.
  return value as SQLInputValue;
}
