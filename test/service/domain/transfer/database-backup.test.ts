import { mkdtemp, readdir, readFile, rm, truncate, writeFile, copyFile } from 'node:fs/promises';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectMeta } from '../../../../src/service/stores/metadata/database.ts';
import { writeTarball } from '../../../../src/service/domain/transfer/backup/tarball.ts';
import { createService } from '../../../../src/service/start/service.ts';
import { killedWhen, runHere, startGex, type Ended } from '../../../cli/support.ts';
import type { Running } from '../../harness.ts';
import { startEmbedded } from '../../stores/objects/support.ts';
import { SERVER } from '../../stores/tables/postgres/database.ts';
import { answersOf, fill, type Filled } from './filled.ts';
import { createPlaces, type Place } from './places.ts';
import { serveFolder } from './serve-folder.ts';

const ROWS = 200;

describe.runIf(SERVER !== undefined)('a backup of a database and its object store', () => {
  let work: string;
  let filled: Filled;
  let source: Place;
  let key: string;
  let api: Running;
  const places = createPlaces();
  const { named, gex } = places;
  const serve = async (place: Place): Promise<Running> => await places.serve(place, key, filled.token);

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'database-backup-'));
    const folder = await serveFolder(join(work, 'folder'));
    filled = await fill(folder);
    await folder.stop();
    key = (await readFile(join(work, 'folder', 'encryption.key'), 'utf8')).trim();
    source = await places.make();
    const { code, stderr } = await gex('migrate', '--from', join(work, 'folder'), ...named('to', source));
    expect(code, stderr).toBe(0);
    api = await serve(source);
  });
  afterAll(async () => {
    await api.stop();
    await places.drop();
    await rm(work, { recursive: true, force: true });
  });

  test('needs the object store, which knows whose it is', async () => {
    const { code, stderr } = await gex('backup', join(work, 'none.tar'), '--from', source.database.url);
    expect([code, stderr]).toEqual([1, expect.stringContaining('--from-s3 is missing')]);
    expect(existsSync(join(work, 'none.tar'))).toBe(false);
    const { rows } = await source.database.pool.query("SELECT value FROM gex.settings WHERE name = 'files'");
    expect(rows).toEqual([{ value: 'bucket shelf' }]);
  });

  test('is what was true at one moment, whatever is done meanwhile, and after kills', async () => {
    await api.call('POST', 'buckets/in.c-main/tables', { name: 'log', dataString: 'id\n0\n' });
    await api.call('POST', 'buckets/in.c-main/tables', { name: 'swap', dataString: swapped(0) });
    await api.call('POST', 'components/ex-generic-v2/configs', { name: 'c', configurationId: 'c' });
    const state = { isOver: false, rows: 0, swaps: 0 };
    const goOn = async (step: () => Promise<void>): Promise<void> => {
      while (!state.isOver) await step();
    };
    const load = async (table: string, dataString: string, incremental: boolean): Promise<void> => {
      const reply = await api.call('POST', `tables/in.c-main.${table}/import`, {
        dataString,
        incremental: incremental ? 1 : 0,
      });
      expect(reply.status, reply.text).toBe(200);
    };
    // A row is in its table before a version of the configuration tells of it.
    const writers = [
      goOn(async () => {
        await load('log', `id\n${state.rows + 1}\n`, true);
        state.rows++;
        const configuration = { parameters: { rows: state.rows, swaps: state.swaps } };
        const { status } = await api.call('PUT', 'components/ex-generic-v2/configs/c', { configuration });
        expect(status).toBe(200);
      }),
      // Another table takes its place each time.
      goOn(async () => {
        await load('swap', swapped(state.swaps + 1), false);
        state.swaps++;
      }),
      goOn(async () => {
        const { body } = await api.call('POST', 'buckets/in.c-main/tables', {
          name: `passing_${state.rows}_${state.swaps}`,
          dataString: 'id\n1\n',
        });
        await api.call('DELETE', `tables/${(body as { id: string }).id}`);
      }),
    ];
    // Their failures are checked when they have ended.
    const ended = Promise.allSettled(writers);

    const tar = join(work, 'busy.tar');
    const command = ['storage', 'backup', tar, ...named('from', source)];
    const before = { rows: 0, swaps: 0 };
    try {
      for (const mark of ['meta.sqlite', join('tables', 'tables.duckdb'), join('tables', 'spool')]) {
        const child = startGex(command, { env: { ...process.env, ...places.keys() } });
        const isKilled = await killedWhen(child, () => existsSync(join(`${tar}.parts`, mark)));
        // On a busy machine it may be over before it is looked at.
        expect(existsSync(tar)).toBe(!isKilled);
        await rm(tar, { force: true });
      }
      Object.assign(before, state);
      const { code, stderr } = await runHere(command, { env: places.keys() });
      expect(code, stderr).toBe(0);
    } finally {
      state.isOver = true;
      await ended;
    }
    await Promise.all(writers);
    expect(existsSync(`${tar}.parts`)).toBe(false);

    const dir = join(work, 'busy');
    expect((await gex('restore', tar, '--to', dir)).code).toBe(0);
    await writeFile(join(dir, 'encryption.key'), key, { mode: 0o600 });
    const inFolder = await serveFolder(dir, filled.token);
    await check(inFolder, before);
    await inFolder.stop();

    const other = await places.make();
    const restored = await gex('restore', tar, ...named('to', other));
    expect(restored.code, restored.stderr).toBe(0);
    const inDatabase = await serve(other);
    await check(inDatabase, before);
    await inDatabase.stop();
  }, 120_000);

  test('has everything, and is the same in a folder; the key is to be brought along', async () => {
    const tar = join(work, 'whole.tar');
    const made = await gex('backup', tar, ...named('from', source));
    expect(made.stderr).toMatch(/whole\.tar: \d+ tables with [\d,]+ rows/);
    expect(made.stderr).toMatch(/the key [\da-f]{12} is not in it/);
    const dir = join(work, 'whole');
    const { code, stderr } = await gex('restore', tar, '--to', dir);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/the service needs the key [\da-f]{12}/);
    await expect(createService({ dir }).start()).rejects.toThrow('were encrypted with the key');
    await writeFile(join(dir, 'encryption.key'), key, { mode: 0o600 });
    const restored = await serveFolder(dir, filled.token);
    expect(await answersOf(restored, filled)).toMatchObject({
      verified: 200,
      sliced: '1,a\n2,b\n',
      plain: ['plain bytes', 'attachment'],
    });
    const odd = 'tables/in.c-main.odd/data-preview';
    expect((await restored.call('GET', odd)).text).toBe((await api.call('GET', odd)).text);
    await restored.stop();
  }, 120_000);

  test('of a folder goes into a database, is refused by one that has something, and goes on after kills', async () => {
    const tar = join(work, 'folder.tar');
    expect((await gex('backup', tar, '--storage', join(work, 'folder'))).code).toBe(0);
    expect((await gex('restore', tar, ...named('to', source))).stderr).toMatch(
      /Processes of a service are connected|is not empty: there is a project in it/,
    );
    const other = await places.make();
    const steps = async (): Promise<number> =>
      await other.database.pool.query<{ n: number }>('select count(*)::int as n from gex.transfers').then(
        ({ rows }) => rows[0]?.n ?? 0,
        () => 0,
      );
    const command = ['restore', tar, ...named('to', other)];
    let last: Ended | undefined;
    for (const least of [3, 12, 22]) {
      const child = startGex(['storage', ...command], { env: { ...process.env, ...places.keys() } });
      if (await killedWhen(child, async () => (await steps()) >= least)) continue;
      // On a busy machine it may be over before it is looked at.
      last = await child.ended;
      break;
    }
    if (last === undefined) await expect(serve(other)).rejects.toThrow('is not whole yet');
    const { code, stderr } = last ?? (await gex(...command));
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('It is in the backup: tar -xOf');
    expect(await steps()).toBe(0);
    expect((await gex(...command)).stderr).toContain('is not empty: there is a project in it');
    const restored = await serve(other);
    const preview = await restored.call('GET', 'tables/in.c-main.odd/data-preview');
    expect(preview.text).toBe((await api.call('GET', 'tables/in.c-main.odd/data-preview')).text);
    await restored.stop();
  }, 120_000);

  test('that is cut, of another program, of a newer version, or cannot be made is told, and nothing is changed', async () => {
    const tar = join(work, 'faults.tar');
    expect((await gex('backup', tar, ...named('from', source))).code).toBe(0);
    const other = await places.make();
    const restore = async (file: string) => (await gex('restore', file, ...named('to', other))).stderr;
    const broken = join(work, 'broken.tar');
    await copyFile(tar, broken);
    await truncate(broken, Math.floor(readFileSync(tar).length / 2));
    expect(await restore(broken)).toContain('The backup is cut, damaged, or none');
    await writeFile(broken, 'something else'.repeat(100));
    expect(await restore(broken)).toContain('no tar file');
    expect(await restore(join(work, 'nothing.tar'))).toContain('The backup cannot be read: ENOENT');
    const { rows } = await other.database.pool.query('select from gex.projects');
    expect(rows).toEqual([]);

    const newer = join(work, 'newer');
    await rm(newer, { recursive: true, force: true });
    await gex('restore', tar, '--to', newer);
    const meta = connectMeta(join(newer, 'meta.sqlite'));
    await meta
      .insertInto('kysely_migration' as never)
      .values({ name: '9999-later', timestamp: '2030-01-01T00:00:00.000Z' })
      .execute();
    await meta.destroy();
    await writeTarball(broken, new Date(), async (tarball) => {
      await tarball.add('meta.sqlite', join(newer, 'meta.sqlite'));
    });
    expect(await restore(broken)).toContain('is that of a newer version');
    const target = join(work, 'newer-target');
    expect((await gex('restore', broken, '--to', target)).stderr).toContain('is that of a newer version');
    expect(await readdir(target)).not.toContain('meta.sqlite');

    const away = await startEmbedded({ bucket: 'shelf' });
    await away.close();
    const failed = await gex('backup', join(work, 'away.tar'), ...named('from', { ...source, store: away }));
    expect(failed.stderr).toContain('The object store cannot be reached');
    expect(existsSync(join(work, 'away.tar'))).toBe(false);
    const alone = await gex('backup', join(work, 'away.tar'), '--from', source.database.url);
    expect(alone.stderr).toContain('--from-s3 is missing');
    const nowhere = await gex('backup', join(work, 'no', 'x.tar'), ...named('from', source));
    expect(nowhere.stderr).toContain('could not be written: ENOENT');
  }, 120_000);
});

const swapped = (value: number): string =>
  `id,v\n${Array.from({ length: ROWS }, (_, i) => `${i},${value}`).join('\n')}\n`;

async function check(api: Running, least: { readonly rows: number; readonly swaps: number }): Promise<void> {
  // Work that was under way when the backup was taken is completed.
  const jobs = async () => (await api.call('GET', 'jobs?limit=500')).body as { status: string }[];
  await expect
    .poll(async () => (await jobs()).filter(({ status }) => status === 'waiting' || status === 'processing'))
    .toEqual([]);
  const { body } = await api.call('GET', 'components/ex-generic-v2/configs/c');
  const { version, configuration } = body as {
    version: number;
    configuration: { parameters: { rows: number; swaps: number } };
  };
  const told = configuration.parameters;
  const log = await linesOf(api, 'log');
  expect(log.map(Number)).toEqual(log.map((_, i) => i));
  expect(log.length - 1).toBeGreaterThanOrEqual(Math.max(told.rows, least.rows));
  expect(log.length - 1).toBeLessThanOrEqual(told.rows + 1);
  const swap = await linesOf(api, 'swap');
  expect(swap).toHaveLength(ROWS);
  const values = new Set(swap.map((line) => Number(line.split(',')[1])));
  expect(values.size).toBe(1);
  expect([...values][0]).toBeGreaterThanOrEqual(Math.max(told.swaps, least.swaps));
  for (const table of ['log', 'swap']) {
    const { rowsCount } = (await api.call('GET', `tables/in.c-main.${table}`)).body as { rowsCount: number };
    expect(rowsCount).toBe(table === 'log' ? log.length : ROWS);
  }
  const versions = (await api.call('GET', 'components/ex-generic-v2/configs/c/versions?limit=5000')).body;
  expect((versions as { version: number }[]).map((each) => each.version)).toEqual(
    Array.from({ length: version }, (_, i) => version - i),
  );
}

async function linesOf(api: Running, table: string): Promise<string[]> {
  const { text } = await api.call('GET', `tables/in.c-main.${table}/data-preview?limit=1000`);
  return text.replaceAll('"', '').trim().split('\n').slice(1);
}
