import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The first schema; what the columns mean is said in `tables.ts`. */
export const first: Migration = {
  async up(db: Kysely<never>) {
    for (const [name, columns] of Object.entries(TABLES)) await createTable(db, name, columns);
    for (const [name, table, columns, isUnique] of INDEXES) {
      const index = db.schema
        .createIndex(name)
        .on(table)
        .columns([...columns]);
      await (isUnique ? index.unique() : index).execute();
    }
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

/** `!` marks the primary key, `?` what may be null. */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  counters: { name: 'text!', value: 'bigint' },
  projects: { id: 'bigint!', name: 'text', region: 'text', created: 'text' },
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
  },
  branches: {
    id: 'bigint!',
    name: 'text',
    description: 'text',
    is_default: 'integer',
    created: 'text',
    creator_id: 'bigint?',
    creator_description: 'text?',
  },
  configurations: {
    ...CONFIGURATION,
    ...AUTHOR,
    version: 'integer',
    is_deleted: 'integer',
    state: 'text',
    created: 'text',
  },
  configuration_versions: {
    ...CONFIGURATION,
    version: 'integer!',
    ...VERSION,
    is_deleted: 'integer',
    content_version: 'integer',
    rows_sort_order: 'text',
    rows: 'text',
  },
  configuration_contents: { ...CONFIGURATION, version: 'integer!', configuration: 'text' },
  configuration_rows: {
    ...ROW,
    ...AUTHOR,
    version: 'integer',
    is_deleted: 'integer',
    state: 'text',
    created: 'text',
  },
  row_versions: { ...ROW, version: 'integer!', ...VERSION, configuration: 'text' },
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
  },
  table_columns: {
    branch_id: 'bigint!',
    table_id: 'text!',
    name: 'text!',
    position: 'integer',
    definition: 'text?',
    basetype: 'text?',
  },
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
  },
  exports: {
    branch_id: 'bigint!',
    table_id: 'text!',
    cache_key: 'text!',
    table_revision: 'bigint',
    file_id: 'bigint',
    created: 'text',
  },
};

const INDEXES: readonly (readonly [string, string, readonly string[], boolean])[] = [
  ['tokens_hash', 'tokens', ['hash'], true],
  ['metadata_owner', 'metadata', ['branch_id', 'scope', 'owner', 'provider', 'key'], true],
  ['events_object', 'events', ['object_type', 'object_id'], false],
  ['files_branch', 'files', ['branch_id', 'id'], false],
  ['files_expires', 'files', ['expires'], false],
  ['file_tags_tag', 'file_tags', ['tag', 'file_id'], false],
  ['tables_bucket', 'tables', ['branch_id', 'bucket_id'], false],
  ['jobs_status', 'jobs', ['status', 'id'], false],
  ['jobs_lock', 'jobs', ['lock_key', 'id'], false],
];

async function createTable(
  db: Kysely<never>,
  name: string,
  columns: Readonly<Record<string, string>>,
): Promise<void> {
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
  const keys: string[] = [];
  for (const [column, notation] of Object.entries(columns)) {
    const isNullable = notation.endsWith('?');
    if (notation.endsWith('!')) keys.push(column);
    const type = notation.replace(/[!?]$/, '') as 'bigint' | 'double precision' | 'integer' | 'text';
    table = table.addColumn(column, type, (definition) => (isNullable ? definition : definition.notNull()));
  }
  await table.addPrimaryKeyConstraint(`${name}_key`, keys).execute();
}
