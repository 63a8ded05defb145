import { encodeReply } from '../http/encode-reply.ts';
import type { Meta } from '../meta/database.ts';
import type { TableColumnRow, TableRow } from '../meta/tables.ts';
import { tableReply } from '../shapes/table.ts';

/**
 * Aliases with what they show of their sources, as JSON that is still open at its end, by id. There are few of them, and
 * all others are asked for none of it.
 */
export async function aliasTexts(
  meta: Meta,
  branchId: number,
  ids: readonly string[],
  { origin, withColumns }: { readonly origin: string; readonly withColumns: boolean },
): Promise<ReadonlyMap<string, string>> {
  const known = await withSources(meta, branchId, ids);
  const columns = withColumns ? await columnsOf(meta, branchId, ids) : undefined;
  const texts = new Map<string, string>();
  for (const id of ids) {
    const alias = known.get(id);
    if (alias === undefined) continue;
    const parts = { origin, source: sourceOf(alias, known), columns: columns && (columns.get(id) ?? []) };
    texts.set(id, encodeReply(tableReply(alias, parts)).slice(0, -1));
  }
  return texts;
}

/** Tables with all that they stand for: an alias may be one of an alias. */
async function withSources(
  meta: Meta,
  branchId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TableRow>> {
  const known = new Map<string, TableRow>();
  for (let wanted = [...ids]; wanted.length > 0;) {
    const rows = await meta
      .selectFrom('tables')
      .selectAll()
      .where('branch_id', '=', branchId)
      .where('id', 'in', wanted)
      .execute();
    for (const row of rows) known.set(row.id, row);
    const sources = new Set(rows.flatMap(({ alias_source }) => alias_source ?? []));
    wanted = [...sources].filter((id) => !known.has(id));
  }
  return known;
}

async function columnsOf(
  meta: Meta,
  branchId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TableColumnRow[]>> {
  if (ids.length === 0) return new Map();
  const columns = await meta
    .selectFrom('table_columns')
    .selectAll()
    .where('branch_id', '=', branchId)
    .where('table_id', 'in', ids)
    .orderBy('position')
    .execute();
  return Map.groupBy(columns, ({ table_id }) => table_id);
}

/** What an alias stands for, and the table at the end that has the rows. */
function sourceOf(
  alias: TableRow,
  known: ReadonlyMap<string, TableRow>,
): { table: TableRow; rows: TableRow } | undefined {
  const source = known.get(alias.alias_source ?? '');
  if (source === undefined) return undefined;
  let rows = source;
  for (let next = known.get(rows.alias_source ?? ''); next !== undefined;) {
    rows = next;
    next = known.get(rows.alias_source ?? '');
  }
  return { table: source, rows };
}
