import type { Bucket, BucketCreate, Table } from '../protocol/index.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { readJob } from './job.ts';
import type { Jobs } from './jobs.ts';
import { metadataAt, type Metadata } from './metadata.ts';
import type { OnceOptions } from './client-options.ts';
import { deleteOnce, isOwnDoing, orUndefined } from './repeated.ts';
import { listOf, shaped } from './shape.ts';

/** A bucket with its tables. */
export type BucketDetail = Bucket & { readonly tables?: readonly Omit<Table, 'bucket'>[] };

/** Operations on buckets. */
export interface Buckets {
  list(query?: { readonly include?: readonly string[] | undefined }): Promise<Bucket[]>;
  detail(id: string): Promise<BucketDetail>;
  /** The bucket; undefined when there is none. */
  find(id: string): Promise<BucketDetail | undefined>;
  /** `name` without its `c-`; the id is then `<stage>.c-<name>`. */
  create(bucket: BucketCreate, options?: OnceOptions): Promise<Bucket>;
  update(
    id: string,
    changes: { readonly displayName?: string | undefined; readonly color?: string | undefined },
  ): Promise<Bucket>;
  /** Deletes a bucket; one with tables needs `force`. */
  delete(id: string, options?: { readonly force?: boolean | undefined }): Promise<void>;
  metadata(id: string): Metadata;
}

const FIELDS = { id: 'string', name: 'string', stage: 'string' } as const;

export function createBuckets(api: ApiCore, jobs: Jobs): Buckets {
  const buckets: Buckets = {
    async list({ include } = {}) {
      const query = { include: include?.join(',') };
      return listOf<Bucket>(await api.call({ method: 'GET', path: 'buckets', query }), 'bucket', FIELDS);
    },
    async detail(id) {
      const json = await api.call({ method: 'GET', path: path`buckets/${id}` });
      const { tables, ...bucket } = shaped<Bucket & { tables?: unknown }>(json, 'bucket', FIELDS);
      // When it is the address of a list, that is not followed.
      const list = Array.isArray(tables) ? (tables as NonNullable<BucketDetail['tables']>) : undefined; // as it was parsed
      return list === undefined ? bucket : { ...bucket, tables: list };
    },
    find: async (id) => await orUndefined(buckets.detail(id)),
    async create(body, { key } = {}) {
      try {
        return shaped<Bucket>(
          await api.call({ method: 'POST', path: 'buckets', body, key }),
          'bucket',
          FIELDS,
        );
      } catch (error) {
        if (!isOwnDoing(error, /alreadyExists$/i)) throw error;
        return await buckets.detail(`${body.stage ?? 'in'}.c-${body.name}`);
      }
    },
    update: async (id, body) =>
      shaped<Bucket>(await api.call({ method: 'PUT', path: path`buckets/${id}`, body }), 'bucket', FIELDS),
    async delete(id, { force } = {}) {
      const query = { force, async: true };
      const json = await deleteOnce(api.call({ method: 'DELETE', path: path`buckets/${id}`, query }));
      if (json !== undefined) await jobs.wait(readJob(json));
    },
    metadata: (id) => metadataAt(api, path`buckets/${id}/`),
  };
  return buckets;
}
