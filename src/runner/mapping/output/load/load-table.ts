import path from 'node:path';
import { getKey, isObject, type Json } from '../../../../lib/json/index.ts';
import { StorageError } from '../../../../lib/errors.ts';
import type { Job, LoadOrigin, UploadOptions } from '../../../../storage/client/index.ts';
import type { PushedTable } from '../../mapping-types.ts';
import { isRefusal, isTaken, originMetadata, SYSTEM, writeMetadata } from '../ready/metadata.ts';
import type { PlannedOutputTable } from '../plan/planned.ts';
import { stepKey, type Pushing } from '../pushing.ts';
import { readyTable } from '../ready/ready-table.ts';
import { sourceFileOf, verifyJournal } from './trust.ts';
import { doubled, findDuplicateLoad } from './twin.ts';
import { removeUpload, upload, uploadLocally } from './upload.ts';

/** How often a table may turn up between the look for it and the load that was to make it. */
const ATTEMPTS = 3;

/**
 * Loads one table, or the rest of it. The journal has every step before it is asked for, so that a push that
 * is cut short anywhere loads the rows once:
 *
 * | the journal has | the next push |
 * |---|---|
 * | nothing, or a file that was not sent to its end | uploads (anew) |
 * | the uploaded file | makes the table ready and asks for the load |
 * | that the load was asked for | asks again under the same key; a service that knows no keys is looked through first |
 * | a job | waits for it |
 *
 * @param key entry of the journal
 */
export async function loadTable(push: Pushing, table: PlannedOutputTable, key: string): Promise<PushedTable> {
  const { journal, log } = push;
  const { source, destination, incremental } = table;
  await verifyJournal(push, destination, key);
  const entry = journal.table(key);
  if (entry.done === true) return { source, destination, incremental, rows: entry.rows ?? 0, wasDone: true };
  const wasAsked = entry.asked === true;
  for (let attempt = 1; ; attempt++) {
    try {
      const job = journal.table(key).jobId ?? (await askForLoad(push, table, key));
      const rows = rowsOf(await push.connection.client.jobs.wait(job, { signal: push.signal }));
      await describe(push, table, key);
      const { fileId } = journal.table(key);
      const knowsKeys = await push.connection.client.knowsKeys({ signal: push.signal });
      // Without support for keys, a delayed duplicate of the request would load the file again: it is removed first.
      if (fileId !== undefined && !knowsKeys) await removeUpload(push, fileId);
      const twin = knowsKeys ? undefined : await findDuplicateLoad(push, table, key);
      journal.updateTable(key, { done: true, rows });
      if (twin !== undefined) throw doubled(table, rows, twin);
      // On this machine its content is in `out/` as well.
      if (fileId !== undefined && knowsKeys && push.connection.isLocal) await removeUpload(push, fileId);
      log.debug(`Pushed “${source}” into ${destination}`, { source, destination, rows, incremental });
      return { source, destination, incremental, rows, wasDone: false };
    } catch (error) {
      const { jobId } = journal.table(key);
      const hasFailed = error instanceof StorageError && error.code === 'storage.jobFailed';
      if (hasFailed) forget(push, key, { error, isOfLoad: jobId !== undefined });
      const { asked, isUploaded } = journal.table(key);
      // Asked for by an earlier push, with a file that is gone: that load was never begun.
      const isGone = wasAsked && error instanceof StorageError && error.code === 'storage.notFound';
      const mayLoad = isGone || (isTaken(error) && isUploaded === true && asked === undefined);
      if (!mayLoad || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * Forgets a load that certainly did not happen, so that the next push repeats it. If another run created the table at
 * the same time, the same file can be loaded into it; so it can when a step before the load failed.
 */
function forget(
  { journal }: Pushing,
  key: string,
  { error, isOfLoad }: { readonly error: StorageError; readonly isOfLoad: boolean },
): void {
  const { round = 0 } = journal.table(key);
  if (!isOfLoad) journal.updateTable(key, { round: round + 1 });
  else if (!isTaken(error)) journal.resetTable(key);
  else
    journal.updateTable(key, {
      asked: undefined,
      jobId: undefined,
      jobCreated: undefined,
      newTable: undefined,
      round: round + 1,
    });
}

async function askForLoad(push: Pushing, table: PlannedOutputTable, key: string): Promise<Job> {
  const { journal, signal } = push;
  const { tables } = push.connection.client;
  const wasAsked = journal.table(key).asked === true;
  const dataFileId = await uploadedFile(push, table, key);
  // A repeated request must be the same as the earlier one, so it creates the table again if that did.
  const isThere = wasAsked ? journal.table(key).creates !== true : await readyTable(push, table, key);
  journal.updateTable(key, {
    asked: true,
    ...(isThere ? { creates: undefined } : { creates: true, newTable: true }),
  });
  const { name, bucket, destination, primaryKey, incremental, skippedLines, delimiter, enclosure } = table;
  const format = { dataFileId, delimiter, enclosure, ...(await originOf(push)) };
  const columns = table.isHeader ? {} : { columns: table.columns };
  const skipped = skippedLines === 0 ? {} : { ignoredLinesCount: skippedLines };
  const once = {
    signal,
    wasAsked,
    key: (fileId: number) => stepKey(push, key, isThere ? 'load' : 'create', String(fileId)),
    renew: async () => {
      journal.updateTable(key, { asked: undefined, fileId: undefined, isUploaded: undefined });
      const fileId = await uploadedFile(push, table, key);
      journal.updateTable(key, { asked: true });
      return fileId;
    },
  };
  const asking = isThere
    ? tables.startLoad(destination, { ...format, ...columns, ...skipped, incremental }, once)
    : tables.startCreate(bucket, { ...format, name, primaryKey }, once);
  const job = await asking.catch(async (error: unknown) => {
    if (!isRefusal(error)) throw error;
    const taken = await takenBefore(push, error, dataFileId);
    if (taken !== undefined) return taken;
    forget(push, key, { error, isOfLoad: true });
    throw error;
  });
  journal.updateTable(key, { jobId: job.id, jobCreated: job.createdTime, ...loadedFile(job) });
  return job;
}

/** Returns the origin of the rows, for a service that knows the field: others may refuse one that they do not know. */
async function originOf({ connection, origin, signal }: Pushing): Promise<{ origin?: LoadOrigin }> {
  if (!(await connection.client.knowsKeys({ signal }))) return {};
  const { component, configuration, row } = origin;
  return { origin: { component, configuration, ...(row === undefined ? {} : { row }) } };
}

/** Returns the id of the loaded file, which may be one before the last. */
function loadedFile(job: Job): { readonly fileId?: number } {
  const fileId = Number(sourceFileOf(job));
  return Number.isSafeInteger(fileId) && fileId > 0 ? { fileId } : {};
}

/**
 * Returns the job of an earlier request for this load, whose answer was lost: the present refusal does not exclude it.
 * A service that supports keys would have said so, unless the mapping has changed since.
 */
async function takenBefore(
  { connection, signal }: Pushing,
  error: StorageError,
  fileId: number,
): Promise<Job | undefined> {
  const { jobs } = connection.client;
  const isOther = error.serviceCode.startsWith('storage.idempotency.');
  if (!isOther && (await connection.client.knowsKeys({ signal }))) return undefined;
  return await jobs.findByFile(fileId, { signal });
}

/** Returns the id of the uploaded file: of an earlier push, when nothing has changed since. */
async function uploadedFile(push: Pushing, table: PlannedOutputTable, key: string): Promise<number> {
  const { journal, connection } = push;
  const { fileId, isUploaded, content, asked } = journal.table(key);
  if (fileId !== undefined) {
    if (asked === true || (isUploaded === true && content === table.content)) return fileId;
    await removeUpload(push, fileId);
  }
  const { destination, isGzip } = table;
  const isSent = !connection.isLocal && !isGzip;
  const name = uniqueName(push, table);
  const options: UploadOptions = {
    name,
    gzip: isSent,
    key: stepKey(push, key, 'file', name),
    onPrepared: ({ id, created }) =>
      journal.updateTable(key, {
        destination,
        content: table.content,
        fileId: id,
        fileName: isSent ? `${name}.gz` : name,
        fileCreated: created,
        isUploaded: undefined,
      }),
  };
  const isWhole = table.slices === undefined;
  const file =
    connection.isLocal && isWhole
      ? await uploadLocally(push, table.path, options)
      : await upload(push, table, options);
  journal.updateTable(key, { isUploaded: true });
  return file.id;
}

/**
 * Returns a name that no other file has, to tell it from one that gets the same number after a restore. The service
 * goes by the ending, and the client adds `.gz` to compressed files.
 */
function uniqueName({ env }: Pushing, { source, isGzip }: PlannedOutputTable): string {
  const { name, ext } = path.parse(source.replace(/\.gz$/, ''));
  const chance = Buffer.from(env.randomBytes(8)).toString('hex');
  return `${name}-${chance}${ext}${isGzip ? '.gz' : ''}`;
}

async function describe(push: Pushing, table: PlannedOutputTable, key: string): Promise<void> {
  const { connection, origin, log } = push;
  const { destination, metadata, columnMetadata } = table;
  const { tables } = connection.client;
  const own = tables.metadata(destination);
  const isNew = push.journal.table(key).newTable === true;
  const system = originMetadata(origin, isNew ? 'createdBy' : 'lastUpdatedBy');
  const onceFor = (...step: readonly string[]) => ({ key: stepKey(push, key, 'metadata', ...step), log });
  await writeMetadata(own, system, { provider: SYSTEM, what: destination, ...onceFor('system') });
  const provider = origin.component;
  await writeMetadata(own, metadata, { provider, what: destination, ...onceFor('own') });
  for (const { column, metadata: pairs } of columnMetadata) {
    const what = `${destination}, column “${column}”`;
    const once = onceFor('column', column);
    await writeMetadata(tables.columnMetadata(destination, column), pairs, { provider, what, ...once });
  }
}

/** Returns the number of rows of a job: a load gives those that it brought, a creation the table with its rows. */
function rowsOf({ results }: Job): number {
  const json = results as Json | undefined; // as it was parsed
  if (json === undefined || !isObject(json)) return 0;
  const rows =
    getKey(json, 'importedRowsCount') ?? getKey(json, 'rowsCount') ?? getKey(json, 'totalRowsCount');
  return typeof rows === 'number' ? rows : 0;
}
