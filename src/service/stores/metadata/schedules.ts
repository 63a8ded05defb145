import { keyOf } from './configuration-key.ts';
import type { Meta } from './database.ts';
import type { Moment } from './timestamp.ts';
import type { ConfigurationKey, RunRow, ScheduleRow } from './tables.ts';

export async function insertSchedule(tx: Meta, row: ScheduleRow): Promise<void> {
  await tx.insertInto('schedules').values(row).execute();
}

/** The schedules of a configuration, in the order in which they were made. */
export async function listSchedules(meta: Meta, key: ConfigurationKey): Promise<ScheduleRow[]> {
  return await meta
    .selectFrom('schedules')
    .selectAll()
    .where((where) => where.and(keyOf(key)))
    .orderBy('id')
    .execute();
}

export async function findSchedule(
  meta: Meta,
  key: ConfigurationKey,
  id: number,
): Promise<ScheduleRow | undefined> {
  return await meta
    .selectFrom('schedules')
    .selectAll()
    .where((where) => where.and({ ...keyOf(key), id }))
    .executeTakeFirst();
}

export async function updateSchedule(
  meta: Meta,
  id: number,
  changes: Partial<Omit<ScheduleRow, 'id'>>,
): Promise<void> {
  await meta.updateTable('schedules').set(changes).where('id', '=', id).execute();
}

export async function deleteSchedule(meta: Meta, id: number): Promise<void> {
  await meta.deleteFrom('schedules').where('id', '=', id).execute();
}

/** The last run of each schedule that has ended, without those that were cancelled. */
export async function lastRuns(
  meta: Meta,
  schedules: readonly Pick<ScheduleRow, 'id'>[],
): Promise<ReadonlyMap<number, Pick<RunRow, 'error' | 'id' | 'version'>>> {
  const found = new Map<number, Pick<RunRow, 'error' | 'id' | 'version'>>();
  for (const { id } of schedules) {
    const last = await meta
      .selectFrom('runs')
      .select(['id', 'error', 'version'])
      .where('schedule_id', '=', id)
      .where('status', 'in', ['error', 'success'])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (last !== undefined) found.set(id, last);
  }
  return found;
}

/** Returns the schedules that are due. */
export async function listDue(meta: Meta, now: Moment): Promise<ScheduleRow[]> {
  return await meta
    .selectFrom('schedules')
    .selectAll()
    .where('next_occurrence', '<=', now)
    .orderBy('next_occurrence')
    .limit(1000)
    .execute();
}

/**
 * Moves a schedule on from the time that was found due. Must run in the transaction that asks for the run.
 *
 * @returns false when another process has done so
 */
export async function advanceSchedule(
  tx: Meta,
  { id, next_occurrence }: Pick<ScheduleRow, 'id' | 'next_occurrence'>,
  to: { readonly last: string | null; readonly next: string | null },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('schedules')
    .set({ next_occurrence: to.next, last_occurrence: to.last })
    .where('id', '=', id)
    .where('next_occurrence', '=', next_occurrence)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
