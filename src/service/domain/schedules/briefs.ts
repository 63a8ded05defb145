import type {
  ScheduleBrief,
  ScheduleBriefs,
  ScheduleBriefsQuery,
} from '../../../storage/protocol/schedule.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import {
  listBriefSchedules,
  listSchedulesById,
  type BriefSchedule,
  type ScheduleFilter,
} from '../../stores/metadata/schedules.ts';
import { hasWords } from '../has-words.ts';
import { apiTime } from '../presenters/time.ts';
import { standingsOf } from './list.ts';

const LIMIT = 100;

/** Lists schedules page by page, with no more of each than lists show. */
export async function readScheduleBriefs(
  meta: Meta,
  filter: ScheduleFilter,
  { search, standing, sort = 'next', isReversed = false, limit = LIMIT, offset = 0 }: ScheduleBriefsQuery,
): Promise<ScheduleBriefs> {
  const all = await listBriefSchedules(meta, filter);
  const isFound = hasWords(search);
  const found = all.filter(
    (each) =>
      (standing ?? standingOf(each)) === standingOf(each) &&
      isFound([nameOf(each), each.configuration_id, each.component_id, each.cron, each.time_zone].join(' ')),
  );
  const sorted = found.toSorted((a, b) => ORDERS[sort](a, b) || a.id - b.id);
  const ids = (isReversed ? sorted.toReversed() : sorted).slice(offset, offset + limit).map(({ id }) => id);
  const listed = await standingsOf(meta, await listSchedulesById(meta, filter, ids));
  const counts: ScheduleBriefs['counts'] = { active: 0, paused: 0, disabled: 0 };
  for (const each of all) counts[standingOf(each)] += 1;
  return {
    counts,
    total: found.length,
    schedules: listed
      .toSorted((a, b) => ids.indexOf(a.schedule.id) - ids.indexOf(b.schedule.id))
      .map(({ schedule, waitsFor, run }): ScheduleBrief => ({
        id: String(schedule.id),
        component: schedule.component_id,
        configuration: schedule.configuration_id,
        name: nameOf(schedule),
        cron: schedule.cron,
        timeZone: schedule.time_zone,
        isEnabled: schedule.is_enabled === 1,
        isPaused: schedule.is_paused === 1,
        waitsFor,
        run,
        nextTime: apiTime(schedule.next_occurrence),
        lastTime: apiTime(schedule.last_occurrence),
      })),
  };
}

const nameOf = ({ name, configuration_id }: BriefSchedule): string => name ?? configuration_id;

function standingOf({ is_enabled, is_paused }: BriefSchedule): keyof ScheduleBriefs['counts'] {
  if (is_enabled === 0) return 'disabled';
  return is_paused === 1 ? 'paused' : 'active';
}

/** Orders by a time; those without one come last. @param way 1 for the newest first, -1 for the oldest */
const byTime =
  (timeOf: (schedule: BriefSchedule) => string | null, way: -1 | 1) =>
  (a: BriefSchedule, b: BriefSchedule): number => {
    const [one, other] = [timeOf(a), timeOf(b)];
    if (one === other) return 0;
    if (one === null || other === null) return one === null ? 1 : -1;
    return one < other ? way : -way;
  };

const ORDERS: Readonly<
  Record<NonNullable<ScheduleBriefsQuery['sort']>, (a: BriefSchedule, b: BriefSchedule) => number>
> = {
  next: byTime(({ next_occurrence }) => next_occurrence, -1),
  name: (a, b) => nameOf(a).localeCompare(nameOf(b)),
  last: byTime(({ last_occurrence }) => last_occurrence, 1),
};
