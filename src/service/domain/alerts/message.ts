import type { AlertKind } from '../../../storage/protocol/alert.ts';
import type { RunError } from '../../../storage/protocol/run.ts';
import type { AlertRow, AlertStateRow } from '../../stores/metadata/tables.ts';

/** A configuration in a message. */
export interface AlertSource {
  readonly component: string;
  readonly configuration: string;
  /** The run that showed it; absent when nothing ran. */
  readonly run?: string;
  /** ISO 8601, in UTC. */
  readonly since: string;
  /** Its page in the console; absent where the address of the service is not known. */
  readonly link?: string;
}

/** Content of a message. */
export interface AlertEvent {
  readonly event: AlertKind | 'recovered' | 'test';
  readonly cause: string;
  readonly sources: readonly AlertSource[];
  readonly error?: RunError | undefined;
  readonly isReminder: boolean;
  /** ISO 8601, in UTC. */
  readonly time: string;
}

/** Returns a configuration as messages have it. */
export function sourceOf(
  { component_id, configuration_id, run_id, since }: AlertStateRow,
  { publicUrl }: { readonly publicUrl: string | undefined },
): AlertSource {
  const place =
    run_id === null
      ? `/sources/${encodeURIComponent(component_id)}/${encodeURIComponent(configuration_id)}`
      : `/runs/${run_id}`;
  return {
    component: component_id,
    configuration: configuration_id,
    ...(run_id === null ? {} : { run: String(run_id) }),
    since,
    ...(publicUrl === undefined ? {} : { link: publicUrl + place }),
  };
}

/**
 * Returns the body of a message. `text` says it in one line, for chats that show that key alone.
 *
 * @param of what is the same in each attempt: its id, and the service that tells
 */
export function messageBody(
  alert: AlertRow,
  { event, cause, sources, error, isReminder, time }: AlertEvent,
  of: { readonly uuid: string; readonly project: string; readonly publicUrl: string | undefined },
): object {
  return {
    id: of.uuid,
    time,
    event,
    text: lineOf(event, sources, error, of.project),
    project: of.project,
    alert: { id: String(alert.id), name: alert.name },
    cause,
    isReminder,
    ...(error === undefined ? {} : { error }),
    sources,
  };
}

const WORDS: Readonly<Record<AlertEvent['event'], string>> = {
  failed: 'failed',
  doubtful: 'may not have everything',
  late: 'is late: nothing was loaded for long',
  recovered: 'is well again',
  test: 'is a test',
};

const SHOWN = 3;
const TEXT = 500;

function lineOf(
  event: AlertEvent['event'],
  sources: readonly AlertSource[],
  error: RunError | undefined,
  project: string,
): string {
  const names = sources.slice(0, SHOWN).map(({ configuration }) => configuration);
  const more = sources.length > SHOWN ? ` and ${sources.length - SHOWN} more` : '';
  const who = event === 'test' ? 'This message' : `${names.join(', ')}${more}`;
  return `${project}: ${who} ${WORDS[event]}${error === undefined ? '' : `: ${error.message}`}`.slice(
    0,
    TEXT,
  );
}
