import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

interface Key {
  readonly branch_id: number;
  readonly component_id: string;
  readonly configuration_id: string;
}

/** The columns that are read and written here, as they are between the two schemas. */
interface Between {
  configurations: Key & { rows_sort_order: string };
  configuration_versions: Key & {
    version: number;
    rows: string;
    rows_sort_order: string;
    order_version: number;
  };
  configuration_orders: Key & { version: number; rows_sort_order: string };
  configuration_version_rows: Key & MemberRow;
}

interface MemberRow {
  row_id: string;
  since_version: number;
  until_version: number | null;
  row_version: number;
  joined_version: number;
}

/** Versions at a time: each holds all rows of its configuration. */
const PAGE = 100;

/**
 * A version of a configuration keeps what it changed of the rows, where it had the whole list before: with many rows
 * that grew by the square.
 */
export const versionChanges: Migration = {
  async up(untyped: Kysely<never>) {
    const key = { branch_id: 'integer', component_id: 'text', configuration_id: 'text' } as const;
    const tables = {
      configuration_orders: { ...key, version: 'integer', rows_sort_order: 'text' },
      configuration_version_rows: {
        ...key,
        row_id: 'text',
        since_version: 'integer',
        until_version: 'integer',
        row_version: 'integer',
        joined_version: 'integer',
      },
    } as const;
    for (const [name, columns] of Object.entries(tables)) {
      let table = untyped.schema.createTable(name);
      for (const [column, type] of Object.entries(columns))
        table = table.addColumn(column, type, (to) => (column === 'until_version' ? to : to.notNull()));
      const own = name === 'configuration_orders' ? ['version'] : ['row_id', 'since_version'];
      await table.addPrimaryKeyConstraint(`${name}_key`, [...Object.keys(key), ...own] as never[]).execute();
    }
    await untyped.schema
      .alterTable('configurations')
      .addColumn('rows_sort_order', 'text', (column) => column.notNull().defaultTo('[]'))
      .execute();
    await untyped.schema
      .alterTable('configuration_versions')
      .addColumn('order_version', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();

    const db = untyped as unknown as Kysely<Between>;
    const keys = await db
      .selectFrom('configurations')
      .select(['branch_id', 'component_id', 'configuration_id'])
      .execute();
    for (const one of keys) await convert(db, one);

    for (const column of ['rows', 'rows_sort_order'])
      await untyped.schema.alterTable('configuration_versions').dropColumn(column).execute();
  },
};

async function convert(db: Kysely<Between>, key: Key): Promise<void> {
  const open = new Map<string, MemberRow>();
  let order: { readonly version: number; readonly set: readonly string[] } = { version: 0, set: [] };
  let current = '[]';
  for (let last = 0; ;) {
    const page = await db
      .selectFrom('configuration_versions')
      .select(['version', 'rows', 'rows_sort_order'])
      .where((where) => where.and({ ...key }))
      .where('version', '>', last)
      .orderBy('version')
      .limit(PAGE)
      .execute();
    if (page.length === 0) break;
    for (const { version, rows, rows_sort_order } of page) {
      last = version;
      current = rows_sort_order;
      // Both lists were written by the service itself.
      await follow(db, key, version, JSON.parse(rows) as [string, number][], open);
      if (rows_sort_order === '[]') order = { version: 0, set: [] };
      else if (order.version === 0 || JSON.stringify(derived(order, open)) !== rows_sort_order) {
        order = { version, set: JSON.parse(rows_sort_order) as string[] };
        await db
          .insertInto('configuration_orders')
          .values({ ...key, version, rows_sort_order })
          .execute();
      }
      if (order.version === 0) continue;
      await db
        .updateTable('configuration_versions')
        .set({ order_version: order.version })
        .where((where) => where.and({ ...key, version }))
        .execute();
    }
  }
  for (const row of open.values())
    await db
      .insertInto('configuration_version_rows')
      .values({ ...key, ...row })
      .execute();
  await db
    .updateTable('configurations')
    .set({ rows_sort_order: current })
    .where((where) => where.and({ ...key }))
    .execute();
}

/** Writes down the rows that end with a version, and keeps those that begin. */
async function follow(
  db: Kysely<Between>,
  key: Key,
  version: number,
  rows: readonly (readonly [string, number])[],
  open: Map<string, MemberRow>,
): Promise<void> {
  const now = new Map(rows);
  for (const row of open.values()) {
    if (now.get(row.row_id) === row.row_version) continue;
    await db
      .insertInto('configuration_version_rows')
      .values({ ...key, ...row, until_version: version })
      .execute();
    if (!now.has(row.row_id)) open.delete(row.row_id);
  }
  for (const [row_id, row_version] of now) {
    const before = open.get(row_id);
    if (before?.row_version === row_version) continue;
    const joined_version = before?.joined_version ?? version;
    open.set(row_id, { row_id, since_version: version, until_version: null, row_version, joined_version });
  }
}

/** What the order is without being set again: rows that went are left out, rows that came are behind. */
function derived(
  order: { readonly version: number; readonly set: readonly string[] },
  open: ReadonlyMap<string, MemberRow>,
): string[] {
  const isNew = (row: MemberRow): boolean => row.joined_version > order.version;
  const kept = order.set.filter((id) => {
    const row = open.get(id);
    return row !== undefined && !isNew(row);
  });
  const added = [...open.values()].filter(isNew).toSorted((a, b) => a.joined_version - b.joined_version);
  return [...kept, ...added.map(({ row_id }) => row_id)];
}
