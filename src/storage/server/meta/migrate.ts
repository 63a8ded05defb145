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
};

/** Brings the tables up to date, wholly or not at all; does nothing when they are. */
export async function migrate(meta: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db: meta, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
