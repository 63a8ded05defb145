import { sql } from 'kysely';
import type { Meta } from '../../stores/metadata/database.ts';
import type { MetadataScope } from '../../stores/metadata/tables.ts';
import { jsonSql } from './json-sql.ts';
import type { TablePage } from './table-pages.ts';

/** Reads the metadata of each table, in the order of its creation: a list as JSON. */
export async function metadataTexts(meta: Meta, page: TablePage): Promise<ReadonlyMap<string, string>> {
  const rows = await byOwner(meta, page.branchId, 'table')
    .where('owner', '>=', page.first)
    .where('owner', '<=', page.last)
    .execute();
  return new Map(rows.map(({ owner, items }) => [owner, `[${items}]`]));
}

/** Reads the metadata of the columns of each table, by column, as JSON. */
export async function columnMetadataTexts(meta: Meta, page: TablePage): Promise<ReadonlyMap<string, string>> {
  const [first, after] = page.columns;
  const rows = await byOwner(meta, page.branchId, 'column')
    .select((build) => build.fn.min('id').as('made'))
    .where('owner', '>=', first)
    .where('owner', '<', after)
    .execute();
  // No name of a column has a dot.
  const byTable = Map.groupBy(rows, ({ owner }) => owner.slice(0, owner.lastIndexOf('.')));
  const texts = new Map<string, string>();
  for (const [table, columns] of byTable) {
    // Names that are numbers come first, as they do in an object. None is `__proto__`: names do not begin with `_`.
    const byName: Record<string, string> = {};
    for (const { owner, items } of columns.toSorted((a, b) => a.made - b.made))
      byName[owner.slice(table.length + 1)] = items;
    const fields = Object.entries(byName).map(([name, items]) => `${JSON.stringify(name)}:[${items}]`);
    texts.set(table, `{${fields.join(',')}}`);
  }
  return texts;
}

/** Selects metadata in the form of `metadataReply`. */
function byOwner(meta: Meta, branchId: number, scope: MetadataScope) {
  const { quoted, time, joined } = jsonSql(meta);
  const one = sql`'{"id":"' || id || '","key":' || ${quoted(sql.ref('key'))}
    || ',"value":' || ${quoted(sql.ref('value'))} || ',"provider":' || ${quoted(sql.ref('provider'))}
    || ',"timestamp":' || ${time(sql.ref('timestamp'))} || '}'`;
  return meta
    .selectFrom('metadata')
    .select('owner')
    .select(joined(one, sql.ref('id')).as('items'))
    .where('branch_id', '=', branchId)
    .where('scope', '=', scope)
    .groupBy('owner');
}
