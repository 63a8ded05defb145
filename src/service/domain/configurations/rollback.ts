import { toldOf } from '../events/of-configurations.ts';
import type { ConfigurationKey } from '../../stores/metadata/tables.ts';
import { orderAt, type RowPair } from './history.ts';
import { appendVersion, type Change, type LoadedConfiguration } from './model.ts';
import { listRows, listRowsOf, requireConfiguration, requireVersion } from './read-configuration.ts';
import { appendRowVersion, rowContent, updateRowHead } from './row-model.ts';
import { configurationsOf, type Transact } from '../../stores/metadata/transaction.ts';

/**
 * Makes an older version of a configuration its newest one: root, rows and their order. Every row gets a version, with
 * the identifier of the one that it returns to. The states stay; a row that comes back has its last one again (5.3.7).
 */
export async function rollbackConfiguration(
  transact: Transact,
  key: ConfigurationKey,
  version: number,
  change: Change,
): Promise<LoadedConfiguration> {
  return await transact(configurationsOf(key), async (tx) => {
    const current = await requireConfiguration(tx, key);
    const target = await requireVersion(tx, key, version);
    const gone = new Map((await listRows(tx, current)).map(({ head }) => [head.row_id, head]));
    const rows: RowPair[] = [];
    for (const wanted of await listRowsOf(tx, target)) {
      gone.delete(wanted.row_id);
      const text =
        change.text ??
        `Rollback to version ${wanted.version} (via configuration rollback to version ${version})`;
      const back = await appendRowVersion(
        tx,
        key,
        wanted.row_id,
        rowContent(wanted),
        undefined,
        { ...change, text },
        wanted.identifier,
      );
      rows.push([wanted.row_id, back.head.version]);
    }
    for (const head of gone.values()) await updateRowHead(tx, head, { is_deleted: 1 });
    const changed = await appendVersion(
      tx,
      current,
      {
        name: target.name,
        description: target.description,
        isDisabled: target.is_disabled === 1,
        contentVersion: target.content_version,
        rowsSortOrder: await orderAt(tx, target),
        rows,
      },
      { ...change, text: change.text ?? `Rollback to version ${version}` },
    );
    return await toldOf(tx, 'RolledBack', changed, change);
  });
}
