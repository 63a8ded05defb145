import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as whatHasArrived } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { DatabaseAway } from '../../src/service/platform/database/failures.ts';
import { badRequest } from '../../src/service/domain/api-error.ts';
import { underKey, type RequestKey } from '../../src/service/stores/metadata/idempotency-keys.ts';
import type { Meta } from '../../src/service/stores/metadata/database.ts';
import { madeText, repeating } from '../../src/service/stores/metadata/idempotent-replay.ts';
import { findKey } from '../../src/service/stores/metadata/request-keys.ts';
import { inSharedTurn, type Shared } from '../../src/service/stores/metadata/shared-turn.ts';
import { fileOf } from '../../src/service/stores/metadata/transaction.ts';
import { forgetDatabase, metaOf } from './database.ts';

// Requests that add one each to a number in the database, and are given what they made of it.

let dir: string;
let meta: Meta;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'shared-'));
  meta = await metaOf(dir);
  await sql`create table numbers (value integer)`.execute(meta);
  await sql`create table parents (id integer primary key)`.execute(meta);
  const reference = sql`references parents (id) deferrable initially deferred`;
  await sql`create table orphans (parent integer ${reference})`.execute(meta);
});
afterAll(async () => {
  await meta.destroy();
  await forgetDatabase(dir);
  await rm(dir, { recursive: true });
});

let reads: number;
let writes: number;
beforeEach(async () => {
  [reads, writes] = [0, 0];
  await sql`delete from numbers`.execute(meta);
  await sql`insert into numbers values (0)`.execute(meta);
});

async function stored(of: Meta): Promise<number> {
  const { rows } = await sql<{ value: number }>`select value from numbers`.execute(of);
  return rows[0]?.value ?? Number.NaN;
}

const number: Shared<number> = {
  things: [fileOf(1)],
  async read(tx) {
    reads += 1;
    return await stored(tx);
  },
  async write(tx, value) {
    writes += 1;
    await sql`update numbers set value = ${value}`.execute(tx);
  },
};

/** @param now what a request does besides, when its turn has come */
async function addOne(now: () => void = () => undefined, shared = number): Promise<number> {
  return await inSharedTurn(meta, shared, async (_tx, value) => {
    now();
    return { state: value + 1, result: value + 1 };
  });
}

const failing = (error: Error) => (): never => {
  throw error;
};
const refuse = failing(badRequest('no', 'refused'));

const times = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** What became of each: its result, or the message of its error. */
async function endsOf(asked: readonly Promise<number>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(asked);
  return settled.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).message));
}

test('those who wait are read and written together, fifty at a time, in the order in which they came', async () => {
  expect(await endsOf(times(120).map(async () => await addOne()))).toEqual(times(120));
  expect([reads, writes, await stored(meta)]).toEqual([3, 3, 120]);
});

test('requests that arrive one after the other in the same moment share', async () => {
  const first = addOne();
  // As long as a transaction of SQLite takes, which waits for nothing.
  for (let n = 0; n < 500; n += 1) await Promise.resolve();
  expect(await Promise.all([first, addOne()])).toEqual([1, 2]);
  expect(reads).toBe(1);
});

async function comingAfter(moments: number): Promise<number> {
  for (let n = 0; n < moments; n += 1) await Promise.resolve();
  return await addOne();
}

test('who comes in any moment of the end of another is answered', async () => {
  for (let moments = 0; moments < 150; moments += 1) {
    const late: Promise<number>[] = [];
    const write: Shared<number>['write'] = async (tx, value) => {
      await number.write(tx, value);
      if (late.length === 0) late.push(comingAfter(moments));
    };
    await addOne(undefined, { ...number, write });
    await Promise.all(late);
  }
  expect(await stored(meta)).toBe(300);
});

test('who comes while others are written has the next transaction', async () => {
  const late: Promise<number>[] = [];
  const write: Shared<number>['write'] = async (tx, value) => {
    if (late.length === 0) late.push(addOne(undefined, slow));
    await whatHasArrived();
    await number.write(tx, value);
  };
  const slow = { ...number, write };
  expect(await addOne(undefined, slow)).toBe(1);
  expect(await Promise.all(late)).toEqual([2]);
  expect(reads).toBe(2);
});

test('others who are about other things do not share', async () => {
  await Promise.all([addOne(), addOne(undefined, { ...number, things: [fileOf(2)] })]);
  expect(reads).toBe(2);
});

test('who is refused changes nothing, and undoes nobody', async () => {
  const asked = times(5).map(async (n) => await addOne(n === 3 ? refuse : undefined));
  expect(await endsOf(asked)).toEqual([1, 2, 'refused', 3, 4]);
  expect([reads, writes, await stored(meta)]).toEqual([1, 1, 4]);
});

test('of a commit that fails nobody is told that it was done, nor what it was refused for', async () => {
  const orphaned = {
    ...number,
    async write(tx: Meta, value: number) {
      await number.write(tx, value);
      await sql`insert into orphans values (1)`.execute(tx);
    },
  };
  const asked = times(3).map(async (n) => await addOne(n === 2 ? refuse : undefined, orphaned));
  const foreign: unknown = expect.stringMatching(/foreign key/i);
  expect(await endsOf(asked)).toEqual([foreign, foreign, foreign]);
  expect([reads, await stored(meta)]).toEqual([1, 0]);
});

test('what breaks for one is done again for each of the others by itself', async () => {
  const asked = times(4).map(async (n) => await addOne(n === 2 ? failing(new Error('broken')) : undefined));
  expect(await endsOf(asked)).toEqual([1, 'broken', 2, 3]);
  // All, the first and the second by themselves, and those whose turn had not come.
  expect([reads, writes, await stored(meta)]).toEqual([4, 2, 3]);
});

test('what cannot be written for one is written for each of the others by itself', async () => {
  const few = {
    ...number,
    async write(tx: Meta, value: number) {
      await number.write(tx, value);
      if (value > 2) throw new Error('too many');
    },
  };
  expect(await endsOf(times(4).map(async () => await addOne(undefined, few)))).toEqual([
    1,
    2,
    'too many',
    'too many',
  ]);
  expect([reads, await stored(meta)]).toEqual([5, 2]);
});

test('a database that is away is told to those who share, and nothing is tried again', async () => {
  const asked = times(3).map(
    async (n) => await addOne(n === 3 ? failing(new DatabaseAway('away')) : undefined),
  );
  expect(await endsOf(asked)).toEqual(['away', 'away', 'away']);
  expect([reads, await stored(meta)]).toEqual([1, 0]);
  expect(await addOne()).toBe(1);
});

test('where nothing can be read all who wait are told, and the next is served', async () => {
  const unreadable = {
    ...number,
    async read(): Promise<number> {
      reads += 1;
      throw new Error('unreadable');
    },
  };
  expect(await endsOf(times(3).map(async () => await addOne(undefined, unreadable)))).toEqual(
    times(3).map(() => 'unreadable'),
  );
  expect(reads).toBe(1);
  expect(await addOne()).toBe(1);
});

test('a transaction that is in the way of another is run again with all of them', async () => {
  const late: Promise<number>[] = [];
  const busy: Shared<number> = {
    ...number,
    async write(tx, value) {
      await number.write(tx, value);
      if (writes > 1) return;
      late.push(addOne(undefined, busy));
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    },
  };
  const asked = times(3).map(async () => await addOne(undefined, busy));
  expect(await endsOf(asked)).toEqual([1, 2, 3]);
  expect(await endsOf(late)).toEqual([4]);
  expect([reads, writes, await stored(meta)]).toEqual([2, 2, 4]);
});

test('work is done in the context of its own request, and what is shared in that of none', async () => {
  const requests = new AsyncLocalStorage<number>();
  const seen: unknown[] = [];
  const watched: Shared<number> = {
    ...number,
    async write(tx, value) {
      seen.push(requests.getStore());
      await number.write(tx, value);
    },
  };
  const look = (): void => void seen.push(requests.getStore());
  await Promise.all(
    times(3).map(async (n) => await requests.run(n, async () => await addOne(look, watched))),
  );
  expect(seen).toEqual([1, 2, 3, undefined]);
});

const keyOf = (key: string): RequestKey => ({ token_id: 1, key, digest: 'd' });

test('a request under a key shares with nobody, and its key is kept with its change', async () => {
  const asked = ['a', 'b'].map(
    async (name) => await underKey(keyOf(name), { now: 0 }, async () => await addOne()),
  );
  expect((await Promise.all(asked)).map(({ isKept }) => isKept)).toEqual([true, true]);
  expect([reads, writes, await stored(meta)]).toEqual([2, 2, 2]);
  const kept = await Promise.all(['a', 'b'].map(async (name) => await findKey(meta, keyOf(name))));
  expect(new Set(kept.map((row) => row?.made))).toEqual(new Set([1, 2].map((n) => madeText(['file'], n))));
});

test('a request whose change was made gets what it gave, and does nothing', async () => {
  const text = madeText(['file'], 7) ?? '';
  expect(await repeating(text, async () => await addOne())).toBe(7);
  expect([reads, await stored(meta)]).toEqual([0, 0]);
});
