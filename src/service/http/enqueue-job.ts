import { Answer } from './answer.ts';
import { authorOf } from '../domain/tokens/caller.ts';
import type { Context } from '../domain/context.ts';
import type { DataContext } from '../domain/data-context.ts';
import { ApiError } from '../domain/api-error.ts';
import type { JobName, StorageJobRequest } from '../domain/jobs/operations/all.ts';
import { findJob, type NewJob } from '../stores/metadata/jobs.ts';
import type { JobRow } from '../stores/metadata/tables.ts';
import { jobsOf } from '../stores/metadata/transaction.ts';
import type { Call } from './route.ts';
import { jobReply } from '../domain/presenters/job.ts';

/** Fields of a request that a job stores, and the kinds of jobs that its route enqueues. */
type Asker<Name> = Pick<
  Call<unknown, unknown, unknown, Name>,
  'branch' | 'caller' | 'enqueues' | 'origin' | 'runId' | 'transact'
>;

/** Enqueues work and answers its job at once; `GET jobs/{id}` waits shortly for small ones. */
export async function enqueueJob<Name extends JobName>(
  context: DataContext,
  asker: Asker<Name>,
  work: StorageJobRequest<NoInfer<Name>>,
): Promise<Answer> {
  return new Answer(202, jobReply(await submit(context, asker, work), asker.origin));
}

/** Milliseconds that a request waits for the job that does its work. */
const MAX_WAIT_MS = 45 * 60_000;

/**
 * Enqueues work and waits until it is done: the jobs of a table run one after another.
 *
 * @throws {ApiError} the error that the job failed with
 */
export async function runJob<Name extends JobName>(
  context: DataContext,
  asker: Asker<Name>,
  work: StorageJobRequest<NoInfer<Name>>,
): Promise<JobRow> {
  const { id } = await submit(context, asker, work);
  const job = await waitForJob(context, id, MAX_WAIT_MS);
  if (job?.status === 'success') return job;
  if (job?.error === undefined || job.error === null)
    throw new ApiError(
      503,
      'storage.jobs.unfinished',
      `The work takes long; job ${id} says what becomes of it.`,
    );
  // Written by the worker.
  const { code, message } = JSON.parse(job.error) as { code: string; message: string };
  throw new ApiError(statusOf(code), code, message);
}

type Work = Pick<NewJob, 'lockKey' | 'operation' | 'params' | 'tableId'>;

async function submit(context: DataContext, asker: Asker<unknown>, work: Work): Promise<JobRow> {
  const job: NewJob = {
    ...work,
    branchId: asker.branch.id,
    runId: asker.runId,
    author: authorOf(asker.caller),
  };
  const row = await asker.transact(
    jobsOf(job.lockKey),
    async (tx) => await context.queue.submit(tx, job),
    ({ id }) => ({ jobId: id }),
  );
  context.queue.wake(row.queue);
  return row;
}

/** Milliseconds until the second look for the end of a job of another process, which takes it with its next look. */
const FIRST_PAUSE_MS = 30;
const LONGEST_PAUSE_MS = 200;

/**
 * Returns the job, as soon as it is finished or the time is over. A worker of this process tells when it has ended one.
 * Another process may have it, so the table is queried as well.
 */
export async function waitForJob(
  { meta, env, readiness, queue }: Pick<Context, 'env' | 'meta' | 'queue' | 'readiness'>,
  id: number,
  waitMs: number,
): Promise<JobRow | undefined> {
  const { shutdownSignal } = readiness;
  const until = env.now() + waitMs;
  let told = new AbortController();
  const wake = (): void => told.abort();
  const stopListening = queue.onEnd(id, wake);
  shutdownSignal.addEventListener('abort', wake);
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
      const job = await findJob(meta, id);
      if (job === undefined || job.status === 'success' || job.status === 'error') return job;
      const leftMs = until - env.now();
      if (leftMs <= 0 || shutdownSignal.aborted) return job;
      await env.sleep(Math.min(pauseMs, leftMs), told.signal).catch(() => undefined);
      if (told.signal.aborted) told = new AbortController();
    }
  } finally {
    stopListening();
    shutdownSignal.removeEventListener('abort', wake);
  }
}

function statusOf(code: string): number {
  if (code === 'internalError') return 500;
  if (code === 'storage.diskFull') return 507;
  if (code === 'storage.objectStoreUnavailable' || code === 'storage.databaseUnavailable') return 503;
  return code.endsWith('.notFound') ? 404 : 400;
}
