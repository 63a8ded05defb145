import { StorageError } from '../../../../lib/errors.ts';
import { getKey, isObject, type Json } from '../../../../lib/json/index.ts';
import type { File, Job } from '../../../../storage/client/index.ts';
import type { JournalTable } from '../../journal.ts';
import type { Pushing } from '../pushing.ts';

/**
 * Compares what an earlier attempt has written down with what the service has. A service that was restored from a copy
 * gives the same numbers again, so that a job or a file of that number may be another client's: only one that is of this
 * table and this file, and a file of the very name and time, is gone on with. Else the table is pushed anew.
 *
 * @param key entry of the journal
 */
export async function verifyJournal(push: Pushing, destination: string, key: string): Promise<void> {
  const entry = push.journal.table(key);
  if (entry.jobId !== undefined) {
    const job = await jobOf(push, entry.jobId);
    if (job !== undefined && isOwnJob(job, entry, destination)) return;
    // Services keep jobs for months: one that is gone sooner was never there after a restore.
    if (job === undefined && isOld(push, entry.jobCreated)) return;
    beginAnew(push, key, `the job ${entry.jobId} that was to load “${key}” into ${destination}`);
  } else if (entry.fileId !== undefined) {
    const file = await fileOf(push, entry.fileId);
    if (file === undefined ? entry.asked === true : isOwnFile(file, entry.fileName, entry.fileCreated))
      return;
    beginAnew(push, key, `the file ${entry.fileId} with the rows of “${key}”`);
  }
}

/** Verifies the journal's entry of a file that is pushed as such. */
export async function trustFile(push: Pushing, source: string): Promise<void> {
  const { journal, log } = push;
  const { fileId, fileCreated, done } = journal.document.files.get(source) ?? {};
  if (fileId === undefined) return;
  const file = await fileOf(push, fileId);
  if (file !== undefined && isOwnFile(file, source, fileCreated)) return;
  // One that is done may have been taken away by whoever it was for; but then the service knows of newer ones.
  if (file === undefined && done === true && !(await isForgotten(push, fileId))) return;
  journal.resetFile(source);
  log.warn(`The storage no longer has the file ${fileId} of “${source}”: ${RESTORED}`);
}

const RESTORED = 'it was restored from a copy, perhaps. It is pushed anew';

function beginAnew({ journal, log }: Pushing, key: string, what: string): void {
  journal.resetTable(key);
  log.warn(`The storage no longer has ${what}: ${RESTORED}`);
}

async function jobOf({ connection, signal }: Pushing, id: number): Promise<Job | undefined> {
  return await readable(connection.client.jobs.detail(id, { signal }));
}

async function fileOf({ connection, signal }: Pushing, id: number): Promise<File | undefined> {
  return await readable(connection.client.files.detail(id, { signal }));
}

/** Returns an object of the storage; undefined when there is none, and when it belongs to another token. */
async function readable<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const isNone =
      error instanceof StorageError && ['storage.notFound', 'storage.forbidden'].includes(error.code);
    if (!isNone) throw error;
    return undefined;
  }
}

/** Returns the id of the file that an import reads: a number, or text. */
export function sourceFileOf({ operationParams }: Job): Json | undefined {
  const params = operationParams as Json | undefined; // as it was parsed
  const source = params !== undefined && isObject(params) ? getKey(params, 'source') : undefined;
  return source !== undefined && isObject(source) ? getKey(source, 'fileId') : undefined;
}

/**
 * Tells whether a job loaded the entry of the journal. Properties that the service leaves out, or that an older journal
 * does not have, are no contradiction.
 */
function isOwnJob(job: Job, { fileId, jobCreated }: JournalTable, destination: string): boolean {
  return (
    /^table(?:Import|Create)$/.test(job.operationName ?? 'tableImport') &&
    isAs(job.tableId, destination) &&
    isAs(sourceFileOf(job), fileId) &&
    isAs(job.createdTime, jobCreated)
  );
}

function isAs(found: unknown, wanted: number | string | undefined): boolean {
  return (
    found === undefined || found === null || wanted === undefined || found === wanted || found === `${wanted}`
  );
}

function isOwnFile(file: File, name: string | undefined, created: string | undefined): boolean {
  return (name === undefined || file.name === name) && (created === undefined || file.created === created);
}

const MONTH_MS = 30 * 86_400_000;

function isOld({ env }: Pushing, created: string | undefined): boolean {
  return created === undefined || env.now() - Date.parse(created) > MONTH_MS;
}

/** Tells whether the service knows of no file that is as new as this one. */
async function isForgotten({ connection }: Pushing, fileId: number): Promise<boolean> {
  const [newest] = await connection.client.files.list({ limit: 1, showExpired: true });
  return newest === undefined || newest.id < fileId;
}
