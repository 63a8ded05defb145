import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { createQueue } from '../../../../src/service/stores/queue/queue.ts';
import { insertJob } from '../../../../src/service/stores/metadata/jobs.ts';
import { openProject } from '../../../../src/service/stores/metadata/projects.ts';
import type { Meta } from '../../../../src/service/stores/metadata/database.ts';
import { forgetDatabase, isOnPostgres, metaOf } from '../../database.ts';

const AUTHOR = { creator_id: 1, creator_description: 'x' };
const KEY = { branch_id: 1, component_id: 'ex', configuration_id: 'a' };

test('jobs and runs that wait go on after an upgrade, and the schema of the tickets is gone', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'upgrade-'));
  onTestFinished(async () => {
    await rm(dir, { recursive: true, force: true });
    await forgetDatabase(dir);
  });
  const before = await metaOf(dir);
  await openProject(before, systemEnv, { name: 'Test', region: 'us-east-1' });
  const job = { branchId: 1, operation: 'work', params: {}, runId: null, author: AUTHOR };
  const rows = await before
    .transaction()
    .execute(async (tx) => [
      await insertJob(tx, systemEnv, { ...job, lockKey: 'k' }),
      await insertJob(tx, systemEnv, { ...job, lockKey: 'k' }),
      await insertJob(tx, systemEnv, job),
    ]);
  const run = { configuration: KEY, asked: {}, author: AUTHOR };
  const { id } = await before
    .transaction()
    .execute(async (tx) => await createQueue(before, systemEnv).runs.submit(tx, run));
  await makeOlder(before, rows[2]?.id ?? 0);
  await before.destroy();

  const after = await metaOf(dir);
  const queue = createQueue(after, systemEnv);
  const holder = { worker: 'w', leaseMs: 60_000 };
  const taken = await queue.take('storage', holder, 9);
  expect(taken.map((row) => row.id).toSorted((a, b) => a - b)).toEqual([rows[0]?.id, rows[2]?.id]);
  expect(await queue.runs.take({ runner: 'r' })).toMatchObject({ id });
  if (isOnPostgres) {
    const left = sql<{ nspname: string }>`select nspname from pg_namespace where nspname like '%\_queue'`;
    expect((await left.execute(after)).rows).toEqual([{ nspname: 'other_queue' }]);
  }
  await after.destroy();
});

/** As the version before had it. @param withoutKey a job that had none */
async function makeOlder(meta: Meta, withoutKey: number): Promise<void> {
  const place = isOnPostgres ? 'gex.' : '';
  const statements = [
    `update ${place}jobs set lock_key = null where id = ${withoutKey}`,
    `alter table ${place}jobs drop column not_before`,
    `alter table ${place}jobs add column ticket text`,
    `drop index ${place}jobs_one`,
    `drop index ${place}jobs_unfinished`,
    `create index jobs_lock on ${place}jobs (lock_key, id)`,
    ...[
      'run_requests',
      'alerts',
      'alert_states',
      'alert_causes',
      'alert_messages',
      'console_logins',
      'run_tables',
    ].map((table) => `drop table ${place}${table}`),
    `alter table ${place}runs drop column spent`,
    `alter table ${place}runs drop column accepted`,
    `alter table ${place}schedules drop column is_paused`,
    `alter table ${place}tokens drop column is_read_only`,
    `alter table ${place}deleted_tokens drop column is_read_only`,
    `delete from ${place}kysely_migration where name >= '0031'`,
  ];
  const tickets = ['gex_queue', 'other_queue'].map((schema) => `create schema ${schema}`);
  const tables = ['version', 'queue', 'job'].map((table) => `create table gex_queue.${table} (name text)`);
  for (const text of [...statements, ...(isOnPostgres ? [...tickets, ...tables] : [])])
    await sql.raw(text).execute(meta);
}
