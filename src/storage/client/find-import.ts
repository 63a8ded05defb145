import { StorageError } from '../../lib/errors.ts';
import { getKey, isObject, type Json } from '../../lib/json/value.ts';
import type { File } from '../protocol/index.ts';
import type { ApiCore } from './api-core.ts';
import { path, type Query } from './encode.ts';
import { readJobs, type Job } from './job.ts';
import { orUndefined } from './repeated.ts';
import { shaped } from './shape.ts';

/** Known facts about an import whose job is looked for. */
export interface ImportSearch {
  readonly fileId: number;
  /** Further conditions. */
  readonly isMeant?: ((job: Job) => boolean) | undefined;
  /** When the file was made, in milliseconds; asked for by default. */
  readonly since?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The newest import or table creation that reads the file; one that has not failed, when there are several. */
export async function findImport(
  api: ApiCore,
  { fileId, isMeant = () => true, signal, ...search }: ImportSearch,
): Promise<Job | undefined> {
  let { since } = search;
  let newest: Job['id'] | undefined;
  // Pages may be shorter than asked for.
  for (let page = 0, offset = 0; page < MAX_PAGES; page++) {
    const query: Query = { limit: PAGE, offset };
    const json = await api.call({ method: 'GET', path: 'jobs', scope: 'plain', query, signal });
    const list = readJobs(json);
    const imports = list.filter((job) => isImportOf(job, fileId) && isMeant(job));
    const found = imports.find(({ status }) => status !== 'error') ?? imports[0];
    const oldest = list.at(-1);
    if (found !== undefined || oldest === undefined) return found;
    // An import of the file cannot be older than the file.
    since ??= await createdAt(api, fileId, signal);
    if (Date.parse(oldest.createdTime) < since) return undefined;
    // The same page again: the service has no further ones.
    if (page > 0 && newest === list[0]?.id) {
      if (list.length < PAGE) return undefined;
      break;
    }
    newest = list[0]?.id;
    offset += list.length;
  }
  throw new StorageError('storage.unexpected', 'The list of jobs of the storage service has no end.', {
    hint: 'Check the address, and the version of the service.',
  });
}

const PAGE = 100;
/** A million jobs: a service that always has more does not tell the truth. */
const MAX_PAGES = 10_000;

/** When the file was made, in milliseconds; the beginning of all time when it is gone. */
async function createdAt(api: ApiCore, fileId: number, signal: AbortSignal | undefined): Promise<number> {
  const json = await orUndefined(api.call({ method: 'GET', path: path`files/${fileId}`, signal }));
  if (json === undefined) return Number.NEGATIVE_INFINITY;
  return Date.parse(shaped<File>(json, 'file', { created: 'string' }).created);
}

/** The id is text in some operations. */
function isImportOf(job: Job, fileId: number): boolean {
  const params = job.operationParams as Json | undefined; // as it was parsed
  const source = params !== undefined && isObject(params) ? getKey(params, 'source') : undefined;
  if (source === undefined || !isObject(source)) return false;
  const found = getKey(source, 'fileId');
  return found === fileId || found === String(fileId);
}
