// @module-tag thorough
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectMeta, openMeta } from '../../../../src/service/stores/metadata/database.ts';
import { RULES } from '../../../../src/service/domain/transfer/rules.ts';
import { createService } from '../../../../src/service/start/service.ts';
import { gexHere, killedWhen, runHere, startGex } from '../../../cli/support.ts';
import { startEmbedded, textOf } from '../../stores/objects/support.ts';
import { makeDatabase, SERVER } from '../../stores/tables/postgres/database.ts';
import { answersOf, fill, type Filled } from './filled.ts';
import { serveFolder } from './serve-folder.ts';
import { bytesOf } from '../../stores/tables/slices.ts';

let work: string;
let source: string;
let filled: Filled;
let answers: unknown;
let target: string;
let count = 0;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'migrate-'));
  source = join(work, 'source');
  const api = await serveFolder(source);
  filled = await fill(api);
  await api.stop();
  // Asking makes exports, which are more of what is to be moved.
  const again = await serveFolder(source, filled.token);
  answers = await answersOf(again, filled);
  await again.stop();
});
afterAll(async () => {
  await rm(work, { recursive: true, force: true });
});
beforeEach(() => {
  target = join(work, `target-${++count}`);
});

const migrate = async (...options: string[]) =>
  await gexHere('storage', 'migrate', '--from', source, '--to', target, ...options);

test('a folder that was migrated answers all that its source answered, and goes on counting', async () => {
  const { code, stdout, stderr } = await migrate();
  expect(stderr).toContain('every row and every byte was compared');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^configuration versions +\d+$/m);
  expect(stdout).toMatch(/^rows of tables +7 +/m);
  expect(stderr).toMatch(/the service there needs the key [\da-f]{12} of/);

  const api = await serveFolder(target, filled.token);
  try {
    expect(withoutLater(await answersOf(api, filled))).toEqual(withoutLater(answers));
    const { body } = await api.call('POST', 'files/prepare', { name: 'x' });
    const jobs = (await api.call('GET', 'jobs?limit=1')).body as { id: number }[];
    expect((body as { id: number }).id).toBeGreaterThan(jobs[0]?.id ?? Infinity);
  } finally {
    await api.stop();
  }
});

/** Exports that were asked for in between are jobs and files that the other has not. */
function withoutLater(of: unknown): unknown {
  const {
    'jobs?limit=100': _jobs,
    'files?limit=100&showExpired=1': _files,
    ...rest
  } = of as Record<string, unknown>;
  const { 'events?limit=100': _events, ...others } = rest;
  return others;
}

test('the rows of a table are there with every digit of their change times, in their order', async () => {
  await migrate();
  const [before, after] = await Promise.all([timesOf(source), timesOf(target)]);
  expect(after).toBe(before);
  expect(after).toContain('"9","old","2020-05-06 07:08:09.123456"');
});

async function timesOf(dir: string): Promise<string> {
  const { createDuckDbEngine } = await import('../../../../src/service/stores/tables/duckdb/engine.ts');
  const engine = createDuckDbEngine({ folder: join(dir, 'tables') });
  await engine.open();
  let text = '';
  const meta = connectMeta(join(dir, 'meta.sqlite'));
  const { branch_id } = await meta.selectFrom('tables').select('branch_id').executeTakeFirstOrThrow();
  await meta.destroy();
  const whole = { includeInternalTimestamp: true, hasExactTimes: true };
  const sizes = { gzip: false, targetBytes: 1e6 };
  const id = { bucket: `${branch_id}/in.c-main`, table: 'odd' };
  await engine.export(id, whole, sizes, async (slice) => {
    text += String(await bytesOf(slice));
  });
  await engine.close();
  return text;
}

test('killed at any moment and given again, it goes on and ends with the same; nothing serves what is not whole', async () => {
  for (let round = 0; ; round++) {
    const child = startGex(['storage', 'migrate', '--from', source, '--to', target]);
    // Each time a little further: until another step is written down.
    const before = stepsOf(target);
    if (!(await killedWhen(child, () => stepsOf(target) > before + 6 * round))) {
      expect((await child.ended).code).toBe(0);
      break;
    }
    const isBegun = stepsOf(target) > 0;
    if (isBegun) await expect(createService({ dir: target }).start()).rejects.toThrow('is not whole yet');
  }
  const api = await serveFolder(target, filled.token);
  expect(withoutLater(await answersOf(api, filled))).toEqual(withoutLater(answers));
  await api.stop();
});

/** @param like counts those alone that are called so */
function stepsOf(dir: string, like = '%'): number {
  try {
    const database = new DatabaseSync(join(dir, 'meta.sqlite'), { readOnly: true, timeout: 1000 });
    const count = database.prepare('SELECT count(*) AS steps FROM transfers WHERE step LIKE ?');
    const row = count.get(like) as { steps: number };
    database.close();
    return row.steps;
  } catch {
    return 0;
  }
}

test('a target in use, a source in use, and a source with work to do are refused', async () => {
  expect((await gexHere('storage', 'migrate', '--from', source, '--to', source)).stderr).toContain(
    'is held by',
  );
  const other = await serveFolder(target);
  expect((await migrate()).stderr).toContain('is held by');
  await other.stop();
  expect((await migrate()).stderr).toContain('is not empty: there is a project in it');

  const serving = await serveFolder(source, filled.token);
  target = join(work, 'none');
  expect((await migrate()).stderr).toContain('is held by');
  await serving.stop();

  const meta = await openMeta(join(source, 'meta.sqlite'));
  const job = await meta.selectFrom('jobs').selectAll().executeTakeFirstOrThrow();
  await meta
    .insertInto('jobs')
    .values({ ...job, id: 5, status: 'waiting', ended: null })
    .execute();
  expect((await migrate()).stderr).toContain('has 1 jobs that are not finished');
  await meta.deleteFrom('jobs').where('id', '=', 5).execute();
  await meta.destroy();
});

test('what differs in the end is named, and is an error', async () => {
  // A migration that has copied all, and in which something was changed before it was compared.
  const isCopied = (): boolean => stepsOf(target, 'metadata/configurations') > 0;
  const isKilled = async (): Promise<boolean> => {
    await rm(target, { recursive: true, force: true });
    await mkdir(target);
    return await killedWhen(startGex(['storage', 'migrate', '--from', source, '--to', target]), isCopied);
  };
  // One that was over before it was looked at is none.
  await expect.poll(isKilled).toBe(true);
  const meta = await openMeta(join(target, 'meta.sqlite'));
  await meta.updateTable('branches').set({ description: 'other' }).execute();
  await meta.destroy();
  const { code, stderr } = await migrate();
  expect(code).toBe(1);
  expect(stderr).toContain('branches: other content than in the source');
});

test('a source that changed between two attempts is not mixed with what it was', async () => {
  await mkdir(target);
  const meta = await openMeta(join(target, 'meta.sqlite'));
  const state = JSON.stringify({ branches: { rows: 7, sum: 'ab' } });
  await meta.insertInto('transfers').values({ step: 'source', state }).execute();
  await meta.destroy();
  const { code, stderr } = await migrate();
  expect(code).toBe(1);
  expect(stderr).toContain('has changed since');
});

test('every table of the metadata has a rule, with its primary key', () => {
  const database = new DatabaseSync(join(source, 'meta.sqlite'), { readOnly: true });
  const tables = database
    .prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'kysely%' AND name NOT LIKE 'sqlite%'`,
    )
    .all() as { name: string }[];
  expect(Object.keys(RULES).toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  for (const [name, rule] of Object.entries(RULES)) {
    if ('leftOut' in rule) continue;
    const columns = database.prepare(`PRAGMA table_info(${name})`).all() as { name: string; pk: number }[];
    const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
    expect([name, rule.key]).toEqual([name, key.map((column) => column.name)]);
  }
  database.close();
});

test('files go into an object store of others and back, and their manifests name the bucket that they are in', async () => {
  const store = await startEmbedded({ bucket: 'shelf' });
  const { accessKeyId, secretAccessKey } = store.store.keys.service;
  const env = {
    GEX_S3_ACCESS_KEY: accessKeyId,
    GEX_TO_S3_SECRET_KEY: secretAccessKey,
    GEX_FROM_S3_SECRET_KEY: secretAccessKey,
  };
  const there = ['--to-s3', store.endpoint, '--to-s3-bucket', 'shelf'];
  const out = await runHere(['storage', 'migrate', '--from', source, '--to', target, ...there], { env });
  expect(out.code, out.stderr).toBe(0);
  const manifests: string[] = [];
  for await (const { key } of store.store.list(''))
    if (key.endsWith('manifest')) manifests.push(await textOf(await store.store.read(key)));
  expect(manifests.join('')).toContain('s3://shelf/');
  expect(manifests.join('')).not.toContain('s3://files/');

  const back = join(work, 'back');
  const here = ['--from-s3', store.endpoint, '--from-s3-bucket', 'shelf'];
  const home = await runHere(['storage', 'migrate', '--from', target, '--to', back, ...here], { env });
  expect(home.code, home.stderr).toBe(0);
  expect(`${out.stderr}${home.stderr}`).not.toContain(secretAccessKey);
  await store.close();
  const api = await serveFolder(back, filled.token);
  expect(withoutLater(await answersOf(api, filled))).toEqual(withoutLater(answers));
  await api.stop();
});

describe.runIf(SERVER !== undefined)('a database and an object store', () => {
  test('take all that a folder has, also when they are killed at it, and give it back as it was', async () => {
    const database = await makeDatabase();
    const store = await startEmbedded({ bucket: 'shelf' });
    const { accessKeyId, secretAccessKey } = store.store.keys.service;
    const env = { GEX_S3_ACCESS_KEY: accessKeyId, GEX_S3_SECRET_KEY: secretAccessKey };
    const out = [
      'storage',
      'migrate',
      '--from',
      source,
      '--to',
      database.url,
      '--to-s3',
      store.endpoint,
      '--to-s3-bucket',
      'shelf',
    ];
    const steps = async (): Promise<number> =>
      await database.pool.query<{ n: number }>('select count(*)::int as n from gex.transfers').then(
        ({ rows }) => rows[0]?.n ?? 0,
        () => 0,
      );
    let isWhole = false;
    for (const least of [3, 12, 22]) {
      const child = startGex(out, { env: { ...process.env, ...env } });
      // On a busy machine it may be over before it is looked at.
      isWhole = !(await killedWhen(child, async () => (await steps()) >= least));
      if (isWhole) break;
    }
    if (!isWhole) {
      const done = await runHere(out, { env });
      expect(done.code, done.stderr).toBe(0);
    }
    expect(await steps()).toBe(0);
    // As a service calls them: the SQL of people, and the roles of readers, go by it.
    const { rows: schemas } = await database.pool.query<{ nspname: string }>(
      'select nspname from pg_namespace',
    );
    expect(schemas.map(({ nspname }) => nspname)).toContain('gex_in_c_main');
    expect((await runHere(out, { env })).stderr).toContain('is not empty: there is a project in it');

    const home = [
      'storage',
      'migrate',
      '--from',
      database.url,
      '--to',
      target,
      '--from-s3',
      store.endpoint,
      '--from-s3-bucket',
      'shelf',
    ];
    const busy = new Client({ connectionString: database.url, application_name: 'gex' });
    await busy.connect();
    expect((await runHere(home, { env })).stderr).toContain('Processes of a service are connected');
    await busy.end();
    const back = await runHere(home, { env });
    expect(back.code, back.stderr).toBe(0);
    await store.close();
    await database.drop();
    // With another one than its values have, nobody starts over it.
    await expect(createService({ dir: target }).start()).rejects.toThrow('were encrypted with the key');
    await copyFile(join(source, 'encryption.key'), join(target, 'encryption.key'));
    const api = await serveFolder(target, filled.token);
    expect(withoutLater(await answersOf(api, filled))).toEqual(withoutLater(answers));
    await api.stop();
    expect(await timesOf(target)).toBe(await timesOf(source));
  });

  test('that cannot be reached are told', async () => {
    const nowhere = 'postgres://gex:open-sesame@127.0.0.1:1/none';
    const store = await startEmbedded({ bucket: 'shelf' });
    const env = { GEX_S3_ACCESS_KEY: 'a', GEX_S3_SECRET_KEY: 'b' };
    const away = await runHere(
      [
        'storage',
        'migrate',
        '--from',
        source,
        '--to',
        nowhere,
        '--to-s3',
        store.endpoint,
        '--to-s3-bucket',
        'shelf',
      ],
      { env },
    );
    expect(away.stderr).toContain('The database could not be reached');
    expect(away.stderr).not.toContain('open-sesame');
    await store.close();
  });
});
