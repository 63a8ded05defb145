import type { Meta } from './database.ts';
import { IS_ACCEPTED } from './runs.ts';
import type { Moment } from './timestamp.ts';
import type { EventRow, RunRow, ScheduleRow } from './tables.ts';

/** Runs that ended in a range of time. */
export interface EndedRange {
  readonly branchId: number;
  readonly since: Moment;
  /** Up to before this time. */
  readonly until: Moment;
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
  /** Only those of these components; all when undefined. */
  readonly components?: readonly string[] | undefined;
}

/** A run that went wrong, as far as it is told of. */
export type ProblemRow = Pick<
  RunRow,
  'component_id' | 'configuration_id' | 'ended' | 'error' | 'id' | 'lock_key' | 'status' | 'verdict'
>;

/** How many runs of a range ended in each way. */
export async function countEnded(
  meta: Meta,
  range: EndedRange,
): Promise<readonly { status: string; verdict: string | null; isAccepted: boolean; runs: number }[]> {
  const counted = await inRange(meta, range)
    .select([
      'status',
      'verdict',
      IS_ACCEPTED.as('is_accepted'),
      (build) => build.fn.countAll<number | string>().as('runs'),
    ])
    .groupBy(['status', 'verdict', IS_ACCEPTED])
    .execute();
  return counted.map(({ runs, is_accepted, ...kind }) => ({
    ...kind,
    isAccepted: is_accepted === 1,
    runs: Number(runs),
  }));
}

/** Runs that failed or are doubtful, and that nobody has accepted, the newest first. */
export async function listProblemRuns(meta: Meta, range: EndedRange, limit: number): Promise<ProblemRow[]> {
  return await inRange(meta, range)
    .select(['id', 'component_id', 'configuration_id', 'lock_key', 'status', 'verdict', 'ended', 'error'])
    .where((where) => where.or([where('status', '=', 'error'), where('verdict', '=', 'doubtful')]))
    .where('status', '!=', 'cancelled')
    .where('accepted', 'is', null)
    .orderBy('ended', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

function inRange(meta: Meta, range: EndedRange) {
  let query = meta
    .selectFrom('runs')
    .where('branch_id', '=', range.branchId)
    .where('ended', '>=', range.since)
    .where('ended', '<', range.until);
  if (range.component !== undefined) query = query.where('component_id', '=', range.component);
  if (range.configuration !== undefined) query = query.where('configuration_id', '=', range.configuration);
  if (range.components !== undefined) query = query.where('component_id', 'in', range.components);
  return query;
}

const AT_ONCE = 500;

/** The newest run without an open doubt of each configuration that has one, by its `lock_key`. */
export async function lastGoodRuns(
  meta: Meta,
  lockKeys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (let at = 0; at < lockKeys.length; at += AT_ONCE) {
    const some = await meta
      .selectFrom('runs')
      .select(['lock_key', (build) => build.fn.max('id').as('id')])
      .where('lock_key', 'in', lockKeys.slice(at, at + AT_ONCE))
      .where('status', '=', 'success')
      .where((where) =>
        where.or([
          where('verdict', 'is', null),
          where('verdict', '!=', 'doubtful'),
          where('accepted', 'is not', null),
        ]),
      )
      .groupBy('lock_key')
      .execute();
    for (const { lock_key, id } of some) found.set(lock_key, id);
  }
  return found;
}

/** Events of schedules whose times gave no run. */
export async function listMissed(
  meta: Meta,
  { branchId, since, until }: EndedRange,
): Promise<Pick<EventRow, 'params'>[]> {
  return await meta
    .selectFrom('events')
    .select('params')
    .where('branch_id', '=', branchId)
    .where('event', '=', 'storage.scheduleMissed')
    .where('created', '>=', since)
    .where('created', '<', until)
    .orderBy('id')
    .limit(AT_ONCE)
    .execute();
}

/** Schedules of a branch whose time came before a moment, and that nobody has looked at since. */
export async function listOverdue(meta: Meta, branchId: number, before: Moment): Promise<ScheduleRow[]> {
  return await meta
    .selectFrom('schedules')
    .selectAll()
    .where('branch_id', '=', branchId)
    .where('is_enabled', '=', 1)
    .where('next_occurrence', '<', before)
    .orderBy('next_occurrence')
    .limit(AT_ONCE)
    .execute();
}
