import type { MetadataTables } from '../../stores/metadata/tables.ts';

/** Rule for a table of the metadata in a copy: all its rows are copied, or none. */
export type TransferRule<Row> = CopyRule<Row> | { readonly leftOut: string };

export interface CopyRule<Row> {
  /** The primary key: rows are read in its order. */
  readonly key: readonly (keyof Row & string)[];
  /** A row may be of megabytes, so few are read at a time. */
  readonly isLarge?: true;
  /** Tells whether a row is copied; default: all are. */
  readonly isKept?: (row: Row) => boolean;
  /** The row as it is right there. */
  readonly change?: (row: Row, there: RulePlace) => Row;
}

/** Properties of the target that rows depend on. */
export interface RulePlace {
  readonly hasEncryption: boolean;
  /** A token that is made of the secret of the folder it comes from, and is to end with that. */
  readonly endedToken: number | undefined;
}

const CONFIGURATION = ['branch_id', 'component_id', 'configuration_id'] as const;
const ROW = [...CONFIGURATION, 'row_id'] as const;

/** Rules of all tables: types and a test ensure that each has one. */
export const RULES: { readonly [Name in keyof MetadataTables]: TransferRule<MetadataTables[Name]> } = {
  // The counter of ids is set behind them all: PostgreSQL keeps it elsewhere.
  counters: { key: ['name'], isKept: ({ name }) => name !== 'id' },
  settings: { leftOut: 'What the processes of a service agree on, such as its encryption key, is its own.' },
  projects: { key: ['id'] },
  tokens: {
    key: ['id'],
    change: (token, { endedToken }) =>
      token.id === endedToken ? { ...token, hash: `ended-${token.id}` } : token,
  },
  deleted_tokens: { key: ['id'] },
  branches: { key: ['id'] },
  configurations: { key: CONFIGURATION, isLarge: true },
  configuration_versions: { key: [...CONFIGURATION, 'version'] },
  configuration_orders: { key: [...CONFIGURATION, 'version'], isLarge: true },
  configuration_version_rows: { key: [...ROW, 'since_version'] },
  configuration_contents: { key: [...CONFIGURATION, 'version'], isLarge: true },
  configuration_rows: { key: ROW, isLarge: true },
  row_versions: { key: [...ROW, 'version'], isLarge: true },
  metadata: { key: ['id'] },
  events: { key: ['id'] },
  triggers: { key: ['id'] },
  trigger_tables: { key: ['trigger_id', 'table_id'] },
  files: {
    key: ['id'],
    change: (file, { hasEncryption }) => (hasEncryption ? file : { ...file, is_encrypted: 0 }),
  },
  file_tags: { key: ['file_id', 'position'] },
  buckets: { key: ['branch_id', 'id'] },
  tables: { key: ['branch_id', 'id'] },
  table_columns: { key: ['branch_id', 'table_id', 'name'] },
  table_stamps: { leftOut: 'The database that tables are written to gives them stamps of its own.' },
  jobs: { key: ['id'], isLarge: true },
  exports: { leftOut: 'Exports are made again when they are asked for; their files go along as files.' },
  request_keys: { key: ['token_id', 'key'], isLarge: true },
  runs: { key: ['id'], isLarge: true },
  run_log: { key: ['run_id', 'first_line'], isLarge: true },
  run_requests: { key: ['run_id', 'first_line'], isLarge: true },
  run_tables: { key: ['branch_id', 'table_id', 'run_id', 'row_id', 'name'] },
  schedules: { key: ['id'] },
  alerts: {
    leftOut: 'Their keys are encrypted with those of this service, and two services would tell the same.',
  },
  alert_states: { leftOut: 'They belong to the alerts.' },
  alert_causes: { leftOut: 'They belong to the alerts.' },
  alert_messages: { leftOut: 'They belong to the alerts.' },
  console_sessions: { leftOut: 'Who is signed in at one address is not at another.' },
  console_codes: { leftOut: 'They are good for minutes, at the address that they were made for.' },
  console_logins: { leftOut: 'They are good for minutes, for a browser that is on its way.' },
  transfers: { leftOut: 'How far a migration is, is of its target alone.' },
};

export type MetadataTable = keyof MetadataTables;

/** The tables that are copied, in their order. */
export const COPIED = (Object.keys(RULES) as MetadataTable[]).filter((name) => !('leftOut' in RULES[name])); // of their own names
