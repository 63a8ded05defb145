import { startIds } from '../../src/service/stores/metadata/counter.ts';
import type { Meta } from '../../src/service/stores/metadata/database.ts';
import { insertRunTables } from '../../src/service/stores/metadata/run-tables.ts';
import type { JobRow, RunRow } from '../../src/service/stores/metadata/tables.ts';
import { metaOf } from '../service/database.ts';

const COMPONENT = 'ex-generic-v2';
const FIRST_RUN = 100_000;
const SOURCES = 500;
const TABLES = 2000;
/** Rows of one statement: databases take so many values at once. */
const AT_ONCE = 50;

/** Reasons of the runs that failed, and how many have each. */
export const CAUSES = [
  {
    code: 'http.status',
    message: 'GET https://api.example.com/orders answered 401: the token has expired',
    runs: 22,
  },
  {
    code: 'http.status',
    message: 'GET https://api.example.com/users answered 500: internal error',
    runs: 16,
  },
  { code: 'http.network', message: 'The host shop.example.com cannot be found', runs: 11 },
  { code: 'json.syntax', message: 'The answer of /items is no JSON: it begins with “<html>”', runs: 7 },
  { code: 'run.doubtful', message: 'The job “orders” may not have everything', runs: 4 },
] as const;

export interface Large {
  /** How many runs there are, and how many of them failed. */
  readonly runs: number;
  readonly failed: number;
}

/**
 * Fills a service as one that has been at work for long: 500 sources, 2,000 tables in 40 buckets, and runs that end now,
 * two minutes apart, of which three in ten failed by five causes. The last six runs of all are waiting. Everything is
 * written into the metadata: made by requests it would take minutes.
 */
export async function fillLarge(
  dir: string,
  { runs = 200 }: { readonly runs?: number } = {},
): Promise<Large> {
  const meta = await metaOf(dir);
  try {
    return await meta.transaction().execute(async (tx) => {
      const { id: branch_id } = await tx
        .selectFrom('branches')
        .select('id')
        .where('is_default', '=', 1)
        .executeTakeFirstOrThrow();
      await addSources(tx, branch_id);
      await addTables(tx, branch_id);
      await addSchedules(tx, branch_id);
      await addLoads(tx, branch_id);
      // Runs that are made later come behind these.
      await startIds(tx, FIRST_RUN + runs);
      return await addRuns(tx, branch_id, runs);
    });
  } finally {
    await meta.destroy();
  }
}

const AUTHOR = { creator_id: 1001, creator_description: 'Master token' };
const agoText = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const sourceId = (index: number): string => `source-${String(index).padStart(3, '0')}`;

async function addSources(meta: Meta, branch_id: number): Promise<void> {
  const all = Array.from({ length: SOURCES }, (_, i) => ({
    branch_id,
    component_id: COMPONENT,
    configuration_id: sourceId(i),
  }));
  const configuration = JSON.stringify({
    parameters: {
      api: { baseUrl: 'https://api.example.com/v1/', pagination: { method: 'pagenum' } },
      config: {
        jobs: Array.from({ length: 20 }, (_, i) => ({ endpoint: `orders/${i}`, dataField: 'data' })),
      },
    },
  });
  for (const part of parts(all)) {
    await meta
      .insertInto('configurations')
      .values(
        part.map((key) => ({
          ...key,
          ...AUTHOR,
          version: 1,
          is_deleted: 0 as const,
          state: '{}',
          state_writer: null,
          rows_sort_order: '[]',
          created: agoText(9999),
        })),
      )
      .execute();
    await meta
      .insertInto('configuration_versions')
      .values(
        part.map((key) => ({
          ...key,
          ...AUTHOR,
          version: 1,
          identifier: `version-${key.configuration_id}`,
          name: `Source ${key.configuration_id.slice(-3)} of the shop`,
          description: '',
          is_disabled: 0 as const,
          is_deleted: 0 as const,
          change_description: 'Configuration created',
          created: agoText(9999),
          content_version: 1,
          order_version: 0,
        })),
      )
      .execute();
    await meta
      .insertInto('configuration_contents')
      .values(part.map((key) => ({ ...key, version: 1, configuration })))
      .execute();
  }
}

async function addTables(meta: Meta, branch_id: number): Promise<void> {
  const buckets = Array.from({ length: 40 }, (_, i) => `in.c-bucket-${String(i).padStart(2, '0')}`);
  await meta
    .insertInto('buckets')
    .values(
      buckets.map((id) => ({
        ...AUTHOR,
        branch_id,
        id,
        stage: 'in' as const,
        name: id.slice(3),
        display_name: id.slice(5),
        description: '',
        color: null,
        backend: 'duckdb',
        created: agoText(9999),
        last_change: null,
        updated: null,
        owner_id: null,
      })),
    )
    .execute();
  const tables = Array.from({ length: TABLES }, (_, i) => {
    const bucket_id = buckets[i % buckets.length] ?? '';
    const name = `table_${String(i).padStart(4, '0')}`;
    const time = agoText(i + 1);
    return {
      ...AUTHOR,
      branch_id,
      id: `${bucket_id}.${name}`,
      bucket_id,
      name,
      display_name: name,
      primary_key: '["id"]',
      is_typed: 0 as const,
      rows_count: 1000 + i,
      data_bytes: 50_000 + i,
      revision: 1,
      created: agoText(9999),
      last_import: time,
      last_change: time,
      alias_source: null,
      alias_filter: null,
      alias_auto_sync: 0 as const,
    };
  });
  for (const part of parts(tables)) await meta.insertInto('tables').values(part).execute();
}

/** The tables that a source fills: four each. */
function tablesOf(source: number): readonly string[] {
  return Array.from({ length: TABLES / SOURCES }, (_, k) => {
    const index = source + k * SOURCES;
    return `in.c-bucket-${String(index % 40).padStart(2, '0')}.table_${String(index).padStart(4, '0')}`;
  });
}

const CRONS = ['30 6 * * *', '0 */2 * * *', '*/5 * * * *', '15 22 * * 1-5'] as const;

/** Schedules of three in five sources, of which some are disabled, all in the future. */
async function addSchedules(meta: Meta, branch_id: number): Promise<void> {
  const all = Array.from({ length: (SOURCES * 3) / 5 }, (_, i) => {
    const isEnabled = i % 20 !== 19;
    return {
      ...AUTHOR,
      id: 50_000 + i,
      branch_id,
      component_id: COMPONENT,
      configuration_id: sourceId(i),
      cron: CRONS[i % CRONS.length] ?? CRONS[0],
      time_zone: i % 2 === 0 ? 'UTC' : 'Europe/Prague',
      rows: '[]',
      is_enabled: isEnabled ? (1 as const) : (0 as const),
      is_paused: 0 as const,
      approved_version: 1,
      approved_id: 50_000 + i,
      next_occurrence: isEnabled ? agoText(-60 - i * 4) : null,
      last_occurrence: agoText(24 * 60 - i),
      created: agoText(9999),
    };
  });
  for (const part of parts(all)) await meta.insertInto('schedules').values(part).execute();
}

/** Loads of the tables of the first source, which grow. */
async function addLoads(meta: Meta, branch_id: number): Promise<void> {
  const jobs = tablesOf(0).flatMap((table_id, k) =>
    Array.from({ length: 40 }, (_, i): JobRow => {
      const time = agoText((40 - i) * 120 + k);
      return {
        ...AUTHOR,
        id: 60_000 + k * 100 + i,
        queue: 'storage',
        branch_id,
        operation: 'tableImport',
        status: 'success',
        table_id,
        lock_key: `table/${branch_id}/${table_id}`,
        params: '{}',
        results: JSON.stringify({
          importedRowsCount: 25,
          totalRowsCount: i * 25,
          totalDataSizeBytes: i * 1250,
        }),
        error: null,
        metrics: '{}',
        run_id: i % 5 === 0 ? null : String(FIRST_RUN),
        request_id: null,
        created: time,
        started: time,
        ended: time,
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
    }),
  );
  for (const part of parts(jobs)) await meta.insertInto('jobs').values(part).execute();
}

/** The causes of a round of runs: each fails as often as it is here. */
function causesOf(failed: number): (typeof CAUSES)[number][] {
  const round = CAUSES.flatMap((cause) => Array.from({ length: cause.runs }, () => cause));
  return Array.from({ length: failed }, (_, i) => round[i % round.length] ?? CAUSES[0]);
}

async function addRuns(meta: Meta, branch_id: number, count: number): Promise<Large> {
  const waiting = 6;
  const failed = Math.round(count * 0.3);
  const causes = causesOf(failed);
  const rows = Array.from({ length: count }, (_, i): RunRow => {
    // Failures lie in the middle: the newest runs are fine, and others come after them.
    const cause = i >= count - waiting ? undefined : causes[count - waiting - 40 - i];
    const isWaiting = i >= count - waiting;
    const configuration_id = sourceId(i % SOURCES);
    const ended = agoText((count - i) * 2);
    const began = agoText((count - i) * 2 + 1 + (i % 7) / 3);
    const given = 100 + ((i * 37) % 60);
    const tables = tablesOf(i % SOURCES).map((destination) => ({
      name: destination.slice('in.c-'.length),
      rows: given,
      destination,
    }));
    const report =
      cause === undefined
        ? JSON.stringify([{ rows: given * tables.length, verdict: 'complete', tables, jobs: [] }])
        : '[]';
    return {
      ...AUTHOR,
      id: FIRST_RUN + i,
      branch_id,
      component_id: COMPONENT,
      configuration_id,
      lock_key: JSON.stringify([branch_id, COMPONENT, configuration_id]),
      status: isWaiting ? 'waiting' : cause === undefined ? 'success' : 'error',
      asked: '{}',
      version: 1,
      version_identifier: `version-${configuration_id}`,
      approved_id: null,
      schedule_id: null,
      occurrence: null,
      created: began,
      started: isWaiting ? null : began,
      ended: isWaiting ? null : ended,
      cancel_asked: null,
      attempt: isWaiting ? 0 : 1,
      put_offs: 0,
      // Far in the future: no runner takes them while they are looked at.
      not_before: isWaiting ? '2999-01-01T00:00:00.000Z' : null,
      runner: null,
      beat: 0,
      fencing: 0,
      token_id: null,
      accepted: null,
      verdict: isWaiting || cause !== undefined ? null : 'complete',
      exit_code: isWaiting ? null : cause === undefined ? 0 : 1,
      error:
        cause === undefined
          ? null
          : JSON.stringify({ code: cause.code, message: cause.message, audience: 'user' }),
      report: isWaiting ? null : report,
      spent: null,
      log_lines: 0,
      log_bytes: 0,
      request_id: null,
    };
  });
  for (const part of parts(rows)) await meta.insertInto('runs').values(part).execute();
  for (const run of rows)
    if (run.ended !== null) await insertRunTables(meta, run, { report: run.report, loaded: run.ended });
  return { runs: count, failed };
}

function parts<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, i) =>
    all.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  );
}
