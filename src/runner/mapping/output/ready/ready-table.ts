import type { Table } from '../../../../storage/client/index.ts';
import { isTaken } from './metadata.ts';
import type { PlannedOutputTable } from '../plan/planned.ts';
import { readyKey } from '../plan/primary-key.ts';
import { stepKey, type Pushing } from '../pushing.ts';
import { readyBucket } from './ready-bucket.ts';
import { widerDefinition } from './wider-type.ts';
import { untilDone } from '../load/until-done.ts';

/**
 * Makes bucket and table ready to take the rows. It may be called again at any time before
 * the load is asked for, and beside others who do the same.
 *
 * @returns whether there is a table to load into; without one, the load makes it
 */
export async function readyTable(push: Pushing, table: PlannedOutputTable, key: string): Promise<boolean> {
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
    const once = { signal: push.signal, key: stepKey(push, key, 'define') };
    await tables.define(table.bucket, { name, columns, primaryKey }, once);
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

async function adapt(push: Pushing, table: PlannedOutputTable, { key, found }: Existing): Promise<void> {
  const { tables } = push.connection.client;
  await addColumns(push, table, { key, found });
  await widenColumns(push, table, { key, found });
  await readyKey(push, { table, key, current: found.primaryKey });
  for (const [i, rows] of table.deleteRows.entries()) {
    const once = { signal: push.signal, key: stepKey(push, key, 'delete rows', String(i)) };
    const { deletedRows } = await tables.deleteRows(table.destination, rows, once);
    push.log.info(`Deleted ${deletedRows} rows of ${table.destination} before the load`);
  }
}

async function addColumns(
  push: Pushing,
  { destination, definitions }: PlannedOutputTable,
  { key, found: { columns = [], isTyped } }: Existing,
): Promise<void> {
  const { tables } = push.connection.client;
  for (const definition of definitions.filter(({ name }) => !columns.includes(name))) {
    const { name } = definition;
    await untilDone(
      push,
      () =>
        tables.addColumn(destination, isTyped ? definition : { name }, {
          signal: push.signal,
          key: stepKey(push, key, 'column', name),
        }),
      async () => (await tables.detail(destination)).columns?.includes(name) === true,
    );
    push.log.info(`Added the column “${name}” to ${destination}`);
  }
}

/** Lets the columns of a typed table hold what the file has: before its rows come, so that none is wrong for a moment. */
async function widenColumns(
  push: Pushing,
  { destination, definitions }: PlannedOutputTable,
  { key, found: { definition } }: Existing,
): Promise<void> {
  const { tables } = push.connection.client;
  for (const stored of definition?.columns ?? []) {
    const given = definitions.find(({ name }) => name === stored.name);
    const wider = given && widerDefinition(stored, given);
    if (wider === undefined) continue;
    const once = { signal: push.signal, key: stepKey(push, key, 'widen', stored.name) };
    await tables.defineColumn(destination, wider, once);
    push.log.info(`The column “${stored.name}” of ${destination} became wider, for its values`);
  }
}
