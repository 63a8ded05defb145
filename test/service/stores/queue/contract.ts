import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { badRequest } from '../../../../src/service/domain/api-error.ts';
import type { Done, Operation } from '../../../../src/service/domain/jobs/operations/operation.ts';
import { createWorker, type Worker, type WorkerOptions } from '../../../../src/service/domain/jobs/worker.ts';
import type { Meta } from '../../../../src/service/stores/metadata/database.ts';
import { findJob } from '../../../../src/service/stores/metadata/jobs.ts';
import { openProject } from '../../../../src/service/stores/metadata/projects.ts';
import type { JobRow } from '../../../../src/service/stores/metadata/tables.ts';
import { isHeld, renewLeases } from '../../../../src/service/stores/metadata/leases.ts';

import { runContract } from './run-contract.ts';
import { contextOf, submit, type OpenQueue } from './support.ts';

/** Every queue does this. @param open another one over the same metadata each time it is called */
export function queueContract(name: string, open: () => Promise<OpenQueue>, end: () => Promise<void>): void {
  describe(name, () => {
    let here: OpenQueue;
    const opened: OpenQueue[] = [];
    const workers: Worker[] = [];
    beforeEach(async () => {
      here = await another();
    });
    afterEach(async () => {
      for (const worker of workers.splice(0)) await worker.stop(0);
      for (const each of opened.splice(0)) await each.close();
      await end();
    });

    async function another(): Promise<OpenQueue> {
      const made = await open();
      opened.push(made);
      await openProject(made.meta, systemEnv, { name: 'Test', region: 'us-east-1' });
      return made;
    }

    async function work(
      operations: Record<string, Operation>,
      options: Partial<WorkerOptions> = {},
      on = here,
    ): Promise<Worker> {
      const context = await contextOf(on);
      const worker = createWorker(() => context, { operations, pollMs: 50, checkMs: 50, ...options });
      workers.push(worker);
      await worker.start();
      return worker;
    }

    const rowOf = async ({ id }: JobRow): Promise<JobRow | undefined> => await findJob(here.meta, id);
    const statusOf = async (job: JobRow): Promise<string | undefined> => (await rowOf(job))?.status;
    const errorOf = async (job: JobRow): Promise<unknown> => JSON.parse((await rowOf(job))?.error ?? 'null');

    test('jobs of one key run in order, one at a time; those of others beside them', async () => {
      const order: number[] = [];
      const running = new Map<string | null, number>();
      let most = 0;
      let together = 0;
      const slow: Operation = async (job) => {
        running.set(job.lock_key, (running.get(job.lock_key) ?? 0) + 1);
        together = Math.max(together, running.get(job.lock_key) ?? 0);
        most = Math.max(most, [...running.values()].filter((count) => count > 0).length);
        await systemEnv.sleep(10);
        order.push(job.id);
        running.set(job.lock_key, (running.get(job.lock_key) ?? 0) - 1);
        return { results: null };
      };
      const jobs: JobRow[] = [];
      for (const key of ['a', 'a', 'b', 'a', 'c', 'd', 'b']) jobs.push(await submit(here, 'slow', key));
      await work({ slow }, { concurrency: 3 });
      await expect.poll(() => order.length).toBe(jobs.length);
      const idsOf = (key: string): number[] => jobs.filter((job) => job.lock_key === key).map(({ id }) => id);
      for (const key of ['a', 'b']) expect(order.filter((id) => idsOf(key).includes(id))).toEqual(idsOf(key));
      expect(together).toBe(1);
      expect(most).toBeLessThanOrEqual(3);
    });

    test('keys take turns: one job does not wait behind all those of another key', async () => {
      const [first, second, third] = [
        await submit(here, 'work', 'a'),
        await submit(here, 'work', 'a'),
        await submit(here, 'work', 'a'),
      ];
      const [other, alone] = [await submit(here, 'work', 'b'), await submit(here, 'work')];
      const order: number[] = [];
      await work({ work: async ({ id }) => (order.push(id), await done()) }, { concurrency: 1 });
      await expect.poll(() => order.length).toBe(5);
      expect(order).toEqual([first, other, alone, second, third].map(({ id }) => id));
    });

    test('a job whose transaction is undone was never there', async () => {
      const undone = here.meta.transaction().execute(async (tx) => {
        const author = { creator_id: 1, creator_description: 'x' };
        const rest = { branchId: 1, params: {}, runId: null, author };
        await here.queue.submit(tx, { operation: 'work', lockKey: 'k', ...rest });
        throw new Error('undone');
      });
      await expect(undone).rejects.toThrow('undone');
      const after = await submit(here, 'work', 'k');
      const seen: number[] = [];
      await work({ work: async (job) => (seen.push(job.id), { results: null }) });
      await expect.poll(async () => await statusOf(after)).toBe('success');
      expect(seen).toEqual([after.id]);
    });

    test('a worker takes the jobs of its own queue', async () => {
      const other = await here.meta.transaction().execute(
        async (tx) =>
          await here.queue.submit(tx, {
            queue: 'upkeep',
            branchId: 1,
            operation: 'work',
            params: {},
            runId: null,
            author: { creator_id: 1, creator_description: 'x' },
          }),
      );
      const mine = await submit(here, 'work');
      await work({ work: done });
      await expect.poll(async () => await statusOf(mine)).toBe('success');
      expect(await statusOf(other)).toBe('waiting');
      await work({ work: done }, { queue: 'upkeep' });
      await expect.poll(async () => await statusOf(other)).toBe('success');
    });

    test('a job that waits is cancelled, and the next of its key runs', async () => {
      const job = await submit(here, 'work', 'k');
      const next = await submit(here, 'work', 'k');
      expect(await here.queue.cancel(job.id, '{"code":"x"}')).toBe('waiting');
      await work({ work: done });
      await expect.poll(async () => await statusOf(next)).toBe('success');
      expect(await rowOf(job)).toMatchObject({ status: 'error', error: '{"code":"x"}', attempt: 0 });
      expect(await here.queue.cancel(job.id, '{}')).toBeUndefined();
    });

    test('a job at work is told to end, and ends as cancelled', async () => {
      const job = await submit(here, 'long', 'k');
      const next = await submit(here, 'work', 'k');
      await work({ long, work: done }, { leaseMs: 300 });
      await expect.poll(async () => await statusOf(job)).toBe('processing');
      // By a process that has no worker.
      expect(await (await another()).queue.cancel(job.id, '')).toBe('processing');
      await expect.poll(async () => await statusOf(next)).toBe('success');
      expect(await errorOf(job)).toMatchObject({ code: 'storage.jobs.cancelled' });
    });

    test('a worker that stops hands on what it cannot end, and another takes it at once', async () => {
      const job = await submit(here, 'work');
      const next = await another();
      let isHeard = false;
      const endless: Operation = async (_, { env }, signal) => {
        signal.addEventListener('abort', () => (isHeard = true));
        // It does not listen.
        await env.sleep(2000);
        return { results: 'late' };
      };
      // Nobody waits for the end of a lease here.
      const first = await work({ work: endless }, { leaseMs: 3_600_000 });
      await expect.poll(async () => await statusOf(job)).toBe('processing');
      await first.stop(0);
      expect(isHeard).toBe(true);
      await work({ work: done }, { leaseMs: 3_600_000 }, next);
      await expect.poll(async () => await statusOf(job)).toBe('success');
      // The release did not count as an attempt.
      expect(await rowOf(job)).toMatchObject({ attempt: 1, results: '{}' });
    });

    test('a worker whose lease is over is told so, and writes nothing', async () => {
      const job = await submit(here, 'work');
      const next = await another();
      const asleep = { ...here.queue, renew: async () => await Promise.resolve([]) };
      let isHeard = false;
      let isOver = false;
      const late: Operation = async (_job, _context, signal) => {
        signal.addEventListener('abort', () => (isHeard = true));
        await expect.poll(async () => await statusOf(job)).toBe('success');
        isOver = true;
        return { results: 'late', commit: async (tx) => await countLate(tx) };
      };
      await work({ work: late }, { leaseMs: 300, concurrency: 1 }, { ...here, queue: asleep });
      await expect.poll(async () => await statusOf(job)).toBe('processing');
      await work({ work: done }, {}, next);
      await expect.poll(() => isOver).toBe(true);
      expect(isHeard).toBe(true);
      for (const worker of workers.splice(0)) await worker.stop(5000);
      expect(await rowOf(job)).toMatchObject({ status: 'success', results: '{}', attempt: 2 });
      const counted = here.meta.selectFrom('counters').select('name').where('name', '=', 'late');
      expect(await counted.executeTakeFirst()).toBeUndefined();
    });

    test('a worker whose number was given again by a standby that takes over writes nothing', async () => {
      await submit(here, 'work', 'k');
      const [lost] = await here.queue.take('storage', { worker: 'lost', leaseMs: 60_000 }, 1);
      if (lost === undefined) throw new Error('There is a job to take.');
      // The turn of the other one is the first that the standby knows.
      await here.meta.updateTable('jobs').set({ worker: 'next' }).where('id', '=', lost.id).execute();
      const end = { status: 'success', results: null, error: null, metrics: '{}' } as const;
      expect(await isHeld(here.meta, lost)).toBe(false);
      expect(await here.queue.finish(here.meta, lost, end)).toBe(false);
      expect(await here.queue.giveBack(lost, 'interrupted')).toBe(false);
      expect(await here.queue.finish(here.meta, { ...lost, worker: 'next' }, end)).toBe(true);
    });

    test('what comes of a turn that is over does nothing to the next one', async () => {
      const job = await submit(here, 'work', 'k');
      const take = async (worker: string): Promise<JobRow> => {
        const [taken] = await here.queue.take('storage', { worker, leaseMs: 60_000 }, 1);
        if (taken === undefined) throw new Error('There is a job to take.');
        return taken;
      };
      const end = { status: 'success', results: null, error: null, metrics: '{}' } as const;
      const finish = async (turn: JobRow): Promise<boolean> =>
        await here.meta.transaction().execute(async (tx) => await here.queue.finish(tx, turn, end));
      const first = await take('first');
      expect(await here.queue.giveBack(first, 'interrupted')).toBe(true);
      const second = await take('second');
      expect(second).toMatchObject({ id: job.id, attempt: 2 });
      expect(await finish(first)).toBe(false);
      expect(await here.queue.giveBack(first, 'retried')).toBe(false);
      expect(await here.queue.renew({ worker: 'first', leaseMs: 600_000 }, [job.id])).toEqual([]);
      // As when the job changes hands between the look and the writing.
      await renewLeases(here.meta, { worker: 'first', until: '2999-01-01T00:00:00Z' }, [job.id]);
      expect(await rowOf(job)).toEqual(second);
      expect(await finish(second)).toBe(true);
    });

    test('a job that is given up is shown, with all it needs, and can be given again', async () => {
      const job = await submit(here, 'work', 'k');
      const next = await submit(here, 'work', 'k');
      // Workers that die of it.
      for (let death = 1; death <= 2; death++) {
        const [taken] = await here.queue.take('storage', { worker: 'dead', leaseMs: -1 }, 1);
        if (taken === undefined) throw new Error('There is a job to take.');
        expect(taken).toMatchObject({ id: job.id, attempt: death });
        if (death === 1) expect(await here.queue.giveBack(taken, 'interrupted')).toBe(true);
      }
      await work({ work: done }, { maxInterruptions: 2 });
      await expect.poll(async () => await statusOf(next)).toBe('success');
      expect(await rowOf(job)).toMatchObject({
        status: 'error',
        is_given_up: 1,
        params: '{"with":"parameters"}',
      });
      expect(await errorOf(job)).toMatchObject({ code: 'storage.jobs.interrupted' });
      expect(await here.queue.retry(next.id)).toBeUndefined();
      expect(await here.queue.retry(job.id)).toMatchObject({ status: 'waiting' });
      await expect.poll(async () => await statusOf(job)).toBe('success');
      expect(await rowOf(job)).toMatchObject({ attempt: 1, error: null, is_given_up: 0 });
    });

    runContract(() => here, another);

    test('what was asked for wrongly fails at once, and is not to be given again', async () => {
      const job = await submit(here, 'work');
      await work({ work: () => Promise.reject(badRequest('storage.some', 'What is wrong')) });
      await expect.poll(async () => await statusOf(job)).toBe('error');
      expect(await rowOf(job)).toMatchObject({ attempt: 1, is_given_up: 0 });
      expect(await here.queue.retry(job.id)).toBeUndefined();
    });
  });
}

const done = async (): Promise<Done> => await Promise.resolve({ results: {} });

/** Listens to its signal. */
const long: Operation = async (_, { env }, signal) => {
  await env.sleep(600_000, signal);
  return { results: null };
};

async function countLate(tx: Meta): Promise<void> {
  await tx.insertInto('counters').values({ name: 'late', value: 1 }).execute();
}
