import { StorageError } from '../../lib/errors.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { findImport } from './find-import.ts';
import { readJob, type Job } from './job.ts';
import type { Jobs } from './jobs.ts';
import { orUndefined } from './repeated.ts';
import { isUnsure } from './unsure.ts';

/** Options that make an import safe to be repeated. */
export interface ImportOnce {
  /** `Idempotency-Key` of the import of a file. Default: a unique one. */
  readonly key?: ((dataFileId: number) => string | undefined) | undefined;
  /**
   * Uploads the content again and returns the id of that file. The file before it is deleted then, so that an earlier
   * import that is still on its way finds nothing.
   */
  readonly renew?: (() => Promise<number>) | undefined;
  /** An earlier process has perhaps asked for it. Default: false. */
  readonly wasAsked?: boolean | undefined;
}

export interface StartImport extends ImportOnce {
  readonly path: string;
  readonly body: { readonly dataFileId: number };
  readonly operation: 'tableCreate' | 'tableImport';
  readonly tableId: string;
  readonly signal?: AbortSignal | undefined;
}

/** When a lost import is looked for. The second look is for a list that is late. */
const LOOKS_MS = [1000, 2000];

/**
 * Asks for an import. When the answer is lost, the service may have taken it all the same, or may take it later: a second
 * import without a key would double the rows. A service that knows `Idempotency-Key` is asked again under the same one.
 * With any other, the job of that file and table is looked for; when there is none, the file is deleted, so that a request
 * that comes late finds nothing, and after one more look the import of a new file is asked for.
 *
 * @param known jobs that were answered: one of them is never the one that was lost. Gets the job
 * @throws {StorageError} `storage.unsure` when nothing makes a second import safe
 */
export async function startImport(
  api: ApiCore,
  jobs: Jobs,
  known: Set<Job['id']>,
  start: StartImport,
): Promise<Job> {
  const job = await ask(api, jobs, known, start);
  known.add(job.id);
  return job;
}

async function ask(
  api: ApiCore,
  jobs: Jobs,
  known: ReadonlySet<Job['id']>,
  start: StartImport,
): Promise<Job> {
  const { path: at, signal, key, wasAsked = false } = start;
  let { body } = start;
  const files = new Set([body.dataFileId]);
  const look = async (): Promise<Job | undefined> => {
    for (const fileId of files) {
      // One whose file was deleted before it began has done nothing; only that of the last file is an answer.
      const isAnswer = ({ status }: Job): boolean => fileId === body.dataFileId || status !== 'error';
      const isMeant = (job: Job): boolean => !known.has(job.id) && isOf(job, start) && isAnswer(job);
      const found = await findImport(api, { fileId, isMeant, signal });
      if (found !== undefined) return found;
    }
    return undefined;
  };
  let isLost = wasAsked && !(await api.knowsKeys(signal));
  for (let attempt = 1; ; attempt++) {
    if (!isLost) {
      try {
        const call = { method: 'POST', path: at, body, isOnce: true, signal } as const;
        return readJob(await api.call({ ...call, key: key?.(body.dataFileId) }));
      } catch (error) {
        const isRefused = error instanceof StorageError && error.code === 'storage.refused';
        if (isRefused && attempt > 1) {
          // Refused because the table is there already, for example: by what was taken before.
          const found = await look();
          if (found !== undefined) return found;
        }
        // Under a key it was asked for again as often as it makes sense.
        if (!isUnsure(error) || attempt > api.maxRetries || (await api.knowsKeys(signal))) throw error;
      }
    }
    isLost = false;
    for (const lookMs of LOOKS_MS) {
      const waitMs = lookMs * 2 ** (attempt - 1);
      api.log.info(
        `The answer to an import was lost; checking in ${waitMs / 1000} seconds whether it was accepted.`,
      );
      await api.env.sleep(waitMs, api.signalOf(signal));
      const found = await look();
      if (found !== undefined) return found;
    }
    if (start.operation === 'tableCreate' && start.renew === undefined) continue; // a second one is refused
    if (start.renew === undefined) throw unsure(start);
    await orUndefined(
      api.call({ method: 'DELETE', path: path`files/${body.dataFileId}`, signal }).then(() => true),
    );
    const found = await finished(jobs, await look(), signal);
    if (found !== undefined) return found;
    api.log.info(`No job reads the file ${body.dataFileId}, which is deleted: its content is sent again.`);
    body = { ...body, dataFileId: await start.renew() };
    files.add(body.dataFileId);
  }
}

/** A job that lost its file on the way did nothing. */
async function finished(
  jobs: Jobs,
  job: Job | undefined,
  signal: AbortSignal | undefined,
): Promise<Job | undefined> {
  if (job === undefined) return undefined;
  try {
    return await jobs.wait(job, { signal });
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'storage.jobFailed') throw error;
    return undefined;
  }
}

/** Tells whether a job may be the import; fields that a service leaves out speak against nothing. */
function isOf({ operationName, tableId }: Job, { operation, tableId: wanted }: StartImport): boolean {
  const found: readonly unknown[] = [operationName, tableId];
  return [operation, wanted].every((text, i) => typeof found[i] !== 'string' || found[i] === text);
}

function unsure({ body, tableId }: StartImport): StorageError {
  return new StorageError(
    'storage.unsure',
    `Nobody knows whether the import of the file ${body.dataFileId} into ${tableId} was taken: the answer was lost, and no job reads the file yet.`,
    {
      hint: 'Look later whether a job has read the file. When there is none, delete the file before you load its content again.',
      recovery: 'stop',
    },
  );
}
