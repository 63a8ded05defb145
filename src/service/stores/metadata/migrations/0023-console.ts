import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Who is signed in to the console, and the codes by which one signs in; what the columns mean is said in `tables.ts`. */
export const consoleSessions: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('console_sessions')
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('token_id', 'bigint', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull())
      .addColumn('created', 'text', (column) => column.notNull())
      .addColumn('used', 'text', (column) => column.notNull())
      .addColumn('expires', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('console_sessions_key', ['hash'])
      .execute();
    await db.schema
      .createIndex('console_sessions_expires')
      .on('console_sessions')
      .column('expires')
      .execute();
    await db.schema
      .createTable('console_codes')
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('token_id', 'bigint', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull())
      .addColumn('expires', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('console_codes_key', ['hash'])
      .execute();
  },
};
