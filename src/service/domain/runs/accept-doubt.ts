import type { RunError, RunRowResult } from '../../../storage/protocol/run.ts';
import { ApiError } from '../api-error.ts';
import { requireConfiguration } from '../configurations/read-configuration.ts';
import type { Context } from '../context.ts';
import { authorOf, type Caller } from '../tokens/caller.ts';
import { acceptanceText, acceptRun, findLater, type AskedOfRun } from '../../stores/metadata/runs.ts';
import type { RunRow } from '../../stores/metadata/tables.ts';
import { configurationsOf, runOf, type Transact } from '../../stores/metadata/transaction.ts';

/**
 * Accepts the doubt of a run. What it held back is loaded by a run of its own, by the version and for the rows of the
 * first one; that one counts as accepted when this has succeeded. Of a run that has loaded it is only written down.
 *
 * @returns the run that loads, or the run itself
 * @throws {ApiError} 409 for a run without an open doubt, and for one that a later run has taken the place of
 */
export async function acceptDoubt(
  { queue }: Pick<Context, 'queue'>,
  { caller, transact }: { readonly caller: Caller; readonly transact: Transact },
  run: RunRow,
  because: string,
): Promise<RunRow> {
  if (run.accepted !== null)
    throw refused('accepted', `The doubt of the run ${run.id} has been accepted already.`);
  const author = authorOf(caller);
  if (run.status === 'success' && run.verdict === 'doubtful') {
    const accepted = acceptanceText(because, author);
    await transact([runOf(run.id)], async (tx) => await acceptRun(tx, run.id, accepted));
    return { ...run, accepted };
  }
  if (!hasHeld(run))
    throw refused('noDoubt', `The run ${run.id} has held nothing back because of a doubt: ${whyNot(run)}`);
  const loading = await transact(configurationsOf(run), async (tx) => {
    await requireConfiguration(tx, run);
    const later = await findLater(tx, run);
    if (later !== undefined)
      throw refused(
        'superseded',
        `The run ${later} of the configuration came after the run ${run.id}, so what that one held back cannot be loaded any more: look at the later one.`,
        later,
      );
    const { rows, from, to } = JSON.parse(run.asked) as AskedOfRun; // written by this service
    const { version, version_identifier: identifier } = run;
    return await queue.runs.submit(tx, {
      configuration: run,
      asked: { rows, from, to, accepts: { run: String(run.id), because } },
      ...(version === null || identifier === null ? {} : { version: { version, identifier } }),
      author,
    });
  });
  queue.wake('runs');
  return loading;
}

/** Tells whether nothing of a row was loaded because of a doubt. */
function hasHeld({ status, error, report }: RunRow): boolean {
  if (status !== 'error' || error === null || report === null || !report.startsWith('[')) return false;
  // Written by this service.
  const { code } = JSON.parse(error) as RunError;
  const rows = JSON.parse(report) as readonly RunRowResult[];
  return code === 'run.doubtful' && rows.some(({ isHeld }) => isHeld === true);
}

function whyNot({ status, error, ended }: RunRow): string {
  if (ended === null) return 'it has not ended.';
  if (status === 'success') return 'it has loaded its tables.';
  if (status === 'cancelled') return 'it was cancelled.';
  const { code } = JSON.parse(error ?? '{}') as Partial<RunError>; // written by this service
  return code === 'run.doubtful'
    ? 'its configuration has "completeness": "require", so correct what is named, or take that out.'
    : 'it failed for another reason.';
}

function refused(code: string, message: string, run?: number): ApiError {
  return new ApiError(409, `storage.runs.${code}`, message, run === undefined ? {} : { params: { run } });
}
