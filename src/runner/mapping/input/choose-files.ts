import { StorageError } from '../../../lib/errors.ts';
import type { File, FilesQuery, StorageClient } from '../../../storage/client/index.ts';
import type { InputFileMapping } from './file-mapping.ts';

export interface ChooseContext {
  readonly client: StorageClient;
  readonly runId: string | undefined;
  /** Greatest id that an earlier run has fetched; for adaptive choices. */
  readonly lastImportId: number | undefined;
  readonly signal: AbortSignal;
}

export interface ChosenFiles {
  readonly files: readonly File[];
  /** Files that are left to later runs. */
  readonly waiting: number;
}

const NONE: ChosenFiles = { files: [], waiting: 0 };
const PAGE = 100;

/**
 * Chooses the files that an entry of the mapping selects: the newest ones, ten without a `limit`.
 *
 * An adaptive choice takes the oldest of the new ones instead: files above the limit are fetched by the next runs, and
 * none is skipped for ever. So the first run begins with the oldest file of all.
 */
export async function chooseFiles(mapping: InputFileMapping, context: ChooseContext): Promise<ChosenFiles> {
  if (mapping.fileIds.length > 0) return { files: await filesById(mapping, context), waiting: 0 };
  if (mapping.isOfRun && context.runId === undefined) {
    mapping.entry.wrong(
      'filter_by_run_id',
      'This run has no id that files could be chosen by.',
      'Leave `filter_by_run_id` out, or give the run an id with KBC_RUNID.',
    );
    return NONE;
  }
  try {
    return await filesByQuery(mapping, context);
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'storage.refused') throw error;
    const key = mapping.query === undefined ? 'tags' : 'query';
    mapping.entry.wrong(key, `The storage refuses this choice of files: ${error.message}`, error.hint);
    return NONE;
  }
}

async function filesById(
  { entry, fileIds }: InputFileMapping,
  { client, signal }: ChooseContext,
): Promise<File[]> {
  const files: File[] = [];
  for (const [i, id] of fileIds.entries()) {
    try {
      files.push(await client.files.detail(id, { signal }));
    } catch (error) {
      const code = error instanceof StorageError ? error.code : undefined;
      if (code !== 'storage.notFound' && code !== 'storage.forbidden') throw error;
      const why = code === 'storage.notFound' ? 'There is no file' : 'This token may not read the file';
      entry.wrong(`file_ids[${i}]`, `${why} ${id}.`, 'It may have been deleted, or its time may be over.');
    }
  }
  return files;
}

async function filesByQuery(mapping: InputFileMapping, context: ChooseContext): Promise<ChosenFiles> {
  const { limit, isAdaptive } = mapping;
  let files: File[] = [];
  let count = 0;
  for await (const file of newestFirst(mapping, context)) {
    count++;
    files.push(file);
    if (!isAdaptive && count === limit) break;
    // Only the oldest of many new files are kept in memory.
    if (files.length > limit + PAGE) files = files.slice(-limit);
  }
  files = isAdaptive ? files.slice(-limit) : files;
  return { files, waiting: count - files.length };
}

async function* newestFirst(mapping: InputFileMapping, context: ChooseContext): AsyncGenerator<File, void> {
  const { isOfRun, isAdaptive, tags, createdSince = -Infinity } = mapping;
  const { client, runId, lastImportId, signal } = context;
  const q = queryOf(mapping);
  const query: FilesQuery = {
    ...(tags.length > 0 ? { tags } : {}),
    ...(q === '' ? {} : { q }),
    ...(isOfRun && runId !== undefined ? { runId } : {}),
    ...(isAdaptive && lastImportId !== undefined ? { sinceId: lastImportId } : {}),
    limit: PAGE,
  };
  // By id and not by offset: a file that comes meanwhile moves nothing.
  for (let maxId: number | undefined; ;) {
    signal.throwIfAborted();
    const page = await client.files.list({ ...query, ...(maxId === undefined ? {} : { maxId }) });
    for (const file of page) {
      // Times of the API are whole seconds.
      if (Date.parse(file.created) + 1000 <= createdSince) return;
      if (isMeant(file, mapping)) yield file;
    }
    maxId = page.at(-1)?.id;
    if (page.length < PAGE || maxId === undefined) return;
  }
}

/** Words of a search engine, with the tags as phrases. */
function queryOf({ query, include, exclude }: InputFileMapping): string {
  return [
    ...(query === undefined ? [] : [`(${query})`]),
    ...include.map((tag) => `tags:${phrase(tag)}`),
    ...exclude.map((tag) => `NOT tags:${phrase(tag)}`),
  ].join(' AND ');
}

function phrase(tag: string): string {
  return `"${tag.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Tells whether a file has exactly the tags that were searched for: a search engine may find a tag by a part of it. */
function isMeant(file: File, { include, exclude }: InputFileMapping): boolean {
  return include.every((tag) => file.tags.includes(tag)) && !exclude.some((tag) => file.tags.includes(tag));
}
