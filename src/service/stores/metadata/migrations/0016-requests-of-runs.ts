import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A run knows the request that asked for it. */
export const requestsOfRuns: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('runs').addColumn('request_id', 'text').execute();
  },
};
