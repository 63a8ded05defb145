import { StorageError } from '../../lib/errors.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { findImport } from './find-import.ts';
import { readJob, readJobs, type Job } from './job.ts';

/** Which jobs. */
export interface JobsQuery {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly storage_job_status?: readonly string[] | undefined;
  readonly excluded_storage_job_status?: readonly string[] | undefined;
  /** Such as `tableImport`. */
  readonly operationName?: readonly string[] | undefined;
  readonly tableId?: string | undefined;
}

/** How a job is waited for. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  /** Gives up after this time with `storage.jobLate`; the job continues. Default: never. */
  readonly timeoutMs?: number | undefined;
  /** Told of the job after every look at it. */
  readonly onPoll?: ((job: Job) => void) | undefined;
}

/** Operations on jobs. */
export interface FindByFileOptions {
  /** A job that is known, and not meant. */
  readonly besides?: number | undefined;
  /** When the service made the file; it is asked for by default. */
  readonly created?: string | undefined;
  readonly signal?: AbortSignal | undefined;
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
  findByFile(fileId: number, options?: FindByFileOptions): Promise<Job | undefined>;
  /**
   * Ends a job that waits, and asks one at work to end, which it may no longer be able to: look at it again. Its own token
   * may, and the master token.
   *
   * @throws {StorageError} `storage.refused` when it had ended
   */
  cancel(id: number): Promise<Job>;
  /**
   * Gives a job again, under its own number, that was given up for want of what it needs.
   *
   * @throws {StorageError} `storage.refused` when it was not given up
   */
  retry(id: number): Promise<Job>;
}

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2500;
/** A job that has ended is seen at most a quarter of its time later. */
const WAIT_GROWTH = 1.25;

export function createJobs(api: ApiCore): Jobs {
  const jobs: Jobs = {
    detail: async (id, { signal } = {}) =>
      readJob(await api.call({ method: 'GET', path: path`jobs/${id}`, scope: 'plain', signal })),
    async list(query = {}) {
      const json = await api.call({ method: 'GET', path: 'jobs', scope: 'plain', query: { ...query } });
      return readJobs(json);
    },
    async wait(given, { signal, timeoutMs, onPoll } = {}) {
      const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : api.env.now() + timeoutMs;
      let job = typeof given === 'object' ? given : await jobs.detail(given, { signal });
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
    findByFile: async (fileId, { besides, created, signal } = {}) =>
      await findImport(api, {
        fileId,
        isMeant: ({ id }) => id !== besides,
        since: created === undefined ? undefined : Date.parse(created),
        signal,
      }),
    cancel: async (id) => await control(id, 'cancel'),
    retry: async (id) => await control(id, 'retry'),
  };
  async function control(id: number, what: 'cancel' | 'retry'): Promise<Job> {
    const called = { method: 'POST', path: `${path`jobs/${id}`}/${what}`, scope: 'plain', body: {} } as const;
    return readJob(await api.call({ ...called, isOnce: true }));
  }
  return jobs;
}

function nextWait(waitMs: number): number {
  return waitMs === 0 ? FIRST_WAIT_MS : Math.min(Math.ceil(waitMs * WAIT_GROWTH), LONGEST_WAIT_MS);
}

/** Any status but these two is final. */
function isFinal({ status }: Job): boolean {
  return status !== 'waiting' && status !== 'processing';
}

/** Returns the job, or throws when it failed: an unknown status is a success, unless a failure stands beside it. */
function succeeded(api: ApiCore, job: Job): Job {
  const status: string = job.status;
  const failure = failureIn(job);
  if (failure === undefined && !FAILED.includes(status)) return job;
  const { message = '', code = '', exceptionId } = failure ?? {};
  throw new StorageError(
    'storage.jobFailed',
    api.secrets.redact(`${nameOf(job)} failed: ${message === '' ? `its status is ${status}.` : message}`),
    { details: { jobId: job.id, serviceCode: code, exceptionId, results: job.results } },
  );
}

const FAILED = ['error', 'cancelled', 'terminated'];

type Failure = Exclude<Job['error'], null | string | undefined>;

function failureIn({ error }: Job): Failure | undefined {
  if (typeof error === 'string') return error === '' ? undefined : { message: error };
  return typeof error?.message === 'string' ? error : undefined;
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
async function again(api: ApiCore, job: Job, signal: AbortSignal | undefined): Promise<Job> {
  if (typeof job.id === 'number' || typeof job.id === 'string')
    return readJob(await api.call({ method: 'GET', path: path`jobs/${job.id}`, scope: 'plain', signal }));
  const own = `${api.base}/v2/storage/`;
  const url = typeof job.url === 'string' ? job.url.replace(/([^:])\/\/+/g, '$1/') : '';
  if (!url.startsWith(own))
    throw new StorageError('storage.unexpected', 'The job has neither an id nor an address of this service.');
  return readJob(await api.call({ method: 'GET', path: url.slice(own.length), scope: 'plain', signal }));
}
