import type { DataContext } from '../../data-context.ts';
import type { Meta } from '../../../stores/metadata/database.ts';
import type { JobRow, TableRow } from '../../../stores/metadata/tables.ts';
import { DevBranchDelete } from './branch.ts';
import { BucketDelete } from './bucket.ts';
import { paramsOf } from './operation.ts';
import { engineTable } from './table-place.ts';

type Table = Pick<TableRow, 'branch_id' | 'bucket_id' | 'id'>;

/** Tests by kind of job: whether a job deletes a table, once it is begun. */
const DELETIONS: Readonly<Record<string, (job: JobRow, table: Table) => boolean>> = {
  tableDrop: (job, { branch_id, id }) => job.branch_id === branch_id && job.table_id === id,
  bucketDelete(job, { branch_id, bucket_id }) {
    const { id, force } = paramsOf(job, BucketDelete);
    return force && job.branch_id === branch_id && id === bucket_id;
  },
  devBranchDelete: (job, { branch_id }) => paramsOf(job, DevBranchDelete).id === branch_id,
};

/**
 * Returns a test for tables that are being deleted. Their rows go first, and the metadata follows in a transaction of
 * its own: in between, and after a kill, a table of the metadata has no rows. The begun job shows that they are
 * deleted, and not lost; when it runs again, it ends the deletion.
 */
export async function findDeletions(meta: Meta): Promise<(table: Table) => boolean> {
  const jobs = await meta
    .selectFrom('jobs')
    .selectAll()
    .where('operation', 'in', Object.keys(DELETIONS))
    .where('status', 'in', ['waiting', 'processing'])
    // A waiting one may have been begun by a worker that is gone.
    .where('fencing', '>', 0)
    .execute();
  return (table) => jobs.some((job) => isDeletedBy(job, table));
}

/** Tells whether a job has deleted rows of tables that the metadata still has: it can only be completed. */
export async function isHalfDeleted(
  job: JobRow,
  { meta, engine }: Pick<DataContext, 'engine' | 'meta'>,
): Promise<boolean> {
  if (DELETIONS[job.operation] === undefined) return false;
  const tables = await meta
    .selectFrom('tables')
    .select(['branch_id', 'bucket_id', 'id'])
    .where('alias_source', 'is', null)
    .execute();
  for (const table of tables.filter((each) => isDeletedBy(job, each)))
    if ((await engine.describe(engineTable(table.branch_id, table.id))) === undefined) return true;
  return false;
}

function isDeletedBy(job: JobRow, table: Table): boolean {
  return DELETIONS[job.operation]?.(job, table) ?? false;
}
