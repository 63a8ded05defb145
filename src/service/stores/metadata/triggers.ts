import type { Meta } from './database.ts';
import type { TriggerRow } from './tables.ts';

export interface Trigger {
  readonly row: TriggerRow;
  readonly tables: readonly string[];
}

export async function listTriggers(meta: Meta): Promise<Trigger[]> {
  const rows = await meta.selectFrom('triggers').selectAll().orderBy('id').execute();
  return await Promise.all(rows.map(async (row) => ({ row, tables: await tablesOf(meta, row.id) })));
}

export async function findTrigger(meta: Meta, id: number): Promise<Trigger | undefined> {
  const row = await meta.selectFrom('triggers').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : { row, tables: await tablesOf(meta, id) };
}

/** Inserts a trigger, or replaces the one of the same id. Must run in a transaction. */
export async function saveTrigger(tx: Meta, trigger: Trigger): Promise<void> {
  await deleteTrigger(tx, trigger.row.id);
  await tx.insertInto('triggers').values(trigger.row).execute();
  for (const table_id of new Set(trigger.tables)) {
    await tx.insertInto('trigger_tables').values({ trigger_id: trigger.row.id, table_id }).execute();
  }
}

export async function deleteTrigger(meta: Meta, id: number): Promise<void> {
  await meta.deleteFrom('trigger_tables').where('trigger_id', '=', id).execute();
  await meta.deleteFrom('triggers').where('id', '=', id).execute();
}

async function tablesOf(meta: Meta, id: number): Promise<string[]> {
  const rows = await meta
    .selectFrom('trigger_tables')
    .select('table_id')
    .where('trigger_id', '=', id)
    .orderBy('table_id')
    .execute();
  return rows.map(({ table_id }) => table_id);
}
