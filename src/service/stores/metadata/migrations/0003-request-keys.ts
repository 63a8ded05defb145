import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The keys that clients give to requests that must be done once; what the columns mean is said in `tables.ts`. */
export const requestKeys: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('request_keys')
      .addColumn('token_id', 'bigint', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull())
      .addColumn('job_id', 'bigint')
      .addColumn('file_id', 'bigint')
      .addColumn('status', 'integer')
      .addColumn('answer', 'text')
      .addColumn('created', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('request_keys_key', ['token_id', 'key'])
      .execute();
    await db.schema.createIndex('request_keys_created').on('request_keys').column('created').execute();
  },
};
