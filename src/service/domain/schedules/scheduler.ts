import type { Context } from '../context.ts';
import type { Env } from '../../../lib/env.ts';
import type { MissedRun } from '../../../storage/protocol/problems.ts';
import { recordEvent } from '../events/system-event.ts';
import { apiTime } from '../presenters/time.ts';
import { placeOf } from './place.ts';
import { findConfiguration } from '../configurations/read-configuration.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { isTaken } from '../../stores/metadata/is-taken.ts';
import { advanceSchedule } from '../../stores/metadata/schedules.ts';
import type { ScheduleRow } from '../../stores/metadata/tables.ts';
import { configurationsOf, withLocks } from '../../stores/metadata/transaction.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { lastTime, nextTime, timesBefore } from './cron.ts';

/**
 * Enqueues the runs that are due. Any number of processes may do this at the same time: every time of a schedule
 * gives one run at most. Of the times that were missed, the last one counts. The clock is that of the queue, one for
 * all processes.
 *
 * @returns the number of runs
 */
export async function runDue(context: Pick<Context, 'env' | 'log' | 'meta' | 'queue'>): Promise<number> {
  const { meta, log, queue } = context;
  const due = await queue.runs.listDue();
  if (due.length === 0) return 0;
  const now = await queue.runs.now();
  let asked = 0;
  for (const schedule of due) {
    try {
      const work = async (tx: Meta): Promise<boolean> => await runOne(tx, schedule, { ...context, now });
      if (await withLocks(meta, configurationsOf(schedule), work)) asked++;
    } catch (error) {
      if (isTaken(error)) continue;
      log.error('Schedule could not be run', { schedule: schedule.id, detail: String(error) });
    }
  }
  if (asked > 0) queue.wake('runs');
  return asked;
}

async function runOne(
  tx: Meta,
  schedule: ScheduleRow,
  { env, log, queue, now }: Pick<Context, 'env' | 'log' | 'queue'> & { readonly now: number },
): Promise<boolean> {
  const timing = { cron: schedule.cron, timeZone: schedule.time_zone };
  const first = Date.parse(schedule.next_occurrence ?? '');
  const time = lastTime(timing, first, now);
  const next = nextTime(timing, Math.max(time, now));
  const to = { last: isoTime(time), next: next === undefined ? null : isoTime(next) };
  if (!(await advanceSchedule(tx, schedule, to))) return false;
  const configuration = await findConfiguration(tx, schedule);
  if (configuration === undefined || configuration.head.is_deleted === 1) return false;
  if (configuration.version.is_disabled === 1) return false;
  await recordMissed(tx, env, schedule, { reason: 'away', times: timesBefore(timing, first, time) });
  const waiting = await tx
    .selectFrom('runs')
    .select('id')
    .where('schedule_id', '=', schedule.id)
    .where('status', '=', 'waiting')
    .limit(1)
    .executeTakeFirst();
  if (waiting !== undefined) {
    // Runs that take longer than the time between them would pile up.
    log.warn('Schedule skipped once: its last run still waits', {
      schedule: schedule.id,
      run: waiting.id,
    });
    await recordMissed(tx, env, schedule, { reason: 'waiting', times: [time] });
    return false;
  }
  // Written by this service.
  const rows = JSON.parse(schedule.rows) as string[];
  await queue.runs.submit(tx, {
    configuration: schedule,
    asked: rows.length === 0 ? {} : { rows },
    version: configuration.version,
    approvedId: schedule.approved_version === configuration.head.version ? schedule.approved_id : null,
    schedule: { id: schedule.id, time: to.last },
    author: { creator_id: schedule.creator_id, creator_description: schedule.creator_description },
  });
  return true;
}

const MISSED: Readonly<Record<'away' | 'waiting', string>> = {
  away: 'no process looked at schedules',
  waiting: 'the run before it still waited',
};

/** Records that times of a schedule gave no run: whoever waits for its data looks for them. */
async function recordMissed(
  tx: Meta,
  env: Env,
  schedule: ScheduleRow,
  { reason, times }: { readonly reason: keyof typeof MISSED; readonly times: readonly number[] },
): Promise<void> {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return;
  const missed: MissedRun = {
    ...placeOf(schedule),
    reason,
    times: times.length,
    firstTime: apiTime(isoTime(first)),
    lastTime: apiTime(isoTime(last)),
  };
  const { creator_id, creator_description } = schedule;
  const doer = { branchId: schedule.branch_id, author: { creator_id, creator_description }, runId: null };
  const count = times.length === 1 ? 'A time' : `${times.length} times`;
  await recordEvent(tx, env, doer, {
    name: 'scheduleMissed',
    message: `${count} of the schedule "${schedule.cron}" gave no run: ${MISSED[reason]}`,
    type: 'error',
    configurationId: schedule.configuration_id,
    params: { ...missed },
  });
}
