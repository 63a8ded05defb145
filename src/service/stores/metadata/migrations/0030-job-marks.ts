import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Adds the mark of jobs, by which tables recognize the import of a job. Older jobs have none, and go by their number.
 */
export const jobMarks: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('jobs').addColumn('mark', 'text').execute();
  },
};
