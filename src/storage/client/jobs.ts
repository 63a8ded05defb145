import { StorageError } from '../../errors.ts';
import { getKey, isObject, type Json } from '../../json/index.ts';
import type { File, Job as ProtocolJob } from '../protocol/index.ts';
import type { Api } from './api.ts';
import { path, type Query } from './encode.ts';
import { orUndefined } from './repeated.ts';
import { listOf, shaped } from './shape.ts';

/** A job as it arrives: the failure may be an object or plain text (service-core 2.3, design 8.13). */
export type Job = Omit<ProtocolJob, 'error'> & {
  readonly error?:
    | string
    | { readonly code?: string; readonly message?: string; readonly exceptionId?: string };
};

export interface JobsQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly storage_job_status?: readonly string[];
  readonly excluded_storage_job_status?: readonly string[];
}

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Gives up after this time with `storage.jobLate`; the job goes on. Default: never. */
  readonly timeoutMs?: number | undefined;
  /** Told of the job after every look at it. */
  readonly onPoll?: ((job: Job) => void) | undefined;
}

export interface Jobs {
  detail(id: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<Job>;
  /** Newest first. */
  list(query?: JobsQuery): Promise<Job[]>;
  /**
   * Looks at the job until it has ended: at once, after 50 ms, and then ever more rarely, up to every 2.5 seconds.
   *
   * @throws {StorageError} `storage.jobFailed` with the job's own message, `storage.jobLate`
   */
  wait(job: Job | number, options?: WaitOptions): Promise<Job>;
  /**
   * The import or table creation that reads this file, however many jobs came after it; one that has not failed, when
   * there are several. Of a token that is no master the service shows only its own jobs, so the token must be the one
   * that asked for the import.
   */
  findByFile(
    fileId: number,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Job | undefined>;
}

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2500;
/** A job that has ended is seen at most a quarter of its time later. */
const WAIT_GROWTH = 1.25;
const PAGE = 100;
/** A million jobs: a service that always has more does not tell the truth. */
const MAX_PAGES = 10_000;

export function createJobs(api: Api): Jobs {
  const jobs: Jobs = {
    async detail(id, { signal } = {}) {
      return readJob(await api.call({ method: 'GET', path: path`jobs/${id}`, scope: 'plain', signal }));
    },
    async list(query = {}) {
      const json = await api.call({ method: 'GET', path: 'jobs', scope: 'plain', query: { ...query } });
      return listOf<Job>(json, 'job', { status: 'string' });
    },
    async wait(given, { signal, timeoutMs, onPoll } = {}) {
      const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : api.env.now() + timeoutMs;
      let job = typeof given === 'number' ? await jobs.detail(given, { signal }) : given;
      // A job that was just asked for is looked at at once: small ones have ended by then.
      for (let waitMs = 0; ; waitMs = nextWait(waitMs)) {
        if (isFinal(job)) return succeeded(api, job);
        const left = until - api.env.now();
        if (left <= 0) throw late(job, timeoutMs ?? 0);
        if (waitMs > 0) await api.env.sleep(Math.min(waitMs, left), api.signalOf(signal));
        job = await again(api, job, signal);
        onPoll?.(job);
      }
    },
    async findByFile(fileId, { signal } = {}) {
      let since: number | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const query: Query = { limit: PAGE, offset: page * PAGE };
        const json = await api.call({ method: 'GET', path: 'jobs', scope: 'plain', query, signal });
        const list = listOf<Job>(json, 'job', { status: 'string' });
        const imports = list.filter((job) => isImportOf(job, fileId));
        const found = imports.find(({ status }) => status !== 'error') ?? imports[0];
        const oldest = list.at(-1);
        if (found !== undefined || oldest === undefined) return found;
        // Nobody asked for an import of the file before there was a file.
        since ??= await createdAt(api, fileId, signal);
        if (Date.parse(oldest.createdTime) < since) return undefined;
      }
      throw new StorageError('storage.unexpected', 'The list of jobs of the storage service has no end.', {
        hint: 'Check the address, and the version of the service.',
      });
    },
  };
  return jobs;
}

function nextWait(waitMs: number): number {
  return waitMs === 0 ? FIRST_WAIT_MS : Math.min(Math.ceil(waitMs * WAIT_GROWTH), LONGEST_WAIT_MS);
}

export function readJob(json: Json | undefined): Job {
  return shaped<Job>(json, 'job', { status: 'string' });
}

/** Any status but these two is final (service-core 3). */
function isFinal({ status }: Job): boolean {
  return status !== 'waiting' && status !== 'processing';
}

function succeeded(api: Api, job: Job): Job {
  const status: string = job.status;
  const hasFailed = ['error', 'cancelled', 'terminated'].includes(status) || typeof job.error === 'string';
  if (!hasFailed) return job;
  const { error } = job;
  const said = typeof error === 'string' ? error : error?.message;
  const code = typeof error === 'object' ? (error.code ?? '') : '';
  throw new StorageError(
    'storage.jobFailed',
    api.secrets.redact(
      `${nameOf(job)} failed: ${said === undefined || said === '' ? `its status is ${status}.` : said}`,
    ),
    {
      details: {
        jobId: job.id,
        serviceCode: code,
        exceptionId: typeof error === 'object' ? error.exceptionId : undefined,
        results: job.results,
      },
    },
  );
}

function late(job: Job, timeoutMs: number): StorageError {
  return new StorageError(
    'storage.jobLate',
    `${nameOf(job)} has not ended within ${timeoutMs / 1000} seconds: it is ${job.status}.`,
    { hint: 'It goes on. Wait longer, or ask for it later by its id.', details: { jobId: job.id } },
  );
}

function nameOf(job: Job): string {
  const table = typeof job.tableId === 'string' ? ` on ${job.tableId}` : '';
  return `The storage job ${job.id ?? job.url}${job.operationName === undefined ? '' : ` (${job.operationName}${table})`}`;
}

/** By its id; a service that gives none is asked at the job's `url`, when that is its own. */
async function again(api: Api, job: Job, signal: AbortSignal | undefined): Promise<Job> {
  if (typeof job.id === 'number' || typeof job.id === 'string')
    return readJob(await api.call({ method: 'GET', path: path`jobs/${job.id}`, scope: 'plain', signal }));
  const own = `${api.base}/v2/storage/`;
  const url = typeof job.url === 'string' ? job.url.replace(/([^:])\/\/+/g, '$1/') : '';
  if (!url.startsWith(own))
    throw new StorageError('storage.unexpected', 'The job has neither an id nor an address of this service.');
  return readJob(await api.call({ method: 'GET', path: url.slice(own.length), scope: 'plain', signal }));
}

/** When the file was made, in milliseconds; the beginning of all time when it is gone. */
async function createdAt(api: Api, fileId: number, signal: AbortSignal | undefined): Promise<number> {
  const json = await orUndefined(api.call({ method: 'GET', path: path`files/${fileId}`, signal }));
  if (json === undefined) return Number.NEGATIVE_INFINITY;
  return Date.parse(shaped<File>(json, 'file', { created: 'string' }).created);
}

/** The id is text in some operations (storage 1.4). */
function isImportOf(job: Job, fileId: number): boolean {
  const params = job.operationParams as Json | undefined; // as it was parsed
  const source = params !== undefined && isObject(params) ? getKey(params, 'source') : undefined;
  if (source === undefined || !isObject(source)) return false;
  const found = getKey(source, 'fileId');
  return found === fileId || found === String(fileId);
}
