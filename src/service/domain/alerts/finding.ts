import type { AlertKind, AlertSeverity } from '../../../storage/protocol/alert.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { AlertRow, AlertStateRow } from '../../stores/metadata/tables.ts';
import type { Context } from '../context.ts';
import type { TableEngine } from '../../stores/tables/engine.ts';

/** Thing that an alert sees to be wrong, whichever alert it is. */
export type AlertFinding = Omit<AlertStateRow, 'alert_id' | 'severity'> & {
  readonly severity: AlertSeverity;
};

/** Result of a look: what is so now of each subject that was looked at, by `lock_key`; undefined for one that is well. */
export type AlertFindings = ReadonlyMap<string, AlertFinding | undefined>;

export type LookContext = Pick<
  Context,
  'env' | 'log' | 'meta' | 'metrics' | 'project' | 'publicUrl' | 'queue'
> & {
  /** Absent where no tables are. */
  readonly engine?: TableEngine | undefined;
};

/** Question of an alert. */
export interface AlertLook {
  readonly meta: Meta;
  readonly alert: AlertRow;
  readonly kinds: ReadonlySet<AlertKind>;
  /** Milliseconds since 1970, by the clock that all processes share. */
  readonly now: number;
  /** Configurations of which runs have ended since the last look, by their `lock_key`. */
  readonly ended: readonly string[];
  /** Names the subjects that were wrong at the last look. */
  readonly known: readonly string[];
}

const NOTHING = {
  component_id: '',
  configuration_id: '',
  run_id: null,
  error: null,
  place: null,
  detail: null,
} as const;

/** Makes a finding; what is not given is none. */
export const findingOf = (
  given: Partial<AlertFinding> & Pick<AlertFinding, 'cause' | 'kind' | 'lock_key' | 'severity' | 'since'>,
): AlertFinding => ({ ...NOTHING, ...given });

/** Tells whether a configuration is one that the alert is about. */
export const isOf = (
  alert: AlertRow,
  { component_id, configuration_id }: Pick<AlertStateRow, 'component_id' | 'configuration_id'>,
): boolean =>
  (alert.component_id ?? component_id) === component_id &&
  (alert.configuration_id ?? configuration_id) === configuration_id;
