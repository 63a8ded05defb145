// @module-tag thorough
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemEnv } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { createRunner, type Runner } from '../../../../src/service/domain/runs/runner.ts';
import { takeToken } from '../../../../src/service/domain/runs/token.ts';
import type { Context } from '../../../../src/service/domain/context.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import { findRun } from '../../../../src/service/stores/metadata/runs.ts';
import { requeueRun, takeRun } from '../../../../src/service/stores/metadata/run-leases.ts';
import { json, startApi } from '../../../cli/support.ts';
import { MAIN } from '../../../support/command.ts';
import { forgetDatabase, metaOf } from '../../database.ts';
import { startService } from '../../harness.ts';
import { memoryStore } from './checkpoint/support.ts';
import { books, worldOf } from './support.ts';

/** Runners as on several machines: each has a folder and a clock of its own, and runs are kept in an object store. */
async function startSeveral() {
  const dir = await mkdtemp(path.join(tmpdir(), 'several-'));
  const store = memoryStore();
  const runners: Runner[] = [];
  let of: { readonly context: Context; readonly url: string } | undefined;
  const running = await startService({
    dir,
    parts: [
      dataPart,
      (context) => ({
        async start(url) {
          of = { context, url };
        },
        async drain() {
          await Promise.all(runners.map(async (runner) => await runner.stop()));
        },
      }),
    ],
  });
  onTestFinished(async () => {
    await running.service.stop();
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    await forgetDatabase(dir);
  });
  return {
    ...worldOf(running),
    store,
    context(): Context {
      if (of === undefined) throw new Error('The service has not started.');
      return { ...of.context, log: silentLog };
    },
    /** @returns its folder, in which each attempt has one */
    async add({
      aheadMs = 0,
      pollMs = 100,
      disk = dir,
    }: { aheadMs?: number; pollMs?: number; disk?: string } = {}): Promise<string> {
      if (of === undefined) throw new Error('The service has not started.');
      const { context, url } = of;
      const directory = path.join(disk, `runner-${runners.length}`);
      const env = { ...systemEnv, now: () => systemEnv.now() + aheadMs };
      const runner = createRunner(
        { ...context, env, log: silentLog },
        {
          command: [process.execPath, MAIN],
          apiUrl: url,
          directory,
          keptIn: store,
          records: store,
          isAlone: false,
          concurrency: 1,
          pollMs,
          checkMs: pollMs * 2,
        },
      );
      runners.push(runner);
      await runner.start();
      return directory;
    },
  };
}

test.each([3_600_000, -3_600_000])('a runner whose clock is off by %i ms does runs', async (aheadMs) => {
  const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
  const world = await startSeveral();
  await world.add({ aheadMs });
  await world.configure('a', books(api.url));
  const { id } = await world.start('a');
  expect(await world.ended(id)).toMatchObject({ status: 'success', attempt: 1 });
  expect(await world.rows('in.c-library.books')).toEqual(['"1"']);
});

test('a runner that comes back when its run was done by another one changes nothing', async () => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const api = await startApi((_request, response) => {
    if (api.seen.length === 1) void gate.then(() => json(response, [{ id: 'late' }]));
    else json(response, [{ id: 1 }]);
  });
  const world = await startSeveral();
  await world.configure('a', books(api.url, { incrementalOutput: true }));
  const { id } = await world.start('a');
  // It gives no sign of life, and looks at nothing, for longer than the test takes.
  const folder = await world.add({ pollMs: 100_000 });
  await expect.poll(() => api.seen.length).toBe(1);
  const meta = await metaOf(world.dir);
  const held = await findRun(meta, Number(id));
  expect(held !== undefined && (await requeueRun(meta, held))).toBe(true);
  await meta.destroy();
  await world.add();
  expect(await world.ended(id)).toMatchObject({ status: 'success', attempt: 2 });
  const seen = async () => ({
    rows: await world.rows('in.c-library.books'),
    log: await world.log(id),
    run: await world.show(id),
    state: (await world.call('GET', 'components/ex-generic-v2/configs/a')).body,
    kept: new Map(world.store.objects),
  });
  // The checkpoint is removed after the end of the run.
  await expect.poll(() => [...world.store.objects.keys()].some((key) => key.endsWith('/index'))).toBe(false);
  const before = await seen();
  expect(before.rows).toEqual(['"1"']);
  letGo();
  await expect.poll(async () => await readdir(folder)).toEqual([]);
  expect(await seen()).toEqual(before);
});

test('a runner that is alive keeps its run, however long that takes and whoever looks', async () => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const api = await startApi((_request, response) => void gate.then(() => json(response, [{ id: 1 }])));
  const world = await startSeveral();
  await world.configure('a', books(api.url));
  const { id } = await world.start('a');
  await world.add({ pollMs: 50 });
  await expect.poll(() => api.seen.length).toBe(1);
  await world.add({ pollMs: 50 });
  const meta = await metaOf(world.dir);
  const beat = async (): Promise<number> => (await findRun(meta, Number(id)))?.beat ?? 0;
  const first = await beat();
  // Ten signs are twenty looks of the other one, twice as many as make a runner dead that gives none.
  await expect.poll(beat).toBeGreaterThan(first + 10);
  await meta.destroy();
  letGo();
  expect(await world.ended(id)).toMatchObject({ status: 'success', attempt: 1 });
});

test('the token of an attempt is refused from the moment on at which its run is handed on', async () => {
  const world = await startSeveral();
  await world.configure('a', books('http://127.0.0.1:9/'));
  await world.start('a');
  const context = world.context();
  const take = async () => {
    const run = await takeRun(context.meta, { runner: 'test', now: Date.now() });
    if (run === undefined) throw new Error('No run waits.');
    const made = await takeToken(context, run);
    if (made === undefined) throw new Error('The run was taken away.');
    return { run, ...made };
  };
  const statusWith = async (token: string): Promise<number> =>
    (
      await world.call('GET', 'components/ex-generic-v2/configs/a', undefined, {
        'x-storageapi-token': token,
      })
    ).status;
  const first = await take();
  expect(await statusWith(first.token)).toBe(200);
  expect(await requeueRun(context.meta, first.run)).toBe(true);
  expect(await statusWith(first.token)).toBe(401);
  const second = await take();
  expect(second.id).toBe(first.id);
  expect([await statusWith(first.token), await statusWith(second.token)]).toEqual([401, 200]);
  expect(await takeToken(context, first.run)).toBeUndefined();
  expect(await statusWith(second.token)).toBe(200);
});

const DISK_BYTES = 256 * 1024;
const disk = makeDisk();
const NEEDS = 'needs root that may mount';

test.runIf(disk !== undefined)(
  `a runner whose disk is too small for a run leaves it to others, and nothing on the disk${disk === undefined ? ` (${NEEDS})` : ''}`,
  async () => {
    const small = disk ?? '';
    onTestFinished(() => {
      execFileSync('umount', [small]);
      rmdirSync(small);
    });
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const text = randomBytes(DISK_BYTES).toString('base64');
    const api = await startApi(({ url: { searchParams } }, response) => {
      const page = Number(searchParams.get('page'));
      const answer = (): void => json(response, page === 1 ? [{ id: 1, text }] : []);
      if (api.seen.length === 2) void gate.then(answer);
      else answer();
    });
    const world = await startSeveral();
    const paged = books(api.url) as { parameters: { api: object } }; // as it is made there
    Object.assign(paged.parameters.api, { pagination: { method: 'pagenum' } });
    await world.configure('a', paged);
    const { id } = await world.start('a');
    // Busy with its second page, and for the others as good as gone.
    await world.add({ pollMs: 100_000 });
    const isKept = (): boolean => [...world.store.objects.keys()].some((key) => key.endsWith('/index'));
    await expect.poll(() => api.seen.length).toBe(2);
    await expect.poll(isKept).toBe(true);
    const meta = await metaOf(world.dir);
    onTestFinished(async () => await meta.destroy());
    const held = await findRun(meta, Number(id));
    expect(held !== undefined && (await requeueRun(meta, held))).toBe(true);

    const folder = await world.add({ disk: small });
    await expect
      .poll(async () => (await world.log(id)).at(-1)?.message)
      .toMatch(/^The run goes on in 2 seconds, as what it needs is away: The disk of the service is full/);
    await expect.poll(async () => await readdir(folder)).toEqual([]);
    const { bfree, bsize } = statfsSync(small);
    expect(bfree * bsize).toBeGreaterThan(DISK_BYTES / 2);
    // It could be taken again after two seconds.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(await world.show(id)).toMatchObject({ status: 'waiting', attempt: 2 });

    await world.add();
    expect(await world.ended(id)).toMatchObject({ status: 'success', attempt: 3, error: null });
    expect(await world.rows('in.c-library.books')).toHaveLength(1);
    expect(api.seen).toHaveLength(3);
    letGo();
  },
);

function makeDisk(): string | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmdirSync(folder);
    console.warn(`A runner whose disk is full is not tested: it ${NEEDS}.`);
    return undefined;
  }
}

test('what a run held back is loaded by whichever runner, when its doubt is accepted', async () => {
  const api = await startApi((_request, response) => json(response, { total: 7, data: [{ id: 1 }] }));
  const world = await startSeveral();
  await world.add();
  await world.configure('a', books(api.url, { jobs: [{ endpoint: 'books', dataField: 'data' }] }));
  const held = await world.ended((await world.start('a')).id);
  expect(held).toMatchObject({ status: 'error', error: { code: 'run.doubtful' } });
  await world.add();
  const { body } = await world.call('POST', `runs/${held.id}/accept`, { because: 'checked' });
  const loaded = await world.ended((body as { id: string }).id);
  expect({ status: loaded.status, error: loaded.error }).toEqual({ status: 'success', error: null });
  expect(await world.rows('in.c-library.books')).toEqual(['"1"']);
  expect(api.seen).toHaveLength(1);
  expect(await world.show(held.id)).toMatchObject({ accepted: { because: 'checked', run: loaded.id } });
});
