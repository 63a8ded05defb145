import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { gexHere } from '../cli/support.ts';
import { startIds } from '../../src/service/stores/metadata/counter.ts';
import { createService } from '../../src/service/start/service.ts';
import { clientOf, type FileBody } from './data/client.ts';
import { databaseOf, forgetDatabase, isOnPostgres, metaOf } from './database.ts';
import { startService } from './harness.ts';

const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const api of started.splice(0)) await api.stop();
});

async function start(dir?: string) {
  const api = await startService(dir === undefined ? {} : { dir });
  started.push(api);
  return api;
}

/** A service with a table and a file, that has been stopped. */
async function usedFolder(): Promise<string> {
  const api = await start();
  await api.call('POST', 'buckets', { name: 'main', stage: 'in' });
  await clientOf(api).create('in.c-main', 'users', 'id\nold\n', { primaryKey: 'id' });
  await api.service.stop();
  return api.dir;
}

// Only for the file of SQLite; a database has its own test below.
test.skipIf(isOnPostgres)('tables without their metadata are no new storage', async () => {
  const dir = await usedFolder();
  for (const name of await readdir(dir)) if (name.startsWith('meta.sqlite')) await rm(join(dir, name));
  const before = (await readdir(dir)).toSorted();

  const said = {
    code: 'database.lost',
    message: expect.stringContaining('tables and objects of files') as string,
  };
  await expect(createService({ dir }).start()).rejects.toMatchObject(said);
  const tar = join(dir, '..', 'never.tar');
  for (const command of [
    ['storage', 'backup', tar, '--storage', dir],
    ['storage', 'tables', 'list', '--storage', dir],
    ['storage', 'migrate', '--from', dir, '--to', join(dir, 'elsewhere')],
    ['serve', '--dir', dir, '--new-token'],
    ['serve', '--dir', dir, '--port', '0'],
  ]) {
    const { code, stderr } = await gexHere(...command);
    expect([command[1], code, stderr]).toEqual([command[1], 1, expect.stringContaining('--new-metadata')]);
  }
  expect((await readdir(dir)).toSorted()).toEqual(before);

  const anew = await gexHere('serve', '--dir', dir, '--new-metadata');
  expect(anew.code, anew.stderr).toBe(0);
  const aside = (await readdir(dir)).find((name) => name.startsWith('lost-')) ?? '';
  expect((await readdir(join(dir, aside))).toSorted()).toEqual(['objects', 'tables']);
  expect(await readdir(join(dir, aside, 'tables'))).toContain('tables.duckdb');
  const api = await start(dir);
  await api.call('POST', 'buckets', { name: 'main', stage: 'in' });
  await clientOf(api).create('in.c-main', 'users', 'id\nnew\n', { primaryKey: 'id' });
  expect((await api.call('GET', 'tables/in.c-main.users/data-preview')).text).toBe('"id"\n"new"\n');
  await api.service.stop();
  // Only what is lost is set aside.
  const again = await gexHere('serve', '--dir', dir, '--new-metadata');
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('has its metadata')]);
});

test.skipIf(isOnPostgres)(
  'files without their metadata are no new storage, metadata without a storage are none',
  async () => {
    const dir = await usedFolder();
    await rm(join(dir, 'tables'), { recursive: true });
    // As left by a program that opened a database that was not there.
    for (const name of await readdir(dir)) if (name.startsWith('meta.sqlite')) await rm(join(dir, name));
    await (await metaOf(dir)).destroy();
    await expect(createService({ dir }).start()).rejects.toMatchObject({ code: 'database.lost' });
    await rm(dir, { recursive: true });
  },
);

test.skipIf(isOnPostgres)('tables and metadata of different times are refused', async () => {
  const dir = await usedFolder();
  const copy = join(dir, '..', `${basename(dir)}-copy`);
  await cp(dir, copy, { recursive: true });
  const again = await start(dir);
  await clientOf(again).create('in.c-main', 'more', 'id\n1\n');
  await again.service.stop();
  const newer = `${copy}-newer`;
  await cp(dir, newer, { recursive: true });

  for (const [name, from, back] of [
    ['tables', copy, newer],
    ['meta.sqlite', copy, newer],
  ] as const) {
    await cp(join(from, name), join(dir, name), { recursive: true });
    await expect(createService({ dir }).start()).rejects.toMatchObject({ code: 'database.otherTables' });
    for (const command of [
      ['storage', 'migrate', '--from', dir, '--to', `${copy}-target-of-${name}`],
      ['storage', 'tables', 'preview', 'in.c-main.users', '--storage', dir],
      ['serve', '--dir', dir, '--port', '0'],
    ]) {
      const { code, stderr } = await gexHere(...command);
      expect([command[1], code, stderr]).toEqual([command[1], 1, expect.stringContaining('same copy')]);
    }
    await cp(join(back, name), join(dir, name), { recursive: true });
  }
  // Tables that are gone are no empty tables.
  await rm(join(dir, 'tables'), { recursive: true });
  await expect(createService({ dir }).start()).rejects.toMatchObject({ code: 'database.otherTables' });
  await rm(dir, { recursive: true });

  // Both of one time are a storage, at any time.
  for (const whole of [copy, newer]) {
    const api = await start(whole);
    expect((await api.call('GET', 'tables/in.c-main.users/data-preview')).text).toBe('"id"\n"old"\n');
  }
});

test.runIf(isOnPostgres)('files of a folder are not given to a database without a storage', async () => {
  const dir = await usedFolder();
  const other = await mkdtemp(join(tmpdir(), 'other-'));
  const database = await databaseOf(other);
  await expect(createService({ dir, ...(database && { database }) }).start()).rejects.toMatchObject({
    code: 'database.lost',
  });
  await rm(other, { recursive: true });
  await forgetDatabase(other);
  const api = await start(dir);
  expect((await api.call('GET', 'tables/in.c-main.users/data-preview')).text).toBe('"id"\n"old"\n');
});

test('a job that is given a number for the second time does its work', async () => {
  const api = await start();
  const client = clientOf(api);
  await api.call('POST', 'buckets', { name: 'main', stage: 'in' });
  await client.create('in.c-main', 'log', 'id\n1\n');
  const [one, two] = [await client.upload('id\n2\n'), await client.upload('id\n3\n')];
  const load = async (file: FileBody): Promise<number> => {
    const asked = { dataFileId: file.id, incremental: true };
    const job = await client.run('POST', 'tables/in.c-main.log/import-async', asked);
    expect(job.status).toBe('success');
    return job.id;
  };
  const first = await load(one);
  // As metadata of before the job do, when they are put back.
  const meta = await metaOf(api.dir);
  for (const table of ['jobs', 'events'] as const)
    await meta.deleteFrom(table).where('id', '>=', first).execute();
  await startIds(meta, first - 1);
  await meta.destroy();
  expect(await load(two)).toBe(first);
  expect(await client.rowsOf('in.c-main.log')).toBe('"1"\n"2"\n"3"\n');
});
