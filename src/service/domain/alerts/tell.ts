import type { AlertSeverity } from '../../../storage/protocol/alert.ts';
import type { RunError } from '../../../storage/protocol/run.ts';
import { isoTime } from '../../../lib/iso-time.ts';
import { insertMessage, listCauses, listLive, listStates, setCause } from '../../stores/metadata/alerts.ts';
import { nextId } from '../../stores/metadata/counter.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { newUuid } from '../../stores/metadata/identifier.ts';
import type { AlertRow, AlertStateRow, ConfigurationKey } from '../../stores/metadata/tables.ts';
import type { LookContext } from './finding.ts';
import { messageBody, severityOf, sourceOf, type AlertEvent, type AlertSource } from './message.ts';

/** A message that was written. */
export interface Told {
  /** Number of the message. */
  readonly message: number;
  readonly event: AlertEvent['event'];
  readonly severity: AlertSeverity;
  readonly text: string;
}

/** Writes one message for each cause that was not told of, has become worse, is to be reminded of, or is over. */
export async function tellOf(
  tx: Meta,
  context: LookContext,
  alert: AlertRow,
  now: number,
): Promise<readonly Told[]> {
  const time = isoTime(now);
  const { id, muted_until, remind_minutes } = alert;
  if (muted_until !== null && muted_until > time) return [];
  const open = Map.groupBy(await listStates(tx, id), ({ cause }) => cause);
  const told = new Map((await listCauses(tx, id)).map((row) => [row.cause, row]));
  const written: Told[] = [];
  for (const [cause, states] of open) {
    const [first] = states;
    if (first === undefined) continue;
    const before = told.get(cause);
    const sources = states.map((state) => sourceOf(state, context));
    const severity = worstOf(states);
    const isWorse = before !== undefined && before.severity === 'warning' && severity === 'error';
    const isDue =
      before === undefined ||
      isWorse ||
      (remind_minutes !== null && now - Date.parse(before.told) >= remind_minutes * 60_000);
    // Another configuration with a cause that was told of already is in the next reminder.
    const row = {
      alert_id: id,
      cause,
      severity: isDue ? severity : before.severity,
      sources: JSON.stringify(sources),
      told: isDue ? time : before.told,
    };
    await setCause(tx, row, row);
    if (!isDue) continue;
    const error = first.error === null ? undefined : (JSON.parse(first.error) as RunError); // of this service
    const isReminder = before !== undefined && !isWorse;
    const event = { event: first.kind, severity, cause, sources, error, isReminder, time };
    written.push(await writeMessage(tx, context, alert, event));
  }
  const over = [...told.values()].filter(({ cause }) => !open.has(cause));
  const live = over.length === 0 ? [] : await listLive(tx, alert.branch_id);
  for (const { cause, sources, severity } of over) {
    const before = JSON.parse(sources) as AlertSource[]; // of this service
    const left = before.filter((source) => isThere(source, live));
    written.push(
      await writeMessage(tx, context, alert, {
        event: 'recovered',
        severity: severity ?? 'error',
        cause,
        // what was deleted is not well again
        ...(left.length === 0 ? { sources: before, isDeleted: true } : { sources: left }),
        isReminder: false,
        time,
      }),
    );
    await setCause(tx, { alert_id: id, cause }, undefined);
  }
  return written;
}

const isThere = ({ component, configuration }: AlertSource, live: readonly ConfigurationKey[]): boolean =>
  configuration === undefined ||
  live.some((key) => key.component_id === component && key.configuration_id === configuration);

const worstOf = (states: readonly AlertStateRow[]): AlertSeverity =>
  states.some((state) => severityOf(state) === 'error') ? 'error' : 'warning';

/** Writes a message that is sent at once. */
export async function writeMessage(
  tx: Meta,
  { env, project }: Pick<LookContext, 'env' | 'project'>,
  alert: AlertRow,
  event: AlertEvent,
): Promise<Told> {
  const uuid = newUuid(env);
  const id = await nextId(tx);
  const body = messageBody(event, {
    uuid,
    project: project.name,
    alert: { id: String(alert.id), name: alert.name },
  });
  await insertMessage(tx, {
    id,
    alert_id: alert.id,
    uuid,
    event: event.event,
    body: JSON.stringify(body),
    status: 'waiting',
    attempts: 0,
    not_before: event.time,
    answer: null,
    created: event.time,
  });
  return { message: id, event: event.event, severity: event.severity, text: body.text };
}
