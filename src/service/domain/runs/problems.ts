import type { MissedRun, RunProblem, RunProblems } from '../../../storage/protocol/problems.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import {
  countEnded,
  lastGoodRuns,
  listMissed,
  listOverdue,
  listProblemRuns,
  type EndedRange,
  type ProblemRow,
} from '../../stores/metadata/problem-runs.ts';
import type { ScheduleRow } from '../../stores/metadata/tables.ts';
import { apiTime } from '../presenters/time.ts';
import { placeOf } from '../schedules/place.ts';
import { causeOf, errorOf, hostOf } from './cause.ts';

/** More runs than that are not looked at one by one. */
const MOST_RUNS = 10_000;
const MOST_IDS = 100;
/** A schedule may be so late before it is overdue: processes look at schedules every few seconds. */
const LATE_MS = 60_000;

/** Collects what went wrong in a range of time, by causes. @param now of the queue, in milliseconds since 1970 */
export async function readProblems(
  meta: Meta,
  range: EndedRange & { readonly since: string; readonly until: string },
  now: number,
): Promise<RunProblems> {
  const [ended, runs, missed] = [
    await countEnded(meta, range),
    await listProblemRuns(meta, range, MOST_RUNS),
    await missedIn(meta, range, now),
  ];
  const good = await lastGoodRuns(meta, [...new Set(runs.map(({ lock_key }) => lock_key))]);
  const groups = Map.groupBy(runs, causeOf);
  const count = (fits: (each: (typeof ended)[number]) => boolean): number =>
    ended.filter(fits).reduce((sum, each) => sum + each.runs, 0);
  const doubtful = count(
    (each) => each.status === 'success' && each.verdict === 'doubtful' && !each.isAccepted,
  );
  const failed = count((each) => each.status === 'error' && !each.isAccepted);
  return {
    since: apiTime(range.since),
    until: apiTime(range.until),
    counts: {
      success: count((each) => each.status === 'success'),
      doubtful,
      error: failed,
      cancelled: count((each) => each.status === 'cancelled'),
      accepted: count((each) => each.isAccepted),
    },
    problems: [...groups]
      .map(([id, rows]) => problemOf(id, rows, good))
      .toSorted(
        (a, b) =>
          Number(isSolved(a)) - Number(isSolved(b)) || b.runs - a.runs || (a.lastTime < b.lastTime ? 1 : -1),
      ),
    missed,
    leftOut: Math.max(0, failed + doubtful - runs.length),
  };
}

const isSolved = ({ sources }: RunProblem): boolean => sources.every((source) => source.isSolved);

/** @param rows runs of the same cause, the newest first; one at least */
function problemOf(id: string, rows: readonly ProblemRow[], good: ReadonlyMap<string, number>): RunProblem {
  const [newest] = rows;
  if (newest === undefined) throw new Error('A cause without runs');
  const error = errorOf(newest);
  const host = hostOf(error);
  return {
    id,
    kind: newest.status === 'error' ? 'failed' : 'doubtful',
    error,
    ...(host === undefined ? {} : { host }),
    runs: rows.length,
    firstTime: timeOf(rows.at(-1) ?? newest),
    lastTime: timeOf(newest),
    runIds: rows.slice(0, MOST_IDS).map((run) => String(run.id)),
    sources: [...Map.groupBy(rows, ({ lock_key }) => lock_key)].map(([key, ofSource]) => {
      const last = ofSource[0] ?? newest;
      return {
        component: last.component_id,
        configuration: last.configuration_id,
        runs: ofSource.length,
        lastRun: String(last.id),
        lastTime: timeOf(last),
        isSolved: (good.get(key) ?? 0) > last.id,
      };
    }),
  };
}

const timeOf = (run: ProblemRow): string => apiTime(run.ended ?? '');

async function missedIn(
  meta: Meta,
  range: EndedRange & { readonly since: string; readonly until: string },
  now: number,
): Promise<MissedRun[]> {
  const told = (await listMissed(meta, range)).map(
    // Written by this service.
    ({ params }) => JSON.parse(params) as MissedRun,
  );
  const overdue =
    now >= Date.parse(range.since) ? await listOverdue(meta, range.branchId, isoTime(now - LATE_MS)) : [];
  const isAsked = ({ component, configuration }: MissedRun): boolean =>
    (range.component ?? component) === component &&
    (range.configuration ?? configuration) === configuration &&
    (range.components?.includes(component) ?? true);
  return [...told, ...overdue.map(overdueOf)].filter(isAsked);
}

function overdueOf(schedule: ScheduleRow): MissedRun {
  const time = apiTime(schedule.next_occurrence ?? '');
  return { ...placeOf(schedule), reason: 'overdue', times: 1, firstTime: time, lastTime: time };
}
