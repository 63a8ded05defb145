import { systemEnv } from '../lib/env.ts';
import { ExtractorError, RunError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { createHostLimits } from '../engine/http/host-limits.ts';
import type { LimitTrace } from '../engine/http/limit-trace.ts';
import type { RecordingCopy } from '../engine/recording/copy.ts';
import { withRedaction } from '../lib/redact.ts';
import type { EndedRows } from './ended-rows.ts';
import { lockFolder } from './lock.ts';
import { placed } from './place-error.ts';
import { makePlan, type ReadyRow } from './plan.ts';
import { cleanUp, closeFolders, sweep } from './row-folder.ts';
import { folderLimits } from './request-limits.ts';
import { rowPlace, type RowPlace } from './row-place.ts';
import { runRowsAtOnce, type WaitForTurn } from './rows-at-once.ts';
import { deliver, endedBefore, isCommand, runRow, trialOf, type RowOptions } from './run-row.ts';
import type { LineThreads } from '../engine/records/threads/line-threads.ts';
import type { RowResult } from './row-result.ts';
import { noStorage, type Storage } from './storage.ts';
import type { Secrets } from '../lib/secrets.ts';

export type { RowResult } from './row-result.ts';
export type { RunProgress } from './run-row.ts';

/** `dataFolder` gets `out/`, or `rows/<id>/out/` for each row. */
export interface FolderRunOptions extends Omit<RowOptions, 'storage' | 'log'> {
  /** By default warnings and errors are written to stderr; with `console`, also what is done. */
  readonly log?: Log | undefined;
  /** Storage of inputs and outputs. By default all stays in the data folder. */
  readonly storage?: Storage | undefined;
  /** Writes the recordings of all rows into this file, compressed and without secrets, also when the run fails. */
  readonly record?: string | undefined;
  /** Writes what the recordings tell, as `gex explain` does, into this file: compressed JSON lines, without secrets. */
  readonly explanation?: string | undefined;
  /**
   * Rows of the configuration that may run beside each other; by default 1. What they leave behind is the same, and the
   * requests of all of them count together for the limits of a host. The manner `component` takes one at a time.
   */
  readonly rowsAtOnce?: number | undefined;
  readonly signal?: AbortSignal;
  /**
   * Names a run that may be given again until it has come to its end, by whichever process: what had ended in it is not
   * run again then, also when that is all of it.
   */
  readonly id?: string | undefined;
  /** How this process is called, for others who find the folder locked. */
  readonly command?: string;
  /**
   * Words why a doubt is accepted: what the last run over the folder held back is pushed, with its state, and the API is
   * asked for nothing. That run had an {@link FolderRunOptions.id}.
   */
  readonly accepting?: string | undefined;
}

export interface RunResult {
  /** In the order of the runs. */
  readonly rows: readonly RowResult[];
  /** Ids of disabled rows that did not run. */
  readonly skipped: readonly string[];
  /** Limits of requests at once that were found out, with all changes and their reasons. */
  readonly limits: readonly LimitTrace[];
}

/**
 * Runs what the data folder's `config.json` describes: once, or once for each row, in order.
 * Rows are kept apart; one that fails ends the run, and the rows before it stay complete. What an earlier run could not
 * push to its end is pushed first.
 *
 * @throws {ExtractorError} what went wrong, where, and what to do; `run.interrupted` when the signal was aborted
 */
export async function run(options: FolderRunOptions): Promise<RunResult> {
  return await withRedaction(options, runPacked);
}

type RowsOptions = FolderRunOptions & RowOptions & { readonly secrets: Secrets };

/** Gives the recordings to whoever wants them, also when the run fails. */
async function runPacked(given: RowsOptions): Promise<RunResult> {
  const options = given.replay === undefined ? given : { ...given, storage: noStorage };
  const copies = await copiesFor(options);
  let result: RunResult;
  try {
    result = await runRows({ ...options, copies });
  } catch (error) {
    // Why the run failed is more to know.
    for (const copy of copies) await copy.end().catch(() => undefined);
    throw error;
  }
  for (const copy of copies) await copy.end();
  return result;
}

async function copiesFor({
  record,
  explanation,
  secrets,
  accepting,
}: RowsOptions): Promise<readonly RecordingCopy[]> {
  // it asks for nothing
  if (accepting !== undefined) return [];
  const copies: RecordingCopy[] = [];
  if (record !== undefined) {
    const { Pack } = await import('../engine/recording/pack.ts');
    copies.push(new Pack(record, secrets));
  }
  if (explanation !== undefined) {
    const { ExplanationFile } = await import('../engine/explain/explanation-file.ts');
    copies.push(new ExplanationFile(explanation, secrets));
  }
  return copies;
}

async function runRows(
  options: RowsOptions & { readonly copies: readonly RecordingCopy[] },
): Promise<RunResult> {
  const { dataFolder, log, env = systemEnv, signal = new AbortController().signal } = options;
  const { document, id, ready, skipped } = await makePlan(options, isCommand(options) ? 'refuse' : 'warn');
  if (ready.length > 0) options.progress?.planned?.(ready.map(({ row }) => row));
  let lineThreads: LineThreads | undefined;
  const lock = lockFolder(dataFolder, options.command ?? 'generic-extractor', env.now());
  try {
    sweep(dataFolder);
    closeFolders(dataFolder, log, isCommand(options));
    if (ready.length > 0) await options.storage?.begin();
    for (const row of skipped) log.info(`Row “${row}” is disabled and is skipped`, { row });
    if (ready.length === 0) log.info('All rows are disabled: there is nothing to run');
    const placeOf = ({ row }: ReadyRow, own: AbortSignal): RowPlace =>
      rowPlace(row, { dataFolder, configuration: id, log, signal: own });
    const inRow = async <T>(at: RowPlace, work: () => Promise<T>): Promise<T> =>
      await work().catch((error: unknown) => {
        throw placed(error, document, at.row);
      });
    if (isCommand(options))
      for (const at of ready.map((each) => placeOf(each, signal)))
        await inRow(at, async () => await settle(at, options));
    const { accepting } = options;
    if (accepting !== undefined) {
      const { acceptHeld, nothingHeld } = await import('./accept-held.ts');
      const accepted: RowResult[] = [];
      for (const at of ready.map((each) => placeOf(each, signal))) {
        signal.throwIfAborted();
        const result = await inRow(at, async () => await acceptHeld(at, accepting, options));
        if (result === undefined) continue;
        accepted.push(result);
        options.progress?.rowEnd?.(result);
      }
      if (accepted.length === 0) throw nothingHeld('it is not there any more');
      return { rows: accepted, skipped, limits: [] };
    }
    const endedRows = await endedRowsOf(ready, options);
    const { LineThreads, threadsOf } = await import('../engine/records/threads/line-threads.ts');
    lineThreads = new LineThreads({ most: threadsOf(options.threads) });
    // a trial is too short to know, and what is played again asks nobody
    const keeps = isCommand(options) && trialOf(options) === undefined;
    const hosts = createHostLimits(env, keeps ? folderLimits(dataFolder) : undefined);
    const rows: RowResult[] = [];
    const known = { ...options, endedRows, lineThreads, hosts };
    const work = async (at: RowPlace, each: ReadyRow, turn: WaitForTurn | undefined): Promise<void> => {
      signal.throwIfAborted();
      const result = await inRow(at, async () => {
        const before = await endedBefore(at, each, { ...known, turn });
        if (before !== undefined) return before;
        options.progress?.rowStart?.(each.row);
        const progress = { ...options.progress, ...options.progress?.ofRow?.(each.row) };
        return await runRow(at, each, { ...known, progress, turn });
      });
      await turn?.();
      rows.push(result);
      options.progress?.rowEnd?.(result);
    };
    const most = isCommand(options) ? (options.rowsAtOnce ?? 1) : 1;
    await runRowsAtOnce(ready, { most, signal, placeOf, work, onStopped: tellOfStop });
    endedRows?.finish();
    return { rows, skipped, limits: hosts.traces() };
  } catch (error) {
    throw signal.aborted ? interrupted(signal) : error;
  } finally {
    await lineThreads?.close();
    lock.release();
  }
}

function tellOfStop({ log }: RowPlace): void {
  log.info('This row is stopped, as one before it failed: the next run goes on with it');
}

/** Opens the ended rows of a run; undefined when the run is over one row and has no name, or cannot be resumed. */
async function endedRowsOf(ready: readonly ReadyRow[], options: RowsOptions): Promise<EndedRows | undefined> {
  const { dataFolder, id, secrets, storage = noStorage, env = systemEnv, resume = true } = options;
  const { manner = 'command', resetState = false, acceptDoubtful: acceptsDoubt = false, period } = options;
  if ((ready.length < 2 && id === undefined) || trialOf(options) !== undefined) return undefined;
  const { EndedRows, forgetRun } = await import('./ended-rows.ts');
  if (resume === false) {
    forgetRun(dataFolder);
    return undefined;
  }
  return EndedRows.open(
    { rows: ready.map(({ row }) => row.id), manner, resetState, period, storage: storage.name() },
    { dataFolder, id, resume: resume === true ? {} : resume, acceptsDoubt, env, secrets },
  );
}

/** Ends what an earlier run began, so that nothing of it is asked for or loaded a second time. */
async function settle(at: RowPlace, options: RowOptions): Promise<void> {
  const { storage = noStorage } = options;
  if (!(await storage.isPending(at))) return;
  at.log.info('The last run was not pushed to its end: that is done first');
  const pushed = await deliver(at, options);
  const { confirmEnded } = await import('./ended-rows.ts');
  confirmEnded(at.folder, pushed);
  cleanUp(at.folder);
}

function interrupted({ reason }: AbortSignal): ExtractorError {
  if (reason instanceof ExtractorError) return reason;
  return new RunError('run.interrupted', 'The run was interrupted.', {
    cause: reason,
    hint: 'Rows that had ended are complete. Give the command again: it goes on where it was.',
  });
}
