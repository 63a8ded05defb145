import { withRequestId } from '../../platform/health/correlation.ts';
import { logOnChange } from '../../platform/health/log-on-change.ts';
import type { DataContext } from '../data-context.ts';
import { eventOfFailure, eventOfJob } from '../events/of-jobs.ts';
import { doerOfJob, recordEvent } from '../events/system-event.ts';
import { encodeReply } from '../encode-reply.ts';
import { isDiskFull } from '../service-error.ts';
import { isHeld, type JobEnd } from '../../stores/metadata/leases.ts';
import type { JobRow, QueueName } from '../../stores/metadata/tables.ts';
import { NO_METRICS } from '../../stores/metadata/jobs.ts';
import { Cancelled, Released, Interrupted, LeaseLost } from '../../stores/queue/endings.ts';
import { describeFailure, isPassing } from './failure.ts';
import { isHalfDeleted } from './operations/deletions.ts';
import { isMarkOf, type Done, type Operation } from './operations/operation.ts';
import { engineTable } from './operations/table-place.ts';
import type { Pace } from '../../stores/queue/pace.ts';
import { catalogueOf, withLocks, type Thing } from '../../stores/metadata/transaction.ts';

export interface WorkerOptions extends Partial<Pace> {
  /** Queue that it claims jobs from; default `storage`. */
  readonly queue?: QueueName;
  readonly operations: Readonly<Record<string, Operation>>;
  /** Jobs at a time; default 4. Jobs of one lock key never run at the same time. */
  readonly concurrency?: number;
}

export interface Worker {
  /** Claims jobs that an earlier process left, and works until stopped. */
  start(): Promise<void>;
  /** Claims no more jobs; those at work may finish within that time, then they return to the queue. */
  stop(graceMs: number): Promise<void>;
}

interface Running {
  readonly job: JobRow;
  readonly done: Promise<void>;
  readonly abort: AbortController;
}

/** Runs the jobs of a queue in this process. */
export function createWorker(context: () => DataContext, options: WorkerOptions): Worker {
  const { operations, queue: name = 'storage', concurrency = 4 } = options;
  const pace: Pace = { ...context().queue.pace, ...options };
  const { leaseMs, pollMs, checkMs, maxInterruptions, maxRetries } = pace;
  const running = new Map<number, Running>();
  const timers: NodeJS.Timeout[] = [];
  const telling = logOnChange(() => context().log, 'Job queue unavailable');
  const holder = { worker: '', leaseMs };
  const state = { isStopped: true };
  let pumping: Promise<void> | undefined;
  let isAskedAgain = false;
  let stopListening: (() => void) | undefined;

  return {
    async start() {
      const { env, engine, queue } = context();
      holder.worker = `${process.pid}-${Buffer.from(env.randomBytes(6)).toString('hex')}`;
      state.isStopped = false;
      stopListening = queue.onNews(name, (news) => (news === 'work' ? wake() : background(renew(), 'renew')));
      // An engine that is not shared belongs to this process alone: no other one can be at work.
      await takeUpAbandoned(!engine.isShared);
      timers.push(
        setInterval(() => background(renew(), 'renew'), leaseMs / 3),
        setInterval(wake, pollMs),
        setInterval(() => background(takeUpAbandoned(false), 'take up'), checkMs),
      );
      wake();
    },
    async stop(graceMs) {
      state.isStopped = true;
      stopListening?.();
      const [renewing, ...others] = timers.splice(0);
      for (const timer of others) clearInterval(timer);
      await pumping;
      // Until the last has ended, they are this worker's.
      await ended(graceMs);
      clearInterval(renewing);
      for (const { abort } of running.values()) abort.abort(new Released());
      for (const { job } of running.values()) await context().queue.giveBack(job, 'handedOn');
    },
  };

  /** Waits until all jobs at work have ended, but not longer than that. */
  async function ended(graceMs: number): Promise<void> {
    if (running.size === 0 || graceMs <= 0) return;
    const grace = new AbortController();
    const over = context()
      .env.sleep(graceMs, grace.signal)
      .catch(() => undefined);
    await Promise.race([Promise.all([...running.values()].map(({ done }) => done)), over]);
    // The clock would keep the process for as long as it runs.
    grace.abort();
  }

  /**
   * Runs work in the background. Some kinds only read, as long as there is nothing to do: they continue in a
   * read-only database.
   */
  function background(work: Promise<void>, kind: 'renew' | 'take up' | 'take'): void {
    void telling(work, kind);
  }

  function wake(): void {
    isAskedAgain = true;
    if (state.isStopped || pumping !== undefined) return;
    pumping = pump().finally(() => {
      pumping = undefined;
    });
    background(pumping, 'take');
  }

  async function pump(): Promise<void> {
    while (isAskedAgain) {
      isAskedAgain = false;
      while (!state.isStopped && running.size < concurrency) {
        const free = concurrency - running.size;
        const jobs = await context().queue.take(name, holder, free);
        for (const job of jobs) begin(job);
        if (jobs.length < free) break;
      }
    }
  }

  function begin(job: JobRow): void {
    const abort = new AbortController();
    const done = withRequestId(job.request_id, async () => await run(job, abort.signal)).finally(() => {
      // The same job may have come back with another lease.
      if (running.get(job.id)?.abort === abort) running.delete(job.id);
      wake();
    });
    running.set(job.id, { job, done, abort });
    background(done, 'take');
  }

  /**
   * Renews the leases of the jobs at work only: a job whose end could not be stored is claimed again when its lease
   * is over.
   */
  async function renew(): Promise<void> {
    const mine = [...running.values()];
    if (mine.length === 0) return;
    const ids = mine.map(({ job }) => job.id);
    const held = new Map((await context().queue.renew(holder, ids)).map((row) => [row.id, row]));
    for (const { job, abort } of mine) {
      const row = held.get(job.id);
      if (row?.fencing !== job.fencing) abort.abort(new LeaseLost());
      else if (row.is_cancelled === 1) abort.abort(new Cancelled());
    }
  }

  async function run(job: JobRow, signal: AbortSignal): Promise<void> {
    const operation = operations[job.operation];
    try {
      if (job.is_cancelled === 1 && !(await isHalfDeleted(job, context()))) throw new Cancelled();
      if (operation === undefined) throw new Error(`There is no operation ${job.operation}.`);
      await finish(job, await operation(job, context(), signal));
    } catch (error) {
      // Work that fails after the signal was aborted fails because of it.
      await settle(job, signal.aborted ? signal.reason : error);
    }
  }

  async function settle(job: JobRow, error: unknown): Promise<void> {
    const { log, queue } = context();
    if (error instanceof Released) return;
    if (error instanceof LeaseLost) {
      log.warn('Job lease lost: another worker has the job', { job: job.id });
      return;
    }
    if (isPassing(error) && job.retries < maxRetries) {
      if (!(await queue.giveBack(job, 'retried'))) return;
      const attempt = job.retries + 1;
      log.warn('Job deferred', { job: job.id, attempt, detail: String(error) });
      return;
    }
    await fail(job, error);
  }

  async function finish(job: JobRow, done: Done): Promise<void> {
    const { meta, queue, env, log, metrics: counted } = context();
    const commit = async (): Promise<void> =>
      await withLocks(meta, thingsOf(job, done), async (tx) => {
        const late = (await done.commit?.(tx)) ?? done.results;
        const metrics = JSON.stringify({ ...(JSON.parse(NO_METRICS) as object), ...done.metrics });
        const end: JobEnd = { status: 'success', results: encodeReply(late), error: null, metrics };
        if (!(await queue.finish(tx, job, end))) throw new LeaseLost();
        const event = eventOfJob(job, late);
        if (event !== undefined) await recordEvent(tx, env, doerOfJob(job), event);
      });
    try {
      // Work that cannot be reverted has happened, and must not be reported as an error because the disk is full.
      await (done.undo === undefined ? whenThereIsSpace(job, commit) : commit());
      queue.tellEnd(job.id);
      log.debug('A job is done', { job: job.id, operation: job.operation });
      counted.job({ operation: job.operation, status: 'success', seconds: secondsOf(job, env.now()) });
      if (done.moved !== undefined) counted.moved(done.moved);
    } catch (error) {
      // After a connection lost in a commit it is unknown whether the commit was done.
      if (error instanceof LeaseLost || !(await isHeld(meta, job))) throw new LeaseLost();
      await done.undo?.();
      throw error;
    }
  }

  async function fail(job: JobRow, error: unknown): Promise<void> {
    const { meta, queue, env, log, metrics } = context();
    const { results, isGivenUp, ...described } = describeFailure(error, job, { env, log });
    const end: JobEnd = {
      status: 'error',
      results: results === undefined ? null : JSON.stringify(results),
      error: JSON.stringify(described),
      metrics: NO_METRICS,
      isGivenUp,
    };
    const event = eventOfFailure(job, described);
    await whenThereIsSpace(job, async () => {
      await withLocks(meta, [], async (tx) => {
        const isMine = await queue.finish(tx, job, end);
        if (isMine && event !== undefined) await recordEvent(tx, env, doerOfJob(job), event);
      });
    });
    queue.tellEnd(job.id);
    metrics.job({ operation: job.operation, status: 'error', seconds: secondsOf(job, env.now()) });
  }

  /** Stores the end of a job, as soon as the disk has room: until then an error could not be stored either. */
  async function whenThereIsSpace(job: JobRow, write: () => Promise<void>): Promise<void> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        await write();
        return;
      } catch (error) {
        if (!isDiskFull(error) || state.isStopped) throw error;
        const { env, log } = context();
        if (isFirst) log.error('Job completion waits for disk space', { job: job.id });
        await env.sleep(pollMs);
      }
    }
  }

  /**
   * Tells whether rows are loaded or deleted already, and only the end of the job was not stored: running it again
   * does that.
   */
  async function isPartlyDone(job: JobRow): Promise<boolean> {
    if (await isHalfDeleted(job, context())) return true;
    if (job.table_id === null) return false;
    const state = await context().engine.describe(engineTable(job.branch_id, job.table_id));
    return isMarkOf(job, state?.lastImport?.mark);
  }

  async function takeUpAbandoned(isAlone: boolean): Promise<void> {
    const { queue, log } = context();
    for (const job of await queue.listAbandoned(name, isAlone)) {
      if (running.has(job.id)) continue;
      if (job.attempt - job.retries >= maxInterruptions && !(await isPartlyDone(job))) {
        await fail(job, new Interrupted(job.attempt - job.retries));
        continue;
      }
      if (!(await queue.giveBack(job, 'interrupted'))) continue;
      withRequestId(job.request_id, () =>
        log.warn('Job interrupted, trying again', { job: job.id, attempt: job.attempt }),
      );
    }
  }
}

/** Returns the lock keys of the end of a job: none for one that changes nothing else. */
function thingsOf(job: JobRow, done: Done): readonly Thing[] {
  return done.commit === undefined ? [] : (done.things ?? [catalogueOf(job.branch_id)]);
}

function secondsOf({ started }: JobRow, now: number): number {
  return started === null ? 0 : Math.max(0, now - Date.parse(started)) / 1000;
}
