import path from 'node:path';
import type { RowRun } from '../config/index.ts';
import { systemEnv, type Env } from '../env.ts';
import type { ExtractOptions, WrittenTable } from '../extract.ts';
import type { Progress } from '../extract/progress.ts';
import type { Send } from '../http/message.ts';
import type { AnyObject } from '../json/index.ts';
import type { Pushed } from '../mapping/nouns.ts';
import { Secrets } from '../secrets.ts';
import type { PlanOptions, ReadyRow } from './plan.ts';
import { cleanUp, prepare, publishFolder, setAside } from './row-folder.ts';
import { componentStates, fileStates, writtenState, type States } from './row-state.ts';
import type { RowState } from './state-parts.ts';
import type { RowPlace } from './row-place.ts';
import { noStorage, type Storage } from './storage.ts';

/** How rows are run. */
export interface RowOptions extends PlanOptions {
  /**
   * `command`: mistakes of the configuration are refused, the last output is moved aside to `out.previous`, and the
   * state becomes the input of the next run. `component`: none of it, as a container is expected to do (design 8.11).
   * Default `command`.
   */
  readonly manner?: 'command' | 'component';
  /** Begins every row as a first run. Default false. */
  readonly resetState?: boolean;
  /**
   * Pages of each job; no limit by default. With a limit the run is a trial: nothing is pushed, and the state does not
   * move on, for what is behind the limit would be missed.
   */
  readonly limit?: number | undefined;
  /** Where inputs come from and outputs go to. By default all stays in the data folder. */
  readonly storage?: Storage | undefined;
  /** Where states are kept; in the data folder by default. */
  readonly states?: States | undefined;
  readonly progress?: RunProgress;
  readonly env?: Env;
  /** Takes the place of the network: a recording, a replay. */
  readonly bottom?: Send;
}

export interface RunProgress extends Progress {
  rowStart?(row: RowRun): void;
  rowEnd?(result: RowResult): void;
}

export interface RowResult {
  /** Absent when the configuration has no rows. */
  readonly id?: string;
  /** Where the output is. */
  readonly out: string;
  readonly tables: readonly WrittenTable[];
  /** Rows in all tables. */
  readonly rows: number;
  readonly state: AnyObject;
  /** Absent when nothing was to be pushed. */
  readonly pushed?: Pushed;
}

export function isCommand({ manner = 'command' }: Pick<RowOptions, 'manner'>): boolean {
  return manner === 'command';
}

/** Runs one row: inputs, extraction, push, state (service-core 2.4). */
export async function runRow(
  at: RowPlace,
  { configuration }: ReadyRow,
  options: RowOptions,
): Promise<RowResult> {
  const { storage = noStorage, env = systemEnv } = options;
  const { row, folder, log, signal } = at;
  const isWhole = isCommand(options);
  const isTrial = options.limit !== undefined;
  try {
    prepare(folder);
    if (isWhole) setAside(folder);
    const state = await beginningState(at, options);
    await storage.pull(at, state.storage);
    const { extract } = await import('../extract.ts');
    const finished = isWhole ? path.join(folder.work, 'out') : folder.out;
    const done = await extract({
      configuration,
      state: state.component,
      outFolder: finished,
      workFolder: path.join(folder.work, 'work'),
      cacheFolder: folder.cache,
      env,
      log,
      secrets: options.secrets ?? new Secrets(),
      signal,
      isValidated: true,
      ...given(options),
    });
    const result = {
      ...(row.id === undefined ? {} : { id: row.id }),
      out: folder.out,
      tables: done.tables,
      rows: done.rows,
      state: done.state,
    };
    if (!isWhole) return result;
    if (!isTrial) await storage.seal(at, finished, true);
    publishFolder(finished, folder);
    if (!isTrial) return withPushed(result, await deliver(at, options));
    log.info(
      'A run with a limit is a trial: nothing is pushed, and the next one begins with the same state as this one',
    );
    return result;
  } finally {
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
  const { pushed, remembered, movesState } = await storage.push(at);
  if (movesState) await states.write(at, writtenState(path.join(at.folder.out, 'state.json')), remembered);
  await storage.end(at);
  return pushed;
}

async function beginningState(at: RowPlace, options: RowOptions): Promise<RowState> {
  const { states = isCommand(options) ? fileStates : componentStates, resetState = false } = options;
  if (!resetState) return await states.read(at);
  at.log.info('The state is reset: this run begins as a first one');
  return { component: {}, storage: undefined };
}

function withPushed(result: RowResult, pushed: Pushed): RowResult {
  return pushed.tables.length + pushed.files.length === 0 ? result : { ...result, pushed };
}

/** What goes on to the engine as it is. */
function given({ limit, methods, authTypes, bottom, progress }: RowOptions): Partial<ExtractOptions> {
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(methods === undefined ? {} : { methods }),
    ...(authTypes === undefined ? {} : { authTypes }),
    ...(bottom === undefined ? {} : { bottom }),
    ...(progress === undefined ? {} : { progress }),
  };
}
