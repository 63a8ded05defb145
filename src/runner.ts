import path from 'node:path';
import {
  collectSecrets,
  planRows,
  readConfig,
  resolveSecrets,
  resourceOf,
  type ConfigDocument,
  type RowPlan,
  type RowRun,
} from './config/index.ts';
import { systemEnv, type Env } from './env.ts';
import { ConfigError, ExtractorError, RunError } from './errors.ts';
import type { WrittenTable } from './extract.ts';
import type { Progress } from './extract/progress.ts';
import type { AuthType } from './http/auth/index.ts';
import type { Send } from './http/message.ts';
import { digKeys, isEmpty, type AnyObject } from './json/index.ts';
import type { Log } from './log.ts';
import type { PaginationMethod } from './pagination/index.ts';
import { checkConfiguration } from './runner/check.ts';
import { lockFolder } from './runner/lock.ts';
import { placed } from './runner/place-error.ts';
import { cleanUp, prepare, promoteState, publishFolder, rowFolder, setAside, sweep, type RowFolder } from './runner/row-folder.ts';
import { stateOf } from './runner/row-state.ts';
import { noStorage, type Storage } from './runner/storage.ts';
import { Secrets } from './secrets.ts';

export interface RunOptions {
  /** Holds `config.json`; gets `out/`, or `rows/<id>/out/` for each row. */
  readonly dataFolder: string;
  /**
   * `command`: mistakes of the configuration are refused, the last output is moved aside to `out.previous`, and the
   * state becomes the input of the next run. `component`: none of it, as a container is expected to do (design 8.11).
   * Default `command`.
   */
  readonly manner?: 'command' | 'component';
  /** Ids of the rows to run, disabled ones included; all that are not disabled by default. */
  readonly rows?: readonly string[] | undefined;
  /** Begins every row as a first run. Default false. */
  readonly resetState?: boolean;
  /** Makes warnings about the configuration errors. Default false. */
  readonly strict?: boolean;
  /** Pages of each job; no limit by default. */
  readonly limit?: number | undefined;
  /** Where inputs come from and outputs go to. By default all stays in the data folder. */
  readonly storage?: Storage;
  /** For `$env:NAME` values. Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Learns the secrets of the configuration before anything is logged. */
  readonly secrets?: Secrets;
  readonly signal?: AbortSignal;
  readonly progress?: RunProgress;
  /** Called when the configuration asks for a detailed log (`config.debug`). */
  readonly onDebug?: () => void;
  /** How this process is called, for others who find the folder locked. */
  readonly command?: string;
  readonly env?: Env;
  readonly methods?: readonly PaginationMethod[];
  readonly authTypes?: readonly AuthType[];
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

/** A row that is ready to run: its secrets are in place. */
interface ReadyRow {
  readonly row: RowRun;
  readonly configuration: AnyObject;
}

/**
 * Runs what the data folder's `config.json` describes: once, or once for each row, in order (spec service-core 2.4).
 * Rows are kept apart; one that fails ends the run, and the rows before it stay complete.
 *
 * @throws {ExtractorError} what went wrong, where, and what to do; `run.interrupted` when the signal was aborted
 */
export async function run(options: RunOptions): Promise<RunResult> {
  const { dataFolder, log, env = systemEnv, signal = new AbortController().signal } = options;
  const document = await readConfig(dataFolder);
  const plan = await planned(document, options);
  const ready = readyRows(document, plan, options);
  const lock = lockFolder(dataFolder, options.command ?? 'generic-extractor', env.now());
  try {
    sweep(dataFolder);
    for (const { id = '' } of plan.skipped) log.info(`Row “${id}” is disabled and is skipped`, { row: id });
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
    return { rows, skipped: plan.skipped.map(({ id = '' }) => id) };
  } catch (error) {
    throw signal.aborted ? interrupted(signal) : error;
  } finally {
    lock.release();
  }
}

/** The rows that run, once the configuration was found fit. */
async function planned(document: ConfigDocument, options: RunOptions): Promise<RowPlan> {
  const plan = planRows(resourceOf(document), options.rows);
  await checkConfiguration(document, plan, {
    onError: isCommand(options) ? 'refuse' : 'warn',
    strict: options.strict ?? false,
    environment: options.environment ?? process.env,
    log: options.log,
  });
  return plan;
}

/** Secrets are resolved for all rows first, so that a missing one is known before anything runs. */
function readyRows(document: ConfigDocument, plan: RowPlan, options: RunOptions): ReadyRow[] {
  return plan.runs.map((row) => {
    try {
      const configuration = resolveSecrets(row.configuration, options.environment ?? process.env);
      for (const secret of collectSecrets(configuration)) options.secrets?.add(secret);
      if (!isEmpty(digKeys(['parameters', 'config', 'debug'], configuration))) options.onDebug?.();
      return { row, configuration };
    } catch (error) {
      throw placed(error, document, row);
    }
  });
}

async function runRow({ row, configuration }: ReadyRow, signal: AbortSignal, options: RunOptions): Promise<RowResult> {
  const { dataFolder, storage = noStorage, env = systemEnv } = options;
  const log = row.id === undefined ? options.log : withRow(options.log, row.id);
  const folder = rowFolder(dataFolder, row.id);
  const isWhole = isCommand(options);
  try {
    prepare(folder);
    if (isWhole) setAside(folder);
    await storage.pull(row, folder, signal);
    const state = stateOf(row, folder, options.resetState ?? false, log);
    const { extract } = await import('./extract.ts');
    const finished = isWhole ? path.join(folder.work, 'out') : folder.out;
    const { tables, rows, state: after } = await extract({
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
    if (isWhole) promoteState(folder);
    return { ...(row.id === undefined ? {} : { id: row.id }), out: folder.out, tables, rows, state: after };
  } finally {
    cleanUp(folder);
  }
}
