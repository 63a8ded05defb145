import { Migrator, type Migration } from 'kysely/migration';
import { sql, type Kysely } from 'kysely';
import { RunError } from '../../../lib/errors.ts';
import { codeOf } from '../../platform/database/failures.ts';
import { postgresSchema } from './dialect.ts';
import { schema as firstSchema } from './migrations/0001-schema.ts';
import { versionsOfRuns } from './migrations/0029-versions-of-runs.ts';
import { jobMarks } from './migrations/0030-job-marks.ts';
import { queueInRows } from './migrations/0031-queue-in-rows.ts';
import { runRequests } from './migrations/0032-run-requests.ts';
import { alerts } from './migrations/0033-alerts.ts';
import { consoleLogins } from './migrations/0034-console-logins.ts';
import { kindsOfAlerts } from './migrations/0035-kinds-of-alerts.ts';
import { runTables } from './migrations/0036-run-tables.ts';
import { readOnlyTokens } from './migrations/0037-read-only-tokens.ts';
import { acceptedDoubts } from './migrations/0038-accepted-doubts.ts';
import type { MetadataTables } from './tables.ts';

/**
 * In the order they are run; a published one is never edited. The same ones make the tables of SQLite and of PostgreSQL.
 *
 * Over PostgreSQL, processes of the version before go on while these run, and after it. So a migration only adds what
 * they need not know: tables, columns that may be left out (nullable, or with a default), indexes. What is no longer
 * used is taken away by a later version, when no process is left that uses it: expand, then contract.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-schema': firstSchema,
  '0029-versions-of-runs': versionsOfRuns,
  '0030-job-marks': jobMarks,
  '0031-queue-in-rows': queueInRows,
  '0032-run-requests': runRequests,
  '0033-alerts': alerts,
  '0034-console-logins': consoleLogins,
  '0035-kinds-of-alerts': kindsOfAlerts,
  '0036-run-tables': runTables,
  '0037-read-only-tokens': readOnlyTokens,
  '0038-accepted-doubts': acceptedDoubts,
};

/**
 * The first migration was many, of which these were the first and the last: together they made the same tables, so a
 * database that has the last of them is one that has the first of now.
 */
const OF_BEFORE = { first: '0001-first', last: '0028-table-stamps', now: '0001-schema' } as const;

/** Lists the migrations that a database lacks, such as an older one that was put in place of the opened one. */
export async function missingMigrations(meta: Kysely<MetadataTables>): Promise<readonly string[]> {
  const done = await listDone(meta);
  return Object.keys(MIGRATIONS).filter((name) => !done.includes(name));
}

/**
 * Brings the tables up to date, wholly or not at all; does nothing when they are. Of several processes one does it, and
 * the others wait for it.
 *
 * @throws {RunError} `database.newer`, `database.older`
 */
export async function migrate(meta: Kysely<MetadataTables>): Promise<void> {
  const schema = postgresSchema(meta);
  const done = await refuseUnknown(meta);
  if (schema === undefined) await runAll(meta, done.length === 0);
  // A look that needs no lock: most starts find everything done.
  else if (done.length < Object.keys(MIGRATIONS).length)
    await meta.transaction().execute(async (tx) => await runAll(tx, done.length === 0));
}

/**
 * @returns the migrations that were run
 * @throws {RunError} `database.newer` when a newer version of this program has changed the tables, `database.older` when
 *   one has made them whose migrations this one has no more
 */
export async function refuseUnknown(meta: Kysely<MetadataTables>): Promise<readonly string[]> {
  const done = await listDone(meta);
  if (done.includes(OF_BEFORE.first))
    throw new RunError(
      'database.older',
      `The metadata is that of an older version: its last change is “${done.at(-1)}”.`,
      {
        hint: 'Start “gex serve” of the version before this one over it once, and stop it: that brings it up to date.',
      },
    );
  const unknown = done.find((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown !== undefined)
    throw new RunError('database.newer', `The metadata is that of a newer version: it has “${unknown}”.`, {
      hint: 'Use that version, or a newer one. To go back, restore the copy that was made before the upgrade.',
    });
  return done;
}

async function runAll(meta: Kysely<MetadataTables>, isNew: boolean): Promise<void> {
  const schema = postgresSchema(meta);
  const place = schema === undefined ? {} : { migrationTableSchema: schema };
  const provider = { getMigrations: async () => ({ ...MIGRATIONS }) };
  // One lock for all migrations: a second process finds the tables that the first has made.
  if (schema !== undefined) await meta.getExecutor().adapter.acquireMigrationLock(meta, LOCK);
  if (!isNew) await joinThoseOfBefore(meta);
  const { error } = await new Migrator({ db: meta, provider, ...place }).migrateToLatest();
  if (error !== undefined) throw error;
}

/** Not used: the lock has a name of its own. */
const LOCK = { lockTable: '', lockRowId: '' };

/** Does nothing a second time, and continues where a process was killed. */
async function joinThoseOfBefore(meta: Kysely<MetadataTables>): Promise<void> {
  const { first, last, now } = OF_BEFORE;
  const done = tableOfDone(meta);
  await sql`update ${done} set name = ${now} where name = ${first}`.execute(meta);
  await sql`delete from ${done} where name <= ${last} and name <> ${now}
    and exists (select 1 from ${done} where name = ${last})`.execute(meta);
}

/** The names of the migrations that were run; none in a new database. */
async function listDone(meta: Kysely<MetadataTables>): Promise<string[]> {
  try {
    const select = sql<{ name: string }>`select name from ${tableOfDone(meta)} order by name`;
    const names = (await select.execute(meta)).rows.map(({ name }) => name);
    const { last, now } = OF_BEFORE;
    return names.includes(last) ? [now, ...names.filter((name) => name > last)] : names;
  } catch (error) {
    const isNew =
      NO_TABLE.test(codeOf(error)) || (error instanceof Error && /no such table/.test(error.message));
    if (isNew) return [];
    throw error;
  }
}

const tableOfDone = (meta: Kysely<MetadataTables>) =>
  sql.table([postgresSchema(meta), 'kysely_migration'].filter((name) => name !== undefined).join('.'));

/** SQLSTATEs: no such table, no such schema. */
const NO_TABLE = /^(?:42P01|3F000)$/;
