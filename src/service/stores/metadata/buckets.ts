import type { Meta } from './database.ts';
import type { BucketRow } from './tables.ts';

/** A bucket with the sums over its tables. */
export interface MeasuredBucket extends BucketRow {
  readonly rows: number;
  readonly bytes: number;
  readonly tables: number;
  readonly project_id: number;
}

export async function insertBucket(meta: Meta, bucket: BucketRow): Promise<void> {
  await meta.insertInto('buckets').values(bucket).execute();
}

export async function findBucket(
  meta: Meta,
  branchId: number,
  id: string,
): Promise<MeasuredBucket | undefined> {
  return await measured(meta, branchId).where('buckets.id', '=', id).executeTakeFirst();
}

export async function listBuckets(meta: Meta, branchId: number): Promise<MeasuredBucket[]> {
  return await measured(meta, branchId).orderBy('buckets.id').execute();
}

export async function listBucketIds(meta: Meta, branchId: number): Promise<string[]> {
  const rows = await meta
    .selectFrom('buckets')
    .select('id')
    .where('branch_id', '=', branchId)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** The bucket of a stage that is shown under that name. */
export async function findBucketByDisplayName(
  meta: Meta,
  key: { readonly branch_id: number; readonly stage: 'in' | 'out'; readonly display_name: string },
): Promise<BucketRow | undefined> {
  return await meta
    .selectFrom('buckets')
    .selectAll()
    .where((where) => where.and({ ...key }))
    .executeTakeFirst();
}

export async function updateBucket(
  meta: Meta,
  branchId: number,
  id: string,
  changes: Partial<BucketRow>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await meta
    .updateTable('buckets')
    .set(changes)
    .where((where) => where.and({ branch_id: branchId, id }))
    .execute();
}

/** Removes a bucket with its metadata. Its tables must be gone already. */
export async function deleteBucket(meta: Meta, branchId: number, id: string): Promise<void> {
  await meta
    .deleteFrom('metadata')
    .where((where) => where.and({ branch_id: branchId, scope: 'bucket', owner: id }))
    .execute();
  await meta
    .deleteFrom('buckets')
    .where((where) => where.and({ branch_id: branchId, id }))
    .execute();
}

function measured(meta: Meta, branchId: number) {
  return meta
    .selectFrom('buckets')
    .selectAll('buckets')
    .select((build) => {
      const tables = build
        .selectFrom('tables')
        .whereRef('tables.branch_id', '=', 'buckets.branch_id')
        .whereRef('tables.bucket_id', '=', 'buckets.id');
      return [
        build.fn
          .coalesce(
            tables.select((sums) => sums.fn.sum<number>('rows_count').as('sum')),
            build.val(0),
          )
          .as('rows'),
        build.fn
          .coalesce(
            tables.select((sums) => sums.fn.sum<number>('data_bytes').as('sum')),
            build.val(0),
          )
          .as('bytes'),
        build.fn
          .coalesce(
            tables.select((counts) => counts.fn.countAll<number>().as('count')),
            build.val(0),
          )
          .as('tables'),
        build.selectFrom('projects').select('projects.id').limit(1).$asScalar().$notNull().as('project_id'),
      ];
    })
    .where('buckets.branch_id', '=', branchId);
}
