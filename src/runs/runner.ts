import { withRequestId } from '../storage/server/care/correlation.ts';
import { tellingOnce } from '../storage/server/care/telling-once.ts';
import type { Context } from '../storage/server/context.ts';
import {
  finishRun,
  listProcessing,
  requeueRun,
  takeRun,
  type BriefRun,
} from '../storage/server/meta/runs.ts';
import { runDue } from '../storage/server/runs/scheduler.ts';
import { startAttempt, type Attempt, type AttemptOptions } from './attempt.ts';
import { sweepFolders } from './folders.ts';
import { isLastAttempt } from './patience.ts';

export interface RunnerOptions extends Omit<AttemptOptions, 'beatMs'> {
  /** Runs at a time. */
  readonly concurrency: number;
  /** Whether no other process can be at work on runs: what an earlier start left is taken up at once. */
  readonly isAlone: boolean;
  /** How often the queue, the schedules and the other runners are looked at; default 1 second. */
  readonly pollMs?: number;
}

export interface Runner {
  start(): Promise<void>;
  /** Takes no more runs, ends those at work where they are, and gives them back into the queue. */
  stop(): Promise<void>;
}

/** A runner whose sign of life does not change for so many looks is gone: ten seconds. */
const DEAD_AFTER_LOOKS = 10;
/** Looks for each sign of life. */
const LOOKS_PER_BEAT = 2;

/** Takes runs from the queue and does them, in processes of their own. */
export function createRunner(context: Context, options: RunnerOptions): Runner {
  const { meta, env, log } = context;
  const { concurrency, isAlone, pollMs = 1000, directory } = options;
  const name = `${process.pid}-${Buffer.from(env.randomBytes(6)).toString('hex')}`;
  const telling = tellingOnce(() => log, 'The queue of runs cannot be read');
  const running = new Map<number, Attempt>();
  /** Signs of life of all runners, and for how many looks each has been the same. */
  const seen = new Map<number, { readonly beat: number; readonly looks: number }>();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  const state = { isStopped: false, isAskedAgain: false, isTime: false };
  let stopListening: (() => void) | undefined;

  return {
    async start() {
      await sweepFolders(directory, env.now());
      if (isAlone) for (const run of await listProcessing(meta)) await handOn(run);
      stopListening = context.runNews.listen(look);
      timer = setInterval(lookAtAll, pollMs);
      lookAtAll();
    },
    async stop() {
      state.isStopped = true;
      stopListening?.();
      clearInterval(timer);
      await looking;
      for (const attempt of running.values()) attempt.handOn();
      await Promise.all(Array.from(running.values(), async ({ done }) => await done));
    },
  };

  function lookAtAll(): void {
    state.isTime = true;
    look();
  }

  function look(): void {
    // What is asked for while it looks may be behind where it is.
    state.isAskedAgain = looking !== undefined;
    looking ??= telling(lookOnce()).finally(() => {
      looking = undefined;
      if (state.isAskedAgain && !state.isStopped) look();
    });
  }

  async function lookOnce(): Promise<void> {
    if (state.isTime) {
      state.isTime = false;
      await runDue(context);
      // Looks are what the time of others is counted in: those in between do not count.
      await findLost();
    }
    while (!state.isStopped && running.size < concurrency) {
      const run = await takeRun(meta, { runner: name, now: env.now() });
      if (run === undefined) return;
      withRequestId(run.request_id, () => log.info('A run begins', { run: run.id, attempt: run.attempt }));
      const attempt = withRequestId(run.request_id, () =>
        startAttempt(context, run, { ...options, beatMs: pollMs * LOOKS_PER_BEAT }),
      );
      running.set(run.id, attempt);
      // The next one of the same configuration need not wait for the next look.
      void attempt.done.finally(() => {
        running.delete(run.id);
        if (!state.isStopped) look();
      });
    }
  }

  /** Whether a runner is alive is told by its signs alone: the clocks of machines differ. */
  async function findLost(): Promise<void> {
    const processing = await listProcessing(meta);
    const ids = new Set(processing.map(({ id }) => id));
    for (const id of seen.keys()) if (!ids.has(id)) seen.delete(id);
    for (const run of processing) {
      if (running.has(run.id)) continue;
      const before = seen.get(run.id);
      const looks = before?.beat === run.beat ? before.looks + 1 : 0;
      seen.set(run.id, { beat: run.beat, looks });
      if (looks >= DEAD_AFTER_LOOKS) await handOn(run);
    }
  }

  async function handOn(run: BriefRun): Promise<void> {
    seen.delete(run.id);
    if (run.cancel_asked !== null) {
      await finishRun(meta, run, CANCELLED, env.now());
      return;
    }
    if (!isLastAttempt(run)) {
      if (await requeueRun(meta, run))
        withRequestId(run.request_id, () =>
          log.warn('A run is handed on: its runner is gone', { run: run.id, attempt: run.attempt }),
        );
      return;
    }
    const message = `The run was interrupted ${run.attempt - run.put_offs} times and is given up.`;
    const hint = 'Look into the logs of the runners before it is started again.';
    const error = JSON.stringify({ code: 'run.interrupted', message, audience: 'application', hint });
    await finishRun(meta, run, { ...CANCELLED, status: 'error', exitCode: 2, error }, env.now());
  }
}

const CANCELLED = { status: 'cancelled', exitCode: null, verdict: null, error: null, report: null } as const;
