import { createReadiness } from '../../../../src/service/platform/health/readiness.ts';
import { noMetrics } from '../../../../src/service/platform/health/metrics.ts';
import { systemEnv, type Env } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { createCatalogue } from '../../../../src/service/domain/catalogue/catalogue.ts';
import type { DataContext } from '../../../../src/service/domain/data-context.ts';
import { createObserver } from '../../../../src/service/domain/events/observer.ts';
import type { Queue } from '../../../../src/service/stores/queue/queue.ts';
import type { Meta } from '../../../../src/service/stores/metadata/database.ts';
import { openProject } from '../../../../src/service/stores/metadata/projects.ts';
import type { JobRow } from '../../../../src/service/stores/metadata/tables.ts';
import { createFolderStore } from '../../../../src/service/stores/objects/folder-store.ts';
import { lazyEngine } from '../../../../src/service/stores/tables/lazy.ts';

/** A queue over new metadata, as a process of its own has it. */
export interface OpenQueue {
  readonly meta: Meta;
  readonly queue: Queue;
  close(): Promise<void>;
}

/** Creates the context of a worker for a service without tables. */
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
