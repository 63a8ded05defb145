import type { Readable } from 'node:stream';
import type { Api } from './api.ts';
import { path } from './encode.ts';
import { createRunOperations, type RunOperations } from './runs.ts';

/** Runs of stored configurations, with their recordings. */
export interface Runs extends RunOperations {
  /**
   * The recording of a run that has ended, as it comes; `gex explain --recording` and `gex run --replay` take it as a
   * file. The caller reads it to its end or destroys it.
   */
  recording(id: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<Readable>;
}

export function createRuns(api: Api): Runs {
  return {
    ...createRunOperations(api),
    recording: async (id, { signal } = {}) =>
      await api.open({ method: 'GET', path: path`runs/${id}/recording`, signal }),
  };
}
