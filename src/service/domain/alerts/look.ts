import type { AlertKind } from '../../../storage/protocol/alert.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { reasonOf } from '../../../lib/errors.ts';
import {
  endedSince,
  keepMessages,
  listAlerts,
  listLive,
  listStates,
  setState,
  updateAlert,
} from '../../stores/metadata/alerts.ts';
import type { AlertRow, AlertStateRow } from '../../stores/metadata/tables.ts';
import { lockKeyOf } from '../../stores/metadata/runs.ts';
import { alertOf, withLocks } from '../../stores/metadata/transaction.ts';
import type { AlertFinding, AlertFindings, AlertLook, LookContext } from './finding.ts';
import { createColumnLook, type ColumnLook } from './looks/columns.ts';
import { lookAtEnds } from './looks/ending.ts';
import { lookAtRuns } from './looks/runs.ts';
import { lookAtNumbers } from './looks/unusual.ts';
import { tellOf, type Told } from './tell.ts';

/** Runs that ended so long before the last look are looked at again: processes may write a little late. */
const OVERLAP_MS = 120_000;
const KEPT_MESSAGES = 1000;

/** Makes what looks at all alerts, and writes the messages that are due. What is written is sent once, whatever happens meanwhile. */
export function createLook(): (context: LookContext) => Promise<void> {
  const lookAtColumns = createColumnLook();
  return async (context) => {
    const { meta, queue, log, metrics } = context;
    for (const alert of await listAlerts(meta)) {
      if (alert.is_enabled === 0) continue;
      const now = await queue.runs.now();
      const seen = await findingsNow(context, alert, now, lookAtColumns);
      const told: Told[] = [];
      await withLocks(meta, [alertOf(alert.id)], async (tx) => {
        for (const [lock_key, finding] of seen) {
          const key = { alert_id: alert.id, lock_key };
          await setState(tx, key, finding && { ...finding, ...key });
        }
        told.push(...(await tellOf(tx, context, alert, now)));
        await updateAlert(tx, alert.id, { seen_until: isoTime(now) });
        await keepMessages(tx, alert.id, KEPT_MESSAGES);
      });
      for (const { event, severity, text, message } of told) {
        metrics.alert({ event, severity });
        log.warn('Alert', { alert: alert.id, message, event, severity, detail: text });
      }
    }
  };
}

/** Returns what is so now of everything that may have changed; undefined for what is well. */
async function findingsNow(
  context: LookContext,
  alert: AlertRow,
  now: number,
  lookAtColumns: ColumnLook,
): Promise<AlertFindings> {
  const { meta, log } = context;
  const states = new Map((await listStates(meta, alert.id)).map((state) => [state.lock_key, state]));
  const since = isoTime(Date.parse(alert.seen_until) - OVERLAP_MS);
  const look: AlertLook = {
    meta,
    alert,
    // Written by this service.
    kinds: new Set(JSON.parse(alert.kinds) as readonly AlertKind[]),
    now,
    ended: await endedSince(meta, alert.branch_id, since),
    known: [...states.keys()],
  };
  const found = new Map<string, AlertFinding | undefined>();
  for (const [name, lookAt] of [
    ['runs', lookAtRuns],
    ['numbers', lookAtNumbers],
    ['columns', lookAtColumns],
    ['ends', lookAtEnds],
  ] as const)
    try {
      for (const [key, finding] of await lookAt(look, context))
        found.set(key, keptFrom(states.get(key), finding));
    } catch (error) {
      // The state of the last look stays; the other kinds are told of.
      log.error('An alert could not look', { alert: alert.id, at: name, detail: reasonOf(error) });
    }
  return await withoutGone(look, states, lateTogether(states, found, now));
}

/** So many that become late in one look have one cause. */
const TOGETHER = 3;

/**
 * Gives one cause to those that become late together, as when the service was off for a day: one message names them all.
 * Those that were late before keep their cause.
 */
function lateTogether(
  states: ReadonlyMap<string, AlertStateRow>,
  found: AlertFindings,
  now: number,
): AlertFindings {
  const late = [...found].flatMap(([key, finding]) => (finding?.kind === 'late' ? [{ key, finding }] : []));
  const wasLate = (key: string): AlertStateRow | undefined => {
    const before = states.get(key);
    return before?.kind === 'late' ? before : undefined;
  };
  const isShared = late.filter(({ key }) => wasLate(key) === undefined).length >= TOGETHER;
  const shared = `late ${isoTime(now)}`;
  return new Map([
    ...found,
    ...late.map(({ key, finding }) => {
      const cause = wasLate(key)?.cause ?? (isShared ? shared : finding.cause);
      return [key, { ...finding, cause }] as const;
    }),
  ]);
}

/** Takes away what is about configurations that are deleted: nobody can mend them. */
async function withoutGone(
  { meta, alert }: AlertLook,
  states: ReadonlyMap<string, AlertStateRow>,
  found: AlertFindings,
): Promise<AlertFindings> {
  type About = Pick<AlertFinding, 'component_id' | 'configuration_id'>;
  const all = new Map<string, About | undefined>([...states, ...found]);
  const isOfConfiguration = (finding: About | undefined): finding is About =>
    finding !== undefined && finding.configuration_id !== '';
  if (![...all.values()].some(isOfConfiguration)) return found;
  const live = new Set((await listLive(meta, alert.branch_id)).map(lockKeyOf));
  const gone = [...all].filter(
    ([, finding]) =>
      isOfConfiguration(finding) && !live.has(lockKeyOf({ ...finding, branch_id: alert.branch_id })),
  );
  return new Map([...found, ...gone.map(([key]) => [key, undefined] as const)]);
}

/** Returns what is wrong now, since the time of before where the cause is the same. */
function keptFrom(
  before: AlertStateRow | undefined,
  now: AlertFinding | undefined,
): AlertFinding | undefined {
  if (now === undefined || before === undefined || before.cause !== now.cause) return now;
  return { ...now, since: before.since };
}
