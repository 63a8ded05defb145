import type { JobStatus } from '../../../storage/protocol/job.ts';
import type { AlertKind, AlertMessageStatus, AlertSeverity } from '../../../storage/protocol/alert.ts';
import type { RunStatus } from '../../../storage/protocol/run.ts';

/**
 * The tables of the metadata. Times are ISO 8601 text in UTC, JSON is text, yes and no are 1 and 0: so the same
 * queries mean the same in SQLite and in PostgreSQL.
 */
export interface MetadataTables {
  counters: { name: string; value: number };
  /** Settings that all processes of a service must agree on. */
  settings: { name: string; value: string };
  projects: { id: number; name: string; region: string; created: string };
  tokens: TokenRow;
  deleted_tokens: DeletedTokenRow;
  branches: BranchRow;
  configurations: ConfigurationHead;
  configuration_versions: ConfigurationVersionRow;
  configuration_orders: ConfigurationKey & { version: number; rows_sort_order: string };
  configuration_version_rows: VersionRow;
  configuration_contents: ConfigurationKey & { version: number; configuration: string };
  configuration_rows: RowHead;
  row_versions: RowVersionRow;
  metadata: MetadataRow;
  events: EventRow;
  triggers: TriggerRow;
  trigger_tables: { trigger_id: number; table_id: string };
  files: FileRow;
  file_tags: { file_id: number; position: number; tag: string };
  buckets: BucketRow;
  tables: TableRow;
  table_columns: TableColumnRow;
  table_stamps: TableStampRow;
  jobs: JobRow;
  exports: ExportRow;
  request_keys: RequestKeyRow;
  runs: RunRow;
  run_log: { run_id: number; first_line: number; lines: number; text: string };
  run_requests: { run_id: number; first_line: number; lines: number; text: string };
  run_tables: RunTableRow;
  schedules: ScheduleRow;
  alerts: AlertRow;
  alert_states: AlertStateRow;
  alert_causes: AlertCauseRow;
  alert_messages: AlertMessageRow;
  transfers: TransferRow;
  console_sessions: ConsoleSessionRow;
  console_codes: ConsoleCodeRow;
  console_logins: ConsoleLoginRow;
}

export type Flag = 0 | 1;

/** Author of an entity, stored with it, so that it outlives the token. */
export interface Author {
  creator_id: number;
  creator_description: string;
}

export interface TokenRow {
  id: number;
  description: string;
  /** SHA-256 of the token, in hex. The token itself is nowhere. */
  hash: string;
  is_master: Flag;
  can_manage_buckets: Flag;
  can_read_all_files: Flag;
  can_purge_trash: Flag;
  /** 1 for a token that changes nothing, whatever its other rights are. */
  is_read_only: Flag;
  /** JSON: bucket id to read, write or manage. */
  bucket_permissions: string;
  /** The branch that these buckets are of. */
  bucket_branch_id: number;
  /** JSON: list of component ids. */
  component_access: string;
  /** JSON of what alone the token of a run may do ({@link RunLimits}); null for every other token. */
  run_limits: string | null;
  created: string;
  refreshed: string;
  expires: string | null;
  creator_id: number | null;
  creator_description: string | null;
}

/** Rights that a token had when it was deleted: its changes still belong to it. */
export type DeletedTokenRow = Pick<
  TokenRow,
  | 'bucket_branch_id'
  | 'bucket_permissions'
  | 'can_manage_buckets'
  | 'can_read_all_files'
  | 'component_access'
  | 'id'
  | 'is_master'
  | 'is_read_only'
>;

export interface BranchRow {
  id: number;
  name: string;
  description: string;
  is_default: Flag;
  created: string;
  creator_id: number | null;
  creator_description: string | null;
}

export interface ConfigurationKey {
  branch_id: number;
  component_id: string;
  configuration_id: string;
}

/** Current properties of a configuration, apart from its current version. */
export interface ConfigurationHead extends ConfigurationKey, Author {
  /** The current version; it never goes back. */
  version: number;
  is_deleted: Flag;
  /** JSON text, sent back as it is. */
  state: string;
  /** JSON of the author of the state ({@link StateWriter}); null for a run of the service, and for none. */
  state_writer: string | null;
  /** JSON: list of row ids, `[]` until set. Orders of older versions follow from `configuration_orders`. */
  rows_sort_order: string;
  created: string;
}

export interface ConfigurationVersionRow extends ConfigurationKey, Author {
  version: number;
  identifier: string;
  name: string;
  description: string;
  is_disabled: Flag;
  is_deleted: Flag;
  change_description: string;
  created: string;
  /** The version whose content this one has: a change of a row doesn't store the root again. */
  content_version: number;
  /** The version in which the order of rows was last set; 0 when it isn't. */
  order_version: number;
}

export interface RowKey extends ConfigurationKey {
  row_id: string;
}

/** A row in the versions of its configuration: those from one to the one before another, or to the newest one. */
export interface VersionRow extends RowKey {
  since_version: number;
  /** The first version that hasn't the row, or has another version of it. */
  until_version: number | null;
  row_version: number;
  /** The version in which the row came, and since which it was always there. */
  joined_version: number;
}

/** A deleted row stays as a head, so that its version numbers continue and its state can come back. */
export interface RowHead extends RowKey, Author {
  version: number;
  is_deleted: Flag;
  state: string;
  /** As that of a configuration. */
  state_writer: string | null;
  created: string;
}

export interface RowVersionRow extends RowKey, Author {
  version: number;
  identifier: string;
  name: string;
  description: string;
  is_disabled: Flag;
  configuration: string;
  change_description: string;
  created: string;
}

export type MetadataScope = 'branch' | 'bucket' | 'column' | 'configuration' | 'table';

export interface MetadataRow {
  id: number;
  branch_id: number;
  scope: MetadataScope;
  /** Owner: a bucket id, a table id, `table.column`, `component/configuration`, or empty for the branch. */
  owner: string;
  provider: string;
  key: string;
  value: string;
  timestamp: string;
}

export interface EventRow {
  id: number;
  uuid: string;
  branch_id: number;
  event: string;
  component: string;
  type: string;
  message: string;
  description: string;
  configuration_id: string | null;
  run_id: string | null;
  object_type: string | null;
  object_id: string | null;
  object_name: string | null;
  /** JSON. */
  params: string;
  /** JSON. */
  results: string;
  duration: number | null;
  token_id: number;
  token_description: string;
  created: string;
}

export interface TriggerRow extends Author {
  id: number;
  run_with_token_id: number;
  component: string;
  configuration_id: string;
  cool_down_minutes: number;
  last_run: string | null;
  created: string;
}

export interface FileRow extends Author {
  id: number;
  branch_id: number;
  name: string;
  object_key: string;
  content_type: string | null;
  is_public: Flag;
  is_sliced: Flag;
  is_encrypted: Flag;
  size_bytes: number;
  /** Days until it is swept; null when it is permanent. */
  max_age_days: number | null;
  expires: string | null;
  run_id: string | null;
  /** JSON: list of run ids. */
  run_ids: string;
  /** The table that an export came from: a token that may read its bucket may read the file. */
  table_id: string | null;
  created: string;
}

export interface BucketRow extends Author {
  branch_id: number;
  id: string;
  stage: 'in' | 'out';
  /** With its `c-`. */
  name: string;
  display_name: string;
  description: string;
  color: string | null;
  backend: string;
  created: string;
  last_change: string | null;
  updated: string | null;
  /** The administrator that owns it. */
  owner_id: number | null;
}

export interface TableRow extends Author {
  branch_id: number;
  id: string;
  bucket_id: string;
  name: string;
  display_name: string;
  /** JSON: list of column names. */
  primary_key: string;
  is_typed: Flag;
  rows_count: number;
  data_bytes: number;
  /** Goes up with every change of rows or structure; exports of an older one are stale. */
  revision: number;
  created: string;
  last_import: string | null;
  last_change: string | null;
  /** The table that an alias stands for; null for one that has rows of its own. */
  alias_source: string | null;
  /** JSON: a filter over the rows of the source. */
  alias_filter: string | null;
  /** True when an alias has the columns of its source, also future ones. */
  alias_auto_sync: Flag;
}

export interface TableColumnRow {
  branch_id: number;
  table_id: string;
  name: string;
  position: number;
  /** JSON: type, length, nullable, default; null in an untyped table. */
  definition: string | null;
  basetype: string | null;
}

/** Set only by the database, when a change to a table affects lists. */
export interface TableStampRow {
  branch_id: number;
  table_id: string;
  stamp: number;
}

/** Kind of process that claims a job: a worker of storage, or one for recurring jobs. */
export type QueueName = 'storage' | 'upkeep';

export interface JobRow extends Author {
  id: number;
  queue: QueueName;
  branch_id: number;
  operation: string;
  status: JobStatus;
  table_id: string | null;
  /**
   * Jobs with the same key run one after another, in the order of their ids. Null: of work that the API did itself, or
   * that ended before each job had a key.
   */
  lock_key: string | null;
  /** JSON. */
  params: string;
  /** JSON. */
  results: string | null;
  /** JSON: code, message, exceptionId. */
  error: string | null;
  /** JSON. */
  metrics: string;
  run_id: string | null;
  /** The request that asked for it, as logs name it. */
  request_id: string | null;
  created: string;
  started: string | null;
  ended: string | null;
  /** Takings that came to an end, or to that of their process; not those that were handed on. */
  attempt: number;
  /** Attempts among these that ended in something that passes by itself. */
  retries: number;
  /** Somebody asked for it to end. */
  is_cancelled: Flag;
  /** It ended without a fault of what it asked for, and may be given again: all it needs is kept. */
  is_given_up: Flag;
  /** Until when no worker claims it, as a resource that it needed was unavailable. */
  not_before: string | null;
  /** Until when the worker that took it is believed to be alive. */
  lease_until: string | null;
  /** Goes up with every taking; a worker that comes back late with an older number is turned away. */
  fencing: number;
  worker: string | null;
  /** The name that tables know its import by: random, as a number is given again when the metadata is lost or an older one is put back. */
  mark: string | null;
}

export interface ExportRow {
  branch_id: number;
  table_id: string;
  /** Digest of the export's parameters. */
  cache_key: string;
  table_revision: number;
  file_id: number;
  created: string;
}

/** A request that was done under an `Idempotency-Key`, and what came of it. */
export interface RequestKeyRow {
  /** Owner of the key: the same key of another token is another one. */
  token_id: number;
  key: string;
  /** SHA-256 of method, address and body: another request under the same key is refused. */
  digest: string;
  /** The job or the file that the request made. */
  job_id: number | null;
  file_id: number | null;
  /** JSON of what its transaction gave ({@link madeText}), to make the answer again; null when that is known. */
  made: string | null;
  /** Status of the answer; null until it is known, and where it can be made again or must not be stored. */
  status: number | null;
  answer: string | null;
  created: string;
}

export interface RunRow extends Author, ConfigurationKey {
  id: number;
  /** Names the configuration in its branch: of those with the same, one at most is `processing`. */
  lock_key: string;
  status: RunStatus;
  /** JSON: rows, from, to, restart, accepts. */
  asked: string;
  /** The version of the configuration that was there when it was asked for, and its identifier; null before there were. */
  version: number | null;
  version_identifier: string | null;
  /**
   * The requester answers for the version, and for states set before this number of the counter of ids; null when their
   * authors must have the rights of the run as well.
   */
  approved_id: number | null;
  schedule_id: number | null;
  /** The schedule and its time, so that it is asked for once: `12@2026-01-02T03:04:00.000Z`. */
  occurrence: string | null;
  created: string;
  started: string | null;
  ended: string | null;
  cancel_asked: string | null;
  attempt: number;
  /** How many of the attempts could not begin, as what they need was away. */
  put_offs: number;
  /** No runner takes it before; null when it was not put off. */
  not_before: string | null;
  runner: string | null;
  /** Goes up while the runner lives: one whose number stands still is taken for dead, whatever its clock says. */
  beat: number;
  /** Goes up with every taking; a runner that comes back late with an older number is turned away. */
  fencing: number;
  /** The token of the run; null before it starts and when it has ended. */
  token_id: number | null;
  verdict: string | null;
  /** JSON: who has accepted its doubt and why, {@link Acceptance} of `runs.ts`; null while nobody has. */
  accepted: string | null;
  exit_code: number | null;
  /** JSON: code, message, audience, hint, where. */
  error: string | null;
  /** JSON: what each row gave, a list; until a run has ended, how far it is, an object. */
  report: string | null;
  /** JSON: milliseconds that it spent on each part of its work, {@link RunSpent}; null until it has ended. */
  spent: string | null;
  log_lines: number;
  log_bytes: number;
  /** The request that asked for it, as logs name it; null for a schedule. */
  request_id: string | null;
}

/** Table that an output of a run was loaded into. */
export interface RunTableRow extends ConfigurationKey {
  run_id: number;
  table_id: string;
  /** Empty of a configuration without rows. */
  row_id: string;
  /** Name of the output. */
  name: string;
  /** Rows of the output. */
  rows: number;
  /** When the run ended. */
  loaded: string;
}

export interface ScheduleRow extends Author, ConfigurationKey {
  id: number;
  cron: string;
  time_zone: string;
  /** JSON: list of row ids; empty for all. */
  rows: string;
  is_enabled: Flag;
  /** True while it is held with others, which leaves it enabled. */
  is_paused: Flag;
  /** The version that its author has approved, and the number of the counter of ids then. */
  approved_version: number | null;
  approved_id: number | null;
  /** When it is to run next; null while it is not. */
  next_occurrence: string | null;
  last_occurrence: string | null;
  created: string;
}

/** Alert: who is told when runs go wrong, and of which. */
export interface AlertRow extends Author {
  id: number;
  branch_id: number;
  name: string;
  /** Address that messages are posted to. */
  url: string;
  /** Encrypted: the key that messages are signed with. */
  secret: string;
  /** JSON: list of {@link AlertKind}. */
  kinds: string;
  /** Null for all. */
  component_id: string | null;
  configuration_id: string | null;
  /** With `late`: minutes without a load. */
  late_minutes: number | null;
  /** Minutes between two messages while nothing changes; null for no reminders. */
  /** When it is so late, it is an error. */
  late_error_minutes: number | null;
  /** JSON: columns whose newest value is watched. */
  columns: string | null;
  /** Tokens and logins that end within so many days are told of. */
  ending_days: number | null;
  remind_minutes: number | null;
  muted_until: string | null;
  is_enabled: Flag;
  /** Runs that ended before were looked at. */
  seen_until: string;
  created: string;
}

/** State of something that an alert sees to be wrong; what is well has no row. */
export interface AlertStateRow {
  alert_id: number;
  /** The configuration, as runs have it; of other kinds, the kind in front of what it is about. */
  lock_key: string;
  /** Empty where it is about no configuration, as the next one. */
  component_id: string;
  configuration_id: string;
  kind: AlertKind;
  /** Null in rows of before there was one. */
  severity: AlertSeverity | null;
  /** The same for the same cause: one message tells of all that share it. */
  cause: string;
  /** The run that showed it; null when none did. */
  run_id: number | null;
  /** JSON: the error of that run. */
  error: string | null;
  /** JSON: the table and column, or the token, that it is about. */
  place: string | null;
  /** Words about what was found. */
  detail: string | null;
  since: string;
}

/** Cause that an alert has told of, and that is not over. */
export interface AlertCauseRow {
  alert_id: number;
  cause: string;
  /** Severity that was told; null in rows of before there was one. */
  severity: AlertSeverity | null;
  /** JSON: the configurations that had it at the last look, as messages have them. */
  sources: string;
  /** When it was last told of. */
  told: string;
}

/** Message of an alert. */
export interface AlertMessageRow {
  id: number;
  alert_id: number;
  /** Same in each attempt, for the receiver to know one that comes twice. */
  uuid: string;
  event: string;
  /** JSON, as it is sent. */
  body: string;
  status: AlertMessageStatus;
  attempts: number;
  not_before: string;
  /** The last answer or failure, in words. */
  answer: string | null;
  created: string;
}

/** Progress of a migration into this storage; no rows when it is complete, and only then a service runs over it. */
export interface TransferRow {
  /** `source`, `metadata/TABLE`, `rows/BRANCH/TABLE`, `files` or `files/LAST`. */
  step: string;
  /** JSON. */
  state: string;
}

/** A browser that is signed in to the console. */
export interface ConsoleSessionRow {
  /** SHA-256 of what the browser has, in hex. That itself is nowhere. */
  hash: string;
  token_id: number;
  /** Hash of the token at the time of signing in: a session ends when its token gets another secret. */
  token_hash: string;
  created: string;
  used: string;
  expires: string;
}

/** One-time code with which a browser signs in. */
export interface ConsoleCodeRow {
  /** SHA-256 of the code, in hex. */
  hash: string;
  token_id: number;
  token_hash: string;
  expires: string;
}

/** A login of a person at the provider of an API, while the browser is on its way. */
export interface ConsoleLoginRow {
  /** SHA-256 of the `state` that the provider sends back, in hex: the id of the login. */
  hash: string;
  /** Hash of the session that began it. */
  session_hash: string;
  /** SHA-256 of what a cookie of the browser has that began it. */
  browser_hash: string;
  /** Configuration that is logged in to, with the verifier of PKCE: JSON, encrypted. */
  task: string;
  is_taken: Flag;
  /** How it ended, in JSON; tokens in it are encrypted. */
  answer: string | null;
  expires: string;
}
