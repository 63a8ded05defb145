import { setImmediate as otherRequests } from 'node:timers/promises';
import type { ScheduleCalendar } from '../../../storage/protocol/schedule.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import {
  listBriefSchedules,
  type BriefSchedule,
  type ScheduleFilter,
} from '../../stores/metadata/schedules.ts';
import { apiTime } from '../presenters/time.ts';
import { timesBefore } from './cron.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Configurations that an hour names. */
const NAMED = 4;

/** Counts the runs that begin by schedules in the hours from now on; the first is the one that goes on. */
export async function readCalendar(
  meta: Meta,
  filter: ScheduleFilter,
  { now, hours }: { readonly now: number; readonly hours: number },
): Promise<ScheduleCalendar> {
  const start = Math.floor(now / HOUR_MS) * HOUR_MS;
  const counted = Array.from({ length: hours + 1 }, () => ({ runs: 0, schedules: [] as BriefSchedule[] }));
  for (const { next, some } of rhythmsOf(await listBriefSchedules(meta, filter))) {
    const { cron, time_zone: timeZone } = some[0];
    const times = timesBefore({ cron, timeZone }, Date.parse(next), start + counted.length * HOUR_MS);
    for (const [hour, at] of Map.groupBy(times, (time) => Math.floor((time - start) / HOUR_MS))) {
      const place = counted[hour];
      if (place === undefined) continue; // overdue
      place.runs += at.length * some.length;
      place.schedules.push(...some);
    }
    await otherRequests();
  }
  return {
    hours: counted.map(({ runs, schedules }, i) => ({
      time: apiTime(isoTime(start + i * HOUR_MS)),
      runs,
      schedules: schedules.length,
      first: schedules.slice(0, NAMED).map(({ component_id, configuration_id, name }) => ({
        component: component_id,
        configuration: configuration_id,
        name: name ?? configuration_id,
      })),
    })),
  };
}

interface Rhythm {
  readonly next: string;
  readonly some: [BriefSchedule, ...BriefSchedule[]];
}

/** Puts schedules with the same times together, which are worked out once; those that run nothing are left out. */
function rhythmsOf(schedules: readonly BriefSchedule[]): Iterable<Rhythm> {
  const found = new Map<string, Rhythm>();
  for (const schedule of schedules) {
    const { cron, time_zone, next_occurrence: next, is_disabled, is_deleted } = schedule;
    if (next === null || is_disabled !== 0 || is_deleted !== 0) continue;
    const key = JSON.stringify([cron, time_zone, next]);
    const known = found.get(key);
    if (known === undefined) found.set(key, { next, some: [schedule] });
    else known.some.push(schedule);
  }
  return found.values();
}
