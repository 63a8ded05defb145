import type { TableBrief, TableBriefs, TableBriefsQuery } from '../../storage/protocol/table-brief.ts';
import type { Meta } from '../stores/metadata/database.ts';
import { listBriefTables, type BriefTable } from '../stores/metadata/stored-tables.ts';
import { hasWords } from './has-words.ts';
import { apiTime } from './presenters/time.ts';

const LIMIT = 100;

/**
 * Lists tables page by page, with no more of each than lists show.
 *
 * @param mayRead tells whether the caller may read a bucket
 */
export async function readTableBriefs(
  meta: Meta,
  branchId: number,
  mayRead: (bucket: string) => boolean,
  { bucket, search, sort = 'id', isReversed = false, limit = LIMIT, offset = 0 }: TableBriefsQuery,
): Promise<TableBriefs> {
  const all = new Map((await listBriefTables(meta, branchId)).map((table) => [table.id, table]));
  const isFound = hasWords(search);
  const found = [...all.values()]
    .filter(
      (table) =>
        (bucket ?? table.bucket_id) === table.bucket_id &&
        isFound(`${table.id} ${table.display_name}`) &&
        mayRead(table.bucket_id),
    )
    .map((table) => ({ table, source: sourceOf(table, all) }));
  const sorted = found.toSorted((a, b) => ORDERS[sort](a, b) || byId(a, b));
  const ordered = isReversed ? sorted.toReversed() : sorted;
  const own = found.filter(({ table }) => table.alias_source === null);
  return {
    total: found.length,
    totalRows: own.reduce((sum, { table }) => sum + table.rows_count, 0),
    totalBytes: own.reduce((sum, { table }) => sum + table.data_bytes, 0),
    tables: ordered.slice(offset, offset + limit).map(briefOf),
  };
}

interface Listed {
  readonly table: BriefTable;
  /** The table that has the rows. */
  readonly source: BriefTable;
}

function sourceOf(table: BriefTable, all: ReadonlyMap<string, BriefTable>): BriefTable {
  let source = table;
  for (let next: BriefTable | undefined = table; next !== undefined;) {
    source = next;
    next = next.alias_source === null ? undefined : all.get(next.alias_source);
  }
  return source;
}

const byId = (a: Listed, b: Listed): number => (a.table.id < b.table.id ? -1 : 1);

const changeOf = ({ source }: Listed): string => source.last_change ?? source.created;

const ORDERS: Readonly<Record<NonNullable<TableBriefsQuery['sort']>, (a: Listed, b: Listed) => number>> = {
  id: byId,
  changed: (a, b) => (changeOf(a) === changeOf(b) ? 0 : changeOf(a) < changeOf(b) ? 1 : -1),
  rows: (a, b) => b.source.rows_count - a.source.rows_count,
  size: (a, b) => b.source.data_bytes - a.source.data_bytes,
};

function briefOf({ table, source }: Listed): TableBrief {
  return {
    id: table.id,
    bucket: table.bucket_id,
    name: table.display_name,
    primaryKey: JSON.parse(table.primary_key) as string[], // written by this service
    rowsCount: source.rows_count,
    dataSizeBytes: source.data_bytes,
    lastImportDate: apiTime(source.last_import),
    lastChangeDate: apiTime(source.last_change),
    isAlias: table.alias_source !== null,
  };
}
