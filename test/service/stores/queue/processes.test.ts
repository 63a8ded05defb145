import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { openDatabase, type Database } from '../../../../src/service/platform/database/database.ts';
import { createQueue } from '../../../../src/service/stores/queue/queue.ts';
import { openMeta } from '../../../../src/service/stores/metadata/database.ts';
import { findJob } from '../../../../src/service/stores/metadata/jobs.ts';
import { openProject } from '../../../../src/service/stores/metadata/projects.ts';
import type { JobRow } from '../../../../src/service/stores/metadata/tables.ts';
import { createPostgresEngine } from '../../../../src/service/stores/tables/postgres/engine.ts';
import { databaseOf, forgetDatabase, isOnPostgres } from '../../database.ts';
import { submit, type OpenQueue } from './support.ts';
import type { ProcessOptions } from './worker.child.ts';

const MAIN = fileURLToPath(new URL('worker.child.ts', import.meta.url));

/** The promise is 15 seconds; a loaded machine gets more. */
const HANDOVER = { timeout: 60_000, interval: 100 };

interface WorkerProcess {
  readonly child: ChildProcess;
  readonly said: string[];
}

describe.runIf(isOnPostgres)('workers in processes of their own', () => {
  let here: OpenQueue;
  let url = '';
  let database: Database;
  let number = 0;
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    const options = await databaseOf(`processes ${++number}`);
    if (options === undefined) throw new Error('There is no server.');
    url = options.url;
    database = await openDatabase(options, silentLog);
    const meta = await openMeta(database);
    const queue = createQueue(meta, systemEnv);
    const close = async (): Promise<void> => {
      await meta.destroy();
      await database.close();
    };
    here = { meta, queue, close };
    await openProject(meta, systemEnv, { name: 'Test', region: 'us-east-1' });
    await database.pool.query('create table public.done (job bigint, process bigint, n bigserial)');
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await killed(child, 'SIGKILL');
    await here.close();
    await forgetDatabase(`processes ${number}`);
  });

  async function start(options: Omit<ProcessOptions, 'url'> = {}): Promise<WorkerProcess> {
    const child = spawn(process.execPath, [MAIN, JSON.stringify({ url, ...options })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const said: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
    await expect.poll(() => said).toContain('ready');
    return { child, said };
  }

  const statusOf = async ({ id }: JobRow): Promise<string | undefined> =>
    (await findJob(here.meta, id))?.status;
  const done = async (): Promise<{ job: number; process: number }[]> =>
    (
      await sql<{ job: number; process: number }>`select job, process from public.done order by n`.execute(
        here.meta,
      )
    ).rows;

  test('500 jobs of 20 tables: two workers do each once, those of a table in order', async () => {
    const jobs: JobRow[] = [];
    for (let i = 0; i < 500; i++) jobs.push(await submit(here, 'quick', `table ${i % 20}`));
    const wait = async (not_before: string | null, some = jobs): Promise<unknown> =>
      await here.meta
        .updateTable('jobs')
        .set({ not_before })
        .where(
          'id',
          'in',
          some.map(({ id }) => id),
        )
        .execute();
    await wait('2999-01-01T00:00:00.000Z');
    await Promise.all([start(), start()]);
    // A few at a time, until each has done one: the first could end all of them before the other begins.
    const takers = async (): Promise<number> => new Set((await done()).map((row) => row.process)).size;
    for (let given = 0; given < 500 && (await takers()) < 2; given += 20) {
      await wait(null, jobs.slice(given, given + 20));
      await expect.poll(async () => (await done()).length).toBe(given + 20);
    }
    await wait(null);
    await expect.poll(async () => (await done()).length, { timeout: 60_000, interval: 200 }).toBe(500);
    const order = await done();
    expect(new Set(order.map(({ job }) => job)).size).toBe(500);
    expect(new Set(order.map((row) => row.process)).size).toBe(2);
    const tableOf = new Map(jobs.map(({ id, lock_key }) => [id, lock_key]));
    for (const [, ofTable] of Map.groupBy(order, ({ job }) => tableOf.get(job)))
      expect(ofTable.map(({ job }) => job)).toEqual(ofTable.map(({ job }) => job).toSorted((a, b) => a - b));
    expect(await statusOf(jobs[499] as JobRow)).toBe('success');
  }, 120_000);

  test('a worker that is killed hands its job on', async () => {
    const job = await submit(here, 'slow', 'table');
    const next = await submit(here, 'quick', 'table');
    const first = await start({ slowMs: 600_000 });
    await expect.poll(() => first.said).toContain(`began ${job.id}`);
    const second = await start();
    await killed(first.child, 'SIGKILL');
    await expect.poll(async () => await statusOf(next), HANDOVER).toBe('success');
    expect(second.said).toContain(`wrote ${job.id}`);
    expect(await done()).toMatchObject([{ job: job.id }, { job: next.id }]);
    expect(await findJob(here.meta, job.id)).toMatchObject({ status: 'success', attempt: 2 });
  }, 120_000);

  test('a worker that comes back from the dead writes nothing', async () => {
    const job = await submit(here, 'slow', 'table');
    const first = await start({ slowMs: 3000 });
    await expect.poll(() => first.said).toContain(`began ${job.id}`);
    first.child.kill('SIGSTOP');
    const second = await start();
    await expect.poll(async () => await statusOf(job), HANDOVER).toBe('success');
    const after = await findJob(here.meta, job.id);
    first.child.kill('SIGCONT');
    await expect.poll(() => first.said).toContain(`refused ${job.id}`);
    expect(await done()).toMatchObject([{ job: job.id, process: second.child.pid }]);
    // It takes part again.
    await killed(second.child, 'SIGKILL');
    const next = await submit(here, 'quick', 'table');
    await expect.poll(async () => await statusOf(next), HANDOVER).toBe('success');
    expect(await findJob(here.meta, job.id)).toEqual(after);
  }, 120_000);

  test('a worker that comes back in the middle of an import adds nothing to the table', async () => {
    const engine = createPostgresEngine({ pool: database.pool, schema: database.schema, log: silentLog });
    await engine.open();
    const table = { bucket: '1/in.c-main', table: 'rows' };
    await engine.create(table, { columns: ['id'], primaryKey: [] });
    const job = await submit(here, 'load', 'table');
    const first = await start({ slowMs: 3000 });
    await expect.poll(() => first.said).toContain(`began ${job.id}`);
    first.child.kill('SIGSTOP');
    await start();
    await expect.poll(async () => await statusOf(job), HANDOVER).toBe('success');
    first.child.kill('SIGCONT');
    await expect.poll(() => first.said).toContain(`refused ${job.id}`);
    const { rows } = await engine.preview(table, {});
    expect(rows).toEqual([[`${job.id}.1`], [`${job.id}.2`]]);
    await engine.close();
  }, 120_000);

  test('a worker that is told to stop hands on what it cannot end, and nobody waits for its lease', async () => {
    const job = await submit(here, 'slow', 'table');
    const first = await start({ slowMs: 600_000, graceMs: 200 });
    await expect.poll(() => first.said).toContain(`began ${job.id}`);
    await start();
    await killed(first.child, 'SIGTERM');
    await expect.poll(async () => await statusOf(job)).toBe('success');
    expect(await findJob(here.meta, job.id)).toMatchObject({ attempt: 1 });
  }, 120_000);

  test.each([3_600_000, -3_600_000])(
    'a clock that is off by %i ms takes no job from another',
    async (aheadMs) => {
      const job = await submit(here, 'slow', 'table');
      // Longer than the lease, which is renewed meanwhile.
      const first = await start({ slowMs: 4000, leaseMs: 2500 });
      await expect.poll(() => first.said).toContain(`began ${job.id}`);
      const wrong = await start({ aheadMs, slowMs: 5000, leaseMs: 2500 });
      await expect.poll(async () => await statusOf(job)).toBe('success');
      expect(await findJob(here.meta, job.id)).toMatchObject({ attempt: 1 });
      // Nor is a job taken from it.
      await killed(first.child, 'SIGTERM');
      const next = await submit(here, 'slow', 'other');
      await expect.poll(() => wrong.said).toContain(`began ${next.id}`);
      await start();
      await expect.poll(async () => await statusOf(next), HANDOVER).toBe('success');
      expect(await findJob(here.meta, next.id)).toMatchObject({ attempt: 1 });
      expect(await done()).toMatchObject([{ job: job.id }, { job: next.id, process: wrong.child.pid }]);
    },
    120_000,
  );
});

async function killed(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}
