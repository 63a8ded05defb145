import { withRedaction } from '../../lib/redact.ts';
import type { Log } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { run as runFolder, type FolderRunOptions, type RunResult } from '../../runner/run.ts';
import type { Storage } from '../../runner/storage.ts';
import { openTarget } from './open-target.ts';

/** Options of a run; `dataFolder` gets `out/`, or `rows/<id>/out/` for each row. */
export interface RunOptions extends Omit<FolderRunOptions, 'storage'> {
  /**
   * Source of inputs and destination of outputs: the folder of a storage, the address of a service (its token in
   * `KBC_TOKEN`), or a storage that is open ({@link openTarget}). By default everything stays in the data folder.
   */
  readonly storage?: Storage | string | undefined;
}

/**
 * Runs what the data folder's `config.json` describes: once, or once for each row, in order.
 *
 * Rows are independent; one that fails ends the run, and the rows before it stay complete. Outputs that an earlier
 * run could not push to their end are pushed first.
 *
 * @throws {ExtractorError} with the cause, the place and a hint; `run.interrupted` when the signal was aborted
 */
export async function run({ storage, ...options }: RunOptions): Promise<RunResult> {
  if (typeof storage !== 'string' || options.replay !== undefined)
    return await runFolder(typeof storage === 'string' ? options : { ...options, storage });
  return await withRedaction(options, async (given) => await runOver(storage, given));
}

async function runOver(
  storage: string,
  options: FolderRunOptions & { readonly secrets: Secrets; readonly log: Log },
): Promise<RunResult> {
  const { dataFolder, environment, log, secrets, env, signal = new AbortController().signal } = options;
  const target = await openTarget({ dataFolder, storage, environment, log, secrets, env, signal });
  try {
    return await runFolder({ ...options, ...target.options });
  } finally {
    await target.close();
  }
}
