import type { Table } from '../../storage/client/index.ts';
import { isTaken } from './metadata.ts';
import type { PlannedTable } from './planned.ts';
import { readyKey } from './primary-key.ts';
import type { Pushing } from './pushing.ts';
import { readyBucket } from './ready-bucket.ts';
import { untilDone } from './until-done.ts';

/**
 * Makes bucket and table ready to take the rows (spec storage 8.5, 8 and 9). It may be called again at any time before
 * the load is asked for, and beside others who do the same.
 *
 * @returns whether there is a table to load into; without one, the load makes it
 */
export async function readyTable(push: Pushing, table: PlannedTable, key: string): Promise<boolean> {
  const { tables } = push.connection.client;
  await readyBucket(push, table.bucket, key);
  const found = await tables.find(table.destination);
  if (found !== undefined) {
    await adapt(push, table, { key, found });
    return true;
  }
  if (table.isHeader) return false;
  push.journal.updateTable(key, { newTable: true });
  try {
    const { name, definitions: columns, primaryKey } = table;
    await tables.define(table.bucket, { name, columns, primaryKey }, { signal: push.signal });
  } catch (error) {
    if (!isTaken(error)) throw error;
    push.journal.updateTable(key, { newTable: undefined });
    await adapt(push, table, { key, found: await tables.detail(table.destination) });
  }
  return true;
}

interface Existing {
  readonly key: string;
  readonly found: Table;
}

async function adapt(push: Pushing, table: PlannedTable, { key, found }: Existing): Promise<void> {
  const { tables } = push.connection.client;
  await addColumns(push, table, found);
  await readyKey(push, { table, key, current: found.primaryKey });
  for (const rows of table.deleteRows) {
    const { deletedRows } = await tables.deleteRows(table.destination, rows, { signal: push.signal });
    push.log.info(`Deleted ${deletedRows} rows of ${table.destination} before the load`);
  }
}

async function addColumns(
  push: Pushing,
  { destination, definitions }: PlannedTable,
  { columns = [], isTyped }: Table,
): Promise<void> {
  const { tables } = push.connection.client;
  for (const definition of definitions.filter(({ name }) => !columns.includes(name))) {
    const { name } = definition;
    await untilDone(
      push,
      () => tables.addColumn(destination, isTyped ? definition : { name }, { signal: push.signal }),
      async () => (await tables.detail(destination)).columns?.includes(name) === true,
    );
    push.log.info(`Added the column “${name}” to ${destination}`);
  }
}
