import type { Meta } from './database.ts';
import type { ExportRow } from './tables.ts';

type ExportKey = Pick<ExportRow, 'branch_id' | 'cache_key' | 'table_id'>;

/** The export of a table with the same parameters, of whatever revision. */
export async function findExport(meta: Meta, key: ExportKey): Promise<ExportRow | undefined> {
  return await meta
    .selectFrom('exports')
    .selectAll()
    .where((where) => where.and({ ...key }))
    .executeTakeFirst();
}

/** Remembers an export in place of an older one with the same parameters. */
export async function saveExport(meta: Meta, row: ExportRow): Promise<void> {
  const { branch_id, table_id, cache_key } = row;
  await meta
    .deleteFrom('exports')
    .where((where) => where.and({ branch_id, table_id, cache_key }))
    .execute();
  await meta.insertInto('exports').values(row).execute();
}
