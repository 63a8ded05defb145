import { notFound, type ApiError } from '../api-error.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type {
  ConfigurationHead,
  ConfigurationKey,
  ConfigurationVersionRow,
  RowVersionRow,
} from '../../stores/metadata/tables.ts';
import { orderAt, rowsAt } from './history.ts';
import { sameConfiguration, keyOf } from '../../stores/metadata/configuration-key.ts';
import { sortOrder, type LoadedConfiguration, type LoadedRow, type WholeConfiguration } from './model.ts';

/** Returns a configuration, deleted or not. */
export async function findConfiguration(
  meta: Meta,
  key: ConfigurationKey,
): Promise<LoadedConfiguration | undefined> {
  const found = await current(meta, key).executeTakeFirst();
  return found === undefined ? undefined : loadedOf(found);
}

/**
 * Returns a configuration with its content, in one query.
 *
 * @throws {ApiError} 404 when there is none, or it is deleted
 */
export async function requireWhole(meta: Meta, key: ConfigurationKey): Promise<WholeConfiguration> {
  const found = await current(meta, key)
    .innerJoin('configuration_contents as t', (join) =>
      sameConfiguration(join, 't', 'v', { version: 'content_version' }),
    )
    .select('t.configuration')
    .select((build) =>
      build
        .selectFrom('configuration_rows as r')
        .select('r.row_id')
        .whereRef('r.branch_id', '=', 'c.branch_id')
        .whereRef('r.component_id', '=', 'c.component_id')
        .whereRef('r.configuration_id', '=', 'c.configuration_id')
        .where('r.is_deleted', '=', 0)
        .limit(1)
        .as('some_row'),
    )
    .executeTakeFirst();
  if (found === undefined || found.head_is_deleted === 1) throw missing(key);
  const { configuration, some_row, ...loaded } = found;
  return { ...loadedOf(loaded), configuration, hasRows: some_row !== null };
}

function current(meta: Meta, key: ConfigurationKey) {
  return meta
    .selectFrom('configurations as c')
    .innerJoin('configuration_versions as v', (join) =>
      sameConfiguration(join, 'v', 'c', { version: 'version' }),
    )
    .selectAll('v')
    .select([
      'c.state',
      'c.state_writer',
      'c.rows_sort_order',
      'c.is_deleted as head_is_deleted',
      'c.created as head_created',
      'c.creator_id as head_creator_id',
      'c.creator_description as head_creator_description',
    ])
    .where('c.branch_id', '=', key.branch_id)
    .where('c.component_id', '=', key.component_id)
    .where('c.configuration_id', '=', key.configuration_id);
}

/** Version, with the current values of its configuration. */
interface Current extends ConfigurationVersionRow {
  readonly state: string;
  readonly state_writer: string | null;
  readonly rows_sort_order: string;
  readonly head_is_deleted: ConfigurationHead['is_deleted'];
  readonly head_created: string;
  readonly head_creator_id: number;
  readonly head_creator_description: string;
}

function loadedOf(found: Current): LoadedConfiguration {
  const {
    state,
    state_writer,
    rows_sort_order,
    head_is_deleted,
    head_created,
    head_creator_id,
    head_creator_description,
    ...version
  } = found;
  const head = {
    ...keyOf(version),
    version: version.version,
    is_deleted: head_is_deleted,
    state,
    state_writer,
    rows_sort_order,
    created: head_created,
    creator_id: head_creator_id,
    creator_description: head_creator_description,
  };
  return { head, version };
}

/** @throws {ApiError} 404 when there is none, or it is deleted */
export async function requireConfiguration(meta: Meta, key: ConfigurationKey): Promise<LoadedConfiguration> {
  const found = await findConfiguration(meta, key);
  if (found === undefined || found.head.is_deleted === 1) throw missing(key);
  return found;
}

const missing = (key: ConfigurationKey): ApiError =>
  notFound(`Configuration ${key.configuration_id} not found`);

/** One version. @throws {ApiError} 404 */
export async function requireVersion(
  meta: Meta,
  key: ConfigurationKey,
  version: number,
): Promise<ConfigurationVersionRow> {
  const found = await meta
    .selectFrom('configuration_versions')
    .selectAll()
    .where((where) => where.and({ ...keyOf(key), version }))
    .executeTakeFirst();
  if (found === undefined) throw notFound(`Version ${version} not found`);
  return found;
}

/** Versions, the newest first. */
export async function listVersions(
  meta: Meta,
  key: ConfigurationKey,
  page: { limit: number; offset: number },
): Promise<ConfigurationVersionRow[]> {
  return await meta
    .selectFrom('configuration_versions')
    .selectAll()
    .where((where) => where.and(keyOf(key)))
    .orderBy('version', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

/** The content of a version, as the text that was stored. @throws {ApiError} 404 when it has been purged meanwhile */
export async function contentOf(meta: Meta, version: ConfigurationVersionRow): Promise<string> {
  const found = await meta
    .selectFrom('configuration_contents')
    .select('configuration')
    .where((where) => where.and({ ...keyOf(version), version: version.content_version }))
    .executeTakeFirst();
  if (found === undefined) throw missing(version);
  return found.configuration;
}

/** The live rows of a configuration, in the order that its answers show them. */
export async function listRows(meta: Meta, configuration: LoadedConfiguration): Promise<LoadedRow[]> {
  const found = await meta
    .selectFrom('configuration_rows as r')
    .innerJoin('row_versions as v', (join) =>
      sameConfiguration(join, 'v', 'r', { row_id: 'row_id', version: 'version' }),
    )
    .selectAll('v')
    .select([
      'r.state',
      'r.state_writer',
      'r.created as head_created',
      'r.creator_id as head_creator_id',
      'r.creator_description as head_creator_description',
    ])
    .where('r.branch_id', '=', configuration.head.branch_id)
    .where('r.component_id', '=', configuration.head.component_id)
    .where('r.configuration_id', '=', configuration.head.configuration_id)
    .where('r.is_deleted', '=', 0)
    .execute();
  const rows = found.map(
    ({
      state,
      state_writer,
      head_created,
      head_creator_id,
      head_creator_description,
      ...version
    }): LoadedRow => ({
      head: {
        ...keyOf(version),
        row_id: version.row_id,
        version: version.version,
        is_deleted: 0,
        state,
        state_writer,
        created: head_created,
        creator_id: head_creator_id,
        creator_description: head_creator_description,
      },
      version,
    }),
  );
  return inOrder(rows, ({ head }) => head.row_id, sortOrder(configuration.head));
}

export async function listRowIds(meta: Meta, key: ConfigurationKey): Promise<string[]> {
  const rows = await meta
    .selectFrom('configuration_rows')
    .select('row_id')
    .where((where) => where.and({ ...keyOf(key), is_deleted: 0 }))
    .execute();
  return rows.map(({ row_id }) => row_id);
}

/**
 * A configuration as it was in a version, with the states that it has now.
 *
 * @throws {ApiError} 404 when it is deleted, or has no such version
 */
export async function requireAtVersion(
  meta: Meta,
  key: ConfigurationKey,
  number: number,
): Promise<LoadedConfiguration & { readonly configuration: string; readonly rows: readonly LoadedRow[] }> {
  const whole = await requireWhole(meta, key);
  const { head } = whole;
  const isCurrent = head.version === number;
  // Most configurations have no rows, and are run as they are: one statement tells that.
  if (isCurrent && !whole.hasRows) return { ...whole, head: { ...head, rows_sort_order: '[]' }, rows: [] };
  const version = isCurrent ? whole.version : await requireVersion(meta, key, number);
  const heads = await meta
    .selectFrom('configuration_rows')
    .selectAll()
    .where((where) => where.and(keyOf(key)))
    .execute();
  const byId = new Map(heads.map((row) => [row.row_id, row]));
  const rows = (await listRowsOf(meta, version)).flatMap((row): LoadedRow[] => {
    const known = byId.get(row.row_id);
    return known === undefined
      ? []
      : [{ head: { ...known, version: row.version, is_deleted: 0 }, version: row }];
  });
  const order = JSON.stringify(await orderAt(meta, version));
  return {
    head: { ...head, version: version.version, rows_sort_order: order },
    version,
    configuration: isCurrent ? whole.configuration : await contentOf(meta, version),
    rows,
  };
}

/** The rows that a version had, in its order. */
export async function listRowsOf(meta: Meta, version: ConfigurationVersionRow): Promise<RowVersionRow[]> {
  const rows = await rowsAt(meta, version)
    .innerJoin('row_versions as v', (join) =>
      sameConfiguration(join, 'v', 'p', { row_id: 'row_id', version: 'row_version' }),
    )
    .selectAll('v')
    .execute();
  return inOrder(rows, ({ row_id }) => row_id, await orderAt(meta, version));
}

/** A live row. @throws {ApiError} 404 */
export async function requireRow(meta: Meta, key: ConfigurationKey, row: string): Promise<LoadedRow> {
  const head = await meta
    .selectFrom('configuration_rows')
    .selectAll()
    .where((where) => where.and({ ...keyOf(key), row_id: row, is_deleted: 0 }))
    .executeTakeFirst();
  if (head === undefined) throw notFound(`Row ${row} not found`);
  return { head, version: await requireRowVersion(meta, key, row, head.version) };
}

/** @throws {ApiError} 404 */
export async function requireRowVersion(
  meta: Meta,
  key: ConfigurationKey,
  row: string,
  version: number,
): Promise<RowVersionRow> {
  const found = await meta
    .selectFrom('row_versions')
    .selectAll()
    .where((where) => where.and({ ...keyOf(key), row_id: row, version }))
    .executeTakeFirst();
  if (found === undefined) throw notFound(`Version ${version} not found`);
  return found;
}

export async function listRowVersions(
  meta: Meta,
  key: ConfigurationKey,
  row: string,
  page: { limit: number; offset: number },
): Promise<RowVersionRow[]> {
  return await meta
    .selectFrom('row_versions')
    .selectAll()
    .where((where) => where.and({ ...keyOf(key), row_id: row }))
    .orderBy('version', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}

/** By the order that was set, else by id. */
export function inOrder<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  order: readonly string[],
): Item[] {
  const places = new Map(order.map((id, index) => [id, index]));
  return items.toSorted((a, b) => {
    const place = (places.get(idOf(a)) ?? Infinity) - (places.get(idOf(b)) ?? Infinity);
    if (place !== 0 && !Number.isNaN(place)) return place;
    return idOf(a) < idOf(b) ? -1 : 1;
  });
}
