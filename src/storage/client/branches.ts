import type { Branch } from '../protocol/index.ts';
import type { ApiCore } from './api-core.ts';
import { path } from './encode.ts';
import { readJob } from './job.ts';
import type { Jobs } from './jobs.ts';
import { metadataAt, type Metadata } from './metadata.ts';
import { deleteOnce } from './repeated.ts';
import { listOf, shaped } from './shape.ts';

/** Development branches; making and deleting one is a job, and waited for. */
export interface Branches {
  list(): Promise<Branch[]>;
  detail(id: number): Promise<Branch>;
  create(branch: { readonly name: string; readonly description?: string | undefined }): Promise<Branch>;
  update(
    id: number,
    changes: { readonly name?: string | undefined; readonly description?: string | undefined },
  ): Promise<Branch>;
  delete(id: number): Promise<void>;
  /** Metadata of the branch of the client. */
  readonly metadata: Metadata;
}

const FIELDS = { id: 'number', name: 'string' } as const;

export function createBranches(api: ApiCore, jobs: Jobs): Branches {
  const scope = 'plain';
  const branches: Branches = {
    list: async () =>
      listOf<Branch>(await api.call({ method: 'GET', path: 'dev-branches', scope }), 'branch', FIELDS),
    async detail(id) {
      const json = await api.call({ method: 'GET', path: path`dev-branches/${id}`, scope });
      return shaped<Branch>(json, 'branch', FIELDS);
    },
    async create(body) {
      const json = await api.call({ method: 'POST', path: 'dev-branches', body, scope, isOnce: true });
      const { results } = await jobs.wait(readJob(json));
      // As it was parsed.
      return shaped<Branch>(results as Parameters<typeof shaped>[0], 'branch', FIELDS);
    },
    async update(id, body) {
      const json = await api.call({ method: 'PUT', path: path`dev-branches/${id}`, body, scope });
      return shaped<Branch>(json, 'branch', FIELDS);
    },
    async delete(id) {
      const json = await deleteOnce(
        api.call({ method: 'DELETE', path: path`dev-branches/${id}`, scope, isOnce: true }),
      );
      if (json !== undefined) await jobs.wait(readJob(json));
    },
    metadata: metadataAt(api, '', 'branch'),
  };
  return branches;
}
