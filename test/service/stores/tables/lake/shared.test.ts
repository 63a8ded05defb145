import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { LeaseLost } from '../../../../../src/service/stores/queue/endings.ts';
import { recordingLog } from '../../../../engine/http/support.ts';
import { containing } from '../../../harness.ts';
import { testTableEngine } from '../contract.ts';
import { testTypedTables } from '../typed-tables.ts';
import { EARLY, exported, load, slicesOf, useDatabase } from '../postgres/support.ts';
import { FORBIDDEN, FULL, guardStore, SLOW_DOWN, type GuardedStore } from './guarded-store.ts';
import { HAS_SHARED_LAKE, lakeOver, sharedPlace } from './support.ts';
import type { Fence, TableEngine } from '../../../../../src/service/stores/tables/engine.ts';
import type { LakeEngine } from '../../../../../src/service/stores/tables/lake/engine.ts';
import type { LakeOfDatabase } from '../../../../../src/service/stores/tables/lake/place.ts';

/** A moment from before which every file is. */
const LATE = '2100-01-01 00:00:00+00';

describe.runIf(HAS_SHARED_LAKE)('over PostgreSQL and a store of others', () => {
  const given = useDatabase();
  let place: LakeOfDatabase;
  const engines: LakeEngine[] = [];
  const opened = async (): Promise<LakeEngine> => {
    const engine = await lakeOver(place);
    engines.push(engine);
    await engine.open();
    return engine;
  };
  const guarded = async (keepDays?: number): Promise<{ engine: LakeEngine; guard: GuardedStore }> => {
    const guard = await guardStore(place.objects.endpoint ?? '');
    onTestFinished(async () => await guard.stop());
    const engine = await lakeOver({ ...place, objects: { ...place.objects, endpoint: guard.url } }, keepDays);
    engines.push(engine);
    await engine.open();
    return { engine, guard };
  };
  beforeAll(async () => {
    // The table of jobs, as far as the fence looks at it.
    await given.database.pool.query(
      'CREATE SCHEMA gex; CREATE TABLE gex.jobs (id bigint, fencing bigint, worker text, status text, beat int)',
    );
    place = await sharedPlace(given.database);
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close();
  });

  describe('the contract', () => {
    let engine: LakeEngine | undefined;
    const one = (): LakeEngine => {
      if (engine === undefined) throw new Error('The engine is made when it is opened.');
      return engine;
    };
    const start = (): TableEngine => ({
      ...forwarded(one),
      async open() {
        engine = await lakeOver(place);
        await engine.open();
      },
    });
    testTableEngine('A lake', start);
    testTypedTables('A lake', start, 8);
  });

  test('a commit of a job that another worker has is refused, and nothing of it is seen', async () => {
    const engine = await opened();
    const table = { bucket: 'in.c-fence', table: 'rows' };
    await load(engine, table, 'id\n1\n', { create: { primaryKey: [] } });
    const { pool } = given.database;
    await pool.query("INSERT INTO gex.jobs VALUES (7, 3, 'w1', 'processing', 0)");
    const ours: Fence = { jobId: 7, fencing: 3, worker: 'w1' };
    // Its worker says that it lives while it works: that is no conflict.
    const slow = (async function* () {
      yield Buffer.from('id\n2\n');
      await pool.query('UPDATE gex.jobs SET beat = beat + 1');
      yield Buffer.from('3\n');
    })();
    await engine.import(table, { importedAt: EARLY, incremental: true, fence: ours }, slicesOf(slow));
    expect(await exported(engine, table)).toBe('"1"\n"2"\n"3"\n');
    const others: Fence[] = [
      { ...ours, fencing: 2 },
      { ...ours, worker: 'w2' },
      { ...ours, jobId: 8 },
    ];
    for (const fence of others) {
      await expect(load(engine, table, 'id\n9\n', { incremental: true, fence })).rejects.toThrow(LeaseLost);
      await expect(engine.addColumn(table, 'more', { fence })).rejects.toThrow(LeaseLost);
      await expect(engine.drop(table, { fence })).rejects.toThrow(LeaseLost);
    }
    await pool.query("UPDATE gex.jobs SET status = 'success'");
    await expect(engine.deleteRows(table, {}, { fence: ours })).rejects.toThrow(LeaseLost);
    expect(await engine.describe(table)).toMatchObject({ rows: 3, columns: ['id'] });
  });

  test('files of a commit that was refused are told, found and deleted, and no others', async () => {
    const log = recordingLog();
    const engine = await lakeOver(place, undefined, log);
    engines.push(engine);
    await engine.open();
    const table = { bucket: 'in.c-orphans', table: 'rows' };
    await load(engine, table, 'id\n1\n', { create: { primaryKey: ['id'] } });
    await load(engine, table, 'id\n1\n2\n', { incremental: true });
    const orphans = await engine.orphans();
    if (orphans === undefined) throw new Error('A lake has files.');
    // None of them is two days old.
    expect(await orphans.list()).toMatchObject({ count: 0, files: [] });
    const before = await orphans.list(LATE);
    expect(log.lines).toEqual([]);
    const refused = { incremental: true, fence: { jobId: 99, fencing: 1, worker: 'w' } };
    await expect(load(engine, table, 'id\n9\n', refused)).rejects.toThrow(LeaseLost);
    // A failure soon after another one is told later, with those until then.
    await expect(engine.drop(table, refused)).rejects.toThrow(LeaseLost);
    expect(log.lines).toMatchObject([
      { level: 'warn', message: containing('gex storage tables orphans'), fields: { commits: 1 } },
    ]);
    const listed = await orphans.list(LATE);
    expect(listed.count).toBe(before.count + 1);
    expect(listed.files.every(({ path, bytes }) => path.startsWith('s3://') && bytes > 0)).toBe(true);
    await expect(orphans.remove(before)).rejects.toThrow('List them again');
    expect(await orphans.remove(listed)).toMatchObject({ count: listed.count });
    expect(await orphans.list(LATE)).toMatchObject({ count: 0 });
    expect(await exported(engine, table)).toBe('"1"\n"2"\n');
  });

  test('several processes add to one table, and to tables of their own, and nothing is lost', async () => {
    const [a, b] = [await opened(), await opened()];
    const table = { bucket: 'in.c-both', table: 'rows' };
    await load(a, table, 'id\n0\n', { create: { primaryKey: ['id'] } });
    await Promise.all(
      [a, b].map(async (engine, which) => {
        for (let i = 0; i < 6; i++) {
          await load(engine, table, `id,v\n${which}-${i},x\nsame,${which}${i}\n`, { incremental: true });
          const own = { bucket: 'in.c-both', table: `own_${which}_${i}` };
          await load(engine, own, 'id\n1\n2\n', { create: { primaryKey: [] } });
        }
      }),
    );
    for (const engine of [a, b]) {
      expect(await engine.describe(table)).toMatchObject({ rows: 14, columns: ['id', 'v'] });
      expect(
        (await exported(engine, table)).split('\n').filter((line) => line.startsWith('"same"')),
      ).toHaveLength(1);
      for (const name of ['own_0_5', 'own_1_0'])
        expect(await engine.describe({ bucket: 'in.c-both', table: name })).toMatchObject({ rows: 2 });
    }
    // Some forty commits, one after the other.
  }, 240_000);

  test('is maintained: files are joined, old versions are forgotten, and rows and marks stay', async () => {
    const engine = await lakeOver(place, 0);
    engines.push(engine);
    await engine.open();
    const table = { bucket: 'in.c-care', table: 'rows' };
    await load(engine, table, 'id,v\n0,0\n', { create: { primaryKey: ['id'] } });
    for (let i = 0; i < 14; i++)
      await load(engine, table, `id,v\n${i},x\n0,${i}\n`, { incremental: true, mark: `job ${i}` });
    const [before, described] = [await exported(engine, table), await engine.describe(table)];
    await engine.compact();
    await engine.compact();
    expect(await exported(engine, table)).toBe(before);
    expect(await engine.describe(table)).toEqual(described);
    const { rows } = await given.database.pool.query(
      'SELECT (SELECT count(*)::int FROM gex_lake.ducklake_snapshot) AS versions, (SELECT count(*)::int FROM gex_lake.gex_said) > 0 AS is_said',
    );
    expect(rows).toEqual([{ versions: 1, is_said: true }]);
  });

  test('a history, a difference and the way back are found in a catalogue of PostgreSQL', async () => {
    const engine = await opened();
    const versions = await engine.versions();
    if (versions === undefined) throw new Error('A lake has versions.');
    const table = { bucket: 'in.c-past', table: 'rows' };
    const runs = ['7', '7.1', `'"7`];
    for (const [i, run] of runs.entries())
      await load(engine, table, `id,v\n1,${i}\n${i + 5},${i}.50\n`, {
        ...(i === 0 ? { create: { primaryKey: ['id'] } } : { incremental: true }),
        ...(i === 0 ? {} : { types: new Map([['v', 'double' as const]]) }),
        mark: `job ${i}`,
        origin: { run, component: 'c' },
      });
    const history = await versions.history(table, { limit: 9 });
    expect(
      history.map(({ change, rows, importedRows, origin }) => [change, rows, importedRows, origin.run]),
    ).toEqual([
      ['import', 4, 2, `'"7`],
      ['import', 3, 2, '7.1'],
      ['create', 2, 2, '7'],
    ]);
    for (const run of runs)
      expect((await versions.history(table, { limit: 9, run })).map(({ origin }) => origin.run)).toEqual([
        run,
      ]);
    const [last, , first] = history.map(({ version }) => version);
    expect(await versions.versionAt(history[2]?.time ?? EARLY)).toBe(first);
    expect(await versions.previous(last ?? 0)).toBe((last ?? 0) - 1);
    expect(
      await versions.difference(table, { from: (last ?? 0) - 1, to: last ?? 0, limit: 9 }),
    ).toMatchObject({
      added: 1,
      changed: 1,
      removed: 0,
      rows: [{ before: ['1', '1'], after: ['1', '2'] }, { after: ['7', '2.50'] }],
    });
    expect(await versions.restore(table, first ?? 0, {})).toMatchObject({ rows: 2 });
    expect(await exported(engine, table)).toBe('"1","0"\n"5","0.50"\n');
    // Each list of a history is read by an index. Of a few rows all plans cost the same.
    const client = await given.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO gex_lake.ducklake_snapshot_changes (snapshot_id, commit_extra_info)
         SELECT 1000000 + i, format('{"t": "%s"}', i) FROM generate_series(1, 5000) AS i`,
      );
      await client.query('ANALYZE gex_lake.ducklake_snapshot_changes');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT * FROM gex_lake.ducklake_snapshot_changes c WHERE split_part(c.commit_extra_info, '"', 4) = 'x' ORDER BY snapshot_id DESC LIMIT 1`,
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('gex_commits');
    } finally {
      client.release(true);
    }
  });

  test.each([
    ['may not be written', /^(?:POST|PUT) .*parquet/, FORBIDDEN, { code: 'storage.tables.notAllowed' }],
    ['is full', /^(?:POST|PUT) .*parquet/, FULL, { code: 'InsufficientStorage' }],
    ['does not work', /^(?:POST|PUT) .*parquet/, SLOW_DOWN, { code: 'ServiceUnavailable' }],
  ])(
    'a store that %s ends a load with what to do, and the table is as it was',
    async (_, what, answer, error) => {
      const { engine, guard } = await guarded();
      const table = { bucket: 'in.c-guarded', table: `rows${answer.status}` };
      await load(engine, table, 'id\n1\n', { create: { primaryKey: ['id'] } });
      guard.refuse(what, answer);
      await expect(load(engine, table, 'id\n2\n', { incremental: true })).rejects.toMatchObject(error);
      expect(guard.refused).toBeGreaterThan(0);
      guard.refuse(undefined);
      expect(await exported(engine, table)).toBe('"1"\n');
      await load(engine, table, 'id\n2\n', { incremental: true });
      expect(await exported(engine, table)).toBe('"1"\n"2"\n');
    },
  );

  test('a store that may not be read, or that is away, is told as such', async () => {
    const { engine, guard } = await guarded();
    const table = { bucket: 'in.c-guarded', table: 'read' };
    await load(engine, table, 'id\n1\n', { create: { primaryKey: [] } });
    guard.refuse(/^(?:GET|HEAD) .*parquet/);
    await expect(exported(engine, table)).rejects.toMatchObject({ code: 'storage.tables.notAllowed' });
    guard.refuse(undefined);
    expect(await exported(engine, table)).toBe('"1"\n');
    await guard.stop();
    await expect(load(engine, table, 'id\n2\n')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
  });

  test('a store that deletes no files is told by the maintenance, and by the deletion of files without an owner', async () => {
    const { engine, guard } = await guarded(0);
    const { pool } = given.database;
    const table = { bucket: 'in.c-guarded', table: 'kept' };
    await load(engine, table, 'id\n1\n', { create: { primaryKey: [] } });
    await load(engine, table, 'id\n2\n', {});
    await expect(
      load(engine, table, 'id\n9\n', { fence: { jobId: 99, fencing: 1, worker: 'w' } }),
    ).rejects.toThrow(LeaseLost);
    const orphans = await engine.orphans();
    const listed = await orphans?.list(LATE);
    if (orphans === undefined || listed === undefined) throw new Error('A lake has files.');
    expect(listed.count).toBeGreaterThan(0);
    await engine.compact();
    await pool.query(
      "UPDATE gex_lake.ducklake_files_scheduled_for_deletion SET schedule_start = now() - interval '2 days'",
    );
    const scheduled = async (): Promise<unknown> =>
      (
        await pool.query(
          "SELECT path FROM gex_lake.ducklake_files_scheduled_for_deletion WHERE schedule_start < now() - interval '1 day' ORDER BY path",
        )
      ).rows;
    const before = await scheduled();
    expect(before).not.toEqual([]);
    guard.refuse(/^(?:DELETE |POST .*[?&]delete)/);
    for (const work of [() => orphans.remove(listed), () => engine.compact()]) {
      await expect(work()).rejects.toMatchObject({ code: 'storage.tables.notAllowed' });
      expect(guard.refused).toBeGreaterThan(0);
    }
    guard.refuse(undefined);
    expect([await orphans.list(LATE), await scheduled()]).toEqual([listed, before]);
    expect(await exported(engine, table)).toBe('"2"\n');
    await orphans.remove(listed);
    await engine.compact();
    expect([(await orphans.list(LATE)).count, await scheduled()]).toEqual([0, []]);
  });

  test('a user who may not make the catalogue is told which rights are missing', async () => {
    const { pool, url } = given.database;
    const role = `weak_${process.pid}`;
    await pool.query(`CREATE ROLE ${role} LOGIN; CREATE SCHEMA weak AUTHORIZATION ${role}`);
    const address = new URL(url);
    address.username = role;
    const own = given.database.connect({ connectionString: address.href });
    try {
      const engine = await lakeOver({ ...place, pool: own, url: address.href, schema: 'weak' });
      await expect(engine.open()).rejects.toMatchObject({
        code: 'database.refused',
        message: containing('the schema weak_lake: permission denied for database'),
        hint: containing('CREATE SCHEMA weak_lake AUTHORIZATION'),
      });
    } finally {
      await own.end();
      await pool.query(`DROP SCHEMA weak; DROP ROLE ${role}`);
    }
  });

  test('a catalogue of another format is refused, and stays as it is', async () => {
    const { pool } = given.database;
    await (await opened()).describe({ bucket: 'in.c-x', table: 'x' });
    const setFormat = async (value: string): Promise<unknown> =>
      await pool.query("UPDATE gex_lake.ducklake_metadata SET value = $1 WHERE key = 'version'", [value]);
    try {
      for (const [format, message, hint] of [
        ['1.1', 'has the format 1.1; this version works with 1.0.', 'Use a newer version'],
        [
          'garbage',
          'says that its format is “garbage”, which is no number',
          'Put back the value of “version”',
        ],
      ] as const) {
        await setFormat(format);
        await expect(opened()).rejects.toMatchObject({
          code: 'lake.version',
          message: containing(message),
          hint: containing(hint),
        });
        engines.pop();
      }
    } finally {
      await setFormat('1.0');
    }
  });
});

/** Passes all calls on to an engine that is made later. */
function forwarded(one: () => LakeEngine): TableEngine {
  return {
    isShared: true,
    open: async () => await one().open(),
    close: async () => await one().close(),
    create: async (...args) => await one().create(...args),
    drop: async (...args) => await one().drop(...args),
    dropBucket: async (...args) => await one().dropBucket(...args),
    describe: async (...args) => await one().describe(...args),
    addColumn: async (...args) => await one().addColumn(...args),
    dropColumn: async (...args) => await one().dropColumn(...args),
    setPrimaryKey: async (...args) => await one().setPrimaryKey(...args),
    import: async (...args) => await one().import(...args),
    export: async (...args) => await one().export(...args),
    count: async (...args) => await one().count(...args),
    preview: async (...args) => await one().preview(...args),
    profile: async (...args) => await one().profile(...args),
    deleteRows: async (...args) => await one().deleteRows(...args),
    versions: async () => await one().versions(),
    orphans: async () => await one().orphans(),
    compact: async () => await one().compact(),
  };
}
