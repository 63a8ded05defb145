import { sql, type RawBuilder } from 'kysely';
import type { Meta } from '../../stores/metadata/database.ts';
import type { TableRow } from '../../stores/metadata/tables.ts';
import { jsonSql, type JsonSql } from './json-sql.ts';
import type { TablePage } from './table-pages.ts';

/** Fields of a table itself. */
export interface OwnText extends Pick<TableRow, 'alias_source' | 'id' | 'is_typed' | 'primary_key'> {
  /** Its fields as JSON, without brackets and behind the address. Some of those of an alias are its source's. */
  readonly fields: string;
}

/** Reads tables by id; those that are gone meanwhile are missing. */
export async function ownTexts(meta: Meta, page: TablePage): Promise<ReadonlyMap<string, OwnText>> {
  const rows = await meta
    .selectFrom('tables')
    .select(['id', 'primary_key', 'is_typed', 'alias_source'])
    .select(fieldsOf(jsonSql(meta)).as('fields'))
    .where('branch_id', '=', page.branchId)
    .where('id', '>=', page.first)
    .where('id', '<=', page.last)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Returns the fields in the form of `tableReply`. */
function fieldsOf({ quoted, time, flag }: JsonSql): RawBuilder<string> {
  const text = (column: keyof TableRow) => quoted(sql.ref(column));
  return sql`'"id":' || ${text('id')}
    || ',"name":' || ${text('name')}
    || ',"displayName":' || ${text('display_name')}
    || ',"transactional":false,"primaryKey":' || primary_key
    || ',"created":' || ${time(sql.ref('created'))}
    || ',"lastImportDate":' || ${time(sql`coalesce(last_import, created)`)}
    || ',"lastChangeDate":' || ${time(sql`coalesce(last_change, created)`)}
    || ',"rowsCount":' || rows_count
    || ',"dataSizeBytes":' || data_bytes
    || ',"isAlias":false,"isAliasable":true,"isTyped":' || ${flag(sql.ref('is_typed'))}
    || ',"timestampType":"MANAGED","tableType":"table","path":' || ${quoted(sql`(bucket_id || '/' || name)`)}`;
}

/** Reads the names of the columns of each table: a list as JSON, without brackets. */
export async function columnTexts(meta: Meta, page: TablePage): Promise<ReadonlyMap<string, string>> {
  const { quoted, joined } = jsonSql(meta);
  const rows = await meta
    .selectFrom('table_columns')
    .select('table_id')
    .select(joined(quoted(sql.ref('name')), sql.ref('position')).as('text'))
    .where('branch_id', '=', page.branchId)
    .where('table_id', '>=', page.first)
    .where('table_id', '<=', page.last)
    .groupBy('table_id')
    .execute();
  return new Map(rows.map(({ table_id, text }) => [table_id, text]));
}

/** Reads the types of the columns of each typed table: a list as JSON, without brackets. */
export async function definitionTexts(meta: Meta, page: TablePage): Promise<ReadonlyMap<string, string>> {
  const { quoted, joined } = jsonSql(meta);
  const one = sql<string>`'{"name":' || ${quoted(sql.ref('c.name'))}
    || ',"definition":' || coalesce(c.definition, 'null')
    || ',"basetype":' || ${quoted(sql.ref('c.basetype'))} || ',"canBeFiltered":true}'`;
  const rows = await meta
    .selectFrom('tables as t')
    .innerJoin('table_columns as c', (join) =>
      join.onRef('c.branch_id', '=', 't.branch_id').onRef('c.table_id', '=', 't.id'),
    )
    .select('c.table_id')
    .select(joined(one, sql.ref('c.position')).as('text'))
    .where('t.branch_id', '=', page.branchId)
    .where('t.id', '>=', page.first)
    .where('t.id', '<=', page.last)
    .where('t.is_typed', '=', 1)
    .groupBy('c.table_id')
    .execute();
  return new Map(rows.map(({ table_id, text }) => [table_id, text]));
}
