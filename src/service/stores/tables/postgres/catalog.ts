import { formsFrom, formsOf, formsText, type ColumnForms } from '../column-types.ts';
import { noSuchTable } from '../table-error.ts';
import { literal, physicalName, quoted } from './names.ts';
import type { LastImport, TableDefinition, TableId } from '../engine.ts';
import type { PostgresSession } from './connection.ts';

/** Facts that the database can't store by itself. */
export interface PostgresCatalogEntry extends Omit<TableDefinition, 'types'> {
  readonly forms: ColumnForms;
  readonly place: TablePlace;
  readonly rows: number;
  /** About the bytes of all values. */
  readonly bytes: number;
  /** Number of the next row that is added; rows are in the order of their numbers. */
  readonly nextRow: number;
  /** Index over the key; undefined without a key. */
  readonly keyIndex: KeyIndex | undefined;
  /** The last import that has a mark. */
  readonly lastImport?: LastImport | undefined;
}

/** Schema and name of the table with the rows. */
export interface TablePlace {
  readonly schema: string;
  readonly name: string;
}

export interface KeyIndex {
  readonly name: string;
  /** True when the index takes keys of any length. */
  readonly isLong: boolean;
}

/** The table as it is named in SQL: `"gex_in_c_main"."users"`. */
export const relation = ({ schema, name }: TablePlace): string => `${quoted(schema)}.${quoted(name)}`;

/** Tables of the engine itself, in the schema of the service. */
export interface Catalog {
  /** Makes them when they are missing. */
  setUp(session: PostgresSession): Promise<void>;
  find(session: PostgresSession, table: TableId): Promise<PostgresCatalogEntry | undefined>;
  /** @throws TableError (`storage.tables.notFound`) */
  require(session: PostgresSession, table: TableId): Promise<PostgresCatalogEntry>;
  /** Like {@link require}; until the transaction ends, no other transaction changes the table. */
  lock(session: PostgresSession, table: TableId): Promise<PostgresCatalogEntry>;
  /** Like {@link lock}, for a table that is about to be made; returns the existing table of that name. */
  claim(
    session: PostgresSession,
    table: TableId,
    place: TablePlace,
  ): Promise<PostgresCatalogEntry | undefined>;
  save(session: PostgresSession, table: TableId, entry: PostgresCatalogEntry): Promise<void>;
  remove(session: PostgresSession, table: TableId): Promise<void>;
  hasTables(session: PostgresSession, bucket: string): Promise<boolean>;
}

const COLUMNS =
  'schema_name, relation_name, columns, primary_key, row_count, byte_count, next_row, key_index, last_import, forms';

/** @param service schema of the service */
export function createCatalog(service: string): Catalog {
  const catalog = `${quoted(service)}.table_catalog`;
  const find = async (
    session: PostgresSession,
    table: TableId,
    how = '',
  ): Promise<PostgresCatalogEntry | undefined> => {
    const [row] = await session.rows(`SELECT ${COLUMNS} FROM ${catalog} WHERE ${isTable(table)}${how}`);
    return row === undefined ? undefined : entryOf(row);
  };
  return {
    async setUp(session) {
      await session.run(
        `CREATE TABLE IF NOT EXISTS ${catalog} (bucket text NOT NULL, table_name text NOT NULL, schema_name text NOT NULL, ` +
          'relation_name text NOT NULL, columns text NOT NULL, primary_key text NOT NULL, row_count bigint NOT NULL, ' +
          'byte_count bigint NOT NULL, next_row bigint NOT NULL, key_index text, last_import text, PRIMARY KEY (bucket, table_name))',
      );
      // A table of an earlier version has texts only.
      await session.run(`ALTER TABLE ${catalog} ADD COLUMN IF NOT EXISTS forms text`);
    },
    find: async (session, table) => await find(session, table),
    require: async (session, table) => required(await find(session, table), table),
    lock: async (session, table) => required(await find(session, table, ' FOR UPDATE'), table),
    async claim(session, table, { schema, name }) {
      const isNew = await session.run(
        `INSERT INTO ${catalog} (bucket, table_name, ${COLUMNS}) VALUES (${literal(table.bucket)}, ${literal(table.table)}, ` +
          `${literal(schema)}, ${literal(name)}, '[]', '[]', 0, 0, 0, NULL, NULL, NULL) ON CONFLICT (bucket, table_name) DO NOTHING`,
      );
      return isNew > 0 ? undefined : await find(session, table, ' FOR UPDATE');
    },
    async save(session, table, entry) {
      const { place, columns, primaryKey, rows, bytes, nextRow, keyIndex, lastImport } = entry;
      const forms = formsText(formsOf(columns, entry.forms));
      await session.run(
        `UPDATE ${catalog} SET schema_name = ${literal(place.schema)}, relation_name = ${literal(place.name)}, ` +
          `columns = ${literal(JSON.stringify(columns))}, primary_key = ${literal(JSON.stringify(primaryKey))}, ` +
          `row_count = ${rows}, byte_count = ${Math.round(bytes)}, next_row = ${nextRow}, ` +
          `key_index = ${optional(keyIndex)}, last_import = ${optional(lastImport)}, ` +
          `forms = ${forms === null ? 'NULL' : literal(forms)} WHERE ${isTable(table)}`,
      );
    },
    remove: async (session, table) =>
      void (await session.run(`DELETE FROM ${catalog} WHERE ${isTable(table)}`)),
    hasTables: async (session, bucket) =>
      (await session.number(`SELECT count(*) FROM ${catalog} WHERE bucket = ${literal(bucket)}`)) > 0,
  };
}

function isTable({ bucket, table }: TableId): string {
  return `bucket = ${literal(bucket)} AND table_name = ${literal(table)}`;
}

function required(entry: PostgresCatalogEntry | undefined, table: TableId): PostgresCatalogEntry {
  if (entry === undefined) throw noSuchTable(table);
  return entry;
}

function optional(value: unknown): string {
  return value === undefined ? 'NULL' : literal(JSON.stringify(value));
}

export function placeOf(schema: string, { table }: TableId): TablePlace {
  return { schema, name: physicalName(table) };
}

/** The columns of `COLUMNS`; texts of JSON were written by `save`. */
function entryOf(row: readonly unknown[]): PostgresCatalogEntry {
  const [schema, name, columns, primaryKey, rows, bytes, nextRow, keyIndex, lastImport, forms] = row;
  return {
    place: { schema: String(schema), name: String(name) },
    columns: JSON.parse(String(columns)) as string[],
    primaryKey: JSON.parse(String(primaryKey)) as string[],
    rows: Number(rows),
    bytes: Number(bytes),
    nextRow: Number(nextRow),
    forms: formsFrom(forms),
    keyIndex: typeof keyIndex === 'string' ? (JSON.parse(keyIndex) as KeyIndex) : undefined,
    ...(typeof lastImport === 'string' ? { lastImport: JSON.parse(lastImport) as LastImport } : {}),
  };
}
