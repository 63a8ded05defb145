import type { Meta } from '../database.ts';
import type { ConfigurationKey } from '../tables.ts';
import { appendVersion, sortOrder, type Change, type Loaded, type RowPair } from './model.ts';
import { listRows, listRowsOf, requireConfiguration, requireVersion } from './read.ts';
import { appendRowVersion, isSameRow, rowContent, updateRowHead } from './row-model.ts';

/**
 * Makes an older version of a configuration its newest one: root, rows and their order. The states stay; a row that
 * comes back has its last one again (5.3.7).
 */
export async function rollbackConfiguration(
  meta: Meta,
  key: ConfigurationKey,
  version: number,
  change: Change,
): Promise<Loaded> {
  return await meta.transaction().execute(async (tx) => {
    const current = await requireConfiguration(tx, key);
    const target = await requireVersion(tx, key, version);
    const live = new Map((await listRows(tx, current)).map((row) => [row.head.row_id, row]));
    const rows: RowPair[] = [];
    for (const wanted of await listRowsOf(tx, target)) {
      const row = live.get(wanted.row_id);
      live.delete(wanted.row_id);
      if (row !== undefined && isSameRow(rowContent(row.version), rowContent(wanted))) {
        rows.push([wanted.row_id, row.head.version]);
        continue;
      }
      const back = await appendRowVersion(tx, key, wanted.row_id, rowContent(wanted), undefined, {
        ...change,
        text:
          change.text ??
          `Rollback to version ${wanted.version} (via configuration rollback to version ${version})`,
      });
      rows.push([wanted.row_id, back.head.version]);
    }
    for (const { head } of live.values()) await updateRowHead(tx, head, { is_deleted: 1 });
    return await appendVersion(
      tx,
      current,
      {
        name: target.name,
        description: target.description,
        isDisabled: target.is_disabled === 1,
        contentVersion: target.content_version,
        rowsSortOrder: sortOrder(target),
        rows,
      },
      { ...change, text: change.text ?? `Rollback to version ${version}` },
    );
  });
}
