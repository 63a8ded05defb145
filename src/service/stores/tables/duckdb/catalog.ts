import { formsFrom, formsOf, formsText, type ColumnForms } from '../column-types.ts';
import { noSuchTable } from '../table-error.ts';
import { literal, loadingName, physicalSchema, tableName } from './identifiers.ts';
import type { LastImport, TableDefinition, TableId } from '../engine.ts';
import type { DuckSession } from './session.ts';

/** Facts that the database can't store by itself: names as given, their order, the key, the size. */
export interface DuckCatalogEntry extends Omit<TableDefinition, 'types'> {
  /** About the bytes of all values. */
  readonly bytes: number;
  /** The last import that has a mark. */
  readonly lastImport?: LastImport | undefined;
  readonly forms: ColumnForms;
}

const CATALOG = 'main.catalog';

const EPOCH = 'main.epoch';

export async function createCatalog(session: DuckSession): Promise<void> {
  await session.run(
    `CREATE TABLE IF NOT EXISTS ${CATALOG} (bucket VARCHAR, table_name VARCHAR, columns VARCHAR, primary_key VARCHAR, bytes BIGINT, last_import VARCHAR)`,
  );
  // A table of an earlier version has texts only.
  await session.run(`ALTER TABLE ${CATALOG} ADD COLUMN IF NOT EXISTS forms VARCHAR`);
  await session.run(`CREATE TABLE IF NOT EXISTS ${EPOCH} (name VARCHAR)`);
}

export async function findEntry(session: DuckSession, table: TableId): Promise<DuckCatalogEntry | undefined> {
  const [row] = await session.rows(
    `SELECT columns, primary_key, bytes, last_import, forms FROM ${CATALOG} WHERE ${isTable(table)}`,
  );
  if (row === undefined) return undefined;
  const [columns, primaryKey, bytes, lastImport, forms] = row;
  return {
    columns: readList(columns),
    primaryKey: readList(primaryKey),
    bytes: Number(bytes),
    forms: formsFrom(forms),
    // Written by `saveEntry`.
    ...(typeof lastImport === 'string' ? { lastImport: JSON.parse(lastImport) as LastImport } : {}),
  };
}

/** @throws TableError (`storage.tables.notFound`) */
export async function requireEntry(session: DuckSession, table: TableId): Promise<DuckCatalogEntry> {
  const entry = await findEntry(session, table);
  if (entry !== undefined) return entry;
  throw noSuchTable(table);
}

/** Writes the entry of a table in place of the one it has. */
export async function saveEntry(
  session: DuckSession,
  table: TableId,
  entry: DuckCatalogEntry,
): Promise<void> {
  const { columns, primaryKey, bytes } = entry;
  const written = formsText(formsOf(columns, entry.forms));
  const forms = written === null ? 'NULL' : literal(written);
  const lastImport = entry.lastImport === undefined ? 'NULL' : literal(JSON.stringify(entry.lastImport));
  const values = [JSON.stringify(columns), JSON.stringify(primaryKey)].map(literal).join(', ');
  if ((await findEntry(session, table)) === undefined) {
    await session.run(
      `INSERT INTO ${CATALOG} (bucket, table_name, columns, primary_key, bytes, last_import, forms) VALUES (${literal(table.bucket)}, ${literal(table.table)}, ${values}, ${Math.round(bytes)}, ${lastImport}, ${forms})`,
    );
    return;
  }
  const [columnText, keyText] = [columns, primaryKey].map((list) => literal(JSON.stringify(list)));
  await session.run(
    `UPDATE ${CATALOG} SET columns = ${columnText}, primary_key = ${keyText}, bytes = ${Math.round(bytes)}, last_import = ${lastImport}, forms = ${forms} WHERE ${isTable(table)}`,
  );
}

/** Drops a table and its entry; nothing happens when there is none. */
export async function removeTable(session: DuckSession, table: TableId): Promise<void> {
  const isSchemaThere = await session.number(
    `SELECT count(*) FROM duckdb_schemas() WHERE NOT internal AND database_name = 'tables' AND schema_name = ${schemaText(table)}`,
  );
  if (isSchemaThere > 0) {
    await session.run(`DROP TABLE IF EXISTS ${tableName(table)}`);
    await session.run(`DROP TABLE IF EXISTS ${loadingName(table).name}`);
  }
  await session.run(`DELETE FROM ${CATALOG} WHERE ${isTable(table)}`);
}

export async function findEpoch(session: DuckSession): Promise<string> {
  const [row] = await session.rows(`SELECT name FROM ${EPOCH}`);
  return String(row?.[0] ?? '');
}

export async function saveEpoch(session: DuckSession, name: string): Promise<void> {
  await session.run(`DELETE FROM ${EPOCH}`);
  await session.run(`INSERT INTO ${EPOCH} VALUES (${literal(name)})`);
}

export async function countRows(session: DuckSession, table: TableId): Promise<number> {
  return session.number(`SELECT count(*) FROM ${tableName(table)}`);
}

function schemaText({ bucket }: TableId): string {
  return literal(physicalSchema(bucket));
}

function isTable({ bucket, table }: TableId): string {
  return `bucket = ${literal(bucket)} AND table_name = ${literal(table)}`;
}

/** The lists were written by `saveEntry`. */
function readList(value: unknown): string[] {
  return JSON.parse(String(value)) as string[];
}
