import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A job knows the request that asked for it, and is counted by its state. */
export const requestIds: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('jobs').addColumn('request_id', 'text').execute();
  },
};
