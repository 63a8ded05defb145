import { described } from '../described.ts';
import { noSuchTable } from '../table-error.ts';
import { relation, type PostgresCatalogEntry } from './catalog.ts';
import { NO_SUCH_TABLE, stateOf } from './failures.ts';
import type { TableDescription, TableId } from '../engine.ts';
import type { PostgresSession } from './connection.ts';
import type { ReadStore } from './store.ts';

/**
 * Reads a table as it is in the catalogue: until the transaction ends, its columns don't change, and no other table
 * takes its place.
 */
export async function reading<T>(
  { connections, catalog }: ReadStore,
  table: TableId,
  work: (session: PostgresSession, entry: PostgresCatalogEntry) => Promise<T>,
): Promise<T> {
  return await connections.transaction(async (session) => {
    // The reader of the rows may be slow, and a transaction that only reads blocks no other.
    await session.run(`SET LOCAL idle_in_transaction_session_timeout = '30min'`);
    const { place } = await catalog.require(session, table);
    // Selects no rows: naming the table is enough to lock it.
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
    return entry === undefined ? undefined : described(entry);
  });
}
