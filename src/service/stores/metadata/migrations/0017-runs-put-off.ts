import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Runs wait for what they need: until when, and how often they did. */
export const runsPutOff: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('runs').addColumn('not_before', 'text').execute();
    await db.schema
      .alterTable('runs')
      .addColumn('put_offs', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
