import { sql, type RawBuilder } from 'kysely';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';

const DATABASE = sql`concat_ws('/', (select system_identifier from pg_control_system()),
  (select oid from pg_database where datname = current_database()))`;

/**
 * Names the database itself: its copies by a restored dump have another name, and those of its disks, its standbys and
 * itself after a recovery have the same. Undefined for a folder, and where the server does not tell it.
 */
export async function databaseOf(meta: Meta): Promise<string | undefined> {
  return postgresSchema(meta) === undefined ? undefined : await ask(meta, DATABASE);
}

/** Changes with the server, with the database, and with each recovery. Undefined where the server does not tell it. */
export async function incarnationOf(meta: Meta): Promise<string | undefined> {
  const timeline = sql`substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)`;
  return await ask(meta, sql`concat_ws('/', ${DATABASE}, ${timeline})`);
}

async function ask(meta: Meta, value: RawBuilder<unknown>): Promise<string | undefined> {
  try {
    return (await sql<{ name: string }>`select ${value} as name`.execute(meta)).rows[0]?.name;
  } catch (error) {
    if (error instanceof Error && 'code' in error && REFUSED.has(error.code)) return undefined;
    throw error;
  }
}

/**
 * Error codes of a server that refuses to show its log: not allowed, no such function, not in this state, not
 * supported.
 */
const REFUSED: ReadonlySet<unknown> = new Set(['42501', '42883', '55000', '0A000']);
