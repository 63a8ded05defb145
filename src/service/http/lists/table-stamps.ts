import type { Meta } from '../../stores/metadata/database.ts';
import type { TableRow } from '../../stores/metadata/tables.ts';
import type { TableRef } from './table-pages.ts';

/** Table of a list, with the stamp that shows whether it has changed. */
export interface StampedRef extends TableRef, Pick<TableRow, 'alias_source'> {
  /** Number that changes with every change of what is shown of it; null when the database has set none. */
  readonly stamp: number | null;
}

/** Lists the tables of a branch, or of one bucket of it, by id. */
export async function listTableRefs(meta: Meta, branchId: number, bucketId?: string): Promise<StampedRef[]> {
  let query = stamped(meta, branchId);
  if (bucketId !== undefined) query = query.where('tables.bucket_id', '=', bucketId);
  return await query.orderBy('tables.id').execute();
}

/** Lists the tables of a branch, those that changed last first. */
export async function tablesByChange(meta: Meta, branchId: number): Promise<TableRef[]> {
  return await meta
    .selectFrom('tables')
    .select(['branch_id', 'bucket_id', 'id'])
    .where('branch_id', '=', branchId)
    .orderBy((of) => of.fn.coalesce('last_change', 'created'), 'desc')
    .execute();
}

/**
 * Returns a function that identifies the text of each table: by the stamps of itself, and of all its sources when it
 * is an alias. It returns undefined for a table that cannot be identified.
 *
 * @param refs tables that may be asked for
 */
export async function stampsOf(
  meta: Meta,
  branchId: number,
  refs: readonly StampedRef[],
): Promise<(table: StampedRef) => string | undefined> {
  const known = new Map<string, StampedRef>();
  for (let found = refs; found.length > 0;) {
    for (const ref of found) known.set(ref.id, ref);
    const sources = new Set(found.flatMap(({ alias_source }) => alias_source ?? []));
    const wanted = [...sources].filter((id) => !known.has(id));
    found =
      wanted.length === 0 ? [] : await stamped(meta, branchId).where('tables.id', 'in', wanted).execute();
  }
  return (table) => {
    let text = '';
    for (let next: StampedRef | undefined = table; next !== undefined;) {
      if (next.stamp === null) return undefined;
      text += `${next.id} ${next.stamp} `;
      next = next.alias_source === null ? undefined : known.get(next.alias_source);
    }
    return text;
  };
}

function stamped(meta: Meta, branchId: number) {
  return meta
    .selectFrom('tables')
    .leftJoin('table_stamps', (join) =>
      join
        .onRef('table_stamps.branch_id', '=', 'tables.branch_id')
        .onRef('table_stamps.table_id', '=', 'tables.id'),
    )
    .select([
      'tables.branch_id',
      'tables.bucket_id',
      'tables.id',
      'tables.alias_source',
      'table_stamps.stamp',
    ])
    .where('tables.branch_id', '=', branchId);
}
