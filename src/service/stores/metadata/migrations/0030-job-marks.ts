import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The name that tables know the import of a job by. Jobs of before have none, and go by their number. */
export const jobMarks: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('jobs').addColumn('mark', 'text').execute();
  },
};
