import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds who has accepted the doubt of a run, and why. */
export const acceptedDoubts: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('runs').addColumn('accepted', 'text').execute();
  },
};
