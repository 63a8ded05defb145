import { Migrator, type Migration } from 'kysely/migration';
import type { Kysely } from 'kysely';
import { first } from './migrations/0001-first.ts';
import type { Tables } from './tables.ts';

/** In the order they are run; a published one is never edited. */
const MIGRATIONS: Readonly<Record<string, Migration>> = { '0001-first': first };

/** Brings the tables up to date, wholly or not at all; does nothing when they are. */
export async function migrate(meta: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({ db: meta, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
