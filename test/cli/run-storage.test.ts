import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../src/service/open/index.ts';
import { silentLog } from '../../src/lib/log.ts';
import {
  configOf,
  dataFolder,
  filesOf,
  gexHere as gex,
  json,
  put,
  startApi,
  startGex,
  type Api,
} from './support.ts';
import { startService } from '../service/harness.ts';
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

/** Projects are told apart by the second in which they were made. */
const anotherSecond = (): Promise<void> => setTimeout(1010 - (Date.now() % 1000));

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

  test('not where this user may not look', async () => {
    const folder = dataFolder(configOf(await library(), [{ endpoint: 'books' }]));
    chmodSync(folder, 0o777);
    const closed = dataFolder();
    chmodSync(closed, 0o000);
    // root may look anywhere, so the run is somebody else's
    const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const args = ['run', '--data', folder, '--storage', path.join(closed, 'storage')];
    const { code, stderr } = await startGex(args, user).ended;
    chmodSync(closed, 0o755);
    expect(code).toBe(1);
    expect(stderr).toContain('The storage folder cannot be used: this user may not read or write it.');
  });

  test('with the keys of the folder, which --dry-run has, too', async () => {
    const api = await library();
    const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
    await gex('run', '--data', folder);
    const jobs = [{ endpoint: 'books', params: { token: { attr: '#token' } } }];
    put(folder, 'config.json', JSON.stringify(configOf(api, jobs, { config: { '#token': 'swordfish' } })));
    const key = path.join(folder, 'storage', 'encryption.key');
    const sealed = await gex('encrypt', '--key-file', key, '--file', path.join(folder, 'config.json'));
    expect(sealed).toMatchObject({ code: 0 });
    expect(configIn(folder)).not.toContain('swordfish');
    expect(await gex('run', '--data', folder)).toMatchObject({ code: 0 });
    expect(api.seen.at(-1)).toBe('GET /books?token=swordfish');
    const preview = await gex('run', '--data', folder, '--dry-run');
    expect(preview).toMatchObject({ code: 0, stderr: '' });
    expect(preview.stdout).toContain('GET');
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

  test(
    'a wrong token, a wrong address and no token are told before anything is asked for',
    { tags: 'thorough' },
    async () => {
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
    },
  );

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

function withDestination(text: string, destination: string, source = 'library.books'): string {
  const config = JSON.parse(text) as object;
  return JSON.stringify({ ...config, storage: { output: { tables: [{ source, destination }] } } });
}

const configIn = (folder: string): string => readFileSync(path.join(folder, 'config.json'), 'utf8');

async function cutShort(): Promise<{ folder: string; api: Api }> {
  const api = await library();
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }], incremental));
  // two dots are needed for a destination
  put(folder, 'config.json', withDestination(configIn(folder), 'nowhere'));
  const { code, stderr } = await gex('run', '--data', folder);
  expect(code).toBe(1);
  expect(stderr).toContain('Failed to resolve destination for output table');
  expect(existsSync(path.join(folder, 'in', 'state.json'))).toBe(false);
  return { folder, api };
}

describe('a push that was cut short', () => {
  test('loses no output: a run after the mistake is mended pushes it first', async () => {
    const { folder, api } = await cutShort();
    put(folder, 'config.json', withDestination(configIn(folder), 'in.c-mended.books'));
    const { code, stderr } = await gex('run', '--data', folder);
    expect(code).toBe(0);
    expect(stderr).toContain('that is done first');
    expect(api.seen).toHaveLength(2);
    expect(await rowsIn(path.join(folder, 'storage'), 'in.c-mended.books')).toHaveLength(5);
  });

  test('that no mapping can mend says how to give it up, and the next run begins anew', async () => {
    const api = await startApi((_request, response) => json(response, [{ id: 1, 名前: 'x' }]));
    const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
    const failed = await gex('run', '--data', folder);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('the name of column 2');
    const [, words = ''] = /ask the API again: gex (.+)$/m.exec(failed.stderr) ?? [];
    expect((await gex(...words.split(' '))).stdout).toContain('Gave up the push of');
    expect((await gex(...words.split(' '))).stdout).toContain('No push was left');
    const mapping = { books: { id: 'id' } };
    const named = configOf(api, [{ endpoint: 'books', dataType: 'books' }], {
      config: { mappings: mapping },
    });
    put(folder, 'config.json', JSON.stringify(named));
    const { code, stderr } = await gex('run', '--data', folder);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(await rowsIn(path.join(folder, 'storage'), 'in.c-library.books')).toEqual(['"id"', '"1"']);
  });

  test('goes to the bucket that the configuration has now, when nothing was asked yet', async () => {
    const api = await library();
    const folder = dataFolder(
      configOf(api, [{ endpoint: 'books' }], { config: { outputBucket: 'wrong name' } }),
    );
    expect((await gex('run', '--data', folder)).code).toBe(1);
    const mended = configOf(api, [{ endpoint: 'books' }], { config: { outputBucket: 'mended' } });
    put(folder, 'config.json', JSON.stringify(mended));
    const { code, stderr } = await gex('run', '--data', folder);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('what is left goes to in.c-mended');
    expect(api.seen).toHaveLength(2);
  });

  test('a bucket with its stage in front is refused before anything is asked for', async () => {
    const api = await library();
    const folder = dataFolder(
      configOf(api, [{ endpoint: 'books' }], { config: { outputBucket: 'in.c-main' } }),
    );
    for (const command of ['validate', 'run']) {
      const { code, stdout, stderr } = await gex(command, '--data', folder);
      expect({ command, code }).toEqual({ command, code: 1 });
      expect(stdout + stderr).toContain('outputBucket');
    }
    expect(api.seen).toHaveLength(0);
  });

  test('is not forgotten by a run without a storage, or with another one', async () => {
    const { folder, api } = await cutShort();
    await anotherSecond();
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

  test('is told from one into a new storage at the same place', async () => {
    const { folder } = await cutShort();
    await anotherSecond();
    rmSync(path.join(folder, 'storage'), { recursive: true });
    const { code, stderr } = await gex('run', '--data', folder);
    expect(code).toBe(1);
    expect(stderr).toContain('is not the one that it was begun for');
    expect(stderr).toContain('--discard');
  });

  test('goes on under the names that it began with, when its folder is renamed', async () => {
    const api = await library();
    const config = configOf(api, [{ endpoint: 'books' }], { config: { outputBucket: undefined } });
    const folder = dataFolder();
    const storage = path.join(folder, 'storage');
    const before = path.join(folder, 'before');
    put(before, 'config.json', withDestination(JSON.stringify(config), 'nowhere', 'books'));
    expect(await gex('run', '--data', before, '--storage', storage)).toMatchObject({ code: 1 });
    const after = path.join(folder, 'after');
    renameSync(before, after);
    put(after, 'config.json', JSON.stringify(config));
    const pushed = await gex('storage', 'push', after);
    expect({ pushed }).toMatchObject({ pushed: { code: 0 } });
    expect(await rowsIn(storage, 'in.c-ex-generic-v2-before.books')).toHaveLength(3);
  });

  test('can be looked at, and be pushed by hand', { tags: 'thorough' }, async () => {
    const { folder } = await cutShort();
    put(folder, 'config.json', withDestination(configIn(folder), 'in.c-mended.books'));
    const plan = await gex('storage', 'push', folder, '--dry-run');
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stdout).toMatch(/library\.books +in\.c-mended\.books +incremental/);
    const pushed = await gex('storage', 'push', folder);
    expect(pushed).toMatchObject({ code: 0 });
    expect(pushed.stdout).toMatch(/library\.books +in\.c-mended\.books +2/);
    expect((await gex('storage', 'push', folder)).stdout).toContain('Nothing was left to push.');
    expect(existsSync(path.join(folder, 'in', 'state.json'))).toBe(true);
    const typo = await gex('storage', 'push', folder, '--row', 'books');
    expect(typo).toMatchObject({ code: 1 });
    expect(typo.stderr).toContain('There is no output of “books” to push.');
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
