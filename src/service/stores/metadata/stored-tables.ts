import { jsonArrayFrom as postgresList } from 'kysely/helpers/postgres';
import { jsonArrayFrom as sqliteList } from 'kysely/helpers/sqlite';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';
import { readText } from './nul.ts';
import { afterPrefix } from './metadata.ts';
import type { TableColumnRow, TableRow } from './tables.ts';

/** A table as the catalogue knows it, with its columns in their order. */
export interface StoredTable extends TableRow {
  readonly columns: readonly TableColumnRow[];
}

/** State of a table in the engine after a change. */
export interface TableState {
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  readonly rows: number;
  readonly bytes: number;
}

/** A table with rows of its own. */
export const NO_ALIAS = { alias_source: null, alias_filter: null, alias_auto_sync: 0 } as const;

export type StoredDefinition = Pick<TableColumnRow, 'basetype' | 'definition'>;

/** Returns a table with its columns, by one statement. */
export async function findTable(meta: Meta, branchId: number, id: string): Promise<StoredTable | undefined> {
  const isPostgres = postgresSchema(meta) !== undefined;
  const found = await meta
    .selectFrom('tables')
    .selectAll()
    .select((build) => {
      const columns = build
        .selectFrom('table_columns as c')
        .select(['c.name', 'c.position', 'c.definition', 'c.basetype'])
        .whereRef('c.branch_id', '=', 'tables.branch_id')
        .whereRef('c.table_id', '=', 'tables.id')
        .orderBy('c.position');
      return (isPostgres ? postgresList(columns) : sqliteList(columns)).$castTo<string>().as('columns');
    })
    .where((where) => where.and({ branch_id: branchId, id }))
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const { columns: text, ...table } = found;
  const read = isPostgres ? storedText : undefined;
  const columns = JSON.parse(text, read) as Omit<TableColumnRow, 'branch_id' | 'table_id'>[]; // selected above
  return { ...table, columns: columns.map((column) => ({ branch_id: branchId, table_id: id, ...column })) };
}

const storedText = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? readText(value) : value;

/** Size of a table, and when it was loaded last. */
export type TableSize = Pick<TableRow, 'data_bytes' | 'last_import' | 'rows_count'>;

const SIZES_AT_ONCE = 500;

/** Returns the sizes of tables, by their ids; without those that are not there. */
export async function sizesOf(
  meta: Meta,
  branchId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TableSize>> {
  const found = new Map<string, TableSize>();
  for (let at = 0; at < ids.length; at += SIZES_AT_ONCE) {
    const some = await meta
      .selectFrom('tables')
      .select(['id', 'rows_count', 'data_bytes', 'last_import'])
      .where('branch_id', '=', branchId)
      .where('id', 'in', ids.slice(at, at + SIZES_AT_ONCE))
      .execute();
    for (const { id, ...size } of some) found.set(id, size);
  }
  return found;
}

/** Tables of a branch, or of one bucket of it. */
export async function listTables(meta: Meta, branchId: number, bucketId?: string): Promise<TableRow[]> {
  let query = meta.selectFrom('tables').selectAll().where('branch_id', '=', branchId);
  if (bucketId !== undefined) query = query.where('bucket_id', '=', bucketId);
  return await query.orderBy('id').execute();
}

/** The aliases of a table, not those of its aliases. */
export async function listAliases(meta: Meta, branchId: number, source: string): Promise<TableRow[]> {
  return await meta
    .selectFrom('tables')
    .selectAll()
    .where((where) => where.and({ branch_id: branchId, alias_source: source }))
    .orderBy('id')
    .execute();
}

export async function findTableByDisplayName(
  meta: Meta,
  key: { readonly branch_id: number; readonly bucket_id: string; readonly display_name: string },
): Promise<TableRow | undefined> {
  return await meta
    .selectFrom('tables')
    .selectAll()
    .where((where) => where.and({ ...key }))
    .executeTakeFirst();
}

export async function insertTable(
  meta: Meta,
  table: TableRow,
  columns: readonly string[],
  definitions: ReadonlyMap<string, StoredDefinition> = new Map(),
): Promise<void> {
  await meta.insertInto('tables').values(table).execute();
  await saveColumns(meta, table.branch_id, table.id, columns, definitions);
}

export async function updateTable(
  meta: Meta,
  branchId: number,
  id: string,
  changes: Partial<TableRow>,
): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await meta
    .updateTable('tables')
    .set(changes)
    .where((where) => where.and({ branch_id: branchId, id }))
    .execute();
}

/** Takes over what the engine says, and moves the revision on: exports of the older one are stale. */
export async function saveState(
  meta: Meta,
  table: StoredTable,
  state: TableState,
  times: { readonly last_change: string; readonly last_import?: string },
  definitions?: ReadonlyMap<string, StoredDefinition>,
): Promise<void> {
  await meta
    .updateTable('tables')
    .set((update) => ({
      primary_key: JSON.stringify(state.primaryKey),
      rows_count: state.rows,
      data_bytes: state.bytes,
      revision: update('revision', '+', 1),
      ...times,
    }))
    .where((where) => where.and({ branch_id: table.branch_id, id: table.id }))
    .execute();
  await updateBucket(meta, table, times.last_change);
  const names = table.columns.map(({ name }) => name);
  const isShaped = isSame(names, state.columns) && (definitions?.size ?? 0) === 0;
  // Most loads change rows alone.
  if (isShaped && table.primary_key === JSON.stringify(state.primaryKey)) return;
  const known = new Map(table.columns.map((column) => [column.name, column as StoredDefinition]));
  const gone = table.columns.filter(({ name }) => !state.columns.includes(name));
  for (const { name } of gone) {
    await deleteMetadataOf(meta, table.branch_id, 'column', `${table.id}.${name}`);
  }
  const all = new Map([...known, ...(definitions ?? [])]);
  await saveColumns(meta, table.branch_id, table.id, state.columns, all);
  await syncAliases(meta, table, state);
}

async function updateBucket(
  meta: Meta,
  { branch_id, bucket_id }: Pick<TableRow, 'branch_id' | 'bucket_id'>,
  last_change: string,
): Promise<void> {
  await meta
    .updateTable('buckets')
    .set({ last_change })
    .where((where) => where.and({ branch_id, id: bucket_id }))
    .execute();
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((name, at) => name === others[at]);

/**
 * Gives the aliases of a table its columns: all of them, or those of their own that are still there. One that showed
 * rows by a column that is gone, or that has no column left, goes as well, instead of showing more or nothing.
 */
async function syncAliases(
  meta: Meta,
  source: Pick<TableRow, 'branch_id' | 'id'>,
  state: Pick<TableState, 'columns' | 'primaryKey'>,
): Promise<void> {
  for (const alias of await listAliases(meta, source.branch_id, source.id)) {
    const stored = await findTable(meta, alias.branch_id, alias.id);
    const own = stored?.columns.map(({ name }) => name) ?? [];
    const columns =
      alias.alias_auto_sync === 1 ? state.columns : own.filter((name) => state.columns.includes(name));
    // Written by this service.
    const filter = JSON.parse(alias.alias_filter ?? 'null') as { readonly column: string } | null;
    if (columns.length === 0 || (filter !== null && !state.columns.includes(filter.column)))
      await deleteTable(meta, alias);
    else await setAliasColumns(meta, alias, { columns, primaryKey: state.primaryKey });
  }
}

/** Sets the columns of an alias; it has the key of its source as long as it has all columns of it. */
export async function setAliasColumns(
  meta: Meta,
  alias: TableRow,
  { columns, primaryKey }: Pick<TableState, 'columns' | 'primaryKey'>,
): Promise<void> {
  const key = primaryKey.every((name) => columns.includes(name)) ? primaryKey : [];
  await updateTable(meta, alias.branch_id, alias.id, { primary_key: JSON.stringify(key) });
  await saveColumns(meta, alias.branch_id, alias.id, columns, new Map());
  await syncAliases(meta, alias, { columns, primaryKey: key });
}

/** Removes a table with its columns, metadata, the memory of its exports, and its aliases. */
export async function deleteTable(
  meta: Meta,
  { branch_id, id }: Pick<TableRow, 'branch_id' | 'id'>,
): Promise<void> {
  await deleteMetadataOf(meta, branch_id, 'table', id);
  // No name of a column has a dot, so these are the columns of no other table.
  await meta
    .deleteFrom('metadata')
    .where((where) => where.and({ branch_id, scope: 'column' }))
    .where('owner', '>=', `${id}.`)
    .where('owner', '<', afterPrefix(`${id}.`))
    .execute();
  for (const source of ['table_columns', 'exports'] as const) {
    await meta
      .deleteFrom(source)
      .where((where) => where.and({ branch_id, table_id: id }))
      .execute();
  }
  await meta
    .deleteFrom('tables')
    .where((where) => where.and({ branch_id, id }))
    .execute();
  // Last: an alias that was made while this waited for the row is visible now.
  for (const alias of await listAliases(meta, branch_id, id)) await deleteTable(meta, alias);
}

async function saveColumns(
  meta: Meta,
  branchId: number,
  tableId: string,
  columns: readonly string[],
  definitions: ReadonlyMap<string, StoredDefinition>,
): Promise<void> {
  const key = { branch_id: branchId, table_id: tableId };
  await meta
    .deleteFrom('table_columns')
    .where((where) => where.and(key))
    .execute();
  // SQLite takes a limited number of values in one statement.
  for (let start = 0; start < columns.length; start += ROWS_AT_ONCE) {
    const rows = columns.slice(start, start + ROWS_AT_ONCE).map((name, i) => ({
      ...key,
      name,
      position: start + i,
      definition: definitions.get(name)?.definition ?? null,
      basetype: definitions.get(name)?.basetype ?? null,
    }));
    await meta.insertInto('table_columns').values(rows).execute();
  }
}

const ROWS_AT_ONCE = 100;

async function deleteMetadataOf(
  meta: Meta,
  branchId: number,
  scope: 'column' | 'table',
  owner: string,
): Promise<void> {
  await meta
    .deleteFrom('metadata')
    .where((where) => where.and({ branch_id: branchId, scope, owner }))
    .execute();
}

const BRIEF_FIELDS = [
  'id',
  'bucket_id',
  'display_name',
  'primary_key',
  'rows_count',
  'data_bytes',
  'created',
  'last_import',
  'last_change',
  'alias_source',
] as const satisfies readonly (keyof TableRow)[];

/** A table, as far as lists show it. */
export type BriefTable = Pick<TableRow, (typeof BRIEF_FIELDS)[number]>;

/** All tables of a branch, without their columns. */
export async function listBriefTables(meta: Meta, branchId: number): Promise<readonly BriefTable[]> {
  return await meta.selectFrom('tables').select(BRIEF_FIELDS).where('branch_id', '=', branchId).execute();
}
