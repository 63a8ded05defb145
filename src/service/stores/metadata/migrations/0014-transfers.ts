import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** How far the migration into this storage is: empty in one that is whole (`tables.ts`). */
export const transfers: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('transfers')
      .addColumn('step', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('transfers_key', ['step'])
      .execute();
  },
};
