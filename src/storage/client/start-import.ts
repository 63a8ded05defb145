import { StorageError } from '../../errors.ts';
import { isUntaken, type Api } from './api.ts';
import { findImport } from './find-import.ts';
import { readJob, type Job } from './job.ts';

export interface StartImport {
  readonly path: string;
  readonly body: { readonly dataFileId: number };
  readonly operation: 'tableCreate' | 'tableImport';
  readonly tableId: string;
  readonly signal?: AbortSignal | undefined;
}

/** When a lost import is looked for. The second look is for a request, or a list, that is late. */
const LOOKS_MS = [1000, 2000];

/**
 * Asks for an import. When the answer is lost, the service may have taken it all the same, and a second import without a
 * key would double the rows; so the job of that file and table is looked for before it is asked again.
 *
 * @param known jobs that were answered: one of them is never the one that was lost. Gets the job
 */
export async function startImport(api: Api, known: Set<Job['id']>, start: StartImport): Promise<Job> {
  const job = await ask(api, known, start);
  known.add(job.id);
  return job;
}

async function ask(api: Api, known: ReadonlySet<Job['id']>, start: StartImport): Promise<Job> {
  const { path, body, signal } = start;
  const look = async (): Promise<Job | undefined> =>
    await findImport(api, {
      fileId: body.dataFileId,
      isMeant: (job) => !known.has(job.id) && isOf(job, start),
      signal,
    });
  for (let attempt = 1; ; attempt++) {
    try {
      return readJob(await api.call({ method: 'POST', path, body, isOnce: true, signal }));
    } catch (error) {
      const isRefused = error instanceof StorageError && error.code === 'storage.refused';
      if (isRefused && attempt > 1) {
        // Refused because the table is there already, for example: by what was taken before.
        const found = await look();
        if (found !== undefined) return found;
      }
      if (!isUnsure(error) || attempt > api.maxRetries) throw error;
      for (const lookMs of LOOKS_MS) {
        const waitMs = lookMs * 2 ** (attempt - 1);
        api.log.info(
          `The answer to an import was lost; looking in ${waitMs / 1000} seconds whether it was taken.`,
        );
        await api.env.sleep(waitMs, api.signalOf(signal));
        const found = await look();
        if (found !== undefined) return found;
      }
    }
  }
}

/** Nobody knows whether it was taken: no answer, a failure of the service, or an answer from something in between. */
function isUnsure(error: unknown): boolean {
  if (!(error instanceof StorageError) || isUntaken(error)) return false;
  const { code, recovery, status = 200 } = error;
  return recovery === 'retry' || (code === 'storage.unexpected' && status < 300);
}

/** What a service leaves out speaks against nothing. */
function isOf({ operationName, tableId }: Job, { operation, tableId: wanted }: StartImport): boolean {
  const found: readonly unknown[] = [operationName, tableId];
  return [operation, wanted].every((text, i) => typeof found[i] !== 'string' || found[i] === text);
}
