import { MappingError, StorageError } from '../../../../lib/errors.ts';
import type { Job } from '../../../../storage/client/index.ts';
import type { PlannedOutputTable } from '../plan/planned.ts';
import type { Pushing } from '../pushing.ts';

/**
 * Finds a second load of the same file, from a request that something on the way has sent twice. A service without
 * support for keys takes both if they arrive before the file is deleted, which only shows afterwards. Called when the
 * file is deleted: then no further load can come. Undefined also if a second load changes nothing.
 *
 * @param key entry of the journal
 */
export async function findDuplicateLoad(
  { connection: { client }, journal, signal }: Pushing,
  { destination, incremental }: PlannedOutputTable,
  key: string,
): Promise<Job | undefined> {
  const { fileId, fileCreated: created, jobId: besides } = journal.table(key);
  if (!incremental || fileId === undefined || besides === undefined || created === undefined)
    return undefined;
  const found = await client.jobs.findByFile(fileId, { besides, created, signal });
  if (found === undefined) return undefined;
  const { primaryKey } = await client.tables.detail(destination);
  if (primaryKey.length > 0) return undefined;
  try {
    return await client.jobs.wait(found, { signal });
  } catch (error) {
    // It did not find the file.
    if (error instanceof StorageError && error.code === 'storage.jobFailed') return undefined;
    throw error;
  }
}

export function doubled(
  { source, destination }: PlannedOutputTable,
  rows: number,
  { id }: Job,
): MappingError {
  return new MappingError(
    'push.doubled',
    `The ${rows} rows of “${source}” were loaded into ${destination} twice: something between here and the service has passed the request on twice, and the service knows no Idempotency-Key. The second load is the job ${id}.`,
    {
      hint: 'Delete the rows of that job from the table, or give the table a primary key. It counts as pushed.',
      details: { destination, job: id },
    },
  );
}
