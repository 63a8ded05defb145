import type { AlertKind } from '../../../storage/protocol/alert.ts';
import type { RunError } from '../../../storage/protocol/run.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { causeOf, errorOf } from '../runs/problems.ts';
import {
  endedSince,
  keepMessages,
  insertMessage,
  lastEnded,
  lastLoads,
  listAlerts,
  listCauses,
  listEnabled,
  listStates,
  setCause,
  setState,
  updateAlert,
} from '../../stores/metadata/alerts.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { newUuid } from '../../stores/metadata/identifier.ts';
import { lockKeyOf } from '../../stores/metadata/runs.ts';
import type { AlertRow, AlertStateRow } from '../../stores/metadata/tables.ts';
import { alertOf, withLocks } from '../../stores/metadata/transaction.ts';
import type { Context } from '../context.ts';
import { messageBody, sourceOf, type AlertEvent, type AlertSource } from './message.ts';

/** Runs that ended so long before the last look are looked at again: processes may write a little late. */
const OVERLAP_MS = 120_000;
const KEPT_MESSAGES = 1000;

type LookContext = Pick<Context, 'env' | 'meta' | 'project' | 'publicUrl' | 'queue'>;

/** Looks at all alerts, and writes the messages that are due. What is written is sent once, whatever happens meanwhile. */
export async function lookAtAlerts(context: LookContext): Promise<void> {
  const { meta, queue } = context;
  for (const alert of await listAlerts(meta)) {
    if (alert.is_enabled === 0) continue;
    const now = await queue.runs.now();
    const seen = await statesNow(meta, alert, now);
    await withLocks(meta, [alertOf(alert.id)], async (tx) => {
      for (const [lock_key, state] of seen) await setState(tx, { alert_id: alert.id, lock_key }, state);
      await tellOf(tx, context, alert, now);
      await updateAlert(tx, alert.id, { seen_until: isoTime(now) });
      await keepMessages(tx, alert.id, KEPT_MESSAGES);
    });
  }
}

/** Returns what is so now of each configuration that may have changed; undefined for one that is well. */
async function statesNow(
  meta: Meta,
  alert: AlertRow,
  now: number,
): Promise<ReadonlyMap<string, AlertStateRow | undefined>> {
  // Written by this service.
  const kinds = JSON.parse(alert.kinds) as readonly AlertKind[];
  const known = new Map((await listStates(meta, alert.id)).map((state) => [state.lock_key, state]));
  const since = isoTime(Date.parse(alert.seen_until) - OVERLAP_MS);
  const late = kinds.includes('late') ? await lateOnes(meta, alert, now) : new Map<string, AlertStateRow>();
  const ended = await endedSince(meta, alert.branch_id, since);
  const found = new Map<string, AlertStateRow | undefined>();
  for (const lockKey of new Set([...known.keys(), ...late.keys(), ...ended])) {
    const last = await lastEnded(meta, lockKey);
    const kind = last === undefined ? undefined : kindOf(last);
    const isWanted = kind !== undefined && kinds.includes(kind);
    if (last !== undefined && !isOf(alert, last)) continue;
    if (!isWanted || last === undefined) {
      found.set(lockKey, keptFrom(known.get(lockKey), late.get(lockKey)));
      continue;
    }
    found.set(
      lockKey,
      keptFrom(known.get(lockKey), {
        alert_id: alert.id,
        lock_key: lockKey,
        component_id: last.component_id,
        configuration_id: last.configuration_id,
        kind,
        cause: causeOf(last),
        run_id: last.id,
        error: JSON.stringify(errorOf(last)),
        since: last.ended ?? isoTime(now),
      }),
    );
  }
  return found;
}

const kindOf = ({ status, verdict }: { readonly status: string; readonly verdict: string | null }) =>
  status === 'error' ? 'failed' : verdict === 'doubtful' ? 'doubtful' : undefined;

/** Returns what is wrong now, since the time of before where the cause is the same. */
function keptFrom(
  before: AlertStateRow | undefined,
  now: AlertStateRow | undefined,
): AlertStateRow | undefined {
  if (now === undefined || before === undefined || before.cause !== now.cause) return now;
  return { ...now, since: before.since };
}

const isOf = (
  alert: AlertRow,
  { component_id, configuration_id }: Pick<AlertStateRow, 'component_id' | 'configuration_id'>,
): boolean =>
  (alert.component_id ?? component_id) === component_id &&
  (alert.configuration_id ?? configuration_id) === configuration_id;

/** Returns the configurations with an enabled schedule whose last good run is too long ago. */
async function lateOnes(
  meta: Meta,
  alert: AlertRow,
  now: number,
): Promise<ReadonlyMap<string, AlertStateRow>> {
  const minutes = alert.late_minutes;
  if (minutes === null) return new Map();
  const scheduled = Map.groupBy(
    (await listEnabled(meta, alert.branch_id)).filter((schedule) => isOf(alert, schedule)),
    lockKeyOf,
  );
  const loads = await lastLoads(meta, [...scheduled.keys()]);
  const found = new Map<string, AlertStateRow>();
  for (const [lockKey, [first]] of scheduled) {
    if (first === undefined) continue;
    // One that never ran is measured from its first schedule on.
    const since = loads.get(lockKey) ?? first.created;
    if (now - Date.parse(since) < minutes * 60_000) continue;
    found.set(lockKey, {
      alert_id: alert.id,
      lock_key: lockKey,
      component_id: first.component_id,
      configuration_id: first.configuration_id,
      kind: 'late',
      cause: `late ${lockKey}`,
      run_id: null,
      error: null,
      since,
    });
  }
  return found;
}

/** Writes one message for each cause that was not told of, is to be reminded of, or is over. */
async function tellOf(tx: Meta, context: LookContext, alert: AlertRow, now: number): Promise<void> {
  const time = isoTime(now);
  const { id, muted_until, remind_minutes } = alert;
  if (muted_until !== null && muted_until > time) return;
  const open = Map.groupBy(await listStates(tx, id), ({ cause }) => cause);
  const told = new Map((await listCauses(tx, id)).map((row) => [row.cause, row]));
  for (const [cause, states] of open) {
    const [first] = states;
    if (first === undefined) continue;
    const before = told.get(cause);
    const sources = states.map((state) => sourceOf(state, context));
    const isDue =
      before === undefined ||
      (remind_minutes !== null && now - Date.parse(before.told) >= remind_minutes * 60_000);
    // Another configuration with a cause that was told of already is in the next reminder.
    const row = { alert_id: id, cause, sources: JSON.stringify(sources), told: isDue ? time : before.told };
    await setCause(tx, row, row);
    if (!isDue) continue;
    const error = first.error === null ? undefined : (JSON.parse(first.error) as RunError); // of this service
    await writeMessage(tx, context, alert, {
      event: first.kind,
      cause,
      sources,
      error,
      isReminder: before !== undefined,
      time,
    });
  }
  for (const { cause, sources } of told.values()) {
    if (open.has(cause)) continue;
    const had = JSON.parse(sources) as AlertSource[]; // of this service
    await writeMessage(tx, context, alert, {
      event: 'recovered',
      cause,
      sources: had,
      isReminder: false,
      time,
    });
    await setCause(tx, { alert_id: id, cause }, undefined);
  }
}

/** Writes a message that is sent at once. @returns its number */
export async function writeMessage(
  tx: Meta,
  { env, project, publicUrl }: Pick<LookContext, 'env' | 'project' | 'publicUrl'>,
  alert: AlertRow,
  event: AlertEvent,
): Promise<number> {
  const uuid = newUuid(env);
  const id = await nextId(tx);
  await insertMessage(tx, {
    id,
    alert_id: alert.id,
    uuid,
    event: event.event,
    body: JSON.stringify(messageBody(alert, event, { uuid, project: project.name, publicUrl })),
    status: 'waiting',
    attempts: 0,
    not_before: event.time,
    answer: null,
    created: event.time,
  });
  return id;
}
