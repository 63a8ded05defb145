import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The key of a request keeps what its transaction gave, so that its answer can be made again. */
export const madeByRequests: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('request_keys').addColumn('made', 'text').execute();
  },
};
