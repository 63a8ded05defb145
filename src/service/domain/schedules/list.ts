import type { ListedSchedule } from '../../../storage/protocol/schedule.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import {
  lastRuns,
  listAllSchedules,
  unfinishedRuns,
  type NamedSchedule,
  type ScheduleFilter,
} from '../../stores/metadata/schedules.ts';
import { isRefused, scheduleReply, type LastRun } from '../presenters/run.ts';
import { apiTime } from '../presenters/time.ts';
import type { Reply } from '../reply.ts';
import { nextTime } from './cron.ts';

/** Every half hour of a day: of a schedule that runs more often its first times tell enough. */
const MOST_TIMES = 48;

export interface SchedulesAsked extends ScheduleFilter {
  readonly limit: number;
  readonly offset: number;
  /** End of the times that are told, in milliseconds since 1970. */
  readonly until: number;
}

/** Lists schedules of all configurations with what they wait for, and their next times. */
export async function readSchedules(meta: Meta, { until, ...asked }: SchedulesAsked): Promise<Reply[]> {
  const schedules = await listAllSchedules(meta, asked);
  const standings = await standingsOf(meta, schedules);
  return standings.map(({ schedule, last, ...standing }) => {
    const { times, hasMore } = timesOf(schedule, until);
    return {
      ...scheduleReply(schedule, last),
      component: schedule.component_id,
      configuration: schedule.configuration_id,
      name: schedule.name ?? schedule.configuration_id,
      ...standing,
      times: times.map((time) => apiTime(isoTime(time))),
      hasMoreTimes: hasMore,
    };
  });
}

interface Standing extends Pick<ListedSchedule, 'run' | 'waitsFor'> {
  readonly schedule: NamedSchedule;
  readonly last: LastRun | undefined;
}

/** Tells what schedules wait for, in their order. */
export async function standingsOf(
  meta: Meta,
  schedules: readonly NamedSchedule[],
): Promise<readonly Standing[]> {
  const [ended, running] = [await lastRuns(meta, schedules), await unfinishedRuns(meta, schedules)];
  return schedules.map((schedule) => {
    const [last, run] = [ended.get(schedule.id), running.get(schedule.id)];
    return {
      schedule,
      last,
      waitsFor: waitsFor(schedule, { isRefused: isRefused(schedule, last), run }),
      run: run === undefined ? null : String(run),
    };
  });
}

function waitsFor(
  schedule: NamedSchedule,
  { isRefused: isHeld, run }: { readonly isRefused: boolean; readonly run: number | undefined },
): ListedSchedule['waitsFor'] {
  if (schedule.is_enabled === 0) return 'enabling';
  if (schedule.is_paused === 1) return 'resume';
  if (schedule.is_disabled !== 0 || schedule.is_deleted !== 0) return 'configuration';
  if (run !== undefined) return 'run';
  if (isHeld) return 'approval';
  return schedule.next_occurrence === null ? 'nothing' : 'time';
}

/** Returns the next times of a schedule up to before a time: none of one whose configuration does not run. */
function timesOf(
  { cron, time_zone, next_occurrence, is_disabled, is_deleted }: NamedSchedule,
  until: number,
): { readonly times: readonly number[]; readonly hasMore: boolean } {
  const times: number[] = [];
  if (next_occurrence === null || is_disabled !== 0 || is_deleted !== 0) return { times, hasMore: false };
  let at: number | undefined = Date.parse(next_occurrence);
  while (at !== undefined && at < until && times.length < MOST_TIMES) {
    times.push(at);
    at = nextTime({ cron, timeZone: time_zone }, at);
  }
  return { times, hasMore: at !== undefined && at < until };
}
