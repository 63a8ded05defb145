import { Migrator, type Migration } from 'kysely/migration';
import type { Kysely } from 'kysely';
import { first } from './migrations/0001-first.ts';
import { versionChanges } from './migrations/0002-version-changes.ts';
import { requestKeys } from './migrations/0003-request-keys.ts';
import { tokenBranches } from './migrations/0004-token-branches.ts';
import { events } from './migrations/0005-events.ts';
import { bucketOwner } from './migrations/0006-bucket-owner.ts';
import { retention } from './migrations/0007-retention.ts';
import { aliases } from './migrations/0008-aliases.ts';
import { queues } from './migrations/0011-queues.ts';
import { requestIds } from './migrations/0013-request-ids.ts';
import { transfers } from './migrations/0014-transfers.ts';
import type { Tables } from './tables.ts';

/** In the order they are run; a published one is never edited. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-version-changes': versionChanges,
  '0003-request-keys': requestKeys,
  '0004-token-branches': tokenBranches,
  '0005-events': events,
  '0006-bucket-owner': bucketOwner,
  '0007-retention': retention,
  '0008-aliases': aliases,
  '0011-queues': queues,
  '0013-request-ids': requestIds,
  '0014-transfers': transfers,
};

/** Those that a database lacks: of an older one that was put in the place of the one that was opened. */
export async function missingMigrations(meta: Kysely<Tables>): Promise<readonly string[]> {
  const migrator = migratorOf(meta);
  const all = await migrator.getMigrations();
  return all.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
}

/** Brings the tables up to date, wholly or not at all; does nothing when they are. */
export async function migrate(meta: Kysely<Tables>): Promise<void> {
  const { error } = await migratorOf(meta).migrateToLatest();
  if (error !== undefined) throw error;
}

function migratorOf(meta: Kysely<Tables>): Migrator {
  return new Migrator({ db: meta, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
}
