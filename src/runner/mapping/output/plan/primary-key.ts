import { StorageError } from '../../../../lib/errors.ts';
import { isRefusal } from '../ready/metadata.ts';
import type { PlannedOutputTable } from './planned.ts';
import { stepKey, type Pushing } from '../pushing.ts';
import { sameKey } from './shared-destination.ts';
import { untilDone } from '../load/until-done.ts';

export interface KeyChange {
  readonly table: PlannedOutputTable;
  /** Entry of the journal. */
  readonly key: string;
  /** Present primary key of the table. */
  readonly current: readonly string[];
}

/**
 * Gives a table the primary key that the mapping has, none when it has none. A key that its rows
 * do not admit is a warning, and the table keeps the one it had: the journal knows it, should the push be cut short
 * between the two steps.
 */
export async function readyKey(push: Pushing, { table, key, current }: KeyChange): Promise<void> {
  const { journal, log } = push;
  const before = journal.table(key).previousKey ?? current;
  const { primaryKey: wanted, destination } = table;
  if (sameKey(current, wanted)) {
    if (journal.table(key).previousKey !== undefined) journal.updateTable(key, { previousKey: undefined });
    return;
  }
  journal.updateTable(key, { previousKey: before });
  const { tables } = push.connection.client;
  if (current.length > 0)
    await tables.deletePrimaryKey(destination, {
      signal: push.signal,
      key: stepKey(push, key, 'no primary key', ...current),
    });
  try {
    await setKey(push, { destination, key }, wanted);
    log.info(`Changed the primary key of ${destination} from ${shown(before)} to ${shown(wanted)}`);
  } catch (error) {
    const isFinal = isRefusal(error) || (error instanceof StorageError && error.code === 'storage.jobFailed');
    if (!isFinal) throw error;
    await setKey(push, { destination, key }, before);
    log.warn(
      `The primary key of ${destination} stays ${shown(before)}, for ${shown(wanted)} was not taken: ${error.message}`,
    );
  }
  journal.updateTable(key, { previousKey: undefined });
}

async function setKey(
  push: Pushing,
  { destination, key }: { readonly destination: string; readonly key: string },
  columns: readonly string[],
): Promise<void> {
  if (columns.length === 0) return;
  const { tables } = push.connection.client;
  await untilDone(
    push,
    () =>
      tables.setPrimaryKey(destination, columns, {
        signal: push.signal,
        key: stepKey(push, key, 'primary key', ...columns),
      }),
    async () => sameKey((await tables.detail(destination)).primaryKey, columns),
  );
}

function shown(key: readonly string[]): string {
  return key.length === 0 ? 'none' : `(${key.join(', ')})`;
}
