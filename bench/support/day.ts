import { systemEnv } from '../../src/lib/env.ts';
import { createConfiguration } from '../../src/service/domain/configurations/write.ts';
import { createRow } from '../../src/service/domain/configurations/rows.ts';
import type { Meta } from '../../src/service/stores/metadata/database.ts';
import { transactionsOf } from '../../src/service/stores/metadata/transaction.ts';
import type { MetadataTables } from '../../src/service/stores/metadata/tables.ts';
import { NO_METRICS } from '../../src/service/stores/metadata/jobs.ts';
import { isoTime } from '../../src/lib/iso-time.ts';

export interface Day {
  readonly jobs: number;
  readonly events: number;
  readonly configurations: number;
  readonly tables: number;
  readonly files: number;
}

const BUCKETS = 50;
const COLUMNS = 10;
const DAY_MS = 86_400_000;
const AUTHOR = { creator_id: 1, creator_description: 'Master token' };

/** Writes the metadata of a busy team's day, spread over the past hours. */
export async function fillDay(meta: Meta, day: Day, token: number): Promise<void> {
  const { id: branch } = await meta
    .selectFrom('branches')
    .select('id')
    .where('is_default', '=', 1)
    .executeTakeFirstOrThrow();
  const now = systemEnv.now();
  const at = (n: number, count: number): string => isoTime(now - DAY_MS + Math.floor((n / count) * DAY_MS));
  const created = isoTime(now);
  const later = isoTime(now + 10 * DAY_MS);
  const bucketOf = (n: number): string => `in.c-b${n % BUCKETS}`;
  const tableOf = (n: number): string => `${bucketOf(n)}.t${n}`;

  await insert(meta, 'buckets', BUCKETS, (n) => ({
    branch_id: branch,
    id: bucketOf(n),
    stage: 'in',
    name: `c-b${n}`,
    display_name: `b${n}`,
    description: '',
    color: null,
    backend: 'snowflake',
    ...AUTHOR,
    created,
    last_change: created,
    updated: null,
    owner_id: null,
  }));
  await insert(meta, 'tables', day.tables, (n) => ({
    branch_id: branch,
    id: tableOf(n),
    bucket_id: bucketOf(n),
    name: `t${n}`,
    display_name: `t${n}`,
    primary_key: '["column0"]',
    is_typed: 0,
    rows_count: n,
    data_bytes: n * 10,
    revision: 1,
    ...AUTHOR,
    created,
    last_import: created,
    last_change: created,
    alias_source: null,
    alias_filter: null,
    alias_auto_sync: 0,
  }));
  await insert(meta, 'table_columns', day.tables * COLUMNS, (n) => ({
    branch_id: branch,
    table_id: tableOf(Math.floor(n / COLUMNS)),
    name: `column${n % COLUMNS}`,
    position: n % COLUMNS,
    definition: null,
    basetype: null,
  }));
  // A push of this extractor writes one item for each table, and one for each of two of its columns.
  await insert(meta, 'metadata', day.tables * 3, (n) => {
    const table = tableOf(Math.floor(n / 3));
    return {
      id: 5_000_000 + n,
      branch_id: branch,
      scope: n % 3 === 0 ? 'table' : 'column',
      owner: n % 3 === 0 ? table : `${table}.column${n % 3}`,
      provider: 'system',
      key: n % 3 === 0 ? 'KBC.createdBy.component.id' : 'KBC.datatype.basetype',
      value: n % 3 === 0 ? 'ex-generic-v2' : 'STRING',
      timestamp: created,
    };
  });
  await insert(meta, 'jobs', day.jobs, (n) => {
    const isError = n % 50 === 0;
    const table = tableOf(n % day.tables);
    return {
      id: 1_000_000 + n,
      queue: 'storage',
      branch_id: branch,
      operation: n % 3 === 0 ? 'tableExport' : 'tableImport',
      status: isError ? 'error' : 'success',
      table_id: table,
      lock_key: `table ${branch} ${table}`,
      params: JSON.stringify({
        params: { incremental: true },
        source: { type: 'file', fileId: 2_000_000 + n },
      }),
      results: isError ? null : JSON.stringify(RESULTS),
      error: isError ? '{"code":"csvImport.invalidCsv","message":"wrong","exceptionId":"x"}' : null,
      metrics: NO_METRICS,
      run_id: String(n),
      request_id: null,
      creator_id: n % 100 === 0 ? token : 1,
      creator_description: 'x',
      created: at(n, day.jobs),
      started: at(n, day.jobs),
      ended: at(n, day.jobs),
      attempt: 1,
      retries: 0,
      is_cancelled: 0,
      is_given_up: 0,
      not_before: null,
      lease_until: null,
      fencing: 1,
      worker: null,
      mark: null,
    };
  });
  await insert(meta, 'events', day.events, (n) => ({
    id: 3_000_000 + n,
    uuid: `01jd0000${String(n).padStart(18, '0')}`,
    branch_id: branch,
    event: 'storage.tableImportDone',
    component: 'storage',
    type: 'success',
    message: `Imported into the table "t${n % day.tables}"`,
    description: '',
    configuration_id: null,
    run_id: String(n),
    object_type: 'table',
    object_id: tableOf(n % day.tables),
    object_name: `t${n % day.tables}`,
    params: '{"incremental":true}',
    results: JSON.stringify(RESULTS),
    duration: null,
    token_id: 1,
    token_description: 'Master token',
    created: at(n, day.events),
  }));
  await insert(meta, 'files', day.files, (n) => ({
    id: 2_000_000 + n,
    branch_id: branch,
    name: `file${n}`,
    object_key: `exp-15/1/files/${n}`,
    content_type: null,
    is_public: 0,
    is_sliced: 0,
    is_encrypted: 0,
    size_bytes: 10,
    max_age_days: 15,
    expires: later,
    run_id: null,
    run_ids: '[]',
    table_id: null,
    ...AUTHOR,
    created: at(n, day.files),
  }));
  await insert(meta, 'file_tags', day.files, (n) => ({
    file_id: 2_000_000 + n,
    position: 0,
    tag: `tag${n % 100}`,
  }));
  const change = { author: AUTHOR, env: systemEnv, text: undefined };
  for (let n = 0; n < day.configurations; n++) {
    const key = { branch_id: branch, component_id: 'ex-generic-v2', configuration_id: `shop-${n}` };
    const configuration = JSON.stringify({
      parameters: { api: { baseUrl: 'https://x/' }, text: 'y'.repeat(1000) },
    });
    await createConfiguration(transactionsOf(meta), key, { name: `Shop ${n}`, configuration }, change);
    const row = { name: 'Users', configuration: JSON.stringify({ parameters: { endpoint: 'users' } }) };
    await createRow(transactionsOf(meta), key, 'users', row, change);
  }
}

const RESULTS = {
  importedColumns: Array.from({ length: COLUMNS }, (_, n) => `column${n}`),
  totalRowsCount: 1000,
  totalDataSizeBytes: 100_000,
  importedRowsCount: 1000,
  importedFilesCount: 1,
};

const ROWS_AT_ONCE = 500;

async function insert<
  Name extends
    | 'buckets'
    | 'events'
    | 'file_tags'
    | 'files'
    | 'jobs'
    | 'metadata'
    | 'table_columns'
    | 'tables',
>(meta: Meta, name: Name, count: number, rowOf: (n: number) => MetadataTables[Name]): Promise<void> {
  for (let start = 0; start < count; start += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - start) }, (_, n) => rowOf(start + n));
    // The type of the query builder does not follow one of several tables.
    await meta
      .insertInto(name)
      .values(rows as never)
      .execute();
  }
}
