import type { Meta } from '../../stores/metadata/database.ts';
import type { ConfigurationKey, ConfigurationVersionRow, VersionRow } from '../../stores/metadata/tables.ts';
import { keyOf } from '../../stores/metadata/configuration-key.ts';

/** Row id and row version, as a version of a configuration has them. */
export type RowPair = readonly [string, number];

/** Change of the rows by a version: one of them, or all with their order, or the order alone. */
export interface RowsChange {
  /** Added or changed; removed when its version is undefined. */
  readonly row?: { readonly id: string; readonly version: number | undefined };
  readonly rows?: readonly RowPair[];
  readonly rowsSortOrder?: readonly string[] | undefined;
}

/** The order of rows as it is now, and the version that it was last set in: 0 when it isn't set. */
export interface Order {
  readonly ids: readonly string[];
  readonly version: number;
}

/**
 * Stores the rows of a version, as the difference to the version before: a row that stays is not written again, so
 * that a configuration takes as much room as was changed, however many rows and versions it has.
 */
export async function changeRows(
  meta: Meta,
  key: ConfigurationKey,
  version: number,
  before: Order,
  changed: RowsChange,
): Promise<Order> {
  if (changed.rows !== undefined) await setRows(meta, key, version, changed.rows);
  const order = changed.row === undefined ? before : await changeRow(meta, key, version, before, changed.row);
  const wanted = changed.rowsSortOrder;
  const isSame = JSON.stringify(wanted) === JSON.stringify(before.ids);
  if (wanted === undefined || (changed.rows === undefined && isSame)) return order;
  if (wanted.length === 0) return { ids: [], version: 0 };
  await meta
    .insertInto('configuration_orders')
    .values({ ...keyOf(key), version, rows_sort_order: JSON.stringify(wanted) })
    .execute();
  return { ids: wanted, version };
}

/** Selects the rows that a version had. */
export function rowsAt(meta: Meta, { version, ...key }: ConfigurationVersionRow) {
  return meta
    .selectFrom('configuration_version_rows as p')
    .where('p.branch_id', '=', key.branch_id)
    .where('p.component_id', '=', key.component_id)
    .where('p.configuration_id', '=', key.configuration_id)
    .where('p.since_version', '<=', version)
    .where((where) =>
      where.or([where('p.until_version', 'is', null), where('p.until_version', '>', version)]),
    );
}

/** Returns the order that a version had: the one that was set last, without deleted rows, and with added ones. */
export async function orderAt(meta: Meta, version: ConfigurationVersionRow): Promise<string[]> {
  if (version.order_version === 0) return [];
  const set = await meta
    .selectFrom('configuration_orders')
    .select('rows_sort_order')
    .where((where) => where.and({ ...keyOf(version), version: version.order_version }))
    .executeTakeFirst();
  const rows = await rowsAt(meta, version).select(['p.row_id', 'p.joined_version']).execute();
  const isNew = (row: { joined_version: number }): boolean => row.joined_version > version.order_version;
  const kept = new Set(rows.filter((row) => !isNew(row)).map(({ row_id }) => row_id));
  const added = rows.filter(isNew).toSorted((a, b) => a.joined_version - b.joined_version);
  // Written by this module only.
  const ids = JSON.parse(set?.rows_sort_order ?? '[]') as string[];
  return [...ids.filter((id) => kept.has(id)), ...added.map(({ row_id }) => row_id)];
}

async function changeRow(
  meta: Meta,
  key: ConfigurationKey,
  version: number,
  before: Order,
  row: { readonly id: string; readonly version: number | undefined },
): Promise<Order> {
  const known = await openRows(meta, key).where('row_id', '=', row.id).executeTakeFirst();
  if (known !== undefined) await endRow(meta, known, version);
  if (row.version === undefined) {
    const ids = before.ids.filter((id) => id !== row.id);
    return { ids, version: ids.length === 0 ? 0 : before.version };
  }
  await beginRow(meta, key, version, [row.id, row.version], known);
  const isAdded = known === undefined && before.version !== 0;
  return isAdded ? { ...before, ids: [...before.ids, row.id] } : before;
}

async function setRows(
  meta: Meta,
  key: ConfigurationKey,
  version: number,
  rows: readonly RowPair[],
): Promise<void> {
  const known = new Map((await openRows(meta, key).execute()).map((row) => [row.row_id, row]));
  for (const pair of rows) {
    const row = known.get(pair[0]);
    known.delete(pair[0]);
    if (row?.row_version === pair[1]) continue;
    if (row !== undefined) await endRow(meta, row, version);
    await beginRow(meta, key, version, pair, row);
  }
  for (const row of known.values()) await endRow(meta, row, version);
}

/** The rows of the newest version. */
function openRows(meta: Meta, key: ConfigurationKey) {
  return meta
    .selectFrom('configuration_version_rows')
    .selectAll()
    .where((where) => where.and(keyOf(key)))
    .where('until_version', 'is', null);
}

async function beginRow(
  meta: Meta,
  key: ConfigurationKey,
  version: number,
  [row_id, row_version]: RowPair,
  before: VersionRow | undefined,
): Promise<void> {
  const joined_version = before?.joined_version ?? version;
  await meta
    .insertInto('configuration_version_rows')
    .values({
      ...keyOf(key),
      row_id,
      since_version: version,
      until_version: null,
      row_version,
      joined_version,
    })
    .execute();
}

async function endRow(meta: Meta, row: VersionRow, version: number): Promise<void> {
  await meta
    .updateTable('configuration_version_rows')
    .set({ until_version: version })
    .where((where) => where.and({ ...keyOf(row), row_id: row.row_id, since_version: row.since_version }))
    .execute();
}
