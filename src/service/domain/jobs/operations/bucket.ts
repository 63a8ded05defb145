import { Type } from 'typebox';
import { badRequest } from '../../api-error.ts';
import { deleteBucket } from '../../../stores/metadata/buckets.ts';
import { deleteTable, listTables } from '../../../stores/metadata/stored-tables.ts';
import { withdrawBucket } from '../../../stores/metadata/tokens.ts';
import { catalogueOf, TOKENS } from '../../../stores/metadata/transaction.ts';
import { defineOperation, fenceOf } from './operation.ts';
import { engineBucket, engineTable, requireBucketRow } from './table-place.ts';

export const BucketDelete = Type.Object({ id: Type.String(), force: Type.Boolean() });

/** Deletes a bucket, with its tables when that is asked for. */
export const bucketDelete = defineOperation({
  name: 'bucketDelete',
  params: BucketDelete,
  async run({ id, force }, job, context) {
    const { meta, engine } = context;
    await requireBucketRow(meta, context, job.branch_id, id);
    const tables = await listTables(meta, job.branch_id, id);
    if (tables.length > 0 && !force) throw notEmpty(tables.length);
    for (const table of tables) await engine.drop(engineTable(job.branch_id, table.id), fenceOf(job));
    await engine.dropBucket(engineBucket(job.branch_id, id), fenceOf(job));
    return {
      results: null,
      things: [TOKENS, catalogueOf(job.branch_id)],
      commit: async (tx) => {
        const left = await listTables(tx, job.branch_id, id);
        if (left.length > 0 && !force) throw notEmpty(left.length);
        for (const table of left) await deleteTable(tx, table);
        await deleteBucket(tx, job.branch_id, id);
        await withdrawBucket(tx, job.branch_id, id);
      },
    };
  },
});

const notEmpty = (count: number): Error =>
  badRequest(
    'buckets.deleteNotEmpty',
    `Only empty buckets can be deleted. There are ${count} tables in the bucket.`,
  );
