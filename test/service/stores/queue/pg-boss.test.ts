import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemEnv, type Env } from '../../../../src/lib/env.ts';
import { silentLog, type Log } from '../../../../src/lib/log.ts';
import { openDatabase } from '../../../../src/service/platform/database/database.ts';
import { DatabaseAway } from '../../../../src/service/platform/database/failures.ts';
import { createNowAndThen, type Chore } from '../../../../src/service/domain/jobs/recurring-jobs.ts';
import type { Operation } from '../../../../src/service/domain/jobs/operations/operation.ts';
import { openSharedQueue } from '../../../../src/service/stores/queue/pg-boss.ts';
import { createWorker, type WorkerOptions } from '../../../../src/service/domain/jobs/worker.ts';
import { openMeta } from '../../../../src/service/stores/metadata/database.ts';
import { findJob } from '../../../../src/service/stores/metadata/jobs.ts';
import { openProject } from '../../../../src/service/stores/metadata/projects.ts';
import { insertSchedule } from '../../../../src/service/stores/metadata/schedules.ts';
import { runDue } from '../../../../src/service/domain/schedules/scheduler.ts';
import type { JobRow, RunRow } from '../../../../src/service/stores/metadata/tables.ts';
import { ObjectError } from '../../../../src/service/stores/objects/errors.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from '../../database.ts';
import { queueContract } from './contract.ts';
import { contextOf, submit, type OpenQueue } from './support.ts';

let number = 0;

interface SharedOne extends OpenQueue {
  repair(): Promise<void>;
}

async function open(env: Env = systemEnv, log: Log = silentLog): Promise<SharedOne> {
  const options = await databaseOf(`queue ${number}`);
  if (options === undefined) throw new Error('There is no server.');
  const database = await openDatabase(options, silentLog);
  const meta = await openMeta(database);
  const shared = await openSharedQueue({ database, meta, env, log });
  return {
    meta,
    queue: shared.queue,
    repair: async () => await shared.queue.repair(),
    async close() {
      await shared.close();
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
  next_occurrence: null,
  last_occurrence: null,
  created: '',
} as const;

const done: Operation = () => Promise.resolve({ results: null });

describe.runIf(isOnPostgres)('over PostgreSQL', () => {
  queueContract('the queue of several processes', open, end);

  describe('what it does beyond', () => {
    let here: SharedOne;
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
      ['the database', new DatabaseAway('The database cannot be used now.')],
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
      const state = { isAway: true };
      const needy: Operation = async ({ id }) => {
        if (state.isAway && id === job.id) throw away;
        return await Promise.resolve({ results: null });
      };
      await work({ work: needy }, { maxRetries: 1 });
      await expect.poll(async () => (await rowOf(next))?.status).toBe('success');
      expect(await rowOf(job)).toMatchObject({ status: 'error', is_given_up: 1, attempt: 2, retries: 1 });
      expect(JSON.parse((await rowOf(job))?.error ?? '')).toMatchObject({
        code: 'storage.objectStoreUnavailable',
      });
      state.isAway = false;
      await here.queue.retry(job.id);
      await expect.poll(async () => (await rowOf(job))?.status).toBe('success');
    });

    test('a job is found by a process that nobody tells of it', async () => {
      await work({ work: done }, { pollMs: 400 });
      const other = await open();
      stops.push(async () => await other.close());
      const job = await submit(other, 'work');
      await expect.poll(async () => (await rowOf(job))?.status).toBe('success');
    });

    test('tickets that are lost are sent again, and tickets of nothing are removed', async () => {
      const job = await submit(here, 'work', 'k');
      const other = await submit(here, 'work', 'l');
      await sql`delete from gex_queue.job where singleton_key = 'k'`.execute(here.meta);
      await sql`update gex_queue.job set state = 'active' where singleton_key = 'l'`.execute(here.meta);
      await work({ work: done });
      await here.repair();
      await expect.poll(async () => (await rowOf(job))?.status).toBe('success');
      // Its ticket was that of a turn that is over: the next look sends another one.
      await here.repair();
      await expect.poll(async () => (await rowOf(other))?.status).toBe('success');
      const left = await sql<{ n: number }>`select count(*) as n from gex_queue.job`.execute(here.meta);
      expect(left.rows).toEqual([{ n: 0 }]);
    });

    test('however many jobs wait, what is looked at to give out the next is one ticket for each key', async () => {
      const jobs: JobRow[] = [];
      for (let n = 0; n < 30; n++) jobs.push(await submit(here, 'work', n % 3 === 0 ? 'k' : 'l'));
      const tickets = sql<{ key: string }>`select singleton_key as key from gex_queue.job order by 1`;
      expect((await tickets.execute(here.meta)).rows).toEqual([{ key: 'k' }, { key: 'l' }]);
      const begun: number[] = [];
      const note: Operation = async ({ id }) => {
        begun.push(id);
        return await Promise.resolve({ results: null });
      };
      await work({ work: note });
      for (const job of jobs) await expect.poll(async () => (await rowOf(job))?.status).toBe('success');
      const ids = jobs.map(({ id }) => id);
      for (const rest of [true, false]) {
        const ofKey = (list: number[]): number[] => list.filter((id) => (ids.indexOf(id) % 3 === 0) === rest);
        expect(ofKey(begun)).toEqual(ofKey(ids));
      }
      expect((await tickets.execute(here.meta)).rows).toEqual([]);
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

    test('what an older version does not lead to is led to by a look now and then', async () => {
      await submit(here, 'work', 'k');
      const next = await submit(here, 'work', 'k');
      const take = async (): Promise<JobRow | undefined> =>
        (await here.queue.take('storage', { worker: 'w', leaseMs: 60_000 }, 1))[0];
      const first = await take();
      // It sent a ticket for each job, so the end of one only deleted its own.
      await here.meta
        .updateTable('jobs')
        .set({ status: 'success' })
        .where('id', '=', first?.id ?? 0)
        .execute();
      await sql`delete from gex_queue.job`.execute(here.meta);
      expect(await take()).toBeUndefined();
      await here.repair();
      expect(await take()).toMatchObject({ id: next.id });
    });

    test('the next job of a key waits for a turn whose ticket is lost', async () => {
      const job = await submit(here, 'work', 'k');
      const next = await submit(here, 'work', 'k');
      const take = async (worker: string): Promise<JobRow | undefined> =>
        (await here.queue.take('storage', { worker, leaseMs: 60_000 }, 1))[0];
      const first = await take('first');
      if (first === undefined) throw new Error('There is a job to take.');
      expect(first.id).toBe(job.id);
      await sql`delete from gex_queue.job where id::text = ${first.ticket}`.execute(here.meta);
      expect(await take('second')).toBeUndefined();
      const end = { status: 'success', results: null, error: null, metrics: '{}' } as const;
      await here.meta.transaction().execute(async (tx) => await here.queue.finish(tx, first, end));
      await expect.poll(async () => (await take('second'))?.id, { timeout: 10_000 }).toBe(next.id);
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

    test('another process is led to runs, and to the schedules when one is due', async () => {
      const other = await open();
      stops.push(async () => await other.close());
      const news = { runs: 0, schedules: 0 };
      const ends = [
        other.queue.onNews('runs', () => news.runs++),
        other.queue.onNews('schedules', () => news.schedules++),
      ];
      const run = { configuration: KEY, asked: {}, author: AUTHOR };
      await here.meta.transaction().execute(async (tx) => await here.queue.runs.submit(tx, run));
      await expect.poll(() => news.runs).toBeGreaterThan(0);
      expect(news.schedules).toBe(0);
      const due = (await here.queue.runs.now()) + 1000;
      const schedule = { id: 1, next_occurrence: new Date(due).toISOString() };
      await here.meta.transaction().execute(async (tx) => {
        await here.queue.runs.plan(tx, { ...schedule, next_occurrence: '2999-01-01T00:00:00.000Z' });
        await here.queue.runs.plan(tx, schedule);
      });
      await expect.poll(() => news.schedules).toBeGreaterThan(0);
      expect(await here.queue.runs.now()).toBeGreaterThanOrEqual(due);
      expect([await other.queue.runs.takeLook(), await here.queue.runs.takeLook()]).toEqual([true, false]);
      for (const end of ends) end();
    });

    test('a run that is asked for while the one before it ends is not left behind', async () => {
      const ask = async (): Promise<RunRow> => {
        const run = { configuration: KEY, asked: {}, author: AUTHOR };
        return await here.meta.transaction().execute(async (tx) => await here.queue.runs.submit(tx, run));
      };
      const take = async (): Promise<RunRow | undefined> => await here.queue.runs.take('runner', false);
      await ask();
      const first = await take();
      if (first === undefined) throw new Error('There is a run to take.');
      const state = { isOver: false };
      let taking: Promise<RunRow | undefined> | undefined;
      let next: RunRow | undefined;
      await here.meta.transaction().execute(async (tx) => {
        // It has looked for the next one, and found none.
        await tx.updateTable('runs').set({ status: 'success' }).where('id', '=', first.id).execute();
        next = await ask();
        taking = take().finally(() => (state.isOver = true));
        const waiting = sql<{
          n: number;
        }>`select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        await expect
          .poll(async () => state.isOver || (await waiting.execute(here.meta)).rows[0]?.n === 1)
          .toBe(true);
      });
      expect(await taking).toMatchObject({ id: next?.id });
    });

    test('a schedule that an older process made or changed is planned by a sweep', async () => {
      const next_occurrence = new Date((await here.queue.runs.now()) - 1000).toISOString();
      await insertSchedule(here.meta, { ...SCHEDULE, next_occurrence });
      expect(await here.queue.runs.takeLook()).toBe(false);
      await here.queue.runs.planLost();
      await here.queue.runs.planLost();
      expect(await here.queue.runs.takeLook()).toBe(true);
      const later = { ...SCHEDULE, next_occurrence: '2999-01-01T00:00:00.000Z' };
      await here.meta.transaction().execute(async (tx) => await here.queue.runs.plan(tx, later));
      await here.queue.runs.planLost();
      expect(await here.queue.runs.takeLook()).toBe(true);
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
