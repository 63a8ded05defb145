import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemEnv } from '../../src/lib/env.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createObserver } from '../../src/service/domain/events/observer.ts';
import type { Meta } from '../../src/service/stores/metadata/database.ts';
import { listEvents } from '../../src/service/stores/metadata/events.ts';
import { openProject } from '../../src/service/stores/metadata/projects.ts';
import { forgetDatabase, metaOf } from './database.ts';
import { startService } from './harness.ts';

let dir = '';
let meta: Meta;
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'observer-'));
  meta = await metaOf(dir);
  await openProject(meta, systemEnv, { name: 'n', region: 'r' });
});
afterEach(async () => {
  await meta.destroy().catch(() => undefined);
  await rm(dir, { recursive: true, force: true });
  await forgetDatabase(dir);
});

const doer = (branchId: number) =>
  ({ branchId, author: { creator_id: 1, creator_description: 't' }, runId: null }) as const;
const messages = async (branchId: number): Promise<string[]> =>
  (await listEvents(meta, branchId, { projectId: 1 })).map(({ message }) => message);

test('the newest of a kind are kept, in each branch', async () => {
  const observer = createObserver(meta, systemEnv, silentLog, 2);
  for (const n of [1, 2, 3, 4]) observer.observe(doer(1), { name: 'tablesListed', message: `tables ${n}` });
  observer.observe(doer(1), { name: 'bucketsListed', message: 'buckets' });
  observer.observe(doer(2), { name: 'tablesListed', message: 'of another branch' });
  await observer.flush();
  expect(await messages(1)).toEqual(['buckets', 'tables 4', 'tables 3']);
  expect(await messages(2)).toEqual(['of another branch']);
  observer.observe(doer(1), { name: 'tablesListed', message: 'tables 5' });
  await observer.flush();
  expect(await messages(1)).toEqual(['tables 5', 'buckets', 'tables 4']);
});

test('what waits is written without being asked for', { tags: 'thorough' }, async () => {
  const observer = createObserver(meta, systemEnv, silentLog);
  observer.observe(doer(1), { name: 'tablesListed', message: 'by itself' });
  await expect.poll(async () => await messages(1)).toEqual(['by itself']);
});

test('a service that stops has written what waited', async () => {
  await meta.destroy();
  const api = await startService({ dir });
  await api.call('GET', 'buckets');
  await api.service.stop();
  meta = await metaOf(dir);
  const { id } = await meta.selectFrom('branches').select('id').executeTakeFirstOrThrow();
  expect(await messages(id)).toEqual(['Listed buckets']);
});
