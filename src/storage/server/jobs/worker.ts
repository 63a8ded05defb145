import { withRequestId } from '../care/correlation.ts';
import type { DataContext } from '../data-context.ts';
import { eventOfFailure, eventOfJob } from '../events/of-jobs.ts';
import { doerOfJob, recordEvent } from '../events/system-event.ts';
import { encodeReply } from '../http/encode-reply.ts';
import { describeFailure } from './failure.ts';
import {
  finishJob,
  listAbandoned,
  renewLeases,
  requeueJob,
  takeJob,
  type JobEnd,
  type Lease,
} from '../meta/jobs.ts';
import type { JobRow } from '../meta/tables.ts';
import { markOf, type Done, type Operation } from './operations/operation.ts';
import { engineTable } from './operations/table-place.ts';
import { NO_METRICS } from '../shapes/job.ts';
import { isDiskFull } from '../http/trouble.ts';

export interface WorkerOptions {
  readonly operations: Readonly<Record<string, Operation>>;
  /** Jobs at a time; default 4. Jobs of one table never run at the same time. */
  readonly concurrency?: number;
  /** Without a sign of life for that long, a worker is taken for dead; default 30 seconds. */
  readonly leaseMs?: number;
  /** How often the queue is looked at without being told; default 2 seconds. */
  readonly pollMs?: number;
}

export interface Worker {
  /** Takes up what an earlier process left, and works until stopped. */
  start(): Promise<void>;
  /** There is a new job. */
  wake(): void;
  /** Takes no more jobs; those that run may finish for that long, then they return to the queue. */
  stop(graceMs: number): Promise<void>;
}

/** Taken up that often, a job that kills its process is given up. */
const MAX_ATTEMPTS = 3;

/** Runs the jobs of the queue in this process (storage 1.4, design 3). */
export function createWorker(context: () => DataContext, options: WorkerOptions): Worker {
  const { operations, concurrency = 4, leaseMs = 30_000, pollMs = 2000 } = options;
  const running = new Map<number, { readonly job: JobRow; readonly done: Promise<void> }>();
  const timers: NodeJS.Timeout[] = [];
  let name = '';
  const state = { isStopped: true };
  let pumping: Promise<void> | undefined;
  let isAskedAgain = false;

  return {
    async start() {
      const { env, engine } = context();
      name = `${process.pid}-${Buffer.from(env.randomBytes(6)).toString('hex')}`;
      state.isStopped = false;
      // An engine that is not shared belongs to this process alone: nobody else can be at work.
      await takeUpAbandoned(!engine.isShared);
      timers.push(
        // Only of what runs: a job whose end could not be written down is taken up again when its lease is over.
        setInterval(() => background(renewLeases(context().meta, lease(), [...running.keys()])), leaseMs / 3),
        setInterval(() => background(takeUpAbandoned(false).then(wake)), pollMs),
      );
      wake();
    },
    wake,
    async stop(graceMs) {
      state.isStopped = true;
      for (const timer of timers.splice(0)) clearInterval(timer);
      await pumping;
      if (running.size > 0) {
        const all = Promise.all([...running.values()].map(({ done }) => done));
        const grace = new AbortController();
        const over = context()
          .env.sleep(graceMs, grace.signal)
          .catch(() => undefined);
        await Promise.race([all, over]);
        // The clock would keep the process for as long as it runs.
        grace.abort();
      }
      for (const { job } of running.values()) await requeueJob(context().meta, job);
    },
  };

  function lease(): Lease {
    const now = context().env.now();
    return { worker: name, now, until: now + leaseMs };
  }

  function background(work: Promise<void>): void {
    work.catch((error: unknown) =>
      context().log.error('The queue of jobs cannot be read', { detail: String(error) }),
    );
  }

  function wake(): void {
    isAskedAgain = true;
    if (state.isStopped || pumping !== undefined) return;
    pumping = pump().finally(() => {
      pumping = undefined;
    });
    background(pumping);
  }

  async function pump(): Promise<void> {
    while (isAskedAgain) {
      isAskedAgain = false;
      while (!state.isStopped && running.size < concurrency) {
        const job = await takeJob(context().meta, lease());
        if (job === undefined) break;
        const done = withRequestId(job.request_id, async () => await run(job)).finally(() => {
          running.delete(job.id);
          wake();
        });
        running.set(job.id, { job, done });
        background(done);
      }
    }
  }

  async function run(job: JobRow): Promise<void> {
    const operation = operations[job.operation];
    try {
      if (operation === undefined) throw new Error(`There is no operation ${job.operation}.`);
      await finish(job, await operation(job, context()));
    } catch (error) {
      await fail(job, error);
    }
  }

  async function finish(job: JobRow, done: Done): Promise<void> {
    const { meta, env, log, metrics: counted } = context();
    const commit = async (): Promise<void> =>
      await meta.transaction().execute(async (tx) => {
        const late = (await done.commit?.(tx)) ?? done.results;
        const metrics = JSON.stringify({ ...(JSON.parse(NO_METRICS) as object), ...done.metrics });
        const end: JobEnd = { status: 'success', results: encodeReply(late), error: null, metrics };
        if (!(await finishJob(tx, job, end, env.now()))) throw new Superseded();
        const event = eventOfJob(job, late);
        if (event !== undefined) await recordEvent(tx, env, doerOfJob(job), event);
      });
    try {
      // What cannot be taken back has happened, and must not be called an error because the disk is full.
      await (done.undo === undefined ? whenThereIsSpace(job, commit) : commit());
      log.debug('A job is done', { job: job.id, operation: job.operation });
      counted.job({ operation: job.operation, status: 'success', seconds: secondsOf(job, env.now()) });
      if (done.moved !== undefined) counted.moved(done.moved);
    } catch (error) {
      if (error instanceof Superseded) {
        log.warn('A job was finished late; it has been given to another worker', { job: job.id });
        return;
      }
      await done.undo?.();
      throw error;
    }
  }

  async function fail(job: JobRow, error: unknown): Promise<void> {
    const { meta, env, log, metrics } = context();
    const { results, ...described } = describeFailure(error, job, { env, log });
    const end: JobEnd = {
      status: 'error',
      results: results === undefined ? null : JSON.stringify(results),
      error: JSON.stringify(described),
      metrics: NO_METRICS,
    };
    const event = eventOfFailure(job, described);
    await whenThereIsSpace(job, async () => {
      await meta.transaction().execute(async (tx) => {
        const isMine = await finishJob(tx, job, end, env.now());
        if (isMine && event !== undefined) await recordEvent(tx, env, doerOfJob(job), event);
      });
    });
    metrics.job({ operation: job.operation, status: 'error', seconds: secondsOf(job, env.now()) });
  }

  /** Writes down how a job ended, as soon as the disk takes it: until then nobody could be told of an error either. */
  async function whenThereIsSpace(job: JobRow, write: () => Promise<void>): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        await write();
        return;
      } catch (error) {
        if (!isDiskFull(error) || state.isStopped) throw error;
        const { env, log } = context();
        if (isFirst) log.error('The end of a job waits for space on the disk', { job: job.id });
        await env.sleep(pollMs);
      }
    }
  }

  /** Whether the rows are in already, and only the end of the job was not written down: running it again does that. */
  async function isLoaded(job: JobRow): Promise<boolean> {
    if (job.table_id === null) return false;
    const state = await context().engine.describe(engineTable(job.branch_id, job.table_id));
    return state?.lastMark === markOf(job);
  }

  async function takeUpAbandoned(isAlone: boolean): Promise<void> {
    const { meta, env, log } = context();
    for (const job of await listAbandoned(meta, { now: env.now(), isAlone })) {
      if (running.has(job.id)) continue;
      if (job.attempt >= MAX_ATTEMPTS && !(await isLoaded(job))) {
        await fail(job, new Abandoned(job.attempt));
        continue;
      }
      withRequestId(job.request_id, () =>
        log.warn('A job was interrupted and is run again', { job: job.id, attempt: job.attempt }),
      );
      await requeueJob(meta, job);
    }
  }
}

function secondsOf({ started }: JobRow, now: number): number {
  return started === null ? 0 : Math.max(0, now - Date.parse(started)) / 1000;
}

/** The job has been given to another worker meanwhile. */
class Superseded extends Error {}

class Abandoned extends Error {
  readonly code = 'storage.jobs.interrupted';

  constructor(attempts: number) {
    super(`The job was interrupted ${attempts} times and is given up. Start it again.`);
  }
}
