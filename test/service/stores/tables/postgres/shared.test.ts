import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { LeaseLost } from '../../../../../src/service/stores/queue/endings.ts';
import { openPassage } from '../../../../support/passage.ts';
import { SERVER } from './database.ts';
import { EARLY, exported, load, openEngine, slicesOf, useDatabase } from './support.ts';
import type { TableEngine, TableId } from '../../../../../src/service/stores/tables/engine.ts';

describe.runIf(SERVER)('a database of several processes', () => {
  const given = useDatabase();
  let engine: TableEngine;
  let other: TableEngine;
  let tables = 0;
  beforeAll(async () => {
    [engine, other] = await Promise.all([
      openEngine(given.database.pool),
      openEngine(given.database.connect()),
    ]);
  });

  const newId = (): TableId => ({ bucket: 'in.c-shared', table: `t${++tables}` });
  const create = { primaryKey: ['id'] };
  /** Tables and sequences that are in schemas of the engine. */
  const relations = async (): Promise<unknown> =>
    (
      await given.database.pool.query(
        `select relname from pg_class c join pg_namespace n on n.oid = relnamespace where nspname like 'gex%' and relkind in ('r', 'S') order by relname`,
      )
    ).rows;

  /** Ends the server's process that takes it, and goes on. */
  async function* slow(): AsyncGenerator<Buffer> {
    yield Buffer.from('id,v\n2,b\n');
    await expect
      .poll(
        async () =>
          (
            await given.database.pool.query(
              `select pg_terminate_backend(pid) from pg_stat_activity where query like 'COPY%FROM STDIN%' and datname = current_database()`,
            )
          ).rowCount,
      )
      .toBe(1);
    for (;;) yield await wait(5, Buffer.from('3,c\n'));
  }

  test('writers of one table take turns, and none is lost', async () => {
    const table = newId();
    await load(engine, table, 'id,v\n0,0\n', { create });
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        load(i % 2 === 0 ? engine : other, table, `id,v\n${i % 7},${i}\nown ${i},1\n`, { incremental: true }),
      ),
    );
    expect(await other.describe(table)).toMatchObject({ rows: 27 });
    expect((await exported(engine, table)).split('\n')).toHaveLength(28);
    expect(
      await given.database.pool.query('select count(*)::int as n from gex_in_c_shared.' + table.table),
    ).toMatchObject({ rows: [{ n: 27 }] });
  });

  test('whole loads, deletions and changes of columns from two sides leave what the last one said', async () => {
    const table = newId();
    await load(engine, table, 'id,v\n0,0\n', { create });
    await Promise.all([
      ...Array.from({ length: 6 }, (_, i) =>
        load(i % 2 === 0 ? engine : other, table, `id,v,n${i}\n1,a,b\n2,c,d\n`, { incremental: true }).catch(
          (error: unknown) => error,
        ),
      ),
      engine.deleteRows(table, { where: [{ column: 'id', operator: 'eq', values: ['0'] }] }),
    ]);
    const state = await engine.describe(table);
    const { rows } = await given.database.pool.query<{ n: number }>(
      `select count(*)::int as n from gex_in_c_shared.${table.table}`,
    );
    expect(rows).toEqual([{ n: state?.rows }]);
    expect(state?.rows).toBe(2);
  });

  test('tables of a new bucket are made from both sides at once', async () => {
    const ids = Array.from({ length: 10 }, (_, i) => ({ bucket: 'in.c-both', table: `t${i}` }));
    await Promise.all(ids.map((id, i) => load(i % 2 === 0 ? engine : other, id, 'id\n1\n', { create })));
    for (const id of ids) expect(await engine.describe(id)).toMatchObject({ rows: 1 });
  });

  test('a connection that is cut in the middle of an import leaves the table as it was, and nothing else', async () => {
    const table = newId();
    await load(engine, table, 'id,v\n1,a\n', { create });
    const before = await relations();
    for (const incremental of [true, false]) {
      const proxy = await openPassage(given.database.url);
      const cut = await openEngine(given.database.connect({ connectionString: proxy.url }));
      async function* endless(): AsyncGenerator<Buffer> {
        yield Buffer.from('id,v\n');
        for (let i = 0; ; i++) {
          if (i === 20) proxy.cut();
          yield Buffer.from(`${i},${'x'.repeat(100_000)}\n`);
          await wait(1);
        }
      }
      const error: unknown = await cut
        .import(table, { importedAt: EARLY, incremental }, slicesOf(endless()))
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      await proxy.stop();
      await expect.poll(relations).toEqual(before);
      expect(await engine.describe(table)).toMatchObject({ rows: 1 });
      expect((await load(other, table, 'id,v\n1,a\n', { incremental })).totalRows).toBe(1);
    }
  });

  test('a statement of a process that is gone ends, however long it would take', async () => {
    const { pool } = given.database;
    const table = newId();
    await load(engine, table, 'id,v\n1,a\n', { create });
    const proxy = await openPassage(given.database.url);
    const gone = await openEngine(given.database.connect({ connectionString: proxy.url }));
    const others = await pool.connect();
    const waiting = async (): Promise<number> =>
      (
        await pool.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        )
      ).rows[0]?.n ?? 0;
    try {
      // its statement takes for as long as this is held
      await others.query(`begin; lock table gex_in_c_shared.${table.table} in access exclusive mode`);
      const cut = load(gone, table, 'id,v\n1,b\n', { incremental: true }).catch((error: unknown) => error);
      await expect.poll(waiting).toBe(1);
      proxy.cut();
      expect(await cut).toBeInstanceOf(Error);
      await expect.poll(waiting).toBe(0);
    } finally {
      await others.query('rollback');
      others.release();
      await proxy.stop();
    }
    expect((await load(other, table, 'id,v\n1,c\n', { incremental: true })).totalRows).toBe(1);
  });

  test('an import whose server process is ended can be given again', async () => {
    const table = newId();
    await load(engine, table, 'id,v\n1,a\n', { create });
    const request = { incremental: true, mark: 'job 1', importedAt: EARLY };
    await expect(engine.import(table, request, slicesOf(slow()))).rejects.toThrow();
    expect(await load(engine, table, 'id,v\n2,b\n', request)).toMatchObject({ totalRows: 2 });
    expect(await load(other, table, 'id,v\n2,b\n', request)).toMatchObject({ totalRows: 2 });
  });

  test('an import that two workers do at the same moment is there once', async () => {
    const table = newId();
    await load(engine, table, 'id\n0\n', { create: { primaryKey: [] } });
    const both = Promise.withResolvers<void>();
    let begun = 0;
    // Neither has ended when the other looks whether it is done already.
    async function* file(): AsyncGenerator<Buffer> {
      if (++begun === 2) both.resolve();
      await both.promise;
      yield Buffer.from('id\n1\n');
    }
    const request = { incremental: true, mark: 'job 7', importedAt: EARLY };
    const outcomes = await Promise.all(
      [engine, other].map(async (each) => await each.import(table, request, slicesOf(file()))),
    );
    for (const outcome of outcomes) expect(outcome).toMatchObject({ importedRows: 1, totalRows: 2 });
    expect(await exported(engine, table)).toBe('"0"\n"1"\n');
  });

  test('rows that are added stay in the order of their imports', async () => {
    for (const primaryKey of [[], ['id']]) {
      const table = newId();
      await load(engine, table, 'id\n1\n', { create: { primaryKey } });
      for (const file of ['id\n2\n3\n', 'id\n4\n5\n']) await load(engine, table, file, { incremental: true });
      expect(await exported(engine, table)).toBe('"1"\n"2"\n"3"\n"4"\n"5"\n');
    }
  });

  test('an export whose connection is cut fails, and the next one is whole', async () => {
    const table = newId();
    await load(engine, table, `id\n${Array.from({ length: 200_000 }, (_, i) => `row ${i}\n`).join('')}`, {
      create,
    });
    const proxy = await openPassage(given.database.url);
    const cut = await openEngine(given.database.connect({ connectionString: proxy.url }));
    const failing = cut.export(table, {}, { gzip: false, targetBytes: 1e9 }, async (slice) => {
      if (slice.kind === 'file') return;
      for await (const _chunk of slice.stream) proxy.cut();
    });
    await expect(failing).rejects.toThrow();
    await proxy.stop();
    expect((await exported(engine, table)).split('\n')).toHaveLength(200_001);
  });

  test('a reader who holds a table open does not hold up those who replace it', async () => {
    const table = newId();
    await load(engine, table, 'id,v\n1,a\n2,b\n', { create });
    const reader = await given.database.pool.connect();
    try {
      await reader.query('begin isolation level repeatable read');
      const seen = async (): Promise<unknown> =>
        (await reader.query(`select id, v from gex_in_c_shared.${table.table} order by id`)).rows;
      const before = await seen();
      expect((await load(engine, table, 'id,v\n3,c\n')).totalRows).toBe(1);
      expect(await seen()).toEqual(before);
      expect(await exported(other, table)).toBe('"3","c"\n');
    } finally {
      await reader.query('rollback');
      reader.release();
    }
    expect((await load(engine, table, 'id,v\n3,d\n4,e\n', { incremental: true })).totalRows).toBe(2);
  });

  test('a view that somebody has made of a table stays when the table is replaced', async () => {
    const table = newId();
    await load(engine, table, 'id,v\n1,a\n', { create });
    await given.database.pool.query(
      `create view public.of_mine as select id from gex_in_c_shared.${table.table}`,
    );
    await load(engine, table, 'id,v,more\n2,b,c\n');
    expect((await given.database.pool.query('select id from public.of_mine')).rows).toEqual([{ id: '2' }]);
    await engine.drop(table);
    expect((await given.database.pool.query(`select to_regclass('public.of_mine') as view`)).rows).toEqual([
      { view: null },
    ]);
  });

  test('a worker that comes back from the dead changes nothing', async () => {
    const { pool } = given.database;
    const table = newId();
    await load(engine, table, 'id,v\n1,a\n', { create });
    await pool.query(
      'create table gex.jobs (id bigint primary key, fencing bigint, worker text, status text)',
    );
    await pool.query(`insert into gex.jobs values (7, 3, 'own', 'processing')`);
    const own = { fence: { jobId: 7, fencing: 3, worker: 'own' } };
    const late = { fence: { jobId: 7, fencing: 2, worker: 'own' } };
    // As after a standby that had missed a turn has taken over.
    const same = { fence: { jobId: 7, fencing: 3, worker: 'other' } };
    const changes = [
      (how: typeof own) => load(engine, table, 'id,v\n2,b\n', { incremental: true, ...how }),
      (how: typeof own) => load(engine, table, 'id,v\n1,a\n2,c\n3,d\n', how),
      (how: typeof own) => engine.addColumn(table, 'more', how),
      (how: typeof own) => engine.dropColumn(table, 'more', how),
      (how: typeof own) => engine.setPrimaryKey(table, ['v'], how),
      (how: typeof own) => engine.deleteRows(table, {}, how),
      (how: typeof own) => engine.create(table, { columns: ['id'], primaryKey: [] }, how),
      (how: typeof own) => engine.drop(table, how),
    ];
    for (const change of changes) {
      const before = await engine.describe(table);
      for (const how of [late, same]) await expect(change(how)).rejects.toBeInstanceOf(LeaseLost);
      expect(await engine.describe(table)).toEqual(before);
      await change(own);
      expect(await engine.describe(table)).not.toEqual(before);
    }
    await load(engine, table, 'id,v\n1,a\n', { create });
    const before = await engine.describe(table);
    // One that was put back waits for another worker, whatever its number is.
    await pool.query(`update gex.jobs set status = 'waiting'`);
    await expect(engine.addColumn(table, 'late', own)).rejects.toBeInstanceOf(LeaseLost);
    await pool.query(`update gex.jobs set status = 'processing'`);
    // One that is taken away in the moment of the end is waited for.
    const taking = await pool.connect();
    await taking.query('begin');
    await taking.query('update gex.jobs set fencing = 4');
    const change = engine.addColumn(table, 'late', own).catch((error: unknown) => error);
    try {
      const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%jobs WHERE id = 7%'`;
      await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    } finally {
      await taking.query('commit');
      taking.release();
    }
    expect(await change).toBeInstanceOf(LeaseLost);
    expect(await engine.describe(table)).toEqual(before);
    await pool.query('drop table gex.jobs');
  });
});
