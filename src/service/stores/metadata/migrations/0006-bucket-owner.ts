import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** A bucket may belong to an administrator. */
export const bucketOwner: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.alterTable('buckets').addColumn('owner_id', 'bigint').execute();
  },
};
