import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The last profile of a table is found by it: most jobs are about other tables, or of another kind. */
export const jobsOfTables: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createIndex('jobs_of_tables')
      .on('jobs')
      .columns(['table_id', 'operation', 'id'])
      .execute();
  },
};
