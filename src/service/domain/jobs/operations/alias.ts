import { badRequest } from '../../api-error.ts';
import type { Meta } from '../../../stores/metadata/database.ts';
import { findTable, listAliases, type StoredTable } from '../../../stores/metadata/stored-tables.ts';
import type { TableRow } from '../../../stores/metadata/tables.ts';
import type { RowQuery, RowCondition } from '../../../stores/tables/row-query.ts';
import { tableNotFound } from './table-place.ts';
import type { Context } from '../../context.ts';

/** Source of the rows of a table: the table itself, or for an alias the table at the end. */
export interface AliasedRows {
  readonly table: StoredTable;
  /** A query over the table, as one over the rows. */
  readonly query: (asked: RowQuery) => RowQuery;
}

/** Follows aliases to the table that has rows; their filters and columns narrow every query. */
export async function rowsOf(
  meta: Meta,
  context: Pick<Context, 'project'>,
  asked: StoredTable,
): Promise<AliasedRows> {
  const where: RowCondition[] = [];
  let table = asked;
  while (table.alias_source !== null) {
    const filter = filterOf(table);
    if (filter !== undefined) where.push(filter);
    const source = await findTable(meta, table.branch_id, table.alias_source);
    if (source === undefined) throw tableNotFound(context, table.alias_source);
    table = source;
  }
  if (asked.alias_source === null) return { table, query: (query) => query };
  const columns = asked.columns.map(({ name }) => name);
  return {
    table,
    query: (query) => ({
      ...query,
      columns: query.columns ?? columns,
      // A search must not tell what is in the columns that the alias leaves out.
      ...(query.search === undefined ? {} : { searchIn: columns }),
      ...(where.length === 0 ? {} : { where: [...where, ...(query.where ?? [])] }),
    }),
  };
}

function filterOf({ alias_filter }: TableRow): RowCondition | undefined {
  // Written by this service from a checked request.
  return alias_filter === null ? undefined : (JSON.parse(alias_filter) as RowCondition);
}

/** @throws {ApiError} 400 where rows or structure are to be changed through an alias */
export function refuseAlias(table: TableRow, code = 'storage.tables.cannotChangeAlias'): void {
  if (table.alias_source === null) return;
  throw badRequest(
    code,
    `The table "${table.id}" is an alias: change its source "${table.alias_source}" instead.`,
  );
}

/** @throws {ApiError} 400 when aliases would be left without a source */
export async function refuseAliased(meta: Meta, table: TableRow): Promise<void> {
  const ids = (await listAliases(meta, table.branch_id, table.id)).map(({ id }) => id);
  if (ids.length === 0) return;
  throw badRequest(
    'tables.cannotDeletedTableWithAliases',
    `The table "${table.id}" has aliases: ${ids.join(', ')}. Delete them first, or all of them with "force".`,
  );
}

/**
 * Ensures that no alias needs a column. With `force`, aliases may name it, and lose it then; an alias that shows rows
 * by it would show others.
 *
 * @throws {ApiError} 400 when an alias names the column, or shows rows by it
 */
export async function refuseReferenced(
  meta: Meta,
  table: TableRow,
  column: string,
  force: boolean,
): Promise<void> {
  for (const alias of await listAliases(meta, table.branch_id, table.id)) {
    const stored = await findTable(meta, alias.branch_id, alias.id);
    if (stored === undefined) continue;
    const isNamed = alias.alias_auto_sync === 0 && stored.columns.some(({ name }) => name === column);
    if ((isNamed && !force) || filterOf(alias)?.column === column) throw referenced(alias, column);
    if (isNamed || alias.alias_auto_sync === 1) await refuseReferenced(meta, alias, column, force);
  }
}

/** @throws {ApiError} 400 when an alias shows rows by a column of the primary key */
export async function refuseFilteredKey(meta: Meta, table: TableRow): Promise<void> {
  const key = JSON.parse(table.primary_key) as string[]; // written by this service
  for (const alias of await listAliases(meta, table.branch_id, table.id)) {
    const column = filterOf(alias)?.column;
    if (column !== undefined && key.includes(column))
      throw badRequest(
        'storage.tables.cannotRemoveReferencedColumnFromPrimaryKey',
        `The column "${column}" of the primary key is used in the filter of the alias "${alias.id}". Remove the filter first.`,
      );
    await refuseFilteredKey(meta, { ...alias, primary_key: table.primary_key });
  }
}

export type ColumnChange = { readonly added: string } | { readonly removed: string; readonly force: boolean };

/**
 * Checks that an alias may be given a column of its source, or lose one.
 *
 * @throws {ApiError} 400 for a table that is none or has all columns of its source, and for one that needs the column
 */
export async function requireOwnColumns(
  meta: Meta,
  alias: StoredTable,
  change: ColumnChange,
): Promise<StoredTable> {
  const source =
    alias.alias_source === null ? undefined : await findTable(meta, alias.branch_id, alias.alias_source);
  if (source === undefined)
    throw badRequest('storage.tables.notAlias', `The table "${alias.id}" is not an alias.`);
  if (alias.alias_auto_sync === 1)
    throw badRequest(
      'storage.tables.cannotChangeAlias',
      `The alias "${alias.id}" has all columns of its source. Switch alias-columns-auto-sync off first.`,
    );
  if ('added' in change) {
    if (source.columns.some(({ name }) => name === change.added)) return source;
    throw badRequest(
      'storage.tables.columnNotExists',
      `The column "${change.added}" does not exist in the table "${source.id}".`,
    );
  }
  if (filterOf(alias)?.column === change.removed) throw referenced(alias, change.removed);
  if (alias.columns.length === 1)
    throw badRequest(
      'storage.tables.cannotDeleteLastColumn',
      `"${change.removed}" is the last column of the alias "${alias.id}".`,
    );
  await refuseReferenced(meta, alias, change.removed, change.force);
  return source;
}

function referenced(alias: TableRow, column: string): Error {
  return badRequest(
    'storage.tables.cannotDeleteReferencedColumn',
    `The column "${column}" is used by the alias "${alias.id}". Change the alias first, or use "force" where it doesn't filter by the column.`,
  );
}
