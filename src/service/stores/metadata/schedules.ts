import { keyOf, sameConfiguration } from './configuration-key.ts';
import type { Meta } from './database.ts';
import type { Moment } from './timestamp.ts';
import type { ConfigurationKey, Flag, RunRow, ScheduleRow } from './tables.ts';

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

/** Schedules of a branch, of some components or of one configuration. */
export interface ScheduleFilter {
  readonly branchId: number;
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
  /** Only those of these components; all when undefined. */
  readonly components?: readonly string[] | undefined;
}

/** A schedule with what is known of its configuration; nulls of one that is gone for good. */
export interface NamedSchedule extends ScheduleRow {
  readonly name: string | null;
  readonly is_disabled: Flag | null;
  readonly is_deleted: Flag | null;
}

function filtered(meta: Meta, filter: ScheduleFilter) {
  let query = meta.selectFrom('schedules as s').where('s.branch_id', '=', filter.branchId);
  if (filter.component !== undefined) query = query.where('s.component_id', '=', filter.component);
  if (filter.configuration !== undefined)
    query = query.where('s.configuration_id', '=', filter.configuration);
  if (filter.components !== undefined) query = query.where('s.component_id', 'in', filter.components);
  return query;
}

function named(meta: Meta, filter: ScheduleFilter) {
  return filtered(meta, filter)
    .leftJoin('configurations as c', (join) => sameConfiguration(join, 'c', 's'))
    .leftJoin('configuration_versions as v', (join) =>
      sameConfiguration(join, 'v', 'c', { version: 'version' }),
    )
    .select(['v.name', 'v.is_disabled', 'c.is_deleted']);
}

/** Returns schedules of all configurations: those first that come next, then those that do not run. */
export async function listAllSchedules(
  meta: Meta,
  { limit, offset, ...filter }: ScheduleFilter & { readonly limit: number; readonly offset: number },
): Promise<NamedSchedule[]> {
  return await named(meta, filter)
    .selectAll('s')
    .orderBy((build) => build.case().when('s.next_occurrence', 'is', null).then(1).else(0).end())
    .orderBy('s.next_occurrence')
    .orderBy('s.id')
    .limit(limit)
    .offset(offset)
    .execute();
}

/** A schedule, as far as it is searched, sorted and put into a calendar. */
export type BriefSchedule = Pick<
  NamedSchedule,
  | 'component_id'
  | 'configuration_id'
  | 'cron'
  | 'id'
  | 'is_deleted'
  | 'is_disabled'
  | 'is_enabled'
  | 'is_paused'
  | 'last_occurrence'
  | 'name'
  | 'next_occurrence'
  | 'time_zone'
>;

/** Returns all schedules of a filter, with no more of each than is needed to choose among them. */
export async function listBriefSchedules(meta: Meta, filter: ScheduleFilter): Promise<BriefSchedule[]> {
  return await named(meta, filter)
    .select(['s.id', 's.component_id', 's.configuration_id', 's.cron', 's.time_zone'])
    .select(['s.is_enabled', 's.is_paused', 's.next_occurrence', 's.last_occurrence'])
    .execute();
}

/** Returns the schedules with some ids, with what is known of their configurations, in any order. */
export async function listSchedulesById(
  meta: Meta,
  filter: ScheduleFilter,
  ids: readonly number[],
): Promise<NamedSchedule[]> {
  if (ids.length === 0) return [];
  return await named(meta, filter).selectAll('s').where('s.id', 'in', ids).execute();
}

/** Returns the schedules that are, or are not, paused. */
export async function listHeld(
  meta: Meta,
  filter: ScheduleFilter,
  isPaused: boolean,
): Promise<ScheduleRow[]> {
  return await filtered(meta, filter)
    .selectAll('s')
    .where('s.is_paused', '=', isPaused ? 1 : 0)
    .orderBy('s.id')
    .execute();
}

/** Returns the newest run of each schedule that has not ended, by the id of the schedule. */
export async function unfinishedRuns(
  meta: Meta,
  schedules: readonly Pick<ScheduleRow, 'id'>[],
): Promise<ReadonlyMap<number, number>> {
  if (schedules.length === 0) return new Map();
  const found = await meta
    .selectFrom('runs')
    .select(['schedule_id', ({ fn }) => fn.max('id').as('id')])
    .where(
      'schedule_id',
      'in',
      schedules.map(({ id }) => id),
    )
    .where('status', 'in', ['waiting', 'processing'])
    .groupBy('schedule_id')
    .execute();
  return new Map(found.flatMap(({ schedule_id, id }) => (schedule_id === null ? [] : [[schedule_id, id]])));
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
  if (schedules.length === 0) return new Map();
  const newest = meta
    .selectFrom('runs')
    .select(({ fn }) => fn.max('id').as('id'))
    .where(
      'schedule_id',
      'in',
      schedules.map(({ id }) => id),
    )
    .where('status', 'in', ['error', 'success'])
    .groupBy('schedule_id');
  const found = await meta
    .selectFrom('runs')
    .select(['id', 'error', 'version', 'schedule_id'])
    .where('id', 'in', newest)
    .execute();
  return new Map(found.flatMap((run) => (run.schedule_id === null ? [] : [[run.schedule_id, run]])));
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

/** Pauses the enabled schedules of a filter: they have no next time until they are resumed. @returns how many there were */
export async function pauseSchedules(tx: Meta, filter: ScheduleFilter): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('schedules')
    .set({ is_paused: 1, next_occurrence: null })
    .where('is_enabled', '=', 1)
    .where('is_paused', '=', 0)
    .where('id', 'in', filtered(tx, filter).select('s.id'))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
