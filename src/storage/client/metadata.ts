import type { MetadataItem } from '../protocol/index.ts';
import type { ApiCore, ApiCall } from './api-core.ts';
import { path } from './encode.ts';
import type { OnceOptions } from './client-options.ts';
import { deleteOnce } from './repeated.ts';
import { listOf } from './shape.ts';

/** One thing that is noted. */
export interface MetadataPair {
  readonly key: string;
  readonly value: string;
}

/** Metadata of one bucket, table, column, configuration or branch. */
export interface Metadata {
  list(): Promise<MetadataItem[]>;
  /**
   * Sets the given items, keeps the rest, returns all. `provider` names their author: needed but for configurations and
   * branches.
   */
  set(pairs: readonly MetadataPair[], provider?: string, options?: OnceOptions): Promise<MetadataItem[]>;
  delete(id: string): Promise<void>;
}

const FIELDS = { id: 'id', key: 'string' } as const;

/** @param at path of the resource with a slash at the end, escaped */
export function metadataAt(api: ApiCore, at: string, scope?: ApiCall['scope']): Metadata {
  return {
    list: async () =>
      listOf<MetadataItem>(
        await api.call({ method: 'GET', path: `${at}metadata`, scope }),
        'metadata',
        FIELDS,
      ),
    async set(metadata, provider, { key } = {}) {
      const json = await api.call({
        method: 'POST',
        path: `${at}metadata`,
        scope,
        body: { provider, metadata },
        key,
      });
      // Those of a table come with those of its columns.
      const list = typeof json === 'object' && json !== null && 'metadata' in json ? json.metadata : json;
      return listOf<MetadataItem>(list, 'metadata', FIELDS);
    },
    async delete(id) {
      await deleteOnce(api.call({ method: 'DELETE', path: `${at}metadata/${path`${id}`}`, scope }));
    },
  };
}
