import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectMeta } from '../../../../src/service/stores/metadata/database.ts';
import type { Reply, Running } from '../../harness.ts';
import { SERVER } from '../../stores/tables/postgres/database.ts';
import { createPlaces, type Place } from './places.ts';
import { serveFolder } from './serve-folder.ts';

const KEY = Buffer.alloc(32, 5).toString('base64');

const DELETIONS = ['tableDrop', 'bucketDelete', 'devBranchDelete'];

interface Job {
  readonly operationName: string;
  readonly status: string;
  readonly tableId: string | null;
}

describe.runIf(SERVER !== undefined)('a backup of a moment between rows and metadata', () => {
  const places = createPlaces();
  let work: string;
  let source: Place;
  let api: Running;

  const ask = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const reply = await api.call(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply;
  };
  const makeTable = async (bucket: string, name: string, more = {}): Promise<void> =>
    void (await ask('POST', `${bucket}/tables`, { name, dataString: 'id,v\n1,a\n2,b\n', ...more }));
  const tables = async (pattern: string): Promise<string[]> => {
    const { rows } = await source.database.pool.query<{ told: string }>(
      `SELECT bucket || '.' || table_name || ' ' || columns || ' ' || primary_key || ' ' || row_count AS told
       FROM gex.table_catalog WHERE bucket || '.' || table_name ~ $1 ORDER BY 1`,
      [pattern],
    );
    return rows.map(({ told }) => told.replace(/^\d+\//, ''));
  };

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'moments-'));
    source = await places.make();
    api = await places.serve(source, KEY, undefined, { concurrency: 20, poolSize: 30 });
    for (const name of ['main', 'going']) await ask('POST', 'buckets', { name, stage: 'in' });
  });
  afterAll(async () => {
    await api.stop();
    await places.drop();
    await rm(work, { recursive: true, force: true });
  });

  test('has tables that are being deleted or changed, and the jobs that bring them to their end', async () => {
    const main = 'buckets/in.c-main';
    for (const name of ['dropped', 'wider', 'narrower', 'keyed', 'emptied', 'loaded', 'stays'])
      await makeTable(main, name);
    await makeTable(main, 'unkeyed', { primaryKey: 'id' });
    for (const name of ['one', 'two']) await makeTable('buckets/in.c-going', name);
    const made = await ask('POST', 'dev-branches', { name: 'development' });
    const finished = async (reply: Reply, by: Running = api): Promise<Job> => {
      const { id } = reply.body as { id: number };
      return await expect
        .poll(async () => (await by.call('GET', `jobs/${id}`)).body as Job)
        .toSatisfy(({ status }: Job) => status === 'success' || status === 'error')
        .then(async () => (await by.call('GET', `jobs/${id}`)).body as Job);
    };
    const { results } = (await finished(made)) as Job & { results: { id: number } };
    const branch = `branch/${results.id}`;
    await ask('POST', `${branch}/buckets`, { name: 'own', stage: 'in' });
    await makeTable(`${branch}/buckets/in.c-own`, 'three');

    // Changes to tables wait for this lock; reads do not.
    const hold = await source.database.pool.connect();
    await hold.query('BEGIN; LOCK TABLE gex.tables IN SHARE MODE');
    const changes: Promise<Reply>[] = [
      ask('DELETE', 'tables/in.c-main.dropped'),
      ask('DELETE', 'buckets/in.c-going?force=1'),
      ask('DELETE', `dev-branches/${results.id}`),
      ask('POST', `${main}/tables`, { name: 'made', dataString: 'id\n1\n' }),
      ask('POST', 'tables/in.c-main.wider/columns', { name: 'w' }),
      ask('DELETE', 'tables/in.c-main.narrower/columns/v'),
      ask('POST', 'tables/in.c-main.keyed/primary-key', { columns: ['id'] }),
      ask('DELETE', 'tables/in.c-main.unkeyed/primary-key'),
      ask('DELETE', 'tables/in.c-main.emptied/rows?allowTruncate=1'),
      ask('POST', 'tables/in.c-main.loaded/import', { dataString: 'id,v,x\n3,c,y\n', incremental: 1 }),
    ];
    const done = Promise.allSettled(changes);
    const tar = join(work, 'between.tar');
    try {
      await expect
        .poll(async () => await tables('.'))
        .toEqual([
          'in.c-main.emptied ["id","v"] [] 0',
          'in.c-main.keyed ["id","v"] ["id"] 2',
          'in.c-main.loaded ["id","v","x"] [] 3',
          'in.c-main.made ["id"] [] 1',
          'in.c-main.narrower ["id"] [] 2',
          'in.c-main.stays ["id","v"] [] 2',
          'in.c-main.unkeyed ["id","v"] [] 2',
          'in.c-main.wider ["id","v","w"] [] 2',
        ]);
      const { code, stderr } = await places.gex('backup', tar, ...places.named('from', source));
      expect(code, stderr).toBe(0);
      expect(stderr).toContain('between.tar: 7 tables with 13 rows');
    } finally {
      // An alias that is made now has nothing to show, and goes with its source.
      const late = { id: 'in.c-main.late', name: 'late', display_name: 'late' };
      await hold.query(
        `INSERT INTO gex.tables SELECT (jsonb_populate_record(t, $1)).* FROM gex.tables t WHERE id = $2`,
        [{ ...late, alias_source: 'in.c-main.dropped' }, 'in.c-main.dropped'],
      );
      await hold.query('COMMIT');
      hold.release();
      await done;
    }
    await Promise.all(changes);

    const look = async (by: Running) => {
      const jobs = async (): Promise<Job[]> => (await by.call('GET', 'jobs?limit=500')).body as Job[];
      await expect
        .poll(async () => (await jobs()).filter(({ status }) => !['success', 'error'].includes(status)))
        .toEqual([]);
      const list = (await by.call('GET', 'tables?include=columns')).body as {
        readonly id: string;
        readonly columns: readonly string[];
        readonly primaryKey: readonly string[];
        readonly rowsCount: number;
      }[];
      const previews: string[] = [];
      for (const { id } of list) previews.push((await by.call('GET', `tables/${id}/data-preview`)).text);
      return {
        jobs: (await jobs()).map(({ operationName, status, tableId }) => [operationName, status, tableId]),
        tables: list.map(({ id, columns, primaryKey, rowsCount }) => ({
          id,
          columns,
          primaryKey,
          rowsCount,
        })),
        previews,
        branches: (await by.call('GET', 'dev-branches')).body,
        buckets: ((await by.call('GET', 'buckets')).body as { id: string }[]).map(({ id }) => id),
      };
    };
    const wanted = await look(api);
    expect(wanted.jobs.filter(([, status]) => status !== 'success')).toEqual([]);
    expect((await api.call('GET', 'tables/in.c-main.late')).status).toBe(404);

    const dir = join(work, 'folder');
    expect((await places.gex('restore', tar, '--to', dir)).code).toBe(0);
    await writeFile(join(dir, 'encryption.key'), KEY, { mode: 0o600 });
    // A table that has lost its rows cannot stay, however often its deletion was interrupted.
    const meta = connectMeta(join(dir, 'meta.sqlite'));
    await meta.updateTable('jobs').set({ attempt: 50 }).where('operation', 'in', DELETIONS).execute();
    await meta.destroy();
    const inFolder = await serveFolder(dir, api.token);
    expect(await look(inFolder)).toEqual(wanted);
    await inFolder.stop();

    const other = await places.make();
    const restored = await places.gex('restore', tar, ...places.named('to', other));
    expect(restored.code, restored.stderr).toBe(0);
    // Nor when somebody asked for an end of that.
    await other.database.pool.query(
      "UPDATE gex.jobs SET is_cancelled = 1 WHERE status = 'processing' AND operation = ANY ($1)",
      [DELETIONS],
    );
    const inDatabase = await places.serve(other, KEY, api.token);
    expect(await look(inDatabase)).toEqual(wanted);
    await inDatabase.stop();
  }, 120_000);

  test('is refused where rows are gone and no job has begun to delete their table', async () => {
    await makeTable('buckets/in.c-main', 'lost');
    await source.database.pool.query("DELETE FROM gex.table_catalog WHERE table_name = 'lost'");
    const tar = join(work, 'lost.tar');
    const { code, stderr } = await places.gex('backup', tar, ...places.named('from', source));
    expect(code).toBe(1);
    expect(stderr).toContain('Not every table can be copied.');
    expect(stderr).toContain('table in.c-main.lost: Its rows are gone, and no job is deleting it');
    expect([tar, `${tar}.parts`, `${tar}.tmp`].filter((path) => existsSync(path))).toEqual([]);
    await ask('DELETE', 'tables/in.c-main.lost');
    expect((await places.gex('backup', tar, ...places.named('from', source))).code).toBe(0);
  });
});
