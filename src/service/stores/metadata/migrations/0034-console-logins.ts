import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the logins of persons that a browser is on its way for. */
export const consoleLogins: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('console_logins')
      .addColumn('hash', 'text', (column) => column.notNull().primaryKey())
      .addColumn('session_hash', 'text', (column) => column.notNull())
      .addColumn('browser_hash', 'text', (column) => column.notNull())
      .addColumn('task', 'text', (column) => column.notNull())
      .addColumn('is_taken', 'integer', (column) => column.notNull())
      .addColumn('answer', 'text')
      .addColumn('expires', 'text', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('console_logins_expires').on('console_logins').columns(['expires']).execute();
  },
};
