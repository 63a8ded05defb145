import { Type } from 'typebox';
import { notFound } from '../../api-error.ts';
import { removeFile } from '../../files/remove.ts';
import { deleteBranch, findBranch } from '../../../stores/metadata/branches.ts';
import { listBucketIds } from '../../../stores/metadata/buckets.ts';
import { listFilesOfBranch } from '../../../stores/metadata/files.ts';
import { listTables } from '../../../stores/metadata/stored-tables.ts';
import { BRANCHES, branchOf, catalogueOf } from '../../../stores/metadata/transaction.ts';
import { defineOperation, fenceOf } from './operation.ts';
import { engineBucket, engineTable } from './table-place.ts';

const FILES_AT_ONCE = 100;

export const DevBranchDelete = Type.Object({ id: Type.Integer(), name: Type.Optional(Type.String()) });

/** Deletes a branch with all that is in it: configurations, buckets, tables, files. */
export const devBranchDelete = defineOperation({
  name: 'devBranchDelete',
  params: DevBranchDelete,
  async run({ id }, job, context) {
    const { meta, engine } = context;
    if ((await findBranch(meta, String(id))) === undefined)
      throw notFound(`Branch id:"${id}" was not found.`);
    for (const table of await listTables(meta, id))
      await engine.drop(engineTable(id, table.id), fenceOf(job));
    for (const bucket of await listBucketIds(meta, id))
      await engine.dropBucket(engineBucket(id, bucket), fenceOf(job));
    for (;;) {
      const files = await listFilesOfBranch(meta, id, FILES_AT_ONCE);
      if (files.length === 0) break;
      for (const file of files) await removeFile(context, file);
    }
    const things = [BRANCHES, branchOf(id), catalogueOf(id), catalogueOf(job.branch_id)];
    return { results: {}, things, commit: async (tx) => await deleteBranch(tx, id) };
  },
});
