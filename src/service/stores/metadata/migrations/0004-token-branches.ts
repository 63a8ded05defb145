import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Which branch the buckets are of that a token may use: buckets of the same id in others are others. */
export const tokenBranches: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .alterTable('tokens')
      .addColumn('bucket_branch_id', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    const main = db as unknown as Kysely<{
      tokens: { bucket_branch_id: number };
      branches: { id: number; is_default: number };
    }>;
    await main
      .updateTable('tokens')
      .set((build) => ({
        bucket_branch_id: build
          .selectFrom('branches')
          .select('id')
          .where('is_default', '=', 1)
          .$castTo<number>(),
      }))
      .execute();
  },
};
