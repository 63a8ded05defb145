import type { Meta } from './database.ts';
import type { BranchRow } from './tables.ts';

/** Returns the branch of an id in digits, or of the word `default`. */
export async function findBranch(meta: Meta, id: string): Promise<BranchRow | undefined> {
  const all = meta.selectFrom('branches').selectAll();
  const of = branchIdOf(id);
  if (of === 'default') return await all.where('is_default', '=', 1).executeTakeFirst();
  return of === undefined ? undefined : await all.where('id', '=', of).executeTakeFirst();
}

/** Returns the number of a branch; undefined for a text that is none. */
export function branchIdOf(id: string): number | 'default' | undefined {
  if (id === 'default') return id;
  return /^\d{1,15}$/.test(id) ? Number(id) : undefined;
}

export async function findBranchByName(meta: Meta, name: string): Promise<BranchRow | undefined> {
  return await meta.selectFrom('branches').selectAll().where('name', '=', name).executeTakeFirst();
}

export async function listBranches(meta: Meta): Promise<BranchRow[]> {
  return await meta.selectFrom('branches').selectAll().orderBy('id').execute();
}

export async function insertBranch(meta: Meta, branch: BranchRow): Promise<void> {
  await meta.insertInto('branches').values(branch).execute();
}

export async function updateBranch(
  meta: Meta,
  id: number,
  changes: { name?: string; description?: string },
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await meta.updateTable('branches').set(changes).where('id', '=', id).execute();
}

/** Removes a branch with its configurations, buckets and metadata. Rows of its tables must be gone already. */
export async function deleteBranch(meta: Meta, id: number): Promise<void> {
  for (const table of [
    'exports',
    'table_columns',
    'tables',
    'buckets',
    'configuration_contents',
    'configuration_orders',
    'configuration_version_rows',
    'configuration_versions',
    'row_versions',
    'configuration_rows',
    'configurations',
    'schedules',
    'metadata',
  ] as const) {
    await meta.deleteFrom(table).where('branch_id', '=', id).execute();
  }
  await meta.deleteFrom('branches').where('id', '=', id).execute();
}
