import type { RunError } from '../../../storage/protocol/run.ts';
import { RawJson, type Reply } from '../reply.ts';
import type { AskedOfRun, BriefRun } from '../../stores/metadata/runs.ts';
import type { RunRow, ScheduleRow } from '../../stores/metadata/tables.ts';
import { apiTime } from './time.ts';

export function runReply(run: BriefRun): Record<string, Reply> {
  // Written by this service.
  const { accepts, ...asked } = JSON.parse(run.asked) as AskedOfRun;
  return {
    id: String(run.id),
    status: run.status,
    branchId: run.branch_id,
    component: run.component_id,
    configuration: run.configuration_id,
    asked: { ...asked },
    ...(accepts === undefined ? {} : { accepts: { ...accepts } }),
    configurationVersion: run.version,
    schedule: run.schedule_id === null ? null : String(run.schedule_id),
    scheduledTime: apiTime(run.occurrence?.replace(/^.*@/, '') ?? null),
    creatorToken: { id: String(run.creator_id), description: run.creator_description },
    createdTime: apiTime(run.created),
    startTime: apiTime(run.started),
    endTime: apiTime(run.ended),
    cancelTime: apiTime(run.cancel_asked),
    attempt: run.attempt,
    verdict: run.verdict,
    ...(run.accepted === null ? {} : { accepted: new RawJson(run.accepted) }),
    exitCode: run.exit_code,
    error: run.error === null ? null : new RawJson(run.error),
    log: { lines: run.log_lines },
  };
}

/** Returns a run with the results of each row, or its progress. */
export function wholeRunReply(run: RunRow): Reply {
  const { report, ended } = run;
  const spent = run.spent === null ? {} : { spent: new RawJson(run.spent) };
  if (report === null) return { ...runReply(run), ...spent };
  if (report.startsWith('[')) return { ...runReply(run), ...spent, rows: new RawJson(report) };
  // The progress of an attempt that ended without a result is of no use.
  return { ...runReply(run), ...(ended === null ? { progress: new RawJson(report) } : {}) };
}

/** @param last its last run that has ended */
export function scheduleReply(schedule: ScheduleRow, last?: LastRun): Record<string, Reply> {
  return {
    id: String(schedule.id),
    cron: schedule.cron,
    timeZone: schedule.time_zone,
    rows: new RawJson(schedule.rows),
    isEnabled: schedule.is_enabled === 1,
    isPaused: schedule.is_paused === 1,
    nextTime: apiTime(schedule.next_occurrence),
    lastTime: apiTime(schedule.last_occurrence),
    approvedVersion: schedule.approved_version,
    refusal: refusalOf(schedule, last),
    createdTime: apiTime(schedule.created),
    creatorToken: { id: String(schedule.creator_id), description: schedule.creator_description },
  };
}

/** Fields of the last run of a schedule. */
export type LastRun = Pick<RunRow, 'error' | 'id' | 'version'>;

/** Tells whether the last run of a schedule was refused for want of rights, and nobody has approved it since. */
export const isRefused = (schedule: ScheduleRow, last: LastRun | undefined): boolean =>
  refusalOf(schedule, last) !== null;

function refusalOf(schedule: ScheduleRow, last: LastRun | undefined): Reply {
  if (last === undefined || last.error === null) return null;
  // A schedule that was approved or changed after that run has not failed yet.
  if (schedule.approved_id !== null && schedule.approved_id > last.id) return null;
  // Written by this service.
  const { code, message, hint } = JSON.parse(last.error) as RunError;
  if (code !== 'storage.forbidden') return null;
  return { run: String(last.id), message, ...(hint === undefined ? {} : { hint }), version: last.version };
}
