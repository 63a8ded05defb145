import { noSuchTable } from '../table-error.ts';
import { relation, type CatalogEntry } from './catalog.ts';
import { NO_SUCH_TABLE, stateOf } from './failures.ts';
import type { TableDescription, TableId } from '../engine.ts';
import type { Session } from './connection.ts';
import type { ReadStore } from './store.ts';

/**
 * Reads a table as the catalogue says it is: nobody changes its columns, or puts another one in its place, until the
 * transaction ends.
 */
export async function reading<T>(
  { connections, catalog }: ReadStore,
  table: TableId,
  work: (session: Session, entry: CatalogEntry) => Promise<T>,
): Promise<T> {
  return await connections.transaction(async (session) => {
    // Whoever takes the rows may be slow, and what is only read is in nobody's way.
    await session.run(`SET LOCAL idle_in_transaction_session_timeout = '30min'`);
    const { place } = await catalog.require(session, table);
    // Of the rows none is asked for: to name the table is enough.
    await session.run(`SELECT FROM ${relation(place)} LIMIT 0`).catch((error: unknown) => {
      throw stateOf(error) === NO_SUCH_TABLE ? noSuchTable(table) : error;
    });
    return await work(session, await catalog.require(session, table));
  });
}

export async function describeTable(
  { connections, catalog }: ReadStore,
  table: TableId,
): Promise<TableDescription | undefined> {
  return await connections.transaction(async (session) => {
    const entry = await catalog.find(session, table);
    if (entry === undefined) return undefined;
    const { columns, primaryKey, rows, bytes, lastImport } = entry;
    return { columns, primaryKey, rows, bytes, ...(lastImport === undefined ? {} : { lastImport }) };
  });
}
