import { createReadiness } from '../../../../src/storage/server/care/readiness.ts';
import { noMetrics } from '../../../../src/storage/server/care/metrics.ts';
import { createAdmission } from '../../../../src/storage/server/care/admission.ts';
import { systemEnv, type Env } from '../../../../src/env.ts';
import { silentLog } from '../../../../src/log.ts';
import { createCatalogue } from '../../../../src/storage/server/catalogue/catalogue.ts';
import type { DataContext } from '../../../../src/storage/server/data-context.ts';
import { createObserver } from '../../../../src/storage/server/events/observer.ts';
import type { Queue } from '../../../../src/storage/server/jobs/queue/queue.ts';
import type { Meta } from '../../../../src/storage/server/meta/database.ts';
import { openProject } from '../../../../src/storage/server/meta/projects.ts';
import type { JobRow } from '../../../../src/storage/server/meta/tables.ts';
import { createFolderStore } from '../../../../src/storage/server/objects/folder-store.ts';
import { lazyEngine } from '../../../../src/storage/server/tables/lazy.ts';

/** A queue over new metadata, as a process of its own has it. */
export interface OpenQueue {
  readonly meta: Meta;
  readonly queue: Queue;
  close(): Promise<void>;
}

/** What a worker needs of a service that has no tables. */
export async function contextOf(
  { meta, queue }: Pick<OpenQueue, 'meta' | 'queue'>,
  env: Env = systemEnv,
): Promise<DataContext> {
  const objects = createFolderStore({
    directory: '/nonexistent',
    secret: systemEnv.randomBytes(32),
    endpoint: () => 'http://127.0.0.1',
    env,
    log: silentLog,
  });
  return {
    dir: '/nonexistent',
    meta,
    queue,
    project: await openProject(meta, env, { name: 'Test', region: 'us-east-1' }),
    catalogue: createCatalogue([]),
    keys: [],
    env,
    log: silentLog,
    publicUrl: undefined,
    observer: createObserver(meta, env, silentLog),
    metrics: noMetrics,
    admission: createAdmission(env, noMetrics),
    readiness: createReadiness(env, silentLog),
    objects,
    engine: lazyEngine(true, () => Promise.reject(new Error('Nothing here needs tables.'))),
    origin: () => '',
  };
}

export async function submit(open: OpenQueue, operation: string, lockKey?: string): Promise<JobRow> {
  const job = {
    branchId: 1,
    operation,
    params: { with: 'parameters' },
    runId: null,
    author: { creator_id: 1, creator_description: 'x' },
    ...(lockKey === undefined ? {} : { lockKey }),
  };
  const row = await open.meta.transaction().execute(async (tx) => await open.queue.submit(tx, job));
  open.queue.wake('storage');
  return row;
}
