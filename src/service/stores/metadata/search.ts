import type { Meta } from './database.ts';
import { sameConfiguration } from './configuration-key.ts';

export interface SearchResult {
  readonly type: 'bucket' | 'configuration' | 'configuration-row' | 'table';
  readonly branchId: number;
  readonly id: string;
  readonly name: string;
  readonly created: string;
  readonly componentId: string | null;
}

/** Everything live whose name or id holds the text, whatever its case; in every branch. */
export async function searchByName(meta: Meta, text: string): Promise<SearchResult[]> {
  const all = [
    ...(await configurations(meta)),
    ...(await rows(meta)),
    ...(await named(meta, 'buckets', 'bucket')),
    ...(await named(meta, 'tables', 'table')),
  ];
  // Here and not in the query: SQLite knows the case of ASCII letters only.
  const wanted = text.toLowerCase();
  return all.filter(
    ({ id, name }) => name.toLowerCase().includes(wanted) || id.toLowerCase().includes(wanted),
  );
}

async function configurations(meta: Meta): Promise<SearchResult[]> {
  const found = await meta
    .selectFrom('configurations as c')
    .innerJoin('configuration_versions as v', (join) =>
      sameConfiguration(join, 'c', 'v', { version: 'version' }),
    )
    .select(['c.branch_id', 'c.component_id', 'c.configuration_id', 'c.created', 'v.name'])
    .where('c.is_deleted', '=', 0)
    .execute();
  return found.map((row) => ({
    type: 'configuration',
    branchId: row.branch_id,
    id: row.configuration_id,
    name: row.name,
    created: row.created,
    componentId: row.component_id,
  }));
}

async function rows(meta: Meta): Promise<SearchResult[]> {
  const found = await meta
    .selectFrom('configuration_rows as r')
    .innerJoin('row_versions as v', (join) =>
      sameConfiguration(join, 'r', 'v', { row_id: 'row_id', version: 'version' }),
    )
    .innerJoin('configurations as c', (join) => sameConfiguration(join, 'c', 'r'))
    .select(['r.branch_id', 'r.component_id', 'r.row_id', 'r.created', 'v.name'])
    .where('r.is_deleted', '=', 0)
    .where('c.is_deleted', '=', 0)
    .execute();
  return found.map((row) => ({
    type: 'configuration-row',
    branchId: row.branch_id,
    id: row.row_id,
    name: row.name,
    created: row.created,
    componentId: row.component_id,
  }));
}

async function named(
  meta: Meta,
  table: 'buckets' | 'tables',
  type: 'bucket' | 'table',
): Promise<SearchResult[]> {
  const found = await meta.selectFrom(table).select(['branch_id', 'id', 'display_name', 'created']).execute();
  return found.map((row) => ({
    type,
    branchId: row.branch_id,
    id: row.id,
    name: row.display_name,
    created: row.created,
    componentId: null,
  }));
}
