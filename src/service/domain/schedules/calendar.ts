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
  const until = start + counted.length * HOUR_MS;
  const rhythms = new Map<string, readonly number[]>();
  for (const schedule of await listBriefSchedules(meta, filter)) {
    const { cron, time_zone: timeZone, next_occurrence, is_disabled, is_deleted } = schedule;
    if (next_occurrence === null || is_disabled !== 0 || is_deleted !== 0) continue;
    // Worked out once for all with the same expression and zone: that is most of the work.
    const rhythm = JSON.stringify([cron, timeZone]);
    const times = rhythms.get(rhythm) ?? timesBefore({ cron, timeZone }, start - 1, until);
    rhythms.set(rhythm, times);
    const next = Date.parse(next_occurrence);
    const own = [next, ...times.filter((time) => time > next)];
    for (const [hour, at] of Map.groupBy(own, (time) => Math.floor((time - start) / HOUR_MS))) {
      const place = counted[hour];
      if (place === undefined) continue; // overdue, or later
      place.runs += at.length;
      place.schedules.push(schedule);
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
