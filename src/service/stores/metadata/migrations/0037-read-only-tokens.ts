import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds tokens that change nothing. */
export const readOnlyTokens: Migration = {
  async up(db: Kysely<never>) {
    for (const table of ['tokens', 'deleted_tokens'])
      await db.schema
        .alterTable(table)
        .addColumn('is_read_only', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
  },
};
