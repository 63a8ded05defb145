import { encodeReply } from '../../domain/encode-reply.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { TableColumnRow, TableRow } from '../../stores/metadata/tables.ts';
import { listMetadata, listMetadataOf } from '../../stores/metadata/metadata.ts';
import { metadataReply } from '../../domain/presenters/metadata.ts';
import { tableReply, type AliasSource } from '../../domain/presenters/table.ts';

/**
 * Reads aliases with the fields that they show of their sources, as JSON that is still open at its end, by id. There
 * are few of them, and the queries of all other tables need none of it.
 */
export async function aliasTexts(
  meta: Meta,
  branchId: number,
  ids: readonly string[],
  { origin, include }: { readonly origin: string; readonly include: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const known = await withSources(meta, branchId, ids);
  const columns = await columnsOf(meta, branchId, ids);
  const project = await meta.selectFrom('projects').select(['id', 'name']).executeTakeFirst();
  const texts = new Map<string, string>();
  for (const id of ids) {
    const alias = known.get(id);
    if (alias === undefined) continue;
    const found = sourceOf(alias, known);
    const source = found && {
      ...found,
      project,
      ...(await sourceMetadata(meta, found.table, include, columns.get(id))),
    };
    const parts = {
      origin,
      source,
      columns: include.includes('columns') ? (columns.get(id) ?? []) : undefined,
    };
    texts.set(id, encodeReply(tableReply(alias, parts)).slice(0, -1));
  }
  return texts;
}

/** Reads the metadata of a source that is asked for: its own, and that of the columns that the alias shows. */
async function sourceMetadata(
  meta: Meta,
  { branch_id, id }: TableRow,
  include: readonly string[],
  columns: readonly TableColumnRow[] = [],
): Promise<Pick<AliasSource, 'columnMetadata' | 'metadata'>> {
  const own = include.includes('sourceMetadata')
    ? (await listMetadata(meta, { branch_id, scope: 'table', owner: id })).map((row) =>
        metadataReply(row, true),
      )
    : undefined;
  if (!include.includes('sourceColumnMetadata')) return { metadata: own };
  const ofColumns = await listMetadataOf(meta, branch_id, 'column', `${id}.`);
  const byColumn = Map.groupBy(ofColumns, ({ owner }) => owner.slice(id.length + 1));
  const columnMetadata = Object.fromEntries(
    columns.flatMap(({ name }) => {
      const rows = byColumn.get(name);
      return rows === undefined ? [] : [[name, rows.map((row) => metadataReply(row, true))]];
    }),
  );
  return { metadata: own, columnMetadata };
}

/** Returns the aliases with all of their sources: an alias may be one of an alias. */
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

/** Returns the source of an alias, and the table at the end that has the rows. */
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
