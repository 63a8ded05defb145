import type { MissedRun } from '../../../storage/protocol/problems.ts';
import type { ScheduleRow } from '../../stores/metadata/tables.ts';

/** The fields of a schedule that tell which one missed its time. */
export function placeOf(
  schedule: ScheduleRow,
): Pick<MissedRun, 'component' | 'configuration' | 'cron' | 'schedule' | 'timeZone'> {
  return {
    schedule: String(schedule.id),
    component: schedule.component_id,
    configuration: schedule.configuration_id,
    cron: schedule.cron,
    timeZone: schedule.time_zone,
  };
}
