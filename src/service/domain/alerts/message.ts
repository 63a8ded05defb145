import { oneLine } from '../../../lib/shown-text.ts';
import type { AlertKind, AlertSeverity } from '../../../storage/protocol/alert.ts';
import type { RunError } from '../../../storage/protocol/run.ts';
import type { AlertStateRow } from '../../stores/metadata/tables.ts';

/** Part of a message: one thing that is wrong. */
export interface AlertSource {
  /** Absent where it is about no configuration, as the next one. */
  readonly component?: string;
  readonly configuration?: string;
  /** The data folder of a run of the command. */
  readonly folder?: string;
  /** The run that showed it; absent when none did. */
  readonly run?: string;
  readonly table?: string;
  readonly column?: string;
  readonly token?: string;
  /** Words about what was found. */
  readonly detail?: string;
  /** ISO 8601, in UTC. */
  readonly since: string;
  /** Its page in the console; absent where the address of the service is not known. */
  readonly link?: string;
}

/** Content of a message. */
export interface AlertEvent {
  readonly event: AlertKind | 'recovered' | 'test';
  readonly severity: AlertSeverity;
  readonly cause: string;
  readonly sources: readonly AlertSource[];
  readonly error?: RunError | undefined;
  readonly isReminder: boolean;
  /** True of `recovered` where it is over because the configurations were deleted. */
  readonly isDeleted?: true | undefined;
  /** ISO 8601, in UTC. */
  readonly time: string;
}

/** Message as it is sent. */
export interface AlertBody extends Omit<AlertEvent, 'error'> {
  /** Same in each attempt. */
  readonly id: string;
  /** One line, for chats that show that key alone. */
  readonly text: string;
  readonly project: string;
  /** Absent in a message of a command. */
  readonly alert?: { readonly id: string; readonly name: string };
  readonly error?: RunError;
}

type Place = Pick<AlertSource, 'column' | 'table' | 'token'>;

/** Returns what a state is about, of a table or a token. */
export const placeOf = ({ place }: Pick<AlertStateRow, 'place'>): Place =>
  place === null ? {} : (JSON.parse(place) as Place); // of this service

/** Returns how bad a state is; rows of before there was a severity are by their kind. */
export const severityOf = ({ severity, kind }: Pick<AlertStateRow, 'kind' | 'severity'>): AlertSeverity =>
  severity ?? (kind === 'failed' ? 'error' : 'warning');

/** Returns what is wrong as messages have it. */
export function sourceOf(
  state: AlertStateRow,
  { publicUrl }: { readonly publicUrl: string | undefined },
): AlertSource {
  const { component_id, configuration_id, run_id, detail, since } = state;
  const place = placeOf(state);
  return {
    ...(component_id === '' ? {} : { component: component_id, configuration: configuration_id }),
    ...(run_id === null ? {} : { run: String(run_id) }),
    ...place,
    ...(detail === null ? {} : { detail }),
    since,
    ...(publicUrl === undefined ? {} : { link: publicUrl + pageOf(state, place) }),
  };
}

function pageOf({ component_id, configuration_id, run_id }: AlertStateRow, { table, token }: Place): string {
  if (run_id !== null) return `/runs/${run_id}`;
  if (table !== undefined) return `/tables/${encodeURIComponent(table)}`;
  if (token !== undefined) return `/tokens/${token}`;
  return `/sources/${encodeURIComponent(component_id)}/${encodeURIComponent(configuration_id)}`;
}

/** Returns a message as it is sent. */
export function messageBody(
  alertEvent: AlertEvent,
  of: { readonly uuid: string; readonly project: string; readonly alert?: AlertBody['alert'] },
): AlertBody {
  const { event, severity, cause, sources, error, isReminder, isDeleted, time } = alertEvent;
  return {
    id: of.uuid,
    time,
    event,
    severity,
    text: lineOf(alertEvent, of.project),
    project: of.project,
    ...(of.alert === undefined ? {} : { alert: of.alert }),
    cause,
    isReminder,
    ...(isDeleted === undefined ? {} : { isDeleted }),
    ...(error === undefined ? {} : { error }),
    sources,
  };
}

const WORDS: Readonly<Record<AlertEvent['event'], string>> = {
  failed: 'failed',
  doubtful: 'may not have everything',
  late: 'is late: nothing was loaded for long',
  unusual: 'has unusual numbers',
  stale: 'has no new values',
  ending: 'ends',
  recovered: 'is well again',
  test: 'is a test',
};

const SHOWN = 3;
const TEXT = 500;

function wordsOf({ event, sources, isDeleted }: AlertEvent): string {
  if (isDeleted === true) return 'was deleted, so it is told of no longer';
  // of a configuration it is a login
  return event === 'ending' && sources[0]?.configuration !== undefined ? 'needs a login' : WORDS[event];
}

function lineOf(alertEvent: AlertEvent, project: string): string {
  const { event, sources, error } = alertEvent;
  const names = sources.slice(0, SHOWN).map(nameOf);
  const more = sources.length > SHOWN ? ` and ${sources.length - SHOWN} more` : '';
  const who = event === 'test' ? 'This message' : `${names.join(', ')}${more}`;
  const why = error?.message ?? (event === 'recovered' ? undefined : sources[0]?.detail);
  return oneLine(`${project}: ${who} ${wordsOf(alertEvent)}${why === undefined ? '' : `: ${why}`}`).slice(
    0,
    TEXT,
  );
}

const nameOf = ({ configuration, folder, table, column, token }: AlertSource): string =>
  configuration ?? folder ?? (table === undefined ? `token ${token}` : `${table}, ${column}`);
