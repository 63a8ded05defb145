import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the requests that the process of a run has sent, those that failed among them. Older runs have none. */
export const runRequests: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('run_requests')
      .addColumn('run_id', 'bigint', (column) => column.notNull())
      .addColumn('first_line', 'bigint', (column) => column.notNull())
      .addColumn('lines', 'integer', (column) => column.notNull())
      .addColumn('text', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('run_requests_key', ['run_id', 'first_line'])
      .execute();
  },
};
