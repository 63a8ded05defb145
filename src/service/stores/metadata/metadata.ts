import type { Env } from '../../../lib/env.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { updateBucket } from './buckets.ts';
import { idOfInserted, nextId } from './counter.ts';
import type { Meta } from './database.ts';
import type { ConfigurationKey, MetadataRow, MetadataScope } from './tables.ts';

/** Owner of metadata. */
export interface MetadataOwner {
  readonly branch_id: number;
  readonly scope: MetadataScope;
  readonly owner: string;
}

/** One entry of metadata. */
export interface MetadataEntry {
  readonly key: string;
  readonly value: string;
}

/** Returns the name of a configuration as an owner of metadata. */
export const configurationOwner = (
  key: Pick<ConfigurationKey, 'component_id' | 'configuration_id'>,
): string => `${key.component_id}/${key.configuration_id}`;

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
  return await meta
    .selectFrom('metadata')
    .selectAll()
    .where('branch_id', '=', branchId)
    .where('scope', '=', scope)
    .where('owner', '>=', prefix)
    .where('owner', '<', afterPrefix(prefix))
    .orderBy('id')
    .execute();
}

/** Every id that begins with the prefix lies between it and this text: nothing in an id is above this character. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10FFFF}`;

/** Sets values; the same provider and key is overwritten and keeps its id. */
export async function saveMetadata(
  meta: Meta,
  env: Env,
  owner: MetadataOwner,
  provider: string,
  items: readonly { key: string; value: string }[],
): Promise<void> {
  const timestamp = isoTime(env.now());
  if (owner.scope === 'bucket' && items.length > 0)
    await updateBucket(meta, owner.branch_id, owner.owner, { updated: timestamp });
  // The last value of a key that is given twice counts: a statement may write it once.
  const values = [...new Map(items.map(({ key, value }) => [key, value]))];
  for (let i = 0; i < values.length; i += AT_ONCE) {
    const rows = [];
    for (const [key, value] of values.slice(i, i + AT_ONCE))
      rows.push({ id: await idOfInserted(meta), ...owner, provider, key, value, timestamp });
    await meta
      .insertInto('metadata')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['branch_id', 'scope', 'owner', 'provider', 'key'])
          .doUpdateSet({ value: (build) => build.ref('excluded.value'), timestamp }),
      )
      .execute();
  }
}

/** Rows of one statement: databases take so many values at once. */
const AT_ONCE = 500;

/** Gives the configurations of a new branch the metadata of those that they are copies of. */
export async function copyConfigurationMetadata(
  meta: Meta,
  from: number,
  to: number,
  owners: ReadonlySet<string>,
): Promise<void> {
  for (const row of await listMetadataOf(meta, from, 'configuration', '')) {
    if (!owners.has(row.owner)) continue;
    const copy = { ...row, id: await nextId(meta), branch_id: to };
    await meta.insertInto('metadata').values(copy).execute();
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
