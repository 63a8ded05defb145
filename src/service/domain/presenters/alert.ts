import type { RunError } from '../../../storage/protocol/run.ts';
import { RawJson, type Reply } from '../reply.ts';
import type {
  AlertCauseRow,
  AlertMessageRow,
  AlertRow,
  AlertStateRow,
} from '../../stores/metadata/tables.ts';
import { placeOf, severityOf } from '../alerts/message.ts';
import { apiTime } from './time.ts';

export function alertReply(
  alert: AlertRow,
  states: readonly AlertStateRow[],
  causes: readonly AlertCauseRow[],
): Record<string, Reply> {
  const told = new Map(causes.map((row) => [row.cause, row.told]));
  return {
    id: String(alert.id),
    name: alert.name,
    url: alert.url,
    kinds: new RawJson(alert.kinds),
    component: alert.component_id,
    configuration: alert.configuration_id,
    lateMinutes: alert.late_minutes,
    lateErrorMinutes: alert.late_error_minutes,
    columns: alert.columns === null ? null : new RawJson(alert.columns),
    endingDays: alert.ending_days,
    remindMinutes: alert.remind_minutes,
    mutedUntil: apiTime(alert.muted_until),
    isEnabled: alert.is_enabled === 1,
    wrong: states.map((state) => ({
      component: state.component_id === '' ? null : state.component_id,
      configuration: state.component_id === '' ? null : state.configuration_id,
      ...placeOf(state),
      kind: state.kind,
      severity: severityOf(state),
      detail: state.detail ?? messageOf(state.error),
      run: state.run_id === null ? null : String(state.run_id),
      since: apiTime(state.since),
      toldTime: apiTime(told.get(state.cause) ?? null),
    })),
    createdTime: apiTime(alert.created),
    creatorToken: { id: String(alert.creator_id), description: alert.creator_description },
  };
}

/** Returns the message of the error of a run. */
function messageOf(error: string | null): string | null {
  return error === null ? null : (JSON.parse(error) as RunError).message; // of this service
}

export function messageReply(message: AlertMessageRow): Record<string, Reply> {
  return {
    id: String(message.id),
    uuid: message.uuid,
    event: message.event,
    status: message.status,
    attempts: message.attempts,
    nextTime: message.status === 'waiting' ? apiTime(message.not_before) : null,
    answer: message.answer,
    body: new RawJson(message.body),
    createdTime: apiTime(message.created),
  };
}
