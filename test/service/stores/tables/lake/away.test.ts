import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DatabaseUnavailable } from '../../../../../src/service/platform/database/failures.ts';
import { exported, load, useDatabase } from '../postgres/support.ts';
import { openDoor, type Door } from './door.ts';
import { HAS_SHARED_LAKE, lakeOver, sharedPlace } from './support.ts';
import type { LakeEngine } from '../../../../../src/service/stores/tables/lake/engine.ts';
import type { LakeOfDatabase } from '../../../../../src/service/stores/tables/lake/place.ts';

/** More requests to the database than any change of these tests makes. */
const MANY = 100;

describe.runIf(HAS_SHARED_LAKE)('a lake whose database goes away in the middle of a change', () => {
  const given = useDatabase();
  let door: Door;
  let place: LakeOfDatabase;
  const engines: LakeEngine[] = [];
  const opened = async (): Promise<LakeEngine> => {
    // Requests of DuckDB go through the door, and no others.
    const engine = await lakeOver({ ...place, url: door.url });
    engines.push(engine);
    await engine.open();
    return engine;
  };
  beforeAll(async () => {
    await given.database.pool.query(
      'CREATE SCHEMA gex; CREATE TABLE gex.jobs (id bigint, fencing bigint, worker text, status text)',
    );
    place = await sharedPlace(given.database);
    door = await openDoor(given.database.url);
  });
  afterAll(async () => {
    for (const engine of engines) await engine.close();
    await door.stop();
  });

  for (const when of ['asked', 'answered'] as const)
    test(`at any request, before it is ${when}: no row is lost or there twice, and the process goes on`, async () => {
      const engine = await opened();
      const table = { bucket: 'in.c-away', table: when };
      await load(engine, table, 'id,n\nkept,0\n', { create: { primaryKey: ['id'] } });
      let loads = 0;
      for (let isCut = true; isCut && loads < MANY;) {
        loads++;
        const plan = door.cut(loads, when);
        const [n, mark] = [loads, `job ${loads}`];
        await patiently(() => load(engine, table, `id,n\n${n},${n}\n`, { incremental: true, mark }));
        ({ isCut } = plan);
      }
      expect(loads).toBeGreaterThan(10);
      expect(loads).toBeLessThan(MANY);
      door.cut(0, when);
      const rows = (await exported(engine, table)).trim().split('\n');
      expect(rows.toSorted()).toEqual(
        ['"kept","0"', ...Array.from({ length: loads }, (_, i) => `"${i + 1}","${i + 1}"`)].toSorted(),
      );
      // Some twenty loads, each of them done twice.
    }, 240_000);

  test('while it answers to the commit of a change of any kind: what was stored can be read', async () => {
    const engine = await opened();
    const table = { bucket: 'in.c-kinds', table: 'rows' };
    const types = new Map([['n', 'bigint' as const]]);
    const more = (id: string, n: string, request = {}): Promise<unknown> =>
      load(engine, table, `id,n\n${id},${n}\n`, { incremental: true, types, ...request });
    await more('a', '1', { incremental: false, create: { primaryKey: ['id'] } });
    const first = await engine
      .versions()
      .then(async (found) => (await found?.history(table, { limit: 1 }))?.[0]);
    const changes: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['more rows', () => more('b', '2')],
      ['a changed row', () => more('b', '3')],
      ['a text among numbers', () => more('c', '007')],
      [
        'less rows',
        () => engine.deleteRows(table, { where: [{ column: 'id', operator: 'eq', values: ['b'] }] }),
      ],
      ['another type', () => more('d', 'x', { types: new Map() })],
      ['all rows', () => load(engine, table, 'id,n\ne,5\n', { types })],
      ['a column', () => engine.addColumn(table, 'more', { type: 'double' })],
      ['a version', async () => await (await engine.versions())?.restore(table, first?.version ?? 0, {})],
    ];
    for (const [what, change] of changes) {
      const plan = door.loseCommit();
      await expect(change(), what).rejects.toThrow(DatabaseUnavailable);
      expect(plan.isCut, what).toBe(true);
      const rows = (await exported(engine, table)).trim().split('\n');
      expect((await engine.describe(table))?.rows, what).toBe(rows.length);
    }
    expect(await exported(engine, table)).toBe('"a","1"\n');
  }, 240_000);

  test('while a process reads the names of the tables for the first time', async () => {
    const table = { bucket: 'in.c-first', table: 'rows' };
    await load(await opened(), table, 'id\n0\n', { create: { primaryKey: [] } });
    for (const n of [3, 8]) {
      const engine = await opened();
      const plan = door.cut(n, 'asked');
      await patiently(() => load(engine, table, `id\n${n}\n`, { incremental: true, mark: `job ${n}` }));
      expect(plan.isCut).toBe(true);
    }
    expect(await exported(await opened(), table)).toBe('"0"\n"3"\n"8"\n');
  }, 120_000);

  test('while rows are read', async () => {
    const engine = await opened();
    const table = { bucket: 'in.c-read', table: 'rows' };
    await load(engine, table, 'id\n0\n', { create: { primaryKey: [] } });
    for (const n of [1, 2, 3, 5, 8]) {
      const plan = door.cut(n, 'asked');
      await patiently(async () => expect(await exported(engine, table)).toBe('"0"\n'));
      expect(plan.isCut).toBe(true);
    }
  }, 120_000);
});

/** Does it until it is done, as a job is done again. */
async function patiently(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++)
    try {
      await work();
      return;
    } catch (error) {
      // Anything else ends a job for good.
      if (!(error instanceof DatabaseUnavailable) || tries > 3) throw error;
    }
}
