import { Migrator, type Migration } from 'kysely/migration';
import { sql, type Kysely } from 'kysely';
import { RunError } from '../../../lib/errors.ts';
import { codeOf } from '../../platform/database/failures.ts';
import { postgresSchema } from './dialect.ts';
import { first } from './migrations/0001-first.ts';
import { versionChanges } from './migrations/0002-version-changes.ts';
import { requestKeys } from './migrations/0003-request-keys.ts';
import { tokenBranches } from './migrations/0004-token-branches.ts';
import { events } from './migrations/0005-events.ts';
import { bucketOwner } from './migrations/0006-bucket-owner.ts';
import { retention } from './migrations/0007-retention.ts';
import { aliases } from './migrations/0008-aliases.ts';
import { severalMachines } from './migrations/0009-several-machines.ts';
import { queues } from './migrations/0011-queues.ts';
import { runs } from './migrations/0012-runs.ts';
import { requestIds } from './migrations/0013-request-ids.ts';
import { transfers } from './migrations/0014-transfers.ts';
import { lists } from './migrations/0015-lists.ts';
import { requestsOfRuns } from './migrations/0016-requests-of-runs.ts';
import { madeByRequests } from './migrations/0017-made-by-requests.ts';
import { runsPutOff } from './migrations/0017-runs-put-off.ts';
import { consoleSessions } from './migrations/0023-console.ts';
import { jobsOfTables } from './migrations/0024-jobs-of-tables.ts';
import { tableStamps } from './migrations/0028-table-stamps.ts';
import { versionsOfRuns } from './migrations/0029-versions-of-runs.ts';
import { jobMarks } from './migrations/0030-job-marks.ts';
import type { Tables } from './tables.ts';

/**
 * In the order they are run; a published one is never edited. The same ones make the tables of SQLite and of PostgreSQL.
 *
 * Over PostgreSQL, processes of the version before go on while these run, and after it. So a migration only adds what
 * they need not know: tables, columns that may be left out (nullable, or with a default), indexes. What is no longer
 * used is taken away by a later version, when no process is left that uses it: expand, then contract.
 */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-version-changes': versionChanges,
  '0003-request-keys': requestKeys,
  '0004-token-branches': tokenBranches,
  '0005-events': events,
  '0006-bucket-owner': bucketOwner,
  '0007-retention': retention,
  '0008-aliases': aliases,
  '0009-several-machines': severalMachines,
  '0011-queues': queues,
  '0012-runs': runs,
  '0013-request-ids': requestIds,
  '0014-transfers': transfers,
  '0015-lists': lists,
  '0016-requests-of-runs': requestsOfRuns,
  '0017-made-by-requests': madeByRequests,
  '0017-runs-put-off': runsPutOff,
  '0023-console': consoleSessions,
  '0024-jobs-of-tables': jobsOfTables,
  '0028-table-stamps': tableStamps,
  '0029-versions-of-runs': versionsOfRuns,
  '0030-job-marks': jobMarks,
};

/** Those that a database lacks: of an older one that was put in the place of the one that was opened. */
export async function missingMigrations(meta: Kysely<Tables>): Promise<readonly string[]> {
  const done = await listDone(meta);
  return Object.keys(MIGRATIONS).filter((name) => !done.includes(name));
}

/**
 * Brings the tables up to date, wholly or not at all; does nothing when they are. Of several processes one does it, and
 * the others wait for it.
 *
 * @throws {RunError} `database.newer` when a newer version of this program has changed the tables
 */
export async function migrate(meta: Kysely<Tables>): Promise<void> {
  const schema = postgresSchema(meta);
  const done = await refuseNewer(meta);
  if (schema === undefined) await runAll(meta);
  // A look that needs no lock: most starts find everything done.
  else if (done.length < Object.keys(MIGRATIONS).length)
    await meta.transaction().execute(async (tx) => await runAll(tx, schema));
}

/**
 * @returns the migrations that were run
 * @throws {RunError} `database.newer` when a newer version of this program has changed the tables
 */
export async function refuseNewer(meta: Kysely<Tables>): Promise<readonly string[]> {
  const done = await listDone(meta);
  const unknown = done.find((name) => !Object.hasOwn(MIGRATIONS, name));
  if (unknown !== undefined)
    throw new RunError('database.newer', `The metadata is that of a newer version: it has “${unknown}”.`, {
      hint: 'Use that version, or a newer one. To go back, restore the copy that was made before the upgrade.',
    });
  return done;
}

async function runAll(meta: Kysely<Tables>, schema?: string): Promise<void> {
  const place = schema === undefined ? {} : { migrationTableSchema: schema };
  const provider = { getMigrations: async () => ({ ...MIGRATIONS }) };
  // One for all of it: who comes second finds the tables that the first has made.
  if (schema !== undefined) await meta.getExecutor().adapter.acquireMigrationLock(meta, LOCK);
  const { error } = await new Migrator({ db: meta, provider, ...place }).migrateToLatest();
  if (error !== undefined) throw error;
}

/** Not used: the lock has a name of its own. */
const LOCK = { lockTable: '', lockRowId: '' };

/** The names of the migrations that were run; none in a new database. */
async function listDone(meta: Kysely<Tables>): Promise<string[]> {
  try {
    const table = sql.table(
      [postgresSchema(meta), 'kysely_migration'].filter((name) => name !== undefined).join('.'),
    );
    const { rows } = await sql<{ name: string }>`select name from ${table} order by name`.execute(meta);
    return rows.map(({ name }) => name);
  } catch (error) {
    const isNew =
      NO_TABLE.test(codeOf(error)) || (error instanceof Error && /no such table/.test(error.message));
    if (isNew) return [];
    throw error;
  }
}

/** SQLSTATEs: no such table, no such schema. */
const NO_TABLE = /^(?:42P01|3F000)$/;
