import type { File, FilePrepare } from '../protocol/index.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import type { OnceOptions } from './client-options.ts';
import { deleteOnce } from './repeated.ts';
import { listOf, shaped } from './shape.ts';

/** Which files. */
export interface FilesQuery {
  /** Files that have one of these. */
  readonly tags?: readonly string[] | undefined;
  /** A search such as `name:users AND NOT tags:old`. */
  readonly q?: string | undefined;
  /** Only newer files than this one. */
  readonly sinceId?: number | undefined;
  /** Only older files than this one. */
  readonly maxId?: number | undefined;
  readonly runId?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly showExpired?: boolean | undefined;
}

/** Operations on files. */
export interface FileOperations {
  /** Makes a file and gives where its content goes, with temporary credentials. `upload` does it all. */
  prepare(file: FilePrepare): Promise<File>;
  /** With `credentials`, the file comes with the keys to read it. */
  detail(
    id: number,
    options?: { readonly credentials?: boolean | undefined; readonly signal?: AbortSignal | undefined },
  ): Promise<File>;
  /** Newest first. */
  list(query?: FilesQuery): Promise<File[]>;
  addTag(id: number, tag: string, options?: OnceOptions): Promise<void>;
  deleteTag(id: number, tag: string): Promise<void>;
  delete(id: number, options?: OnceOptions): Promise<void>;
}

/** Fields that every file has. */
export const FILE = { id: 'number', name: 'string' } as const;

/** Creates all operations except those that transfer the content of files. */
export function createFileOperations(api: ApiCore): FileOperations {
  return {
    async prepare(body) {
      const json = await api.call({ method: 'POST', path: 'files/prepare', body });
      return shaped<File>(json, 'file', FILE);
    },
    async detail(id, { credentials, signal } = {}) {
      const query = { federationToken: credentials === true ? true : undefined };
      const json = await api.call({ method: 'GET', path: path`files/${id}`, query, signal });
      return shaped<File>(json, 'file', { ...FILE, url: 'string', isSliced: 'boolean' });
    },
    list: async (query: FilesQuery = {}) =>
      listOf<File>(await api.call({ method: 'GET', path: 'files', query: { ...query } }), 'file', FILE),
    async addTag(id, tag, { key } = {}) {
      await api.call({ method: 'POST', path: path`files/${id}/tags`, body: { tag }, key });
    },
    async deleteTag(id, tag) {
      // A tag may have slashes, which belong to the path here.
      const escaped = tag.split('/').map(encodeURIComponent).join('/');
      await deleteOnce(api.call({ method: 'DELETE', path: path`files/${id}/tags/` + escaped }));
    },
    async delete(id, { key } = {}) {
      await deleteOnce(api.call({ method: 'DELETE', path: path`files/${id}`, key }));
    },
  };
}
