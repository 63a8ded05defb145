import path from 'node:path';
import type { RowRun } from './config/index.ts';
import { systemEnv, type Env } from './env.ts';
import { ExtractorError, RunError } from './errors.ts';
import type { ExtractOptions, WrittenTable } from './extract.ts';
import type { Progress } from './extract/progress.ts';
import type { Send } from './http/message.ts';
import type { AnyObject } from './json/index.ts';
import type { Log } from './log.ts';
import { lockFolder } from './runner/lock.ts';
import { placed } from './runner/place-error.ts';
import { makePlan, type PlanOptions, type ReadyRow } from './runner/plan.ts';
import {
  cleanUp,
  prepare,
  promoteState,
  publishFolder,
  rowFolder,
  setAside,
  sweep,
} from './runner/row-folder.ts';
import { stateOf } from './runner/row-state.ts';
import { noStorage, type Storage } from './runner/storage.ts';
import { Secrets } from './secrets.ts';

/** `dataFolder` gets `out/`, or `rows/<id>/out/` for each row. */
export interface RunOptions extends PlanOptions {
  /**
   * `command`: mistakes of the configuration are refused, the last output is moved aside to `out.previous`, and the
   * state becomes the input of the next run. `component`: none of it, as a container is expected to do (design 8.11).
   * Default `command`.
   */
  readonly manner?: 'command' | 'component';
  /** Begins every row as a first run. Default false. */
  readonly resetState?: boolean;
  /** Pages of each job; no limit by default. With a limit the state does not move on, for what is behind it would be missed. */
  readonly limit?: number | undefined;
  /** Where inputs come from and outputs go to. By default all stays in the data folder. */
  readonly storage?: Storage;
  readonly signal?: AbortSignal;
  readonly progress?: RunProgress;
  /** How this process is called, for others who find the folder locked. */
  readonly command?: string;
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
}

export interface RunResult {
  /** In the order of the runs. */
  readonly rows: readonly RowResult[];
  /** Ids of disabled rows that did not run. */
  readonly skipped: readonly string[];
}

/**
 * Runs what the data folder's `config.json` describes: once, or once for each row, in order (spec service-core 2.4).
 * Rows are kept apart; one that fails ends the run, and the rows before it stay complete.
 *
 * @throws {ExtractorError} what went wrong, where, and what to do; `run.interrupted` when the signal was aborted
 */
export async function run(options: RunOptions): Promise<RunResult> {
  const { dataFolder, log, env = systemEnv, signal = new AbortController().signal } = options;
  const { document, ready, skipped } = await makePlan(options, isCommand(options) ? 'refuse' : 'warn');
  const lock = lockFolder(dataFolder, options.command ?? 'generic-extractor', env.now());
  try {
    sweep(dataFolder);
    for (const row of skipped) log.info(`Row “${row}” is disabled and is skipped`, { row });
    if (ready.length === 0) log.info('All rows are disabled: there is nothing to run');
    const rows: RowResult[] = [];
    for (const each of ready) {
      signal.throwIfAborted();
      options.progress?.rowStart?.(each.row);
      const result = await runRow(each, signal, options).catch((error: unknown) => {
        throw placed(error, document, each.row);
      });
      rows.push(result);
      options.progress?.rowEnd?.(result);
    }
    return { rows, skipped };
  } catch (error) {
    throw signal.aborted ? interrupted(signal) : error;
  } finally {
    lock.release();
  }
}

async function runRow(
  { row, configuration }: ReadyRow,
  signal: AbortSignal,
  options: RunOptions,
): Promise<RowResult> {
  const { dataFolder, storage = noStorage, env = systemEnv } = options;
  const log = row.id === undefined ? options.log : withRow(options.log, row.id);
  const folder = rowFolder(dataFolder, row.id);
  const isWhole = isCommand(options);
  try {
    prepare(folder);
    if (isWhole) setAside(folder);
    await storage.pull(row, folder, signal);
    const state = stateOf(row, folder, { reset: options.resetState ?? false, isExpected: !isWhole }, log);
    const { extract } = await import('./extract.ts');
    const finished = isWhole ? path.join(folder.work, 'out') : folder.out;
    const {
      tables,
      rows,
      state: after,
    } = await extract({
      configuration,
      state,
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
    if (isWhole) publishFolder(finished, folder);
    await storage.push(row, folder, signal);
    if (isWhole && options.limit === undefined) promoteState(folder);
    else if (isWhole)
      log.info('A run with a limit is a trial: the next one begins with the same state as this one');
    return { ...(row.id === undefined ? {} : { id: row.id }), out: folder.out, tables, rows, state: after };
  } finally {
    cleanUp(folder);
  }
}

/** What goes on to the engine as it is. */
function given({ limit, methods, authTypes, bottom, progress }: RunOptions): Partial<ExtractOptions> {
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(methods === undefined ? {} : { methods }),
    ...(authTypes === undefined ? {} : { authTypes }),
    ...(bottom === undefined ? {} : { bottom }),
    ...(progress === undefined ? {} : { progress }),
  };
}

function isCommand({ manner = 'command' }: RunOptions): boolean {
  return manner === 'command';
}

/** Every line says which row it is about. */
function withRow(log: Log, row: string): Log {
  return {
    debug: (message, fields) => log.debug(message, { row, ...fields }),
    info: (message, fields) => log.info(message, { row, ...fields }),
    warn: (message, fields) => log.warn(message, { row, ...fields }),
    error: (message, fields) => log.error(message, { row, ...fields }),
  };
}

function interrupted({ reason }: AbortSignal): ExtractorError {
  if (reason instanceof ExtractorError) return reason;
  return new RunError('run.interrupted', 'The run was interrupted.', {
    cause: reason,
    hint: 'Rows that had ended are complete; of the row that was running nothing was written. Run it again.',
  });
}
