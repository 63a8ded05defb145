import { StorageError } from '../../errors.ts';
import type { Api } from './api.ts';
import { readJob, type Job, type Jobs } from './jobs.ts';

export interface StartImport {
  readonly path: string;
  readonly body: { readonly dataFileId: number };
  readonly signal?: AbortSignal | undefined;
}

const FIRST_WAIT_MS = 1000;

/**
 * Asks for an import. When the answer is lost, the service may have taken it all the same, and a second import without a
 * key would double the rows; so the job of that file is looked for before it is asked again.
 */
export async function startImport(api: Api, jobs: Jobs, { path, body, signal }: StartImport): Promise<Job> {
  for (let attempt = 1; ; attempt++) {
    try {
      return readJob(await api.call({ method: 'POST', path, body, isOnce: true, signal }));
    } catch (error) {
      const isUnsure = error instanceof StorageError && error.recovery === 'retry';
      if (!isUnsure || attempt > api.maxRetries) throw error;
      const waitMs = FIRST_WAIT_MS * 2 ** (attempt - 1);
      api.log.info(
        `The answer to an import was lost; looking in ${waitMs / 1000} seconds whether it was taken.`,
      );
      await api.env.sleep(waitMs, api.signalOf(signal));
      const found = await jobs.findByFile(body.dataFileId, { signal });
      if (found !== undefined) return found;
    }
  }
}
