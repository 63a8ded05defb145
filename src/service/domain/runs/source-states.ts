import type { Static } from 'typebox';
import type { AlertKind } from '../../../storage/protocol/alert.ts';
import type {
  SourceCondition,
  SourceState,
  SourceStates,
  SourceStatesQuery,
} from '../../../storage/protocol/source-state.ts';
import { listAlerts } from '../../stores/metadata/alerts.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { lockKeyOf } from '../../stores/metadata/runs.ts';
import {
  lastRunsOf,
  listScheduleTimes,
  listNamed,
  type NewestRun,
} from '../../stores/metadata/source-states.ts';
import type { AlertRow } from '../../stores/metadata/tables.ts';
import { isOf } from '../alerts/finding.ts';
import { hasWords } from '../has-words.ts';
import { apiTime } from '../presenters/time.ts';

const LIMIT = 100;
const MINUTE_MS = 60_000;

/**
 * Tells the state of the configurations of a branch, those that need a look first.
 *
 * @param components only of these; all when undefined
 * @param now of the queue, in milliseconds since 1970
 */
export async function readSourceStates(
  meta: Meta,
  {
    branchId,
    components,
    now,
  }: { readonly branchId: number; readonly components: readonly string[] | undefined; readonly now: number },
  asked: Static<typeof SourceStatesQuery>,
): Promise<SourceStates> {
  const [named, last, good, schedules, alerts] = [
    await listNamed(meta, branchId, components),
    await lastRunsOf(meta, branchId, ['success', 'error']),
    await lastRunsOf(meta, branchId, ['success']),
    Map.groupBy(await listScheduleTimes(meta, branchId), lockKeyOf),
    (await listAlerts(meta, branchId)).filter(tellsOfLate),
  ];
  const all = named.map((source): SourceState => {
    const key = lockKeyOf(source);
    const [run, load, own] = [last.get(key), good.get(key), schedules.get(key) ?? []];
    const enabled = own.filter(({ is_enabled, is_paused }) => is_enabled === 1 && is_paused === 0);
    const minutes = alerts.flatMap((alert) => (isOf(alert, source) ? (alert.late_minutes ?? []) : []));
    const lateMinutes = minutes.length === 0 ? null : Math.min(...minutes);
    // As alerts see it: one that never ran counts from its first schedule on.
    const since = enabled.length === 0 ? undefined : (load?.ended ?? enabled[0]?.created);
    const isLate =
      lateMinutes !== null && since !== undefined && now - Date.parse(since) >= lateMinutes * MINUTE_MS;
    const next = enabled.flatMap(({ next_occurrence }) => next_occurrence ?? []).toSorted()[0];
    return {
      component: source.component_id,
      configuration: source.configuration_id,
      name: source.name,
      state: conditionOf(run, isLate),
      isPaused: source.is_disabled === 1 || (own.length > 0 && enabled.length === 0),
      lastRun: run === undefined ? null : String(run.id),
      lastRunTime: apiTime(run?.ended ?? null),
      lastLoadTime: apiTime(load?.ended ?? null),
      nextTime: apiTime(next ?? null),
      lateMinutes,
    };
  });
  const isFound = hasWords(asked.search);
  const found = all.filter(
    (source) =>
      (asked.state?.includes(source.state) ?? true) &&
      (asked.isPaused ?? source.isPaused) === source.isPaused &&
      isFound(`${source.name} ${source.configuration} ${source.component}`),
  );
  const { offset = 0, limit = LIMIT, sort = 'need', isReversed = false } = asked;
  const sorted = found.toSorted((a, b) => ORDERS[sort](a, b) || byNeed(a, b));
  return {
    counts: countsOf(all),
    paused: all.filter(({ isPaused }) => isPaused).length,
    total: found.length,
    sources: (isReversed ? sorted.toReversed() : sorted).slice(offset, offset + limit),
  };
}

const tellsOfLate = ({ is_enabled, kinds }: AlertRow): boolean =>
  // Written by this service.
  is_enabled === 1 && (JSON.parse(kinds) as readonly AlertKind[]).includes('late');

function conditionOf(run: NewestRun | undefined, isLate: boolean): SourceCondition {
  const isAccepted = run !== undefined && run.accepted !== null;
  if (run?.status === 'error' && !isAccepted) return 'failed';
  if (isLate) return 'late';
  if (run === undefined) return 'neverRun';
  return run.verdict === 'doubtful' && !isAccepted ? 'doubtful' : 'fresh';
}

/** States that need a look come first. */
const ORDER: readonly SourceCondition[] = ['failed', 'late', 'doubtful', 'neverRun', 'fresh'];

const countsOf = (all: readonly SourceState[]): SourceStates['counts'] => {
  const counts: SourceStates['counts'] = { failed: 0, late: 0, doubtful: 0, neverRun: 0, fresh: 0 };
  for (const { state } of all) counts[state] += 1;
  return counts;
};

/** Orders by a time; those without one come last. @param way 1 for the newest first, -1 for the oldest */
const byTime =
  (timeOf: (source: SourceState) => string | null, way: -1 | 1) =>
  (a: SourceState, b: SourceState): number => {
    const [one, other] = [timeOf(a), timeOf(b)];
    if (one === other) return 0;
    if (one === null || other === null) return one === null ? 1 : -1;
    return one < other ? way : -way;
  };

const ORDERS: Readonly<
  Record<NonNullable<Static<typeof SourceStatesQuery>['sort']>, (a: SourceState, b: SourceState) => number>
> = {
  need: byNeed,
  name: (a, b) => a.name.localeCompare(b.name),
  lastRun: byTime(({ lastRunTime }) => lastRunTime, 1),
  lastLoad: byTime(({ lastLoadTime }) => lastLoadTime, 1),
  next: byTime(({ nextTime }) => nextTime, -1),
};

function byNeed(a: SourceState, b: SourceState): number {
  return (
    ORDER.indexOf(a.state) - ORDER.indexOf(b.state) ||
    a.name.localeCompare(b.name) ||
    (a.configuration < b.configuration ? -1 : 1)
  );
}
