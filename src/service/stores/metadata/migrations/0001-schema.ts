import { sql, type CreateTableBuilder, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { postgresSchema } from '../dialect.ts';
import { setTableStamps } from './0001-table-stamps.ts';

/** Creates the tables with their keys and indexes; `tables.ts` describes the columns. */
export const schema: Migration = {
  async up(db: Kysely<never>) {
    for (const [name, columns] of Object.entries(TABLES)) await createTable(db, name, columns);
    for (const [name, [table, ...columns]] of Object.entries(INDEXES))
      await db.schema.createIndex(name).on(table).columns(columns).execute();
    for (const [name, [table, ...columns]] of Object.entries(UNIQUE))
      await db.schema.createIndex(name).on(table).columns(columns).unique().execute();
    // Guarantees one run at a time for a configuration, even if two runners disagree.
    await db.schema
      .createIndex('runs_one')
      .on('runs')
      .column('lock_key')
      .unique()
      .where('status' as never, '=', 'processing') // no table has a type here
      .execute();
    const place = postgresSchema(db);
    // In SQLite ids come from `counters`.
    if (place !== undefined) await sql`create sequence ${sql.id(place, 'ids')}`.execute(db);
    await setTableStamps(db);
  },
};

const CONFIGURATION = { branch_id: 'integer!', component_id: 'text!', configuration_id: 'text!' };
const ROW = { ...CONFIGURATION, row_id: 'text!' };
const AUTHOR = { creator_id: 'integer', creator_description: 'text' };
const VERSION = {
  ...AUTHOR,
  identifier: 'text',
  name: 'text',
  description: 'text',
  is_disabled: 'integer',
  change_description: 'text',
  created: 'text',
};
/** In tables that have an id of their own. */
const OF_CONFIGURATION = { branch_id: 'bigint', component_id: 'text', configuration_id: 'text' };
const BY_TOKEN = { creator_id: 'bigint', creator_description: 'text' };

/** `!` marks the primary key, `?` what may be null; a default is behind `=`. */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // The service as a whole.
  settings: { name: 'text!', value: 'text' },
  counters: { name: 'text!', value: 'bigint' },
  projects: { id: 'bigint!', name: 'text', region: 'text', created: 'text' },
  transfers: { step: 'text!', state: 'text' },

  // Tokens and permissions.
  tokens: {
    id: 'bigint!',
    description: 'text',
    hash: 'text',
    is_master: 'integer',
    can_manage_buckets: 'integer',
    can_read_all_files: 'integer',
    can_purge_trash: 'integer',
    bucket_permissions: 'text',
    component_access: 'text',
    created: 'text',
    refreshed: 'text',
    expires: 'text?',
    creator_id: 'bigint?',
    creator_description: 'text?',
    bucket_branch_id: 'bigint = 0',
    run_limits: 'text?',
  },
  console_sessions: {
    hash: 'text!',
    token_id: 'bigint',
    token_hash: 'text',
    created: 'text',
    used: 'text',
    expires: 'text',
  },
  console_codes: { hash: 'text!', token_id: 'bigint', token_hash: 'text', expires: 'text' },
  branches: {
    id: 'bigint!',
    name: 'text',
    description: 'text',
    is_default: 'integer',
    created: 'text',
    creator_id: 'bigint?',
    creator_description: 'text?',
  },
  request_keys: {
    token_id: 'bigint!',
    key: 'text!',
    digest: 'text',
    job_id: 'bigint?',
    file_id: 'bigint?',
    status: 'integer?',
    answer: 'text?',
    created: 'text',
    made: 'text?',
  },

  // Configurations: what they are now, and what each version had.
  configurations: {
    ...CONFIGURATION,
    ...AUTHOR,
    version: 'integer',
    is_deleted: 'integer',
    state: 'text',
    created: 'text',
    rows_sort_order: 'text = []',
  },
  configuration_versions: {
    ...CONFIGURATION,
    version: 'integer!',
    ...VERSION,
    is_deleted: 'integer',
    content_version: 'integer',
    order_version: 'integer = 0',
  },
  configuration_contents: { ...CONFIGURATION, version: 'integer!', configuration: 'text' },
  configuration_orders: { ...CONFIGURATION, version: 'integer!', rows_sort_order: 'text' },
  configuration_rows: {
    ...ROW,
    ...AUTHOR,
    version: 'integer',
    is_deleted: 'integer',
    state: 'text',
    created: 'text',
  },
  row_versions: { ...ROW, version: 'integer!', ...VERSION, configuration: 'text' },
  configuration_version_rows: {
    ...ROW,
    since_version: 'integer!',
    until_version: 'integer?',
    row_version: 'integer',
    joined_version: 'integer',
  },

  // Metadata and events.
  metadata: {
    id: 'bigint!',
    branch_id: 'bigint',
    scope: 'text',
    owner: 'text',
    provider: 'text',
    key: 'text',
    value: 'text',
    timestamp: 'text',
  },
  events: {
    id: 'bigint!',
    uuid: 'text',
    branch_id: 'bigint',
    event: 'text',
    component: 'text',
    type: 'text',
    message: 'text',
    description: 'text',
    configuration_id: 'text?',
    run_id: 'text?',
    object_type: 'text?',
    object_id: 'text?',
    params: 'text',
    results: 'text',
    duration: 'double precision?',
    token_id: 'bigint',
    token_description: 'text',
    created: 'text',
    object_name: 'text?',
  },
  triggers: {
    id: 'bigint!',
    run_with_token_id: 'bigint',
    component: 'text',
    configuration_id: 'text',
    cool_down_minutes: 'integer',
    last_run: 'text?',
    ...AUTHOR,
    created: 'text',
  },
  trigger_tables: { trigger_id: 'bigint!', table_id: 'text!' },

  // Files.
  files: {
    id: 'bigint!',
    branch_id: 'bigint',
    name: 'text',
    object_key: 'text',
    content_type: 'text?',
    is_public: 'integer',
    is_sliced: 'integer',
    is_encrypted: 'integer',
    size_bytes: 'bigint',
    max_age_days: 'integer?',
    expires: 'text?',
    run_id: 'text?',
    run_ids: 'text',
    table_id: 'text?',
    ...AUTHOR,
    created: 'text',
  },
  file_tags: { file_id: 'bigint!', position: 'integer!', tag: 'text' },

  // The catalogue of tables.
  buckets: {
    branch_id: 'bigint!',
    id: 'text!',
    stage: 'text',
    name: 'text',
    display_name: 'text',
    description: 'text',
    color: 'text?',
    backend: 'text',
    ...AUTHOR,
    created: 'text',
    last_change: 'text?',
    updated: 'text?',
    owner_id: 'bigint?',
  },
  tables: {
    branch_id: 'bigint!',
    id: 'text!',
    bucket_id: 'text',
    name: 'text',
    display_name: 'text',
    primary_key: 'text',
    is_typed: 'integer',
    rows_count: 'bigint',
    data_bytes: 'bigint',
    revision: 'bigint',
    ...AUTHOR,
    created: 'text',
    last_import: 'text?',
    last_change: 'text?',
    alias_source: 'text?',
    alias_filter: 'text?',
    alias_auto_sync: 'integer = 0',
  },
  table_columns: {
    branch_id: 'bigint!',
    table_id: 'text!',
    name: 'text!',
    position: 'integer',
    definition: 'text?',
    basetype: 'text?',
  },
  table_stamps: { branch_id: 'integer!', table_id: 'text!', stamp: 'bigint' },
  exports: {
    branch_id: 'bigint!',
    table_id: 'text!',
    cache_key: 'text!',
    table_revision: 'bigint',
    file_id: 'bigint',
    created: 'text',
  },

  // Work.
  jobs: {
    id: 'bigint!',
    branch_id: 'bigint',
    operation: 'text',
    status: 'text',
    table_id: 'text?',
    lock_key: 'text?',
    params: 'text',
    results: 'text?',
    error: 'text?',
    metrics: 'text',
    run_id: 'text?',
    ...AUTHOR,
    created: 'text',
    started: 'text?',
    ended: 'text?',
    attempt: 'integer',
    lease_until: 'text?',
    fencing: 'bigint',
    worker: 'text?',
    queue: 'text = storage',
    retries: 'integer = 0',
    is_cancelled: 'integer = 0',
    is_given_up: 'integer = 0',
    ticket: 'text?',
    request_id: 'text?',
  },
  runs: {
    id: 'bigint!',
    ...OF_CONFIGURATION,
    lock_key: 'text',
    status: 'text',
    asked: 'text',
    schedule_id: 'bigint?',
    occurrence: 'text?',
    created: 'text',
    started: 'text?',
    ended: 'text?',
    cancel_asked: 'text?',
    attempt: 'integer',
    runner: 'text?',
    beat: 'bigint',
    fencing: 'bigint',
    token_id: 'bigint?',
    verdict: 'text?',
    exit_code: 'integer?',
    error: 'text?',
    report: 'text?',
    log_lines: 'bigint',
    log_bytes: 'bigint',
    ...BY_TOKEN,
    request_id: 'text?',
    not_before: 'text?',
    put_offs: 'integer = 0',
  },
  run_log: { run_id: 'bigint!', first_line: 'bigint!', lines: 'integer', text: 'text' },
  schedules: {
    id: 'bigint!',
    ...OF_CONFIGURATION,
    cron: 'text',
    time_zone: 'text',
    rows: 'text',
    is_enabled: 'integer',
    next_occurrence: 'text?',
    last_occurrence: 'text?',
    created: 'text',
    ...BY_TOKEN,
  },
};

const INDEXES: Readonly<Record<string, readonly [table: string, ...columns: string[]]>> = {
  console_sessions_expires: ['console_sessions', 'expires'],
  events_branch: ['events', 'branch_id', 'id'],
  events_component: ['events', 'branch_id', 'component', 'id'],
  events_configuration_id: ['events', 'branch_id', 'configuration_id', 'id'],
  events_created: ['events', 'created'],
  events_event: ['events', 'branch_id', 'event', 'id'],
  events_object_id: ['events', 'branch_id', 'object_id', 'id'],
  events_run_id: ['events', 'branch_id', 'run_id', 'id'],
  events_token_id: ['events', 'branch_id', 'token_id', 'id'],
  file_tags_tag: ['file_tags', 'tag', 'file_id'],
  files_branch: ['files', 'branch_id', 'id'],
  files_expires: ['files', 'expires'],
  jobs_creator: ['jobs', 'creator_id', 'id'],
  jobs_ended: ['jobs', 'ended'],
  jobs_lock: ['jobs', 'lock_key', 'id'],
  jobs_of_tables: ['jobs', 'table_id', 'operation', 'id'],
  jobs_status: ['jobs', 'status', 'id'],
  request_keys_created: ['request_keys', 'created'],
  runs_configuration: ['runs', 'branch_id', 'component_id', 'configuration_id', 'id'],
  runs_ended: ['runs', 'ended'],
  runs_lock: ['runs', 'lock_key', 'status', 'id'],
  runs_schedule: ['runs', 'schedule_id', 'status'],
  runs_status: ['runs', 'status', 'id'],
  schedules_configuration: ['schedules', 'branch_id', 'component_id', 'configuration_id'],
  schedules_next: ['schedules', 'next_occurrence'],
  tables_alias: ['tables', 'branch_id', 'alias_source'],
  tables_bucket: ['tables', 'branch_id', 'bucket_id'],
};

const UNIQUE: typeof INDEXES = {
  events_uuid: ['events', 'uuid'],
  metadata_owner: ['metadata', 'branch_id', 'scope', 'owner', 'provider', 'key'],
  runs_occurrence: ['runs', 'occurrence'],
  tokens_hash: ['tokens', 'hash'],
};

async function createTable(
  db: Kysely<never>,
  name: string,
  columns: Readonly<Record<string, string>>,
): Promise<void> {
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, notation] of Object.entries(columns)) {
    const [marked = '', value] = notation.split(' = ');
    // One of those above.
    const type = marked.replace(/[!?]$/, '') as 'bigint' | 'double precision' | 'integer' | 'text';
    table = table.addColumn(column, type, (made) => {
      const known = value === undefined ? made : made.defaultTo(type === 'text' ? value : Number(value));
      return marked.endsWith('?') ? known : known.notNull();
    });
  }
  const keys = Object.keys(columns).filter((column) => columns[column]?.endsWith('!'));
  await table.addPrimaryKeyConstraint(`${name}_key`, keys).execute();
}
