import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The jobs of a token are found by it: most are those of others. */
export const lists: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.createIndex('jobs_creator').on('jobs').columns(['creator_id', 'id']).execute();
  },
};
