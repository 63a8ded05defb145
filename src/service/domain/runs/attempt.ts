import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { keyFileText } from '../../../lib/encryption/keys.ts';
import { ExtractorError } from '../../../lib/errors.ts';
import { Secrets } from '../../../lib/secrets.ts';
import type { RunError } from '../../../storage/protocol/run.ts';
import type { Context } from '../context.ts';
import { whenDatabaseIsBack } from '../../platform/database/retry-policy.ts';
import { detailOf, isDiskFull, toServiceError } from '../service-error.ts';
import { isPassing } from '../jobs/failure.ts';
import { acceptanceText, type AskedOfRun } from '../../stores/metadata/runs.ts';
import { beatRun, type RunEnd } from '../../stores/metadata/run-leases.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { RunRow } from '../../stores/metadata/tables.ts';
import { prolongToken } from '../../stores/metadata/tokens.ts';
import { lineageReceiver } from './lineage-receiver.ts';
import { startChild, type Ended, type RunChild } from './child.ts';
import { folderOf, leaveFolder, untilLeft } from './folders.ts';
import type { Keeper, KeptStore } from './checkpointer.ts';
import { isLastAttempt, waitMsOf } from './retry-policy.ts';
import { readReport, type RunReport } from './report.ts';
import { listenToProgress } from './run-progress.ts';
import { forgetRecords, keepRecords, recordArgs } from './run-artifacts.ts';
import { RunLogWriter } from './run-log.ts';
import { RunRequestWriter } from './run-requests.ts';
import { TOKEN_SECONDS, takeToken } from './token.ts';

export interface AttemptOptions {
  /** Program, and the arguments before those of `gex`. */
  readonly command: readonly [string, ...string[]];
  /** Environment variables of its processes, besides the inherited ones. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** The address of the storage service. */
  readonly apiUrl: string;
  /** Folder of the data folders of runs. */
  readonly directory: string;
  /** Store of the checkpoints of runs, for other machines; without one they stay in the folder. */
  readonly keptIn?: KeptStore | undefined;
  /** Store of the recordings and explanations of runs that have ended. */
  readonly records: KeptStore;
  readonly beatMs: number;
  /** Called when the disk of this machine has no room for a run. */
  readonly onFull?: () => void;
}

/** Control of an attempt from outside. */
export interface Attempt {
  readonly done: Promise<void>;
  /** Ends the process, and returns the run to the queue. */
  handOn(): void;
}

/** Tries to lock a folder that the process of an earlier attempt still holds, a second apart. */
const LOCK_TRIES = 20;

/** Does a run that was claimed, to its end or until it is lost. */
export function startAttempt(context: Context, run: RunRow, options: AttemptOptions): Attempt {
  const end = new AbortController();
  const requests = new RunRequestWriter({ ...context, run });
  const state: State = { end, why: undefined, progress: undefined, spent: undefined, requests };
  return { done: perform(context, run, { ...options, state }), handOn: () => stopFor(state, 'handOn') };
}

/** Reason to end the process before it is done. */
type Why = 'cancel' | 'handOn' | 'lost';

interface State {
  readonly end: AbortController;
  why: Why | undefined;
  /** Latest progress of the process since the last heartbeat, which stores it. */
  progress: string | undefined;
  /** Times that the process has spent on its parts, as JSON. */
  spent: string | undefined;
  readonly requests: RunRequestWriter;
}

function stopFor(state: State, why: Why): void {
  // A run that was lost is not returned to the queue.
  if (state.why !== 'lost') state.why = state.why === 'cancel' && why === 'handOn' ? 'cancel' : why;
  state.end.abort();
}

async function perform(
  context: Context,
  run: RunRow,
  options: AttemptOptions & { readonly state: State },
): Promise<void> {
  const { meta, env, log, metrics, queue } = context;
  const { state, beatMs, keptIn } = options;
  const beats = setInterval(() => void beat(), beatMs);
  const beat = async (): Promise<void> => {
    const { progress } = state;
    state.progress = undefined;
    const told = await beatRun(meta, run, progress).catch((error: unknown) => {
      log.warn('Run heartbeat failed', { run: run.id, detail: String(error) });
      return { isCancelled: false };
    });
    await state.requests.write();
    if (told === undefined) stopFor(state, 'lost');
    else if (told.isCancelled) stopFor(state, 'cancel');
  };
  try {
    const outcome = await work(context, run, options).catch((error: unknown) => failed(context, run, error));
    if (state.why === 'lost' || outcome === undefined) {
      log.warn('Run released to another runner', { run: run.id, attempt: run.attempt });
      return;
    }
    const isDone = outcome.error === undefined;
    if (state.why === 'handOn' && !isDone) {
      await queue.runs.giveBack(run);
      return;
    }
    const put = isDone ? undefined : await putOff(context, run, outcome);
    if (put === 'waiting') return;
    const isCancelled = state.why === 'cancel' || put === 'cancelled';
    const status = isDone ? 'success' : isCancelled ? 'cancelled' : 'error';
    const end: RunEnd = {
      status,
      exitCode: outcome.exitCode,
      verdict: outcome.report.verdict ?? null,
      error: outcome.error === undefined || status === 'cancelled' ? null : JSON.stringify(outcome.error),
      accepted: isDone ? acceptedOf(run, outcome.report) : null,
      report: JSON.stringify(outcome.report.rows),
      spent: state.spent ?? null,
      ...(isDone ? {} : { line: lastLine(context, isCancelled ? undefined : outcome.error) }),
    };
    // When it is stored twice, the second one is refused.
    const finish = async (): Promise<boolean> =>
      await whenDatabaseIsBack(env, async () => await queue.runs.finish(run, end));
    const isLeft = isDone && keptIn === undefined;
    const isWritten = isLeft ? await leaveFolder(outcome.folder, finish) : await finish();
    if (isWritten) {
      const seconds = (env.now() - Date.parse(run.started ?? run.created)) / 1000;
      metrics.run({ status, verdict: outcome.report.verdict ?? 'none', seconds: Math.max(0, seconds) });
    }
    log.info(isWritten ? 'Run ended' : 'Run lease lost', { run: run.id, status });
    if (!isWritten || !isDone || keptIn === undefined) return;
    const { pruneCheckpoint } = await import('./checkpointer.ts');
    await pruneCheckpoint(keptIn, String(run.id));
  } catch (error) {
    // Its heartbeat stops with this, and it is claimed again.
    log.error('Run outcome could not be stored', { run: run.id, detail: String(error) });
  } finally {
    clearInterval(beats);
  }
}

/** Returns who accepts the doubt of a run that has loaded, and why, as JSON; null for one without, or with an open one. */
function acceptedOf(run: RunRow, { verdict, accepted }: Outcome['report']): string | null {
  if (verdict !== 'doubtful' || accepted === undefined) return null;
  return acceptanceText(accepted, askedOf(run).accepts === undefined ? undefined : run);
}

/** Returns the line that ends the log of a run that has not succeeded. */
function lastLine({ env }: Context, error: RunError | undefined): string {
  const time = new Date(env.now()).toISOString();
  if (error === undefined) return JSON.stringify({ level: 'warn', time, message: 'The run was cancelled.' });
  const { code, message, hint } = error;
  const more = hint === undefined ? {} : { hint };
  return JSON.stringify({ level: 'error', time, message, code, ...more, isEnd: true });
}

interface Outcome {
  readonly report: Pick<RunReport, 'accepted' | 'rows' | 'verdict'>;
  readonly error: RunError | undefined;
  readonly exitCode: number | null;
  readonly folder: string;
  /** Temporary cause of the failure: before its process was started, or while it was at work. */
  readonly passing?: 'atWork' | 'beforeStart' | undefined;
}

/** Defers a run with a temporary failure. @returns undefined when it is to end */
async function putOff(
  { env, log, queue }: Context,
  run: RunRow,
  { passing, error }: Outcome,
): Promise<'cancelled' | 'lost' | 'waiting' | undefined> {
  if (passing === undefined || error === undefined) return undefined;
  const isBeforeStart = passing === 'beforeStart';
  const waitMs = waitMsOf(run);
  const seconds = waitMs === 1000 ? '1 second' : `${waitMs / 1000} seconds`;
  const line = JSON.stringify({
    level: 'warn',
    time: new Date(env.now()).toISOString(),
    message: `The run goes on in ${seconds}, as what it needs is away: ${error.message}`,
  });
  const given = { waitMs, isBeforeStart, line };
  // When it is deferred twice, the second one is refused.
  const put = await whenDatabaseIsBack(env, async () => await queue.runs.putOff(run, given));
  if (put === 'waiting')
    log.warn('Run deferred', { run: run.id, attempt: run.attempt, waitMs, detail: error.message });
  return put;
}

/** Returns the outcome of a run that could not begin. */
function failed({ log }: Context, run: RunRow, error: unknown): Outcome {
  const isKnown = error instanceof ExtractorError;
  const passing = isPassing(error) ? 'beforeStart' : undefined;
  if (passing !== undefined) log.debug('A run cannot begin now', { run: run.id, detail: detailOf(error) });
  else if (!isKnown) log.error('Run could not be started', { run: run.id, detail: String(error) });
  const told: RunError = isKnown
    ? {
        code: error.code,
        message: error.message,
        audience: error.audience,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
      }
    : {
        code: 'internal',
        message: whatIsAway(error) ?? 'The run could not be started.',
        audience: 'application',
        hint: 'The log of the runner says why.',
      };
  const exitCode = told.audience === 'user' ? 1 : 2;
  return {
    report: { rows: [], verdict: undefined, accepted: undefined },
    error: told,
    exitCode,
    folder: '',
    passing,
  };
}

/** Returns the message of a temporary failure, for users. */
function whatIsAway(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return toServiceError(error)?.message ?? whatIsAway(error.cause);
}

/** Tells whether the full disk is that of this machine, and not that of a database or a store. */
const isOfThisDisk = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && isDiskFull(error);

/** Does the work of an attempt. @returns undefined when the run was lost */
async function work(
  context: Context,
  run: RunRow,
  options: AttemptOptions & { readonly state: State },
): Promise<Outcome | undefined> {
  const { directory, keptIn } = options;
  const made = await takeToken(context, run);
  if (made === undefined) return undefined;
  const folder = folderOf(directory, run, { isOfAttempt: keptIn !== undefined });
  await untilLeft(folder);
  try {
    await mkdir(folder, { recursive: true });
    return await workIn(folder, made, { context, run, options });
  } catch (error) {
    if (isOfThisDisk(error)) options.onFull?.();
    throw error;
  } finally {
    // No later run continues from it: it would take space from others.
    if (keptIn !== undefined) await removeFolder(folder, context);
  }
}

async function removeFolder(folder: string, { log }: Context): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    log.warn('Run folder could not be removed', { folder, detail: String(error) });
  }
}

async function workIn(
  folder: string,
  made: { readonly id: number; readonly token: string },
  {
    context,
    run,
    options,
  }: {
    readonly context: Context;
    readonly run: RunRow;
    readonly options: AttemptOptions & { readonly state: State };
  },
): Promise<Outcome> {
  const { meta, env, keys } = context;
  const { state, keptIn, records } = options;
  const secrets = new Secrets();
  secrets.add(made.token);
  const keeper = keptIn === undefined ? undefined : await keeperOf(context, run, { store: keptIn, folder });
  keeper?.lost.addEventListener('abort', () => stopFor(state, 'lost'), { once: true });
  const log = new RunLogWriter({
    meta,
    run,
    env,
    secrets,
    folder,
    onLost: (why) => {
      if (why !== undefined) context.log.error('Run log cannot be written', { run: run.id, detail: why });
      stopFor(state, 'lost');
    },
  });
  const prolonging = setInterval(
    () => void prolongToken(meta, env, made.id, TOKEN_SECONDS).catch(() => undefined),
    (TOKEN_SECONDS * 1000) / 4,
  );
  try {
    if (run.not_before !== null) log.tell('info', `Attempt ${run.attempt}: the run goes on.`);
    else if (run.attempt > 1) log.tell('info', `Attempt ${run.attempt}: the runner before this one is gone.`);
    const restored = await keeper?.restore();
    await forgetRecords(folder);
    const lineage = await lineageReceiver(context, run, process.env);
    const start = (): RunChild => {
      const child = startChild({
        command: options.command,
        args: argsOf(run, {
          apiUrl: options.apiUrl,
          folder,
          keeper,
          isAgain: restored?.attempt !== undefined,
        }),
        environment: { ...options.environment, KBC_RUNID: String(run.id), ...keeper?.environment },
        credentials: {
          kind: 'gex credentials',
          run: String(run.id),
          token: made.token,
          keys: keyFileText(keys),
          accepting: askedOf(run).accepts?.because,
          lineage,
        },
      });
      keeper?.start(child.process);
      listenToProgress(child.process, ({ spent }, text, requests) => {
        state.progress = log.clean(text);
        state.spent = spent === undefined ? undefined : JSON.stringify(spent);
        state.requests.add(requests.map((each) => log.clean(each)));
      });
      return child;
    };
    const { ended, report } = await untilFree({ start, log, env, state });
    await state.requests.end();
    if (report.mayPass && report.error?.code === 'output.failed') options.onFull?.();
    const mayGoOn = report.mayPass && state.why === undefined && !isLastAttempt(run);
    await keeper?.stop(mayGoOn ? 'handedOn' : keptUntil(state));
    if (keeper === undefined && !mayGoOn && (state.why === undefined || state.why === 'cancel'))
      await keepAll(context, run, { records, folder });
    const passing = mayGoOn ? 'atWork' : undefined;
    return { report, error: report.error, exitCode: ended.code, folder, passing };
  } finally {
    clearInterval(prolonging);
    await keeper?.stop('lost'); // of one that could not be done: it looks at a folder that goes
    await log.end();
  }
}

function keptUntil({ why }: State): Parameters<Keeper['stop']>[0] {
  if (why === 'lost') return 'lost';
  return why === 'handOn' ? 'handedOn' : 'ended';
}

/** Stores the results of a run whose folder has no checkpoint elsewhere. */
async function keepAll(
  { log }: Context,
  { id }: RunRow,
  { records, folder }: { readonly records: KeptStore; readonly folder: string },
): Promise<void> {
  try {
    await keepRecords({ store: records, run: String(id), folder, log });
    await forgetRecords(folder);
  } catch (error) {
    log.warn('Run recording could not be stored', { run: id, detail: String(error) });
  }
}

/** Starts the process when the folder is free: the process of a lost attempt may hold it until it ends. */
async function untilFree({
  start,
  log,
  env,
  state,
}: {
  readonly start: () => RunChild;
  readonly log: RunLogWriter;
  readonly env: Context['env'];
  readonly state: State;
}): Promise<{ readonly ended: Ended; readonly report: RunReport }> {
  for (let tries = 1; ; tries++) {
    const child = start();
    const stop = (): void => child.stop();
    state.end.signal.addEventListener('abort', stop, { once: true });
    if (state.end.signal.aborted) stop();
    const [ended] = await Promise.all([child.ended, log.take(child.stderr)]);
    state.end.signal.removeEventListener('abort', stop);
    const others = log.others.splice(0);
    const report = readReport(ended, { others, clean: (text) => log.clean(text) });
    const isLocked = report.error?.code === 'run.locked' && tries < LOCK_TRIES && !state.end.signal.aborted;
    if (isLocked) {
      await env.sleep(1000);
      continue;
    }
    // Other output of a process is the trace of a failure without a result, or a warning of the runtime.
    if (report.error === undefined || report.error.code === 'internal')
      for (const line of others) log.tell('warn', line);
    return { ended, report };
  }
}

async function keeperOf(
  { meta, log }: Context,
  run: RunRow,
  { store, folder }: { readonly store: KeptStore; readonly folder: string },
): Promise<Keeper> {
  const { openKeeper } = await import('./checkpointer.ts');
  const continues = await continuedBy(meta, run);
  return openKeeper({ store, run: String(run.id), attempt: run.attempt, folder, log, continues });
}

/** Returns the last run of the configuration and rows when it has not succeeded: this one continues from it. */
async function continuedBy(meta: Meta, run: RunRow): Promise<string | undefined> {
  const { restart = false, accepts, ...asked } = askedOf(run);
  // its data folder has what it held back
  if (accepts !== undefined) return accepts.run;
  if (restart) return undefined;
  const last = await meta
    .selectFrom('runs')
    .select(['id', 'status', 'asked'])
    .where('lock_key', '=', run.lock_key)
    .where('id', '<', run.id)
    .where('attempt', '>', 0)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last === undefined || last.status === 'success') return undefined;
  const { restart: _restarted, ...before } = askedOf(last);
  return JSON.stringify(before) === JSON.stringify(asked) ? String(last.id) : undefined;
}

// Written by this service.
const askedOf = ({ asked }: Pick<RunRow, 'asked'>): AskedOfRun => JSON.parse(asked) as AskedOfRun;

function argsOf(
  run: RunRow,
  {
    apiUrl,
    folder,
    keeper,
    isAgain,
  }: {
    readonly apiUrl: string;
    readonly folder: string;
    readonly keeper: Keeper | undefined;
    readonly isAgain: boolean;
  },
): string[] {
  const { rows = [], from, to, restart } = askedOf(run);
  const isFirst = keeper === undefined ? run.attempt === 1 : !isAgain;
  return [
    'run',
    `--component=${run.component_id}`,
    `--config=${run.configuration_id}`,
    `--branch=${run.branch_id}`,
    `--storage=${apiUrl}`,
    `--data=${path.resolve(folder)}`,
    '--json',
    '--log-format=json',
    ...rows.map((row) => `--row=${row}`),
    ...(from === undefined ? [] : [`--from=${from}`]),
    ...(to === undefined ? [] : [`--to=${to}`]),
    ...(restart === true && isFirst ? ['--restart'] : []),
    ...(keeper?.args ?? recordArgs(folder)),
  ];
}
