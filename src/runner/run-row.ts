import { existsSync } from 'node:fs';
import path from 'node:path';
import type { RowRun } from '../engine/config/index.ts';
import { systemEnv, type Env } from '../lib/env.ts';
import type { ExtractOptions } from '../engine/extract/extract.ts';
import type { LoginKeeper } from '../engine/http/auth/index.ts';
import type { HostLimits } from '../engine/http/host-limits.ts';
import type { Progress } from '../engine/extract/progress.ts';
import type { LineThreads } from '../engine/records/threads/line-threads.ts';
import type { Send } from '../engine/shared/message.ts';
import type { Stretch } from '../engine/jobs/index.ts';
import { encodeExact, type AnyObject } from '../lib/json/index.ts';
import type { Pushed } from './mapping/mapping-types.ts';
import type { RecordingCopy } from '../engine/recording/copy.ts';
import type { Secrets } from '../lib/secrets.ts';
import type { RunPlanOptions, ReadyRow } from './plan.ts';
import { cleanUp, prepare, publishFolder, setAside } from './row-folder.ts';
import { componentStates, fileStates, writtenState, type States } from './row-state.ts';
import { componentLogins } from './logins/component-logins.ts';
import { folderLogins } from './logins/folder-logins.ts';
import { withoutLogins } from './logins/state-logins.ts';
import type { RecordingOptions, RowRecording } from './row-recording.ts';
import type { RowState } from './state-parts.ts';
import type { RowPlace } from './row-place.ts';
import type { RowResult } from './row-result.ts';
import type { WaitForTurn } from './rows-at-once.ts';
import { noStorage, type Storage } from './storage.ts';
import { isOpen } from '../engine/completeness/index.ts';
import { holdBack, isRefused, refuseDoubt } from './doubt.ts';
import type { EndedRows } from './ended-rows.ts';

/** How rows are run. */
export interface RowOptions extends RunPlanOptions, RecordingOptions {
  /**
   * `command`: mistakes of the configuration are refused, the last output is moved aside to `out.previous`, and the
   * state becomes the input of the next run. `component`: none of it, as a container is expected to do.
   * Default `command`.
   */
  readonly manner?: 'command' | 'component';
  /** Pushes also what may not be everything. Default false. */
  readonly acceptDoubtful?: boolean;
  /** Begins every row as a first run. Default false. */
  readonly resetState?: boolean;
  /**
   * Asks for this stretch of time again, in milliseconds since 1970, in the jobs that have windows or a state from the
   * data, and for nothing else. It is pushed, and no state moves.
   */
  readonly period?: Stretch | undefined;
  /**
   * Pages of each job; no limit by default. With a limit the run is a trial: nothing is pushed, and the state does not
   * move on, for what is behind the limit would be missed.
   */
  readonly limit?: number | undefined;
  /**
   * Threads that write the rows of large pages beside the requests, 4 at most; by default as `GEX_THREADS` says, else one
   * for each processor but two. 0: none. The tables are the same.
   */
  readonly threads?: number | undefined;
  /** Storage of inputs and outputs. By default all stays in the data folder. */
  readonly storage?: Storage | undefined;
  /** Store of the states; the data folder by default. */
  readonly states?: States | undefined;
  /** Keeps logins whose tokens change; in the data folder by default, for a container in its state. */
  readonly logins?: LoginKeeper | undefined;
  /** Log requests and answers, as `config.debug` does. Default: false. */
  readonly debug?: boolean | undefined;
  readonly progress?: RunProgress;
  readonly env?: Env;
  /** Takes the place of the network. */
  readonly bottom?: Send;
  /**
   * Plays a run again that was recorded, without asking the API: a file that {@link RunOptions.record} made, or `last`
   * for the last run over the data folder. It is a trial: nothing is pushed, and the state does not move on.
   */
  readonly replay?: string | undefined;
}

export interface RunProgress extends Progress {
  /** The rows that will run are known, and none has begun. */
  planned?(rows: readonly RowRun[]): void;
  rowStart?(row: RowRun): void;
  /** Returns who listens to a row that begins; where several are under way, what is listened to by the run tells none. */
  ofRow?(row: RowRun): Progress;
  rowEnd?(result: RowResult): void;
}

export function isCommand({ manner = 'command' }: Pick<RowOptions, 'manner'>): boolean {
  return manner === 'command';
}

export type KnownRowOptions = RowOptions & {
  readonly secrets: Secrets;
  /** Get the recordings of all rows. */
  readonly copies?: readonly RecordingCopy[] | undefined;
  /** Ended rows of a run over several rows that can be continued. */
  readonly endedRows?: EndedRows | undefined;
  /** Threads that all rows share. */
  readonly lineThreads?: LineThreads | undefined;
  /** Waits until the rows before have ended; undefined where rows run one after the other. */
  readonly turn?: WaitForTurn | undefined;
  /** Limits of hosts that all rows share. */
  readonly hosts?: HostLimits | undefined;
};

/** Runs one row: inputs, extraction, push, state. */
export async function runRow(
  at: RowPlace,
  { configuration }: ReadyRow,
  options: KnownRowOptions,
): Promise<RowResult> {
  const { storage = noStorage, env = systemEnv, endedRows, turn } = options;
  const { row, folder, log, signal } = at;
  const isWhole = isCommand(options);
  const trial = trialOf(options);
  let kept: RowRecording | undefined;
  /** When the rows before have ended. */
  let before: Promise<void> | undefined;
  /** The output is in its place, and what is left to do of it is written down there. */
  let isDone = false;
  try {
    prepare(folder);
    if (turn === undefined && isWhole) setAside(folder);
    // as soon as it would have begun
    before = turn?.().then(() => (isWhole ? setAside(folder) : undefined));
    before?.catch(() => undefined);
    kept = await openRecording(at, configuration, options);
    const { state } = kept;
    const { extract } = await import('../engine/extract/extract.ts');
    const finished = isWhole ? path.join(folder.work, 'out') : folder.out;
    const done = await extract({
      configuration,
      state,
      outFolder: finished,
      workFolder: path.join(folder.work, 'work'),
      cacheFolder: folder.cache,
      env,
      log,
      secrets: options.secrets,
      signal,
      isValidated: true,
      recording: kept.recording,
      period: kept.period,
      ...loginsOf(at, options),
      hosts: options.hosts,
      lineThreads: options.lineThreads,
      ...given(options),
      ...(isWhole ? {} : { onReports: refuseDoubt }),
    });
    isDone = !isWhole;
    const result = {
      ...(row.id === undefined ? {} : { id: row.id }),
      out: folder.out,
      tables: done.tables,
      rows: done.rows,
      state: done.state,
      jobs: done.jobs,
    };
    await before;
    if (!isWhole) {
      endedRows?.add(at, { configuration, state }, result, true);
      return result;
    }
    const isHeld =
      trial === undefined &&
      storage !== noStorage &&
      options.acceptDoubtful !== true &&
      done.jobs.some(isOpen);
    if (isHeld) {
      holdBack(finished, done.jobs);
      await storage.hold?.(at, finished);
    } else if (trial === undefined) await storage.seal(at, finished, true);
    const held: RowResult = isHeld ? { ...result, isHeld } : result;
    // before it has its name: from then on it is there, and what is left to do of it is done first
    const after = { configuration, state: isHeld ? state : done.state };
    const isTold = isHeld || encodeExact(state) !== encodeExact(done.state);
    if (!isRefused(done.jobs)) endedRows?.add(at, after, held, isTold);
    publishFolder(finished, folder);
    isDone = true;
    refuseDoubt(done.jobs);
    if (isHeld) return held;
    if (trial === undefined) {
      const whole = withPushed(held, await deliver(at, options));
      endedRows?.add(at, after, whole, true);
      return whole;
    }
    log.info(
      `${trial} is a trial: nothing is pushed, and the next one begins with the same state as this one`,
    );
    return result;
  } finally {
    // the recordings stand in the order of the rows; why a row before failed is told elsewhere
    await before?.catch(() => undefined);
    await kept?.end(isDone, options.copies);
    cleanUp(folder);
  }
}

/**
 * Brings an output that is published to where it belongs: push, then state. Given again after an interruption it goes
 * on where it was.
 */
export async function deliver(
  at: RowPlace,
  { storage = noStorage, states = fileStates }: RowOptions,
): Promise<Pushed> {
  const { pushed, remembered, movesState, stateKey } = await storage.push(at);
  if (movesState) {
    const component = writtenState(path.join(at.folder.out, 'state.json'));
    await states.write(at, component, remembered, stateKey);
  }
  await storage.end(at);
  return pushed;
}

/** Default of `keepRecording`. */
const DEFAULT_KEPT_BYTES = 100_000_000;

/** Names the reason why a run is a trial, as the beginning of a sentence; undefined for one that is none. */
export function trialOf({ limit, replay }: RowOptions): string | undefined {
  if (replay !== undefined) return 'A run that is played again';
  return limit === undefined ? undefined : 'A run with a limit';
}

/**
 * Opens the source of the run's answers, and the state that it begins with: its own, or those of the run that is
 * replayed.
 */
async function openRecording(
  at: RowPlace,
  configuration: AnyObject,
  options: KnownRowOptions,
): Promise<RowRecording> {
  const { storage = noStorage, env = systemEnv, secrets, replay } = options;
  if (replay !== undefined) {
    const { openRowReplay } = await import('./row-replay.ts');
    return await openRowReplay(at, replay, secrets);
  }
  const state = await beginningState(at, options);
  await storage.pull(at, state.storage);
  const { openRowRecording } = await import('./row-recording.ts');
  const world = { env, secrets, keptBytes: keptBytesOf(options), isTrial: trialOf(options) !== undefined };
  const subject = { configuration, state: state.component, period: options.period };
  return openRowRecording(at, subject, options, world);
}

/** Returns the result of a row that had ended in the run that continues now; undefined if the row has to run. */
export async function endedBefore(
  at: RowPlace,
  row: ReadyRow,
  options: KnownRowOptions,
): Promise<RowResult | undefined> {
  const { endedRows, copies = [] } = options;
  if (endedRows === undefined || !existsSync(at.folder.ended)) return undefined;
  const { component } = await statesOf(options).read(at);
  const result = endedRows.resultOf(at, row, withoutLogins(component));
  if (result === undefined) return undefined;
  const { copyInto, keepLast } = await import('./row-recording.ts');
  await options.turn?.();
  const { unfinished, lastRecording } = at.folder;
  if (existsSync(unfinished)) keepLast(at.folder, unfinished, keptBytesOf(options));
  if (existsSync(lastRecording)) await copyInto(copies, lastRecording);
  return result;
}

function statesOf(options: RowOptions): States {
  return options.states ?? (isCommand(options) ? fileStates : componentStates);
}

function keptBytesOf(options: RowOptions): number {
  return options.keepRecording ?? (isCommand(options) ? DEFAULT_KEPT_BYTES : 0);
}

async function beginningState(at: RowPlace, options: RowOptions): Promise<RowState> {
  if (options.resetState !== true) {
    const { component, storage } = await statesOf(options).read(at);
    return { component: withoutLogins(component), storage };
  }
  at.log.info('The state is reset: this run begins as a first one');
  return { component: {}, storage: undefined };
}

function withPushed(result: RowResult, pushed: Pushed): RowResult {
  return pushed.tables.length + pushed.files.length === 0 ? result : { ...result, pushed };
}

/** Logins are of the whole configuration: its rows share them. */
function loginsOf(
  { folder: { dataFolder }, row, log }: RowPlace,
  options: KnownRowOptions,
): Pick<ExtractOptions, 'finishState' | 'logins'> {
  const { environment = process.env, env = systemEnv, logins } = options;
  if (logins !== undefined) return { logins };
  if (isCommand(options))
    return {
      logins: folderLogins({ dataFolder, environment, env, log, isShared: options.turn !== undefined }),
    };
  const { finishState, ...own } = componentLogins({ dataFolder, environment, env });
  return { logins: own, ...(row.id === undefined ? { finishState } : {}) };
}

/** Returns the options that the engine takes as they are. */
function given({
  limit,
  strict,
  debug,
  methods,
  authTypes,
  bottom,
  progress,
}: RowOptions): Partial<ExtractOptions> {
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(strict === undefined ? {} : { strict }),
    ...(debug === undefined ? {} : { debug }),
    ...(methods === undefined ? {} : { methods }),
    ...(authTypes === undefined ? {} : { authTypes }),
    ...(bottom === undefined ? {} : { bottom }),
    ...(progress === undefined ? {} : { progress }),
  };
}
