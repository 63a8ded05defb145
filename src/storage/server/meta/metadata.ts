import type { Env } from '../../../env.ts';
import { isoTime } from '../time.ts';
import { nextId } from './counter.ts';
import type { Meta } from './database.ts';
import type { MetadataRow, MetadataScope } from './tables.ts';

/** What metadata belongs to. */
export interface MetadataOwner {
  readonly branch_id: number;
  readonly scope: MetadataScope;
  readonly owner: string;
}

export async function listMetadata(meta: Meta, owner: MetadataOwner): Promise<MetadataRow[]> {
  return await meta
    .selectFrom('metadata')
    .selectAll()
    .where((where) => where.and({ ...owner }))
    .orderBy('id')
    .execute();
}

/** Metadata of everything of a kind in a branch whose id begins with the text. */
export async function listMetadataOf(
  meta: Meta,
  branchId: number,
  scope: MetadataScope,
  prefix: string,
): Promise<MetadataRow[]> {
  const all = meta
    .selectFrom('metadata')
    .selectAll()
    .where('branch_id', '=', branchId)
    .where('scope', '=', scope);
  // Every text that begins with the prefix, by the index: nothing in an id is above this character.
  const some =
    prefix === '' ? all : all.where('owner', '>=', prefix).where('owner', '<', `${prefix}\u{10FFFF}`);
  return await some.orderBy('id').execute();
}

/** Sets values; the same provider and key is overwritten and keeps its id (storage 1.6). */
export async function saveMetadata(
  meta: Meta,
  env: Env,
  owner: MetadataOwner,
  provider: string,
  items: readonly { key: string; value: string }[],
): Promise<void> {
  const timestamp = isoTime(env.now());
  for (const { key, value } of items) {
    const known = await meta
      .updateTable('metadata')
      .set({ value, timestamp })
      .where((where) => where.and({ ...owner, provider, key }))
      .executeTakeFirst();
    if (known.numUpdatedRows > 0n) continue;
    const id = await nextId(meta);
    await meta
      .insertInto('metadata')
      .values({ id, ...owner, provider, key, value, timestamp })
      .execute();
  }
}

/** @returns whether there was such a one */
export async function deleteMetadata(meta: Meta, owner: MetadataOwner, id: number): Promise<boolean> {
  const { numDeletedRows } = await meta
    .deleteFrom('metadata')
    .where((where) => where.and({ ...owner, id }))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
