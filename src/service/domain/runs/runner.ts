import { withRequestId } from '../../platform/health/correlation.ts';
import { logOnChange } from '../../platform/health/log-on-change.ts';
import type { Context } from '../context.ts';
import { listProcessing, type BriefRun } from '../../stores/metadata/runs.ts';
import type { RunEnd } from '../../stores/metadata/run-leases.ts';
import { runDue } from '../schedules/scheduler.ts';
import { startAttempt, type Attempt, type AttemptOptions } from './attempt.ts';
import { sweepFolders } from './folders.ts';
import { isLastAttempt } from './retry-policy.ts';

export interface RunnerOptions extends Omit<AttemptOptions, 'beatMs'> {
  /** Runs at a time. */
  readonly concurrency: number;
  /** True when no other process can do runs: those that an earlier start left are claimed at once. */
  readonly isAlone: boolean;
  /** Runs of one token among these; default: all but one, so that no token holds them all, but one at least. */
  readonly ofToken?: number | undefined;
  /** Milliseconds between two polls of the queue without a notification; default: as the queue needs it. */
  readonly pollMs?: number;
  /** Milliseconds between two heartbeats of a runner, with a check of the others; default 2 seconds. */
  readonly checkMs?: number;
  /** Milliseconds that a runner claims no runs when its disk is full; default a minute. */
  readonly fullMs?: number;
}

export interface Runner {
  start(): Promise<void>;
  /** Claims no more runs, ends those at work where they are, and returns them to the queue. */
  stop(): Promise<void>;
}

/** Checks after which a runner without a new heartbeat is gone: ten seconds. */
const DEAD_AFTER_LOOKS = 5;

const FULL_MS = 60_000;

/** Takes runs from the queue and does them, in processes of their own. */
export function createRunner(context: Context, options: RunnerOptions): Runner {
  const { meta, env, log, queue, metrics } = context;
  const { concurrency, isAlone, directory, checkMs = 2000, fullMs = FULL_MS } = options;
  const { pollMs = queue.pace.pollMs, ofToken = Math.max(1, concurrency - 1) } = options;
  const name = `${process.pid}-${Buffer.from(env.randomBytes(6)).toString('hex')}`;
  const telling = logOnChange(() => log, 'Run queue unavailable');
  const running = new Map<number, Attempt>();
  /** Heartbeats of all runners, and the number of checks for which each has been the same. */
  const seen = new Map<number, { readonly beat: number; readonly looks: number }>();
  const state = { isStopped: false, fullUntil: 0 };
  const taking = repeated(async () => await telling(takeAll(), 'take'));
  const scheduling = repeated(async () => await telling(askDue(), 'schedules'));
  const checking = repeated(async () => await telling(findLost(), 'lost'));
  const stops: (() => void)[] = [];

  return {
    async start() {
      await sweepFolders(directory, env.now());
      if (isAlone) for (const run of await listProcessing(meta)) await handOn(run);
      stops.push(queue.onNews('runs', taking.ask));
      every(checkMs, checking.ask);
      every(pollMs, taking.ask);
      every(SCHEDULE_MS, scheduling.ask);
      checking.ask();
      taking.ask();
      scheduling.ask();
    },
    async stop() {
      state.isStopped = true;
      for (const stop of stops) stop();
      await Promise.all([taking, scheduling, checking].map(async (work) => await work.stop()));
      for (const attempt of running.values()) attempt.handOn();
      await Promise.all(Array.from(running.values(), async ({ done }) => await done));
    },
  };

  function every(ms: number, work: () => void): void {
    const timer = setInterval(work, ms);
    stops.push(() => clearInterval(timer));
  }

  async function takeAll(): Promise<void> {
    // others may have room; who is alone finds the run waiting for as long
    if (performance.now() < state.fullUntil) return;
    while (!state.isStopped && running.size < concurrency) {
      const run = await queue.runs.take({ runner: name, ofToken });
      if (run === undefined) return;
      withRequestId(run.request_id, () => log.info('Run started', { run: run.id, attempt: run.attempt }));
      const attempt = withRequestId(run.request_id, () =>
        startAttempt(context, run, { ...options, beatMs: checkMs, onFull }),
      );
      running.set(run.id, attempt);
      // The next one of the same configuration need not wait for the next look.
      void attempt.done.finally(() => {
        running.delete(run.id);
        taking.ask();
      });
    }
  }

  function onFull(): void {
    state.fullUntil = performance.now() + fullMs;
    log.warn('Runner paused: its disk is full', { directory, seconds: fullMs / 1000 });
  }

  async function askDue(): Promise<void> {
    await runDue(context);
  }

  /** Finds runs of lost runners. Only the heartbeats tell whether a runner is alive: the clocks of machines differ. */
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
      await end(run, CANCELLED);
      return;
    }
    if (!isLastAttempt(run)) {
      if (await queue.runs.giveBack(run))
        withRequestId(run.request_id, () =>
          log.warn('Run released: its runner is gone', { run: run.id, attempt: run.attempt }),
        );
      return;
    }
    const interruptions = run.attempt - run.put_offs;
    const error = JSON.stringify({
      code: 'run.interrupted',
      message: `The run was interrupted ${interruptions} times and is given up.`,
      audience: 'application',
      hint: 'Look into the logs of the runners, then start it again: it goes on where it was.',
    });
    if (!(await end(run, { ...CANCELLED, status: 'error', exitCode: 2, error }))) return;
    metrics.runGivenUp();
    withRequestId(run.request_id, () => log.error('Run given up', { run: run.id, interruptions }));
  }

  async function end(run: BriefRun, how: RunEnd): Promise<boolean> {
    if (!(await queue.runs.finish(run, how))) return false;
    const seconds = (env.now() - Date.parse(run.started ?? run.created)) / 1000;
    metrics.run({ status: how.status, verdict: 'none', seconds: Math.max(0, seconds) });
    return true;
  }
}

/** A time of a schedule is full minutes. */
const SCHEDULE_MS = 1000;

const CANCELLED = { status: 'cancelled', exitCode: null, verdict: null, error: null, report: null } as const;

/** Work that is repeated on request, once at a time. */
interface Repeated {
  /** Does it now, or once more when it is at work: a request meanwhile may concern a part that is done already. */
  readonly ask: () => void;
  /** Stops it. @returns a promise that resolves when it is not at work */
  readonly stop: () => Promise<void>;
}

/** @param work must not reject */
function repeated(work: () => Promise<void>): Repeated {
  const state = { isAsked: false, isStopped: false };
  let working: Promise<void> | undefined;
  return {
    ask() {
      state.isAsked = true;
      working ??= workOn().finally(() => {
        working = undefined;
      });
    },
    async stop() {
      state.isStopped = true;
      await working;
    },
  };

  async function workOn(): Promise<void> {
    while (state.isAsked && !state.isStopped) {
      state.isAsked = false;
      await work();
    }
  }
}
