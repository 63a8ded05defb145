import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exported, load, useDatabase } from '../postgres/support.ts';
import { openDoor, type Door } from './door.ts';
import { HAS_SHARED_LAKE, lakeOver, sharedPlace } from './support.ts';
import type { LakeEngine } from '../../../../../src/service/stores/tables/lake/engine.ts';

const TABLES = ['a', 'b', 'c', 'd', 'e', 'f'];

describe.runIf(HAS_SHARED_LAKE)('small loads of a lake at the same time', () => {
  const given = useDatabase();
  let door: Door;
  let engine: LakeEngine;
  beforeAll(async () => {
    const { pool, url } = given.database;
    await pool.query(
      'CREATE SCHEMA gex; CREATE TABLE gex.jobs (id bigint, fencing bigint, worker text, status text)',
    );
    door = await openDoor(url);
    engine = await lakeOver({ ...(await sharedPlace(given.database)), url: door.url });
    await engine.open();
  });
  afterAll(async () => {
    await engine.close();
    await door.stop();
  });

  test('begin no commit again: they ask the database as often as one after the other', async () => {
    const more = (name: string): Promise<unknown> =>
      load(engine, { bucket: 'in.c-line', table: name }, 'id\n2\n', { incremental: true });
    for (const table of TABLES)
      await load(engine, { bucket: 'in.c-line', table }, 'id\n1\n', { create: { primaryKey: [] } });
    await more(TABLES[0] ?? '');
    const inTurn = await asked(door, async () => {
      for (const name of TABLES) await more(name);
    });
    const together = await asked(door, async () => await Promise.all(TABLES.map(more)));
    expect(together).toBeLessThan(1.3 * inTurn);
    expect(await exported(engine, { bucket: 'in.c-line', table: 'f' })).toBe('"1"\n"2"\n"2"\n');
  }, 120_000);

  test('of which one fails: the others are loaded', async () => {
    const names = ['good', 'bad', 'fine'];
    const results = await Promise.allSettled(
      names.map((table) =>
        load(engine, { bucket: 'in.c-one', table }, table === 'bad' ? 'id,id\n1,1\n' : 'id\n1\n', {
          create: { primaryKey: [] },
        }),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    for (const table of ['good', 'fine'])
      expect(await exported(engine, { bucket: 'in.c-one', table })).toBe('"1"\n');
  }, 120_000);
});

/** Requests to the database that some work takes. */
async function asked(door: Door, work: () => Promise<unknown>): Promise<number> {
  const before = door.requests;
  await work();
  return door.requests - before;
}
