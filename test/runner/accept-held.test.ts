import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { run } from '../../src/runner/run.ts';
import { openTarget } from '../../src/service/open/open-target.ts';
import { openStorage } from '../../src/service/open/index.ts';
import { bytesBody, type StorageClient } from '../../src/storage/client/index.ts';
import { configOf, dataFolder, json, runHere, startApi } from '../cli/support.ts';

const signal = new AbortController().signal;

class Cut extends Error {}

/** Pushes what was held back. @param cutAt which of the changes to the storage, or of the steps behind them, fails */
async function accept(folder: string, cutAt = Infinity) {
  let steps = 0;
  const step = async (): Promise<void> => {
    if (++steps >= cutAt) throw new Cut();
  };
  const target = await openTarget({ dataFolder: folder, log: silentLog, signal, beforeChange: step });
  const { storage } = target.options;
  if (storage === undefined) throw new Error('A target without a storage');
  try {
    const { rows } = await run({
      ...target.options,
      storage: {
        ...storage,
        seal: async (...args) => (await storage.seal(...args), await step()),
        push: async (at) => {
          const pushed = await storage.push(at);
          await step();
          return pushed;
        },
        end: async (at) => (await step(), await storage.end(at), await step()),
      },
      log: silentLog,
      signal,
      id: '2',
      accepting: 'checked',
    });
    return { steps, rows };
  } finally {
    await target.close();
  }
}

async function heldFolder(): Promise<{ folder: string; seen: readonly string[] }> {
  const api = await startApi((_request, response) =>
    json(response, { total: 9, data: [{ id: 1 }, { id: 2 }] }),
  );
  const params = { since: { time: 'previousStart' } };
  const jobs = [{ endpoint: 'books', dataField: 'data', params }];
  const folder = dataFolder(configOf(api, jobs, { config: { incrementalOutput: true } }));
  const target = await openTarget({ dataFolder: folder, log: silentLog, signal });
  const { rows } = await run({ ...target.options, log: silentLog, signal, id: '1' });
  await target.close();
  expect(rows).toMatchObject([{ isHeld: true }]);
  return { folder, seen: api.seen };
}

async function loaded(folder: string): Promise<unknown> {
  const storage = path.join(folder, 'storage');
  const opened = await openStorage({
    storage,
    environment: {},
    log: silentLog,
    signal,
    purpose: 'look',
  });
  try {
    const [table] = await opened.client.tables.list();
    return table?.rowsCount;
  } finally {
    await opened.close();
  }
}

test('what was held back is loaded once, wherever its load is cut short', { tags: 'thorough' }, async () => {
  const { steps } = await accept((await heldFolder()).folder);
  expect(steps).toBeGreaterThan(5);
  // the seal, the load, and each step behind it
  for (const cutAt of [1, Math.floor(steps / 2), steps - 2, steps - 1, steps]) {
    const { folder, seen } = await heldFolder();
    await expect(accept(folder, cutAt), `step ${cutAt}`).rejects.toThrow();
    const { rows } = await accept(folder);
    expect(rows, `step ${cutAt}`).toMatchObject([
      {
        rows: 2,
        jobs: [{ accepted: 'checked' }],
        pushed: { tables: [{ destination: expect.any(String) as unknown }] },
      },
    ]);
    expect(await loaded(folder), `step ${cutAt}`).toBe(2);
    expect(readFileSync(path.join(folder, 'in', 'state.json'), 'utf8')).toContain('previousStart');
    expect(seen).toHaveLength(1);
  }
});

test.each(['accepted', 'pushed by hand'])(
  'the next run goes on behind the inputs of what was held back, once it is %s',
  async (how) => {
    const api = await startApi((_request, response) => json(response, { total: 9, data: [{ id: 1 }] }));
    const config = configOf(api, [{ endpoint: 'books', dataField: 'data' }]);
    const input = {
      tables: [{ source: 'in.c-main.ids', destination: 'ids', changed_since: 'adaptive' }],
      files: [{ tags: ['wanted'], processed_tags: ['done'] }],
    };
    const folder = dataFolder({ ...config, storage: { input } });
    const opened = async <Result>(work: (client: StorageClient) => Promise<Result>): Promise<Result> => {
      const storage = await openStorage({
        storage: path.join(folder, 'storage'),
        environment: {},
        log: silentLog,
        signal,
        purpose: 'look',
      });
      try {
        return await work(storage.client);
      } finally {
        await storage.close();
      }
    };
    const { file, imported } = await opened(async (client) => {
      await client.buckets.create({ name: 'main' });
      const { id: dataFileId } = await client.files.upload(bytesBody('id\n1\n'), { name: 'ids.csv' });
      const { lastImportDate } = await client.tables.create('in.c-main', { name: 'ids', dataFileId });
      const { id } = await client.files.upload(bytesBody('x'), { name: 'x', tags: ['wanted'] });
      return { file: id, imported: Date.parse(lastImportDate ?? '') };
    });
    const target = await openTarget({ dataFolder: folder, log: silentLog, signal });
    const { rows } = await run({ ...target.options, log: silentLog, signal, id: '1' });
    await target.close();
    expect(rows).toMatchObject([{ isHeld: true }]);
    const remembered = path.join(folder, 'in', 'state.storage.json');
    expect(existsSync(remembered)).toBe(false);

    if (how === 'accepted') await accept(folder);
    else expect(await runHere(['storage', 'push', folder])).toMatchObject({ code: 0 });
    const state = JSON.parse(readFileSync(remembered, 'utf8')) as {
      input: { tables: { source: string; lastImportDate: string }[] };
    };
    expect(state.input.tables).toMatchObject([{ source: 'in.c-main.ids' }]);
    expect(Date.parse(state.input.tables[0]?.lastImportDate ?? '')).toBeGreaterThanOrEqual(imported);
    const { tags } = await opened(async (client) => await client.files.detail(file));
    expect(tags).toContain('done');
  },
);
