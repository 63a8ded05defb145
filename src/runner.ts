import { systemEnv } from './env.ts';
import { ExtractorError, RunError } from './errors.ts';
import { lockFolder } from './runner/lock.ts';
import { placed } from './runner/place-error.ts';
import { makePlan } from './runner/plan.ts';
import { cleanUp, sweep } from './runner/row-folder.ts';
import { rowPlace, type RowPlace } from './runner/row-place.ts';
import { deliver, isCommand, runRow, type RowOptions, type RowResult } from './runner/run-row.ts';
import { noStorage } from './runner/storage.ts';

export type { RowResult, RunProgress } from './runner/run-row.ts';

/** `dataFolder` gets `out/`, or `rows/<id>/out/` for each row. */
export interface RunOptions extends RowOptions {
  readonly signal?: AbortSignal;
  /** How this process is called, for others who find the folder locked. */
  readonly command?: string;
}

export interface RunResult {
  /** In the order of the runs. */
  readonly rows: readonly RowResult[];
  /** Ids of disabled rows that did not run. */
  readonly skipped: readonly string[];
}

/**
 * Runs what the data folder's `config.json` describes: once, or once for each row, in order (spec service-core 2.4).
 * Rows are kept apart; one that fails ends the run, and the rows before it stay complete. What an earlier run could not
 * push to its end is pushed first.
 *
 * @throws {ExtractorError} what went wrong, where, and what to do; `run.interrupted` when the signal was aborted
 */
export async function run(options: RunOptions): Promise<RunResult> {
  const { dataFolder, log, env = systemEnv, signal = new AbortController().signal } = options;
  const { document, id, ready, skipped } = await makePlan(options, isCommand(options) ? 'refuse' : 'warn');
  const lock = lockFolder(dataFolder, options.command ?? 'generic-extractor', env.now());
  try {
    sweep(dataFolder);
    if (ready.length > 0) await options.storage?.begin();
    for (const row of skipped) log.info(`Row “${row}” is disabled and is skipped`, { row });
    if (ready.length === 0) log.info('All rows are disabled: there is nothing to run');
    const places = ready.map(({ row }) => rowPlace(row, { dataFolder, configuration: id, log, signal }));
    const inRow = async <T>(at: RowPlace, work: () => Promise<T>): Promise<T> =>
      await work().catch((error: unknown) => {
        throw placed(error, document, at.row);
      });
    if (isCommand(options)) for (const at of places) await inRow(at, async () => await settle(at, options));
    const rows: RowResult[] = [];
    for (const [i, each] of ready.entries()) {
      const at = places[i];
      if (at === undefined) break;
      signal.throwIfAborted();
      options.progress?.rowStart?.(each.row);
      const result = await inRow(at, async () => await runRow(at, each, options));
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

/** Ends what an earlier run began, so that nothing of it is asked for or loaded a second time. */
async function settle(at: RowPlace, options: RowOptions): Promise<void> {
  const { storage = noStorage } = options;
  if (!(await storage.isPending(at))) return;
  at.log.info('The last run was not pushed to its end: that is done first');
  await deliver(at, options);
  cleanUp(at.folder);
}

function interrupted({ reason }: AbortSignal): ExtractorError {
  if (reason instanceof ExtractorError) return reason;
  return new RunError('run.interrupted', 'The run was interrupted.', {
    cause: reason,
    hint: 'Rows that had ended are complete. Give the command again: it goes on with a push that was begun, and runs the rest.',
  });
}
