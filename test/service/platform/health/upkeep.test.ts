import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { createFolderStore } from '../../../../src/service/stores/objects/folder-store.ts';
import { insertRun } from '../../../../src/service/stores/metadata/runs.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import type { Meta } from '../../../../src/service/stores/metadata/database.ts';
import { recordFinishedJob } from '../../../../src/service/stores/metadata/jobs.ts';
import { isoTime } from '../../../../src/lib/iso-time.ts';
import { upkeep } from '../../../../src/service/domain/maintenance/retention.ts';
import type { DataContext } from '../../../../src/service/domain/data-context.ts';
import type { ObjectStore } from '../../../../src/service/stores/objects/store.ts';
import type { MakePart } from '../../../../src/service/start/service-options.ts';
import type { TableEngine } from '../../../../src/service/stores/tables/engine.ts';
import { isOnPostgres } from '../../database.ts';
import { startService } from '../../harness.ts';

const DAY_MS = 86_400_000;
const OLD = 1000;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'upkeep-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** Jobs, events and keys of requests from 100 days ago, and one of each from today. */
async function fill(meta: Meta): Promise<void> {
  await meta.transaction().execute(async (tx) => {
    for (let n = 0; n <= OLD; n++) {
      const now = systemEnv.now() - (n === OLD ? 0 : 100 * DAY_MS);
      const job = {
        branchId: 1,
        operation: 'tableUpdate',
        params: { text: 'x'.repeat(1000) },
        results: '{}',
        runId: null,
        author: { creator_id: 1, creator_description: 'x' },
      };
      await recordFinishedJob(tx, { ...systemEnv, now: () => now }, job);
      const created = isoTime(now);
      await tx
        .insertInto('request_keys')
        .values({
          token_id: 1,
          key: String(n),
          digest: '',
          job_id: null,
          file_id: null,
          made: null,
          status: 204,
          answer: null,
          created,
        })
        .execute();
      await tx
        .insertInto('events')
        .values({
          id: 10_000_000 + n,
          uuid: String(n),
          branch_id: 1,
          event: 'ext.x.',
          component: 'x',
          type: 'info',
          message: 'x'.repeat(1000),
          description: '',
          configuration_id: null,
          run_id: null,
          object_type: null,
          object_id: null,
          object_name: null,
          params: '{}',
          results: '{}',
          duration: null,
          token_id: 1,
          token_description: 'x',
          created,
        })
        .execute();
    }
  });
}

test('what is over goes in steps, requests are answered meanwhile, and the space is given back', async () => {
  const first = await startService({ dir, parts: [({ meta }) => ({ start: async () => await fill(meta) })] });
  await first.service.stop();
  const pages = (): Record<string, unknown> => {
    const database = new DatabaseSync(path.join(dir, 'meta.sqlite'));
    const { page_count } = database.prepare('PRAGMA page_count').get() ?? {};
    const { freelist_count } = database.prepare('PRAGMA freelist_count').get() ?? {};
    database.close();
    return { page_count, freelist_count };
  };
  const before = isOnPostgres ? {} : pages();
  const pauses: number[] = [];
  const env: typeof systemEnv = {
    ...systemEnv,
    sleep: async (waitMs, signal) => {
      pauses.push(waitMs);
      await systemEnv.sleep(waitMs, signal);
    },
  };
  const service = await startService({ dir, env, healthPort: 0, parts: [dataPart] });
  const removed = async (kind: string): Promise<number> => {
    expect((await service.call('GET', 'jobs')).status).toBe(200);
    const text = await (await fetch(`${service.addresses.parts['health']}/metrics`)).text();
    return Number(
      new RegExp(`^gex_upkeep_removed_total\\{kind="${kind}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
    );
  };
  for (const kind of ['jobs', 'events', 'request keys'])
    await expect.poll(async () => await removed(kind)).toBe(OLD);
  expect(pauses.length).toBeGreaterThanOrEqual(3 * (OLD / 200));
  expect((await service.call('GET', 'jobs?limit=100')).body).toHaveLength(1);
  await service.service.stop();
  // The other database gives space back by itself.
  if (isOnPostgres) return;
  const after = pages();
  expect(after['freelist_count']).toBe(0);
  expect(after['page_count']).toBeLessThan(Number(before['page_count']) / 2);
});

const away = async (): Promise<never> => await Promise.reject(new Error('away'));

test('what has no objects goes while their store is away, and nothing else does', async () => {
  const counts: number[] = [];
  const keep: MakePart = (context) => ({
    async start() {
      const { meta, env } = context;
      await fill(meta);
      const { id } = await insertRun(meta, env, {
        configuration: { branch_id: 1, component_id: 'x', configuration_id: '1' },
        asked: {},
        author: { creator_id: 1, creator_description: 'x' },
      });
      const ended = isoTime(env.now() - 100 * DAY_MS);
      await meta.updateTable('runs').set({ ended, status: 'error' }).where('id', '=', id).execute();
      const data: DataContext = {
        ...context,
        objects: { ready: away } as unknown as ObjectStore, // nothing else is asked of it
        engine: {} as TableEngine, // nor anything of that one
        origin: () => '',
      };
      const { signal } = new AbortController();
      await expect(upkeep(data, { keepDays: 90, signal })).rejects.toThrow('away');
      for (const table of ['jobs', 'events', 'request_keys', 'runs'] as const)
        counts.push((await meta.selectFrom(table).select('created').execute()).length);
    },
  });
  const service = await startService({ dir, parts: [keep] });
  await service.service.stop();
  expect(counts).toEqual([1, 1, 1, 1]);
});

test('a service that is stopped in the middle goes on the next time', { tags: 'thorough' }, async () => {
  const first = await startService({ dir, parts: [({ meta }) => ({ start: async () => await fill(meta) })] });
  await first.service.stop();
  // Pauses that never end: only the first step is taken.
  const env: typeof systemEnv = {
    ...systemEnv,
    sleep: async (waitMs, signal) => await systemEnv.sleep(signal === undefined ? waitMs : 3_600_000, signal),
  };
  const halted = await startService({ dir, env });
  await halted.service.stop();
  const service = await startService({ dir });
  await expect
    .poll(async () => ((await service.call('GET', 'jobs?limit=200')).body as object[]).length)
    .toBe(1);
  await service.service.stop();
});

test('what is kept of a run goes with the run, and an object of a run that is there stays', async () => {
  const ids: number[] = [];
  const insert = async (meta: Meta): Promise<void> => {
    await meta.transaction().execute(async (tx) => {
      for (const days of [100, 1]) {
        const ended = isoTime(systemEnv.now() - days * DAY_MS);
        const { id } = await insertRun(tx, systemEnv, {
          configuration: { branch_id: 1, component_id: 'x', configuration_id: '1' },
          asked: {},
          author: { creator_id: 1, creator_description: 'x' },
        });
        await tx.updateTable('runs').set({ ended, status: 'error' }).where('id', '=', id).execute();
        ids.push(id);
      }
    });
  };
  const first = await startService({
    dir,
    parts: [({ meta }) => ({ start: async () => await insert(meta) })],
  });
  await first.service.stop();
  const store = (env: typeof systemEnv): ReturnType<typeof createFolderStore> =>
    createFolderStore({
      directory: path.join(dir, 'objects'),
      secret: Buffer.alloc(32),
      endpoint: () => '',
      env,
      log: silentLog,
    });
  // old enough to be removed, were they nobody's
  const written = store({ ...systemEnv, now: () => systemEnv.now() - 2 * DAY_MS });
  await written.open();
  for (const id of ids)
    for (const name of ['claims/000001', '000001/index'])
      await written.write(`recordings/${id}/${name}`, Buffer.from('x'), { encrypted: false });
  const kept = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { key } of store(systemEnv).list('recordings/')) keys.push(key);
    return keys;
  };
  expect(await kept()).toHaveLength(4);
  const service = await startService({ dir, parts: [dataPart] });
  await expect.poll(async () => await kept()).toHaveLength(2);
  expect(await kept()).toEqual([`recordings/${ids[1]}/000001/index`, `recordings/${ids[1]}/claims/000001`]);
  await service.service.stop();
  expect(await kept()).toHaveLength(2);
});
