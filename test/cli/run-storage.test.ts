import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../src/cli/open-storage.ts';
import { silentLog } from '../../src/log.ts';
import { configOf, dataFolder, filesOf, gex, json, put, startApi, startGex, type Api } from './support.ts';
import { startService } from '../storage/server/harness.ts';
import { textOf } from '../storage/client/support.ts';

/** Every request gives two books that were not given before. */
async function library(): Promise<Api> {
  let next = 1;
  return await startApi((_request, response) => json(response, [{ id: next++ }, { id: next++ }]));
}

async function rowsIn(storage: string, table: string): Promise<string[]> {
  const opened = await openStorage({
    storage,
    environment: {},
    log: silentLog,
    signal: new AbortController().signal,
    purpose: 'look',
    mustExist: true,
  });
  try {
    return (await textOf(await opened.client.tables.read(table))).split('\n').filter(Boolean);
  } finally {
    await opened.close();
  }
}

const incremental = { config: { incrementalOutput: true } };

describe('gex run pushes into a storage', () => {
  test('in a folder beside the data, which is made, and a second run adds to it', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }], incremental));
    const { code, stdout, stderr } = await gex('run', '--data', folder);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain('in.c-library.books');
    await gex('run', '--data', folder);
    expect(await rowsIn(path.join(folder, 'storage'), 'in.c-library.books')).toEqual([
      '"id"',
      '"1"',
      '"2"',
      '"3"',
      '"4"',
    ]);
    expect(JSON.parse(filesOf(path.join(folder, 'out'))['push.json'] ?? '')).toMatchObject({
      status: 'done',
    });
  });

  test('a configuration without a bucket goes to one of its own', async () => {
    const config = configOf(await library(), [{ endpoint: 'books' }], {
      config: { outputBucket: undefined },
    });
    const folder = dataFolder(config);
    const { stdout } = await gex('run', '--data', folder, '--json');
    const { rows } = JSON.parse(stdout) as { rows: { tables: { destination: string }[] }[] };
    const destination = rows[0]?.tables[0]?.destination ?? '';
    expect(destination).toMatch(/^in\.c-ex-generic-v2-gex-\w+\.books$/);
    expect(await rowsIn(path.join(folder, 'storage'), destination)).toHaveLength(3);
  });

  test('not of a trial, nor with none, and no storage is made for a configuration that is wrong', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    expect(await gex('run', '--data', folder, '--storage', 'none')).toMatchObject({ code: 0 });
    expect(await gex('run', '--data', folder, '--dry-run')).toMatchObject({ code: 0 });
    writeFileSync(path.join(folder, 'config.json'), '{"parameters": {"api": {}}}');
    expect(await gex('run', '--data', folder)).toMatchObject({ code: 1 });
    expect(existsSync(path.join(folder, 'storage'))).toBe(false);
    const trial = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    const { code, stderr } = await gex('run', '--data', trial, '--limit', '1');
    expect(code).toBe(0);
    expect(stderr).toContain('nothing is pushed');
    await expect(rowsIn(path.join(trial, 'storage'), 'in.c-library.books')).rejects.toThrow('not found');
  });

  test('through the service that holds the folder', async () => {
    const service = await startService();
    try {
      const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
      const { code, stderr } = await gex('run', '--data', folder, '--storage', service.dir);
      expect(code).toBe(0);
      expect(stderr).toContain(`using it at ${service.addresses.url}`);
      const { status } = await service.call('GET', 'tables/in.c-library.books');
      expect(status).toBe(200);
    } finally {
      await service.stop();
    }
  });

  test('a wrong token, a wrong address and no token are told before anything is asked for', async () => {
    const api = await library();
    const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
    const service = await startService();
    try {
      const run = async (storage: string, token?: string): Promise<string> => {
        const env = token === undefined ? {} : { KBC_TOKEN: token };
        const { code, stderr } = await startGex(['run', '--data', folder, '--storage', storage], { env })
          .ended;
        expect(code).toBe(1);
        return stderr;
      };
      expect(await run(service.addresses.url, '1-2-wrongtoken')).toMatch(
        /did not accept|Invalid access token/,
      );
      expect(await run(service.addresses.url)).toContain('KBC_TOKEN');
      expect(await run(api.url, '1-2-x')).toContain('storage service');
      expect(api.seen.filter((request) => request.includes('books'))).toEqual([]);
      expect(existsSync(path.join(folder, 'out'))).toBe(false);
    } finally {
      await service.stop();
    }
  });

  test('inputs that the mapping names are there before the jobs run', async () => {
    const service = await startService();
    try {
      const api = await library();
      const first = dataFolder(configOf(api, [{ endpoint: 'books' }]));
      await gex('run', '--data', first, '--storage', service.dir);
      const mapped = {
        ...configOf(api, [{ endpoint: 'books', dataType: 'again' }]),
        storage: { input: { tables: [{ source: 'in.c-library.books', destination: 'books.csv' }] } },
      };
      const second = dataFolder(mapped);
      expect(await gex('run', '--data', second, '--storage', service.dir)).toMatchObject({ code: 0 });
      expect(filesOf(path.join(second, 'in/tables'))['books.csv']).toBe('"id"\n"1"\n"2"\n');
    } finally {
      await service.stop();
    }
  });
});

function withDestination(folder: string, destination: string): string {
  const config = JSON.parse(readFileSync(path.join(folder, 'config.json'), 'utf8')) as object;
  const tables = [{ source: 'library.books', destination }];
  return JSON.stringify({ ...config, storage: { output: { tables } } });
}

describe('a push that was cut short', () => {
  async function cutShort(): Promise<{ folder: string; api: Api }> {
    const api = await library();
    const folder = dataFolder(configOf(api, [{ endpoint: 'books' }], incremental));
    // two dots are needed for a destination
    put(folder, 'config.json', withDestination(folder, 'nowhere'));
    const { code, stderr } = await gex('run', '--data', folder);
    expect(code).toBe(1);
    expect(stderr).toContain('Failed to resolve destination for output table');
    expect(existsSync(path.join(folder, 'in', 'state.json'))).toBe(false);
    return { folder, api };
  }

  test('loses no output: a run after the mistake is mended pushes it first', async () => {
    const { folder, api } = await cutShort();
    put(folder, 'config.json', withDestination(folder, 'in.c-mended.books'));
    const { code, stderr } = await gex('run', '--data', folder);
    expect(code).toBe(0);
    expect(stderr).toContain('that is done first');
    expect(api.seen).toHaveLength(2);
    expect(await rowsIn(path.join(folder, 'storage'), 'in.c-mended.books')).toHaveLength(5);
  });

  test('is not forgotten by a run without a storage, or with another one', async () => {
    const { folder, api } = await cutShort();
    for (const storage of ['none', path.join(dataFolder(), 'other')]) {
      const { code, stderr } = await gex('run', '--data', folder, '--storage', storage);
      expect(code).toBe(1);
      expect(stderr).toContain('was not pushed to its end');
      expect(stderr).toContain(`gex storage push ${folder}`);
    }
    expect(api.seen).toHaveLength(1);
    rmSync(path.join(folder, 'out', 'push.json'));
    expect(await gex('run', '--data', folder, '--storage', 'none')).toMatchObject({ code: 0 });
  });

  test('can be looked at, and be pushed by hand', async () => {
    const { folder } = await cutShort();
    put(folder, 'config.json', withDestination(folder, 'in.c-mended.books'));
    const plan = await gex('storage', 'push', folder, '--dry-run');
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stdout).toMatch(/library\.books +in\.c-mended\.books +incremental/);
    const pushed = await gex('storage', 'push', folder);
    expect(pushed).toMatchObject({ code: 0 });
    expect(pushed.stdout).toMatch(/library\.books +in\.c-mended\.books +2/);
    expect((await gex('storage', 'push', folder)).stdout).toContain('Nothing was left to push.');
    expect(existsSync(path.join(folder, 'in', 'state.json'))).toBe(true);
    expect(await rowsIn(path.join(folder, 'storage'), 'in.c-mended.books')).toHaveLength(3);
    expect(await gex('storage', 'push', folder, '--again')).toMatchObject({ code: 0 });
    expect(await rowsIn(path.join(folder, 'storage'), 'in.c-mended.books')).toHaveLength(5);
  });

  test('the tables of a run without a storage are pushed later; its state stays', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    await gex('run', '--data', folder, '--storage', 'none');
    rmSync(path.join(folder, 'in'), { recursive: true });
    expect(await gex('storage', 'push', folder, '--json')).toMatchObject({ code: 0 });
    expect(existsSync(path.join(folder, 'in', 'state.json'))).toBe(false);
    expect(await rowsIn(path.join(folder, 'storage'), 'in.c-library.books')).toHaveLength(3);
  });

  test('there is nothing to push', async () => {
    const { code, stderr } = await gex('storage', 'push', dataFolder());
    expect(code).toBe(1);
    expect(stderr).toContain('There is no output to push.');
  });
});
