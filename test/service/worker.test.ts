import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isoTime } from '../../src/lib/iso-time.ts';
import { systemEnv } from '../../src/lib/env.ts';
import { silentLog } from '../../src/lib/log.ts';
import { noMetrics } from '../../src/service/platform/health/metrics.ts';
import { createReadiness } from '../../src/service/platform/health/readiness.ts';
import { createCatalogue } from '../../src/service/domain/catalogue/catalogue.ts';
import type { DataContext } from '../../src/service/domain/data-context.ts';
import { badRequest } from '../../src/service/domain/api-error.ts';
import type { Meta } from '../../src/service/stores/metadata/database.ts';
import { findJob } from '../../src/service/stores/metadata/jobs.ts';
import { finishJob, renewLeases, requeueJob, takeJobs } from '../../src/service/stores/metadata/leases.ts';
import { createObserver } from '../../src/service/domain/events/observer.ts';
import { openProject } from '../../src/service/stores/metadata/projects.ts';
import type { JobRow } from '../../src/service/stores/metadata/tables.ts';
import { createFolderStore } from '../../src/service/stores/objects/folder-store.ts';
import { markOf, type Operation } from '../../src/service/domain/jobs/operations/operation.ts';
import { EMBEDDED } from '../../src/service/stores/queue/pace.ts';
import { createQueue } from '../../src/service/stores/queue/queue.ts';
import { lazyEngine } from '../../src/service/stores/tables/lazy.ts';
import { createWorker, type Worker, type WorkerOptions } from '../../src/service/domain/jobs/worker.ts';
import { waitForJob } from '../../src/service/http/enqueue-job.ts';
import { forgetDatabase, isOnPostgres, metaOf } from './database.ts';

const GRACE_MS = 12_345;

let dir: string;
let meta: Meta;
let context: DataContext;
const workers: Worker[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'worker-'));
  meta = await metaOf(dir);
  const project = await openProject(meta, systemEnv, { name: 'Test', region: 'us-east-1' });
  const objects = createFolderStore({
    directory: join(dir, 'objects'),
    secret: systemEnv.randomBytes(32),
    endpoint: () => 'http://127.0.0.1',
    env: systemEnv,
    log: silentLog,
  });
  context = {
    dir,
    meta,
    project,
    catalogue: createCatalogue([]),
    keys: [],
    env: systemEnv,
    log: silentLog,
    publicUrl: undefined,
    metrics: noMetrics,
    readiness: createReadiness(systemEnv, silentLog),
    observer: createObserver(meta, systemEnv, silentLog),
    objects,
    engine: lazyEngine(false, () => Promise.reject(new Error('Nothing here needs tables.'))),
    origin: () => '',
    queue: createQueue(meta, systemEnv, EMBEDDED),
  };
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(0);
  await meta.destroy();
  await rm(dir, { recursive: true, force: true });
  await forgetDatabase(dir);
});

async function countLate(tx: Meta): Promise<void> {
  await tx.insertInto('counters').values({ name: 'late', value: 1 }).execute();
}

function workerOf(operations: Record<string, Operation>, options: Partial<WorkerOptions> = {}): Worker {
  const worker = createWorker(() => context, { operations, pollMs: 20, ...options });
  workers.push(worker);
  return worker;
}

async function submit(operation: string, lockKey?: string): Promise<JobRow> {
  const job = {
    branchId: 1,
    operation,
    params: {},
    runId: null,
    author: { creator_id: 1, creator_description: 'x' },
    ...(lockKey === undefined ? {} : { lockKey }),
  };
  return await meta.transaction().execute(async (tx) => await context.queue.submit(tx, job));
}

const lease = (worker: string, until = systemEnv.now() + 60_000) => ({
  worker,
  now: isoTime(systemEnv.now()),
  until: isoTime(until),
});
const takeJob = async (by: ReturnType<typeof lease>) =>
  (await takeJobs(meta, { queue: 'storage', count: 1 }, by))[0];
const statusOf = async ({ id }: JobRow) => (await findJob(meta, id))?.status;
const done: Operation = async () => Promise.resolve({ results: {} });

describe('the queue', () => {
  test('jobs with one lock run in order, others beside them up to the limit', async () => {
    const running = new Set<number>();
    let most = 0;
    const order: number[] = [];
    const slow: Operation = async (job) => {
      running.add(job.id);
      most = Math.max(most, running.size);
      // Until so many have been at work at once; a busy machine takes them from the queue slowly.
      await expect.poll(() => most).toBe(3);
      order.push(job.id);
      running.delete(job.id);
      return { results: null };
    };
    const jobs: JobRow[] = [];
    for (const lock of ['a', 'a', 'b', 'a', 'c', 'd', 'b']) jobs.push(await submit('slow', lock));
    await workerOf({ slow }, { concurrency: 3 }).start();
    await expect.poll(() => order.length).toBe(jobs.length);
    const idsOf = (lock: string) => jobs.filter(({ lock_key }) => lock_key === lock).map(({ id }) => id);
    for (const lock of ['a', 'b']) {
      expect(order.filter((id) => idsOf(lock).includes(id))).toEqual(idsOf(lock));
    }
    expect(most).toBe(3);
  });

  test('a request that waits for a job looks again when the worker of its process has ended it', async () => {
    const patient = {
      ...context,
      // A pause ends by the news alone.
      env: {
        ...systemEnv,
        sleep: async (_ms: number, signal?: AbortSignal) =>
          await new Promise<void>((_, reject) => {
            if (signal?.aborted === true) reject(new Error('over'));
            signal?.addEventListener('abort', () => reject(new Error('over')));
          }),
      },
    };
    const [well, wrong, cancelled] = [await submit('done'), await submit('wrong'), await submit('done')];
    const jobs = [well, wrong, cancelled].map(async ({ id }) => await waitForJob(patient, id, 60_000));
    expect(await context.queue.cancel(cancelled.id, '{}')).toBe('waiting');
    expect((await jobs[2])?.status).toBe('error');
    await workerOf({ done, wrong: () => Promise.reject(new Error('x')) }, { concurrency: 1 }).start();
    expect((await Promise.all(jobs)).map((job) => job?.status)).toEqual(['success', 'error', 'error']);
  });

  test('an error that is foreseen is shown, another goes to the log under its id', async () => {
    const shown = await submit('shown');
    const hidden = await submit('hidden');
    const unknown = await submit('no-such-operation');
    const worker = workerOf({
      shown: () => Promise.reject(badRequest('storage.some', 'What is wrong')),
      hidden: () => Promise.reject(new Error('secret detail')),
    });
    await worker.start();
    for (const each of [shown, hidden, unknown])
      await expect.poll(async () => await statusOf(each)).toBe('error');
    expect(JSON.parse((await findJob(meta, shown.id))?.error ?? '')).toMatchObject({
      code: 'storage.some',
      message: 'What is wrong',
    });
    const error = (await findJob(meta, hidden.id))?.error ?? '';
    expect(JSON.parse(error)).toMatchObject({
      code: 'internalError',
      exceptionId: expect.any(String) as unknown,
    });
    expect(error).not.toContain('secret');
  });

  test('a change of the metadata that fails fails the job, and what was done is taken back', async () => {
    const job = await submit('change');
    let isUndone = false;
    const change: Operation = () =>
      Promise.resolve({
        results: null,
        commit: () => Promise.reject(badRequest('storage.gone', 'The bucket is gone')),
        undo: () => {
          isUndone = true;
          return Promise.resolve();
        },
      });
    await workerOf({ change }).start();
    await expect.poll(async () => await statusOf(job)).toBe('error');
    expect(isUndone).toBe(true);
  });
});

/** The file of the metadata may not grow beyond so many pages, or beyond what it has. */
const limit = (pages: number) => meta.executeQuery(CompiledQuery.raw(`PRAGMA max_page_count = ${pages}`));

// A limit of the pages of SQLite.
describe.runIf(!isOnPostgres)('a full disk', () => {
  let tries = 0;
  const large = async (tx: Meta): Promise<void> => {
    tries++;
    await tx
      .updateTable('projects')
      .set({ name: 'x'.repeat(100_000) })
      .execute();
  };
  test('work that cannot be taken back is not called an error: its end waits for room', async () => {
    tries = 0;
    const job = await submit('load');
    await limit(1);
    await workerOf({ load: () => Promise.resolve({ results: {}, commit: large }) }).start();
    await expect.poll(() => tries).toBeGreaterThan(2);
    expect(await statusOf(job)).toBe('processing');
    await limit(1_000_000);
    await expect.poll(async () => await statusOf(job)).toBe('success');
  });

  test('work that can be taken back is, and says why', async () => {
    let isUndone = false;
    const job = await submit('load');
    await limit(1);
    const undo = async (): Promise<void> => Promise.resolve(void (isUndone = true));
    await workerOf({ load: () => Promise.resolve({ results: {}, commit: large, undo }) }).start();
    await expect.poll(async () => await statusOf(job)).toBe('error');
    expect(isUndone).toBe(true);
    expect((await findJob(meta, job.id))?.error).toContain('storage.diskFull');
  });
});

describe('an interrupted job', () => {
  test(
    'whose end could not be written down is run again when its lease is over',
    { tags: 'thorough' },
    async () => {
      const job = await submit('work');
      let runs = 0;
      let ahead = 0;
      const failures: string[] = [];
      const env = { ...systemEnv, now: () => systemEnv.now() + ahead };
      const queue = createQueue(meta, env, EMBEDDED);
      let refused = 0;
      context = {
        ...context,
        env,
        // The disk of the metadata fails for a while: neither a result nor an error can be kept.
        queue: {
          ...queue,
          async finish(...given) {
            if (refused === 2) return await queue.finish(...given);
            refused++;
            throw new Error('The disk failed.');
          },
        },
        log: { ...silentLog, error: (text) => void failures.push(text) },
      };
      const work: Operation = async () => {
        runs++;
        return await Promise.resolve({ results: null });
      };
      await workerOf({ work }, { leaseMs: 3_600_000 }).start();
      await expect.poll(() => refused).toBe(2);
      await expect.poll(() => failures).toContain('Job queue unavailable');
      expect(await statusOf(job)).toBe('processing');
      ahead = 3_600_001;
      // There it is the time of the database that counts.
      if (isOnPostgres)
        await meta
          .updateTable('jobs')
          .set({ lease_until: isoTime(0) })
          .execute();
      await expect.poll(async () => await statusOf(job)).toBe('success');
      expect(runs).toBe(2);
    },
  );

  test('of an earlier process is run again at once', async () => {
    const job = await submit('work');
    await takeJob(lease('dead'));
    await workerOf({ work: done }).start();
    await expect
      .poll(async () => await findJob(meta, job.id))
      .toMatchObject({ status: 'success', attempt: 2 });
  });

  test('that has ended its process three times is given up, and the next one of its lock runs', async () => {
    const job = await submit('work', 'table');
    const next = await submit('work', 'table');
    for (let attempt = 1; attempt <= 3; attempt++) {
      const taken = await takeJob(lease('dead'));
      expect(taken?.id).toBe(job.id);
      if (attempt < 3)
        await meta.updateTable('jobs').set({ status: 'waiting' }).where('id', '=', job.id).execute();
    }
    await workerOf({ work: done }).start();
    await expect.poll(async () => await statusOf(next)).toBe('success');
    const given = await findJob(meta, job.id);
    expect(given?.status).toBe('error');
    expect(JSON.parse(given?.error ?? '')).toMatchObject({ code: 'storage.jobs.interrupted' });
  });

  test('that has ended its process three times, but has loaded its rows, is run to its end', async () => {
    const job = await submit('work');
    await meta
      .updateTable('jobs')
      .set({ table_id: 'in.c-main.t', status: 'processing', attempt: 3 })
      .where('id', '=', job.id)
      .execute();
    const outcome = {
      importedColumns: ['id'],
      newColumns: [],
      importedRows: 1,
      importedBytes: 1,
      totalRows: 1,
      totalBytes: 1,
      columns: ['id'],
      primaryKey: [],
    };
    const describe = async () => ({
      columns: ['id'],
      primaryKey: [],
      rows: 1,
      bytes: 1,
      lastImport: { mark: markOf(job), outcome },
    });
    context = { ...context, engine: { ...context.engine, describe } };
    await workerOf({ work: done }).start();
    await expect.poll(async () => await statusOf(job)).toBe('success');
  });

  test('of a shared engine is left alone while its lease holds, and taken when it is over', async () => {
    context = { ...context, engine: { ...context.engine, isShared: true } };
    const held = await submit('work');
    const lost = await submit('work');
    await takeJob(lease('alive'));
    await takeJob(lease('dead', systemEnv.now() - 1));
    await workerOf({ work: done }).start();
    await expect.poll(async () => await statusOf(lost)).toBe('success');
    expect(await statusOf(held)).toBe('processing');
  });

  test('whose first worker comes back late is not ended by it', async () => {
    const job = await submit('work');
    const first = await takeJob(lease('late', systemEnv.now() - 1));
    await workerOf({ work: done }).start();
    await expect.poll(async () => await statusOf(job)).toBe('success');
    const end = { status: 'error', results: null, error: '{}', metrics: '{}' } as const;
    expect(await finishJob(meta, first ?? job, end, isoTime(0))).toBe(false);
    expect(await statusOf(job)).toBe('success');
  });

  test('whose first worker comes back while another is at work is left to that one', async () => {
    await submit('work');
    const first = await takeJob(lease('late'));
    if (first === undefined) throw new Error('There is a job to take.');
    await requeueJob(meta, first, 'interrupted');
    const second = await takeJob(lease('next'));
    const end = { status: 'success', results: '"late"', error: null, metrics: '{}' } as const;
    expect(await finishJob(meta, first, end, isoTime(0))).toBe(false);
    await requeueJob(meta, first, 'interrupted');
    expect(await findJob(meta, first.id)).toMatchObject({ status: 'processing', worker: 'next' });
    expect(await finishJob(meta, second ?? first, end, isoTime(0))).toBe(true);
  });

  test('has another number each time it is given and taken, and ends once', async () => {
    const job = await submit('work', 'table');
    await submit('work', 'table');
    const numbers = [job.fencing];
    const first = await takeJob(lease('one'));
    // One of its lock is at work, so the next one waits.
    expect(await takeJob(lease('two'))).toBeUndefined();
    if (first === undefined) throw new Error('There is a job to take.');
    numbers.push(first.fencing);
    await requeueJob(meta, first, 'interrupted');
    numbers.push((await findJob(meta, job.id))?.fencing ?? 0);
    const second = await takeJob(lease('two'));
    numbers.push(second?.fencing ?? 0);
    expect(numbers).toEqual([0, 1, 2, 3]);
    const end = { status: 'success', results: null, error: null, metrics: '{}' } as const;
    expect(await finishJob(meta, second ?? first, end, isoTime(0))).toBe(true);
    expect(await finishJob(meta, second ?? first, { ...end, status: 'error' }, isoTime(0))).toBe(false);
    expect(await statusOf(job)).toBe('success');
  });

  test('that was given to another while it ran leaves nothing of what it committed', async () => {
    const job = await submit('work');
    let runs = 0;
    const work: Operation = async (taken) => {
      runs++;
      if (runs > 1) return { results: null };
      await requeueJob(meta, taken, 'interrupted');
      return { results: null, commit: countLate };
    };
    await workerOf({ work }).start();
    await expect.poll(async () => await statusOf(job)).toBe('success');
    expect(runs).toBe(2);
    const late = meta.selectFrom('counters').select('name').where('name', '=', 'late');
    expect(await late.executeTakeFirst()).toBeUndefined();
  });

  test('is kept by its own worker alone, and by its jobs alone', async () => {
    const job = await submit('work');
    const other = await submit('work');
    await takeJob(lease('mine', 1000));
    await takeJob(lease('mine', 1000));
    await renewLeases(meta, lease('another', 9000), [job.id]);
    expect((await findJob(meta, job.id))?.lease_until).toBe(new Date(1000).toISOString());
    await renewLeases(meta, lease('mine', 9000), [job.id]);
    expect((await findJob(meta, job.id))?.lease_until).toBe(new Date(9000).toISOString());
    expect((await findJob(meta, other.id))?.lease_until).toBe(new Date(1000).toISOString());
  });

  test('a worker that stops lets jobs end for a while, then gives them back', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: stopping, resolve: stop } = Promise.withResolvers<void>();
    const quick = await submit('quick');
    const slow = await submit('slow');
    const sleep: typeof systemEnv.sleep = async (ms, signal) => {
      if (ms !== GRACE_MS) return await systemEnv.sleep(ms, signal);
      stop();
      await expect.poll(async () => await statusOf(quick)).toBe('success');
    };
    context = { ...context, env: { ...systemEnv, sleep } };
    const worker = workerOf({
      quick: async () => {
        await stopping;
        return { results: null };
      },
      slow: async () => {
        await released;
        return { results: null };
      },
    });
    await worker.start();
    await expect.poll(async () => await statusOf(slow)).toBe('processing');
    await worker.stop(GRACE_MS);
    expect(await statusOf(quick)).toBe('success');
    expect(await statusOf(slow)).toBe('waiting');
    release();
    // Its later calls are rejected.
    await systemEnv.sleep(20);
    expect(await statusOf(slow)).toBe('waiting');
  });
});
