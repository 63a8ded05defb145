import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../../../src/lib/env.ts';
import { silentLog, type Log } from '../../../../src/lib/log.ts';
import { openDatabase } from '../../../../src/service/platform/database/database.ts';
import { DatabaseUnavailable } from '../../../../src/service/platform/database/failures.ts';
import { createNowAndThen, type Chore } from '../../../../src/service/domain/jobs/recurring-jobs.ts';
import type { Operation } from '../../../../src/service/domain/jobs/operations/operation.ts';
import { openQueue } from '../../../../src/service/stores/queue/open.ts';
import { createWorker, type WorkerOptions } from '../../../../src/service/domain/jobs/worker.ts';
import { openMeta } from '../../../../src/service/stores/metadata/database.ts';
import { findJob } from '../../../../src/service/stores/metadata/jobs.ts';
import { takeJobs } from '../../../../src/service/stores/metadata/leases.ts';
import { openProject } from '../../../../src/service/stores/metadata/projects.ts';
import { databaseClock } from '../../../../src/service/stores/metadata/timestamp.ts';
import { insertSchedule } from '../../../../src/service/stores/metadata/schedules.ts';
import { runDue } from '../../../../src/service/domain/schedules/scheduler.ts';
import type { JobRow } from '../../../../src/service/stores/metadata/tables.ts';
import { ObjectError } from '../../../../src/service/stores/objects/errors.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from '../../database.ts';
import { queueContract } from './contract.ts';
import { contextOf, submit, type OpenQueue } from './support.ts';

let number = 0;

async function open(env: Env = systemEnv, log: Log = silentLog): Promise<OpenQueue> {
  const options = await databaseOf(`queue ${number}`);
  if (options === undefined) throw new Error('There is no server.');
  const database = await openDatabase(options, silentLog);
  const meta = await openMeta(database);
  return {
    meta,
    queue: await openQueue(meta, env, log),
    async close() {
      await meta.destroy();
      await database.close();
    },
  };
}

async function end(): Promise<void> {
  await forgetDatabase(`queue ${number}`);
  number++;
}

const KEY = { branch_id: 1, component_id: 'ex', configuration_id: 'a' };
const AUTHOR = { creator_id: 1, creator_description: 'x' };
const SCHEDULE = {
  ...KEY,
  ...AUTHOR,
  id: 1,
  cron: '* * * * *',
  time_zone: 'UTC',
  approved_version: null,
  approved_id: null,
  rows: '[]',
  is_enabled: 1,
  is_paused: 0,
  next_occurrence: null,
  last_occurrence: null,
  created: '',
} as const;

const done: Operation = () => Promise.resolve({ results: null });

describe.runIf(isOnPostgres)('over PostgreSQL', () => {
  queueContract('the queue of several processes', open, end);

  describe('what it does beyond', { tags: 'thorough' }, () => {
    let here: OpenQueue;
    const stops: (() => Promise<void>)[] = [];
    beforeEach(async () => {
      here = await open();
      await openProject(here.meta, systemEnv, { name: 'Test', region: 'us-east-1' });
    });
    afterEach(async () => {
      for (const stop of stops.splice(0).toReversed()) await stop();
      await here.close();
      await end();
    });

    async function work(
      operations: Record<string, Operation>,
      options: Partial<WorkerOptions> = {},
    ): Promise<void> {
      const context = await contextOf(here);
      const worker = createWorker(() => context, { operations, pollMs: 50, ...options });
      stops.push(async () => await worker.stop(0));
      await worker.start();
    }

    const rowOf = async ({ id }: JobRow): Promise<JobRow | undefined> => await findJob(here.meta, id);
    const away = new ObjectError('ServiceUnavailable', 'The object store cannot be reached.');

    test.each([
      ['the object store', away],
      ['the database', new DatabaseUnavailable('The database cannot be used now.')],
      [
        'what it waited for, in a deadlock,',
        Object.assign(new Error('deadlock detected'), { code: '40P01' }),
      ],
      ['space on the disk', new ObjectError('InsufficientStorage', 'The disk is full.')],
    ])(
      'a job for which %s is away is tried again after a while, before the next of its key',
      async (_, error) => {
        const job = await submit(here, 'work', 'k');
        const next = await submit(here, 'work', 'k');
        const begun: number[] = [];
        const flaky: Operation = async ({ id }) => {
          begun.push(id);
          if (begun.length <= 2) throw error;
          return await Promise.resolve({ results: null });
        };
        await work({ work: flaky });
        await expect.poll(async () => (await rowOf(next))?.status).toBe('success');
        expect(begun).toEqual([job.id, job.id, job.id, next.id]);
        expect(await rowOf(job)).toMatchObject({ status: 'success', attempt: 3, retries: 2, error: null });
      },
    );

    test('a job that was tried often enough is given up with its reason, and can be given again', async () => {
      const job = await submit(here, 'work', 'k');
      const next = await submit(here, 'work', 'k');
      const state = { isUnavailable: true };
      const needy: Operation = async ({ id }) => {
        if (state.isUnavailable && id === job.id) throw away;
        return await Promise.resolve({ results: null });
      };
      await work({ work: needy }, { maxRetries: 1 });
      await expect.poll(async () => (await rowOf(next))?.status).toBe('success');
      expect(await rowOf(job)).toMatchObject({ status: 'error', is_given_up: 1, attempt: 2, retries: 1 });
      expect(JSON.parse((await rowOf(job))?.error ?? '')).toMatchObject({
        code: 'storage.objectStoreUnavailable',
      });
      state.isUnavailable = false;
      await here.queue.retry(job.id);
      await expect.poll(async () => (await rowOf(job))?.status).toBe('success');
    });

    test('a job is found by a process that nobody tells of it', async () => {
      await work({ work: done });
      const other = await open();
      stops.push(async () => await other.close());
      const job = await submit(other, 'work');
      await expect.poll(async () => (await rowOf(job))?.status).toBe('success');
    });

    test('a job that is asked for while the one before it ends is not left behind', async () => {
      const take = async (): Promise<JobRow | undefined> =>
        (await here.queue.take('storage', { worker: 'w', leaseMs: 60_000 }, 1))[0];
      await submit(here, 'work', 'k');
      const first = await take();
      if (first === undefined) throw new Error('There is a job to take.');
      const end = { status: 'success', results: null, error: null, metrics: '{}' } as const;
      let next: JobRow | undefined;
      await here.meta.transaction().execute(async (tx) => {
        // It has looked for what waits behind it, and found none.
        await here.queue.finish(tx, first, end);
        next = await submit(here, 'work', 'k');
        expect(await take()).toBeUndefined();
      });
      expect(await take()).toMatchObject({ id: next?.id });
    });

    test('a chore is done by one process at a time, whenever it is due', async () => {
      const other = await open();
      stops.push(async () => await other.close());
      const running = { now: 0, most: 0, times: 0 };
      const chore: Chore = {
        name: 'chore',
        everyMs: 0,
        run: async (signal) => {
          running.times++;
          running.most = Math.max(running.most, ++running.now);
          await systemEnv.sleep(50, signal);
          running.now--;
        },
      };
      for (const each of [here, other]) {
        const context = await contextOf(each);
        const chores = createNowAndThen(() => context, [chore], 20);
        stops.push(async () => await chores.stop());
        await chores.start();
      }
      await expect.poll(() => running.times).toBeGreaterThan(3);
      expect(running.most).toBe(1);
      const rows = here.meta.selectFrom('jobs').select('id').where('ended', 'is not', null);
      expect((await rows.execute()).length).toBeLessThanOrEqual(2);
    });

    test('however many jobs wait for busy tables, the next of another is found without looking at them', async () => {
      await sql`insert into gex.jobs (id, queue, branch_id, operation, status, lock_key, params, metrics, created,
          attempt, fencing, creator_id, creator_description)
        select n, 'storage', 1, 'work', case when n <= 3 then 'processing' else 'waiting' end,
          case when n = 20000 then 'z' else 'k' || n % 3 end, '{}', '{}', '', 0, 0, 1, 'x'
        from generate_series(1, 20000) n`.execute(here.meta);
      const lease = { worker: 'w', now: databaseClock(0), until: databaseClock(60_000) };
      const [taken, looked] = await here.meta.transaction().execute(async (tx) => {
        const jobs = await takeJobs(tx, { queue: 'storage', count: 2 }, lease);
        const read = sql<{ n: number }>`select seq_tup_read + idx_tup_fetch as n from pg_stat_xact_user_tables
          where schemaname = 'gex' and relname = 'jobs'`;
        return [jobs.map(({ id }) => id), (await read.execute(tx)).rows[0]?.n];
      });
      expect(taken).toEqual([20_000]);
      expect(looked).toBeLessThan(50);
    });

    test('a job that was given again is not done beside the next of its key', async () => {
      const [first, second] = [await submit(here, 'work', 'k'), await submit(here, 'work', 'k')];
      const set = async (id: number, status: JobRow['status']): Promise<void> =>
        void (await here.meta.updateTable('jobs').set({ status }).where('id', '=', id).execute());
      await set(second.id, 'processing');
      expect(await here.queue.take('storage', { worker: 'w', leaseMs: 60_000 }, 1)).toEqual([]);
      await expect(set(first.id, 'processing')).rejects.toMatchObject({ code: '23505' });
    });

    test('a job whose end is just being written is neither renewed nor given back', async () => {
      await submit(here, 'work', 'k');
      const holder = { worker: 'w', leaseMs: 60_000 };
      const [job] = await here.queue.take('storage', holder, 1);
      if (job === undefined) throw new Error('There is a job to take.');
      const end = { status: 'success', results: null, error: null, metrics: '{}' } as const;
      await here.meta.transaction().execute(async (tx) => {
        await here.queue.finish(tx, job, end);
        expect(await here.queue.renew(holder, [job.id])).toHaveLength(1);
        expect(await here.queue.giveBack(job, 'interrupted')).toBe(false);
      });
      expect(await rowOf(job)).toMatchObject({ status: 'success', lease_until: null });
    });

    test('a schedule is due by the time of the database, whatever that of a runner is', async () => {
      const next_occurrence = new Date((await here.queue.runs.now()) + 1_800_000).toISOString();
      await insertSchedule(here.meta, { ...SCHEDULE, next_occurrence });
      const ahead = await open({ ...systemEnv, now: () => systemEnv.now() + 3_600_000 });
      stops.push(async () => await ahead.close());
      await runDue(await contextOf(ahead, { ...systemEnv, now: () => systemEnv.now() + 3_600_000 }));
      const row = here.meta.selectFrom('schedules').select('next_occurrence');
      expect(await row.executeTakeFirst()).toEqual({ next_occurrence });
    });

    test('a clock that is not that of the database is told of', async () => {
      const lines: [string, unknown][] = [];
      const log = { ...silentLog, warn: (text: string, facts?: unknown) => void lines.push([text, facts]) };
      const ahead = await open({ ...systemEnv, now: () => systemEnv.now() + 3_600_000 }, log);
      await ahead.close();
      expect(lines).toEqual([
        [
          expect.stringContaining('The clock of this machine is not that of the database'),
          { secondsOff: 3600 },
        ],
      ]);
    });
  });
});
