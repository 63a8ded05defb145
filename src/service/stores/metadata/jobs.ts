import { currentRequestId } from '../../platform/health/correlation.ts';
import { sql } from 'kysely';
import { brief } from '../../../lib/json/truncate-json.ts';

import { isoTime } from '../../../lib/iso-time.ts';
import type { Env } from '../../../lib/env.ts';
import { nextId } from './counter.ts';
import type { Meta } from './database.ts';
import type { Author, JobRow, QueueName, TableRow } from './tables.ts';
import type { JobStatus } from '../../../storage/protocol/job.ts';

/** The metrics of a job that has moved nothing. */
export const NO_METRICS = JSON.stringify({
  inCompressed: false,
  inBytes: 0,
  inBytesUncompressed: 0,
  outCompressed: false,
  outBytes: 0,
  outBytesUncompressed: 0,
});

/** Work that is asked for. */
export interface NewJob {
  /** Default `storage`. */
  readonly queue?: QueueName;
  readonly branchId: number;
  readonly operation: string;
  /** JSON: all that the work needs, and what the API shows of it. */
  readonly params: unknown;
  readonly tableId?: string;
  /** Jobs with the same key run one after another, in the order they were asked for; default: one of its own. */
  readonly lockKey?: string;
  readonly runId: string | null;
  readonly author: Author;
}

/** Writes down a job that waits for a worker, in the transaction that asks for it. */
export async function insertJob(tx: Meta, env: Env, job: NewJob): Promise<JobRow> {
  // Number and row in one transaction: the order of the numbers is the order of the work.
  const id = await nextId(tx);
  const row: JobRow = {
    id,
    queue: job.queue ?? 'storage',
    branch_id: job.branchId,
    operation: job.operation,
    status: 'waiting',
    table_id: job.tableId ?? null,
    lock_key: job.lockKey ?? `job ${String(id).padStart(16, '0')}`,
    params: JSON.stringify(job.params),
    results: null,
    error: null,
    metrics: NO_METRICS,
    run_id: job.runId,
    request_id: currentRequestId(),
    ...job.author,
    created: isoTime(env.now()),
    started: null,
    ended: null,
    attempt: 0,
    ...NO_TURN,
    mark: Buffer.from(env.randomBytes(16)).toString('hex'),
  };
  await tx.insertInto('jobs').values(row).execute();
  return row;
}

/** Lease columns of a job that no worker has claimed. */
const NO_TURN = {
  retries: 0,
  is_cancelled: 0,
  is_given_up: 0,
  not_before: null,
  lease_until: null,
  fencing: 0,
  worker: null,
} as const;

/** The last job of its kind for a table that succeeded. */
export async function lastJobOf(
  meta: Meta,
  work: { readonly branchId: number; readonly tableId: string; readonly operation: string },
): Promise<JobRow | undefined> {
  return await meta
    .selectFrom('jobs')
    .selectAll()
    .where('table_id', '=', work.tableId)
    .where('operation', '=', work.operation)
    .where('branch_id', '=', work.branchId)
    .where('status', '=', 'success')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const LOADS = ['tableImport', 'tableCreate'] as const;

/** Jobs that have loaded into a table since it was made, the newest first. */
export async function listLoads(
  meta: Meta,
  table: LoadedTable,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<LoadJob[]> {
  return await loadsOf(meta, table).limit(limit).offset(offset).execute();
}

const LOAD_MARKS = 999;

/**
 * Returns what a load adds to the change time of its rows, in microseconds: 1 to 999. Rows of loads at the same time,
 * by clocks that may differ, are told apart by it; rows of before it have 0.
 */
export const loadMicros = (job: number): number => (job % LOAD_MARKS) + 1;

/** The clock that processes share is apart from that of the database by no more than that. */
const SHARED_MS = 100;
/** Clocks of machines, and one that was set back, are apart by no more than that. */
const CLOCKS_MS = 60_000;

/**
 * Returns the loads of a table, since it was made, that may have written a row last, the newest first: one, unless the
 * row is older than {@link loadMicros}, or has a time of its own.
 *
 * @param at change time of the row, in milliseconds since 1970
 * @param micros its microseconds behind these
 */
export async function loadsAt(
  meta: Meta,
  table: LoadedTable,
  { at, micros }: { readonly at: number; readonly micros: number },
): Promise<LoadJob[]> {
  const isExact = micros > 0;
  const apart = isExact ? CLOCKS_MS : SHARED_MS;
  const found = await loadsOf(meta, table)
    .where('ended', '>=', isoTime(at - apart))
    .where(isExact ? 'created' : 'started', '<=', isoTime(at + apart))
    .$if(isExact, (query) => query.where(sql`id % ${sql.lit(LOAD_MARKS)}`, '=', micros - 1))
    .limit(20)
    .execute();
  const within = found.filter(
    ({ created, ended }) => ended !== null && Date.parse(created) <= at && Date.parse(ended) >= at,
  );
  return isExact && within.length > 0 ? within : found;
}

type LoadedTable = Pick<TableRow, 'branch_id' | 'created' | 'id'>;

/** Selects the loads of a table since it was made, the newest first. */
function loadsOf(meta: Meta, { branch_id, id, created }: LoadedTable) {
  return meta
    .selectFrom('jobs')
    .select(LOAD_FIELDS)
    .where('table_id', '=', id)
    .where('operation', 'in', LOADS)
    .where('branch_id', '=', branch_id)
    .where('status', '=', 'success')
    .where('ended', '>=', created)
    .orderBy('id', 'desc');
}

const LOAD_FIELDS = [
  'id',
  'created',
  'ended',
  'results',
  'run_id',
  'creator_id',
  'creator_description',
] as const satisfies readonly (keyof JobRow)[];

type LoadJob = Pick<JobRow, (typeof LOAD_FIELDS)[number]>;

export interface JobFilter {
  /** Only those of this token. */
  readonly creatorId?: number | undefined;
  readonly statuses?: readonly string[] | undefined;
  readonly excludedStatuses?: readonly string[] | undefined;
  readonly operations?: readonly string[] | undefined;
  readonly tableId?: string | undefined;
  /** ISO times by column, each from and to, both included. */
  readonly times?: readonly { readonly column: JobTime; readonly from?: string; readonly to?: string }[];
  readonly limit: number;
  readonly offset: number;
}

export type JobTime = 'created' | 'ended' | 'started';

/** Jobs of storage, the newest first; long parameters and results are shortened. */
export async function listJobs(meta: Meta, filter: JobFilter): Promise<JobRow[]> {
  let query = meta
    .selectFrom('jobs')
    .select(['id', sql<number>`octet_length(params) + coalesce(octet_length(results), 0)`.as('bytes')])
    .where('queue', '=', 'storage');
  if (filter.creatorId !== undefined) query = query.where('creator_id', '=', filter.creatorId);
  if (filter.statuses !== undefined) query = query.where('status', 'in', filter.statuses as JobStatus[]);
  if (filter.excludedStatuses !== undefined)
    query = query.where('status', 'not in', filter.excludedStatuses as JobStatus[]);
  if (filter.operations !== undefined) query = query.where('operation', 'in', filter.operations);
  if (filter.tableId !== undefined) query = query.where('table_id', '=', filter.tableId);
  for (const { column, from, to } of filter.times ?? []) {
    if (from !== undefined) query = query.where(column, '>=', from);
    if (to !== undefined) query = query.where(column, '<=', to);
  }
  const found = await query.orderBy('id', 'desc').limit(filter.limit).offset(filter.offset).execute();
  const jobs: JobRow[] = [];
  // In parts: all of them in full may be more than there is memory.
  for (const ids of partsOf(found)) {
    const part = await meta
      .selectFrom('jobs')
      .selectAll()
      .where('id', 'in', ids)
      .orderBy('id', 'desc')
      .execute();
    for (const job of part)
      jobs.push({
        ...job,
        params: brief(job.params),
        results: job.results === null ? null : brief(job.results),
      });
  }
  return jobs;
}

const PART_BYTES = 4 * 1024 * 1024;

/** Ids of rows that may be read at once. */
function partsOf(found: readonly { readonly id: number; readonly bytes: number }[]): number[][] {
  const parts: number[][] = [];
  let left = 0;
  for (const { id, bytes } of found) {
    if (left < bytes || parts.length === 0) {
      parts.push([]);
      left = PART_BYTES;
    }
    parts.at(-1)?.push(id);
    left -= bytes;
  }
  return parts;
}

/** Writes down a job whose work the API did itself while the client waited. */
export async function recordFinishedJob(
  meta: Meta,
  env: Env,
  job: {
    branchId: number;
    operation: string;
    params: unknown;
    tableId?: string;
    results: string;
    runId: string | null;
    author: Author;
  },
): Promise<JobRow> {
  const now = isoTime(env.now());
  const row: JobRow = {
    id: await nextId(meta),
    queue: 'storage',
    branch_id: job.branchId,
    operation: job.operation,
    status: 'success',
    table_id: job.tableId ?? null,
    lock_key: null,
    params: brief(JSON.stringify(job.params)),
    results: job.results,
    error: null,
    metrics: NO_METRICS,
    run_id: job.runId,
    request_id: currentRequestId(),
    ...job.author,
    created: now,
    started: now,
    ended: now,
    attempt: 1,
    ...NO_TURN,
    mark: null,
  };
  await meta.insertInto('jobs').values(row).execute();
  return row;
}

export async function findJob(meta: Meta, id: number): Promise<JobRow | undefined> {
  return await meta.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
}
