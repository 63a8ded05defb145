import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A table may be an alias: another table, or some rows and columns of it, under a name of its own. */
export const aliases: Migration = {
  async up(db: Kysely<never>) {
    const table = db.schema.alterTable('tables');
    await table.addColumn('alias_source', 'text').execute();
    await table.addColumn('alias_filter', 'text').execute();
    await table.addColumn('alias_auto_sync', 'integer', (column) => column.notNull().defaultTo(0)).execute();
    await db.schema.createIndex('tables_alias').on('tables').columns(['branch_id', 'alias_source']).execute();
  },
};
