import { getKey, isObject, type Json } from '../../json/index.ts';
import { StorageError } from '../../errors.ts';
import type { CsvFormat, Job, UploadOptions } from '../../storage/client/index.ts';
import type { PushedTable } from '../nouns.ts';
import { isRefusal, isTaken, originMetadata, SYSTEM, writeMetadata } from './metadata.ts';
import type { PlannedTable } from './planned.ts';
import type { Pushing } from './pushing.ts';
import { readyTable } from './ready-table.ts';
import { removeUpload, upload, uploadLocally } from './upload.ts';

/** How often a table may turn up between the look for it and the load that was to make it. */
const ATTEMPTS = 3;
/** A request of a process that was killed may still be on its way. */
const LATE_MS = 2000;

/**
 * Loads one table, or the rest of it (design 3). The journal has every step before it is asked for, so that a push that
 * is cut short anywhere loads the rows once:
 *
 * | the journal has | the next push |
 * |---|---|
 * | nothing, or a file that was not sent to its end | uploads (anew) |
 * | the uploaded file | makes the table ready and asks for the load |
 * | that the load was asked for | looks for a job that reads the file; asks when there is none |
 * | a job | waits for it |
 *
 * @param key entry of the journal
 */
export async function loadTable(push: Pushing, table: PlannedTable, key: string): Promise<PushedTable> {
  const { journal, log } = push;
  const { source, destination, incremental } = table;
  const entry = journal.table(key);
  if (entry.done === true) return { source, destination, incremental, rows: entry.rows ?? 0, wasDone: true };
  for (let attempt = 1; ; attempt++) {
    try {
      const job = (await earlierJob(push, key)) ?? (await askForLoad(push, table, key));
      const rows = rowsOf(await push.connection.client.jobs.wait(job, { signal: push.signal }));
      await describe(push, table, journal.table(key).newTable === true);
      journal.updateTable(key, { done: true, rows });
      const { fileId } = journal.table(key);
      if (push.connection.isLocal && fileId !== undefined) await removeUpload(push, fileId);
      log.info(`Pushed “${source}” into ${destination}`, { source, destination, rows, incremental });
      return { source, destination, incremental, rows, wasDone: false };
    } catch (error) {
      const { jobId } = journal.table(key);
      const hasFailed = error instanceof StorageError && error.code === 'storage.jobFailed';
      if (hasFailed && jobId !== undefined) forget(push, key, error);
      const { asked, isUploaded } = journal.table(key);
      const mayLoad = isTaken(error) && isUploaded === true && asked === undefined;
      if (!mayLoad || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * The load was not done, that is certain: it is begun anew the next time. When another run made the table at the same
 * moment, the same file can be loaded into it.
 */
function forget({ journal }: Pushing, key: string, error: StorageError): void {
  if (isTaken(error)) journal.updateTable(key, { asked: undefined, jobId: undefined, newTable: undefined });
  else journal.resetTable(key);
}

/** The job that an earlier push asked for. */
async function earlierJob(push: Pushing, key: string): Promise<Job | number | undefined> {
  const { connection, journal, env, signal, log } = push;
  const { asked, jobId, fileId } = journal.table(key);
  if (jobId !== undefined) return jobId;
  if (asked !== true || fileId === undefined) return undefined;
  const { jobs } = connection.client;
  let found = await jobs.findByFile(fileId, { signal });
  if (found === undefined) {
    await env.sleep(LATE_MS, signal);
    found = await jobs.findByFile(fileId, { signal });
  }
  if (found === undefined) return undefined;
  log.info(`The load of the file ${fileId} was asked for before: it is the job ${found.id}`);
  journal.updateTable(key, { jobId: found.id });
  return found;
}

async function askForLoad(push: Pushing, table: PlannedTable, key: string): Promise<Job> {
  const { journal, signal } = push;
  const { tables, jobs } = push.connection.client;
  const dataFileId = await uploadedFile(push, table, key);
  const isThere =
    journal.table(key).asked === true ? await isMade(push, table) : await readyTable(push, table, key);
  journal.updateTable(key, { asked: true, ...(isThere ? {} : { newTable: true }) });
  const { name, bucket, destination, primaryKey, incremental, skippedLines } = table;
  const format = { dataFileId, ...formatOf(table) };
  const columns = table.isHeader ? {} : { columns: table.columns };
  const skipped = skippedLines === 0 ? {} : { ignoredLinesCount: skippedLines };
  const asking = isThere
    ? tables.startLoad(destination, { ...format, ...columns, ...skipped, incremental }, { signal })
    : tables.startCreate(bucket, { ...format, name, primaryKey }, { signal });
  const job = await asking.catch(async (error: unknown) => {
    if (!isRefusal(error)) throw error;
    // It is refused now, but it may have been taken before, when the answer was lost.
    const taken = await jobs.findByFile(dataFileId, { signal });
    if (taken !== undefined) return taken;
    forget(push, key, error);
    throw error;
  });
  journal.updateTable(key, { jobId: job.id });
  return job;
}

async function isMade({ connection }: Pushing, { destination }: PlannedTable): Promise<boolean> {
  return (await connection.client.tables.find(destination)) !== undefined;
}

/** The id of the uploaded file: of an earlier push, when nothing has changed since. */
async function uploadedFile(push: Pushing, table: PlannedTable, key: string): Promise<number> {
  const { journal, connection } = push;
  const { fileId, isUploaded, content, asked } = journal.table(key);
  if (fileId !== undefined) {
    if (asked === true || (isUploaded === true && content === table.content)) return fileId;
    await removeUpload(push, fileId);
  }
  const { destination, source, isGzip } = table;
  // The service goes by the ending, and the client adds it to what it compresses.
  const plainName = source.replace(/\.gz$/, '');
  const options: UploadOptions = {
    name: isGzip ? `${plainName}.gz` : plainName,
    gzip: !connection.isLocal && !isGzip,
    onPrepared: ({ id }) =>
      journal.updateTable(key, { destination, content: table.content, fileId: id, isUploaded: undefined }),
  };
  const isWhole = table.slices === undefined;
  const file =
    connection.isLocal && isWhole
      ? await uploadLocally(push, table.path, options)
      : await upload(push, table, options);
  journal.updateTable(key, { isUploaded: true });
  return file.id;
}

function formatOf({ delimiter, enclosure }: PlannedTable): CsvFormat {
  return { delimiter, enclosure };
}

async function describe(push: Pushing, table: PlannedTable, isNew: boolean): Promise<void> {
  const { connection, origin, log } = push;
  const { destination, metadata, columnMetadata } = table;
  const { tables } = connection.client;
  const own = tables.metadata(destination);
  const system = originMetadata(origin, isNew ? 'createdBy' : 'lastUpdatedBy');
  await writeMetadata(own, system, { provider: SYSTEM, what: destination, log });
  const provider = origin.component;
  await writeMetadata(own, metadata, { provider, what: destination, log });
  for (const { column, metadata: pairs } of columnMetadata) {
    const what = `${destination}, column “${column}”`;
    await writeMetadata(tables.columnMetadata(destination, column), pairs, { provider, what, log });
  }
}

/** A load gives the rows that it brought, a creation the table with its rows. */
function rowsOf({ results }: Job): number {
  const json = results as Json | undefined; // as it was parsed
  if (json === undefined || !isObject(json)) return 0;
  const rows =
    getKey(json, 'importedRowsCount') ?? getKey(json, 'rowsCount') ?? getKey(json, 'totalRowsCount');
  return typeof rows === 'number' ? rows : 0;
}
