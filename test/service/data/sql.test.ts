import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { QUERY_LIMITS } from '../../../src/service/domain/table-queries.ts';
import {
  ALLOWED_FUNCTIONS,
  ALLOWED_TABLE_FUNCTIONS,
} from '../../../src/service/stores/query/process/functions.ts';
import { startService, type Reply, type Running } from '../harness.ts';
import { clientOf } from './client.ts';
import { OF_STORES, REFUSED } from './sql-attacks.ts';

let api: Running;
let reader: Record<string, string>;
let temp = '';
const USERS = 'id,name,note\n1,Ada,"a ""quoted"" one"\n2,Bob,"two\nlines"\n3,Čeněk,\n';

beforeAll(async () => {
  temp = await mkdtemp(path.join(tmpdir(), 'sql-'));
  vi.stubEnv('TMPDIR', temp);
  api = await startService({
    queryLimits: {
      ...QUERY_LIMITS,
      milliseconds: 20_000,
      memoryMb: 128,
      diskBytes: 64 * 1024 * 1024,
      rows: 5000,
    },
  });
  const client = clientOf(api);
  const load = async (bucket: string, name: string, csv: string): Promise<void> => {
    expect((await client.create(bucket, name, csv)).error).toBeUndefined();
  };
  for (const name of ['main', 'secret', 'other']) await api.call('POST', 'buckets', { stage: 'in', name });
  await load('in.c-main', 'users', USERS);
  await load('in.c-main', 'Orders', 'id,user,rowid,price\n1,1,a,10.50\n2,1,b,2\n3,2,c,\n');
  await load('in.c-secret', 'keys', 'key\nHIDDEN\n');
  await load('in.c-other', 'users', 'id\n7\n');
  const { body } = await client.call<{ token: string }>('POST', 'tokens', {
    description: 'reader',
    bucketPermissions: { 'in.c-main': 'read', 'in.c-other': 'read' },
  });
  reader = { 'X-StorageApi-Token': body.token };
});
afterAll(async () => {
  await api.stop();
  vi.unstubAllEnvs();
  await rm(temp, { recursive: true, force: true });
});

async function ask(query: string, more: object = {}): Promise<Reply> {
  return await api.call('POST', 'sql', { query, ...more }, reader);
}

async function rows(query: string): Promise<unknown> {
  const { status, body, text } = await ask(query);
  if (status !== 200) throw new Error(text);
  return (body as { rows: unknown }).rows;
}

const failure = (reply: Reply): { code: string; error: string; params: unknown } =>
  reply.body as { code: string; error: string; params: unknown };

describe('queries', () => {
  test('read the tables of the buckets, with every sign of their cells', async () => {
    expect(await rows('SELECT * FROM "in.c-main".users ORDER BY id')).toEqual([
      ['1', 'Ada', 'a "quoted" one'],
      ['2', 'Bob', 'two\nlines'],
      ['3', 'Čeněk', ''],
    ]);
  });

  test('join, compute and sort', async () => {
    expect(
      await rows(`WITH sums AS (
        SELECT "user", sum(TRY_CAST(price AS DECIMAL(10,2))) AS total, count(*) AS orders
        FROM "in.c-main"."Orders" GROUP BY ALL)
      SELECT name, total, orders, total > 5 AS isMuch FROM sums JOIN "in.c-main".users u ON u.id = sums."user" ORDER BY 1`),
    ).toEqual([
      ['Ada', '12.50', '2', 'true'],
      ['Bob', null, '1', null],
    ]);
  });

  test.each([
    ['SELECT count(*) FROM "in.c-main".users', [['3']]],
    ['SELECT rowid FROM "in.c-main"."orders" ORDER BY 1 LIMIT 1', [['a']]],
    ['SELECT #2 FROM "in.c-main".users ORDER BY 1 LIMIT 1', [['Ada']]],
    ['SELECT b FROM "in.c-main".users AS x(a, b, c) ORDER BY 1 LIMIT 1', [['Ada']]],
    ['SELECT users.name FROM "in.c-main".users WHERE id = 3', [['Čeněk']]],
    ['SELECT u.name FROM (SELECT u FROM "in.c-main".users u WHERE u.id = 2) AS t(u)', [['Bob']]],
    ['SELECT count(*) FROM "in.c-main".users NATURAL JOIN "in.c-other".users', [['0']]],
    ['SELECT name FROM "in.c-main".users LIMIT 1 OFFSET 1', [['Bob']]],
    ['SELECT a.id, b.id FROM "in.c-main".users a, "in.c-other".users b WHERE a.id = 2', [['2', '7']]],
    ['FROM range(3) SELECT sum(range)', [['3']]],
    ["VALUES (1, 'a')", [['1', 'a']]],
    ["SELECT chr(65279) || 'a', '', NULL", [['\uFEFFa', '', null]]],
    [
      'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT sum(n) FROM t',
      [['6']],
    ],
    [
      "SELECT list_transform([1, 2], lambda x: x + 1), {'a': 1}.a, 5::HUGEINT, DATE '2026-01-31' + 1",
      [['[2, 3]', '1', '5', '2026-02-01']],
    ],
    [
      'SELECT row_number() OVER (ORDER BY id DESC), name FROM "in.c-main".users QUALIFY row_number() OVER (ORDER BY id) = 1',
      [['3', 'Ada']],
    ],
    [
      'SELECT 170141183460469231731687303715884105727 AS big, NULL AS nothing -- a comment',
      [['170141183460469231731687303715884105727', null]],
    ],
    [
      'SELECT * FROM (PIVOT "in.c-main"."Orders" ON "user" IN (1, 2) USING count(*) GROUP BY rowid) ORDER BY 1 LIMIT 1',
      [['a', '1', '0']],
    ],
    ['SELECT column_name FROM (DESCRIBE "in.c-main".users) LIMIT 1', [['id']]],
    [
      'SELECT name FROM "in.c-main".users UNION ALL BY NAME SELECT id AS name FROM "in.c-other".users ORDER BY 1 LIMIT 2;',
      [['7'], ['Ada']],
    ],
  ])('%s', async (query, expected) => {
    expect(await rows(query)).toEqual(expected);
  });

  test('come as files', async () => {
    const query = 'SELECT id::INT AS id, name FROM "in.c-main".users ORDER BY id';
    expect((await ask(query, { format: 'csv' })).text).toBe('id,name\n1,Ada\n2,Bob\n3,Čeněk\n');
    expect((await ask(query, { format: 'jsonl', limit: 1 })).text).toBe('{"id":1,"name":"Ada"}\n');
    const cut = await ask(query, { format: 'csv', limit: 2 });
    expect([cut.headers.get('x-result-rows'), cut.headers.get('x-result-has-more')]).toEqual(['2', 'true']);
    const parquet = await ask(query, { format: 'parquet' });
    expect([parquet.status, parquet.text.slice(0, 4), parquet.text.slice(-4)]).toEqual([200, 'PAR1', 'PAR1']);
  });

  test('name columns and types, and say that there are more rows', async () => {
    const { body } = await ask('SELECT 1 AS a, 2.5 AS a, [1] AS l FROM range(3)', { limit: 2 });
    expect(body).toEqual({
      columns: [
        { name: 'a', type: 'INTEGER' },
        { name: 'a_1', type: 'DECIMAL(2,1)' },
        { name: 'l', type: 'INTEGER[]' },
      ],
      hasMore: true,
      rows: [
        ['1', '2.5', '[1]'],
        ['1', '2.5', '[1]'],
      ],
    });
  });

  test.each([
    [0, true],
    [2, true],
    [3, false],
  ])('say with a limit of %d that there are more: %s', async (limit, hasMore) => {
    const { body } = await ask('SELECT id FROM "in.c-main".users', { limit });
    const found = body as { rows: unknown[]; hasMore: boolean };
    expect([found.rows.length, found.hasMore]).toEqual([limit, hasMore]);
  });

  test('show the rows and columns of an alias that its filter leaves', async () => {
    await api.call('POST', 'buckets/in.c-main/table-aliases', {
      sourceTable: 'in.c-main.users',
      name: 'some',
      aliasColumns: ['id', 'name'],
      aliasFilter: { column: 'id', operator: 'ne', values: ['1'] },
    });
    expect(await rows('SELECT * FROM "in.c-main".some ORDER BY id')).toEqual([
      ['2', 'Bob'],
      ['3', 'Čeněk'],
    ]);
    expect(failure(await ask('SELECT note FROM "in.c-main".some')).code).toBe('storage.sql.invalid');
  });

  test('leave no file and no process behind', async () => {
    await expect
      .poll(async () => (await readdir(temp)).filter((name) => name.startsWith('gex-query-')))
      .toEqual([]);
  });
});

describe('a mistake is told with its place', () => {
  test.each([
    ['SELECT id,\n  nope FROM "in.c-main".users', /^Line 2, column 3: Referenced column "nope" not found/],
    ['SELECT \'Čeněk\', nope FROM "in.c-main".users', /^Line 1, column 17: /],
    ['SELEC 1', /^Line 1, column 1: syntax error at or near "SELEC"/],
    ['SELECT sum(id) FROM "in.c-main".users', /^Line 1, column 8: No function matches/],
    ['SELECT CAST(note AS INTEGER) FROM "in.c-main".users', /Could not convert string/],
    [
      'SELECT * FROM users',
      /^Line 1, column 15: The query has no table "users": name a table with its bucket/,
    ],
    [
      'SELECT *\nFROM "in.c-main".usrs',
      /^Line 2, column 6: There is no table "in.c-main"."usrs" .* Did you mean "in.c-main"."users"\?/,
    ],
  ])('%s', async (query, message) => {
    const reply = await ask(query);
    expect([400, 404]).toContain(reply.status);
    expect(failure(reply).code).toMatch(/^storage\.sql\./);
    expect(failure(reply).error).toMatch(message);
  });
});

describe('a hostile query gets nothing', () => {
  test('of a bucket that the token may not read, and does not learn that it is there', async () => {
    const hidden = await ask('SELECT * FROM "in.c-secret".keys');
    const none = await ask('SELECT * FROM "in.c-nowhere".keys');
    expect([hidden.status, none.status]).toEqual([404, 404]);
    expect(failure(hidden).error.replace('secret', 'nowhere')).toBe(failure(none).error);
    // Parts of the name may be written so that another bucket is named.
    for (const query of [
      'SELECT * FROM "in"."c-secret.keys"',
      'SELECT * FROM "in.c-main".users, "in.c-secret".keys',
      'SELECT * FROM "IN.C-SECRET"."KEYS"',
      'SELECT * FROM "in.c-main"."../in.c-secret/keys"',
      'SELECT (SELECT any_value(key) FROM "in.c-secret".keys)',
      'SELECT 1 WHERE EXISTS (FROM "in.c-secret".keys)',
      'WITH x AS (FROM "in.c-secret".keys) SELECT 1',
      'SELECT 1 ORDER BY (SELECT key FROM "in.c-secret".keys)',
      'SELECT 1 LIMIT (SELECT 1 FROM "in.c-secret".keys)',
      'SELECT sum(1) FILTER (WHERE (SELECT true FROM "in.c-secret".keys))',
      'SELECT * FROM "in.c-main".users JOIN "in.c-other".users USING (id) WHERE id IN (FROM "in.c-secret".keys)',
      'VALUES ((SELECT key FROM "in.c-secret".keys))',
      'SELECT * FROM unnest((SELECT [key] FROM "in.c-secret".keys))',
      'SELECT * FROM (DESCRIBE "in.c-secret".keys)',
      'SELECT count(*) OVER (PARTITION BY (SELECT key FROM "in.c-secret".keys))',
      'FROM "in.c-main".users PIVOT (count(*) FOR id IN (SELECT key FROM "in.c-secret".keys))',
    ]) {
      const reply = await ask(query);
      expect([query, reply.status >= 400, reply.text.includes('HIDDEN')]).toEqual([query, true, false]);
    }
  });

  test.each([...REFUSED, ...OF_STORES])('%s', async (query) => {
    const reply = await ask(query);
    expect([400, 404]).toContain(reply.status);
    expect(reply.text).not.toMatch(/HIDDEN|root:/);
    expect(existsSync('/tmp/stolen')).toBe(false);
  });

  test('of a file of its own, or of the service', async () => {
    const file = `${api.dir}/bait.csv`;
    await writeFile(file, 'secret\nHIDDEN\n');
    for (const from of [`'${file}'`, `read_csv('${file}')`, `"${file}"`, `read_text('${file}')`])
      expect((await ask(`SELECT * FROM ${from}`)).text).not.toContain('HIDDEN');
    // A name of a CTE that is not in scope is that of a file; a mistake would tell the columns, or that there is none.
    const told = await Promise.all(
      [file, `${file}x`].map(async (name) =>
        failure(
          await ask(`SELECT t.secre FROM (WITH "${name}" AS (SELECT 1) SELECT 1), "${name}" t`),
        ).error.replace(name, ''),
      ),
    );
    expect(told).toEqual([told[1], expect.not.stringContaining('secret')]);
  });
});

const sumOf = (count: number): string => `SELECT ${Array.from({ length: count }, () => '1').join('+')}`;

describe('a heavy query ends', () => {
  test.each([
    ['a result of too many rows', 'SELECT * FROM range(5001)'],
    ['cells of too many bytes', "SELECT repeat('x', 100000000) FROM range(2000)"],
    ['a value that is too large', "SELECT length(repeat('x', 2000000000) || repeat('y', 2000000000))"],
    [
      'aggregates that hold everything',
      "SELECT length(string_agg(repeat('x', 100000), '')) FROM range(100000)",
    ],
    ['lists that hold everything', 'SELECT len(list(a)) FROM range(1000000000) t(a)'],
    [
      'a result beyond the disk',
      'SELECT (hash(range) || hash(range + 1) || hash(range + 2))::VARCHAR || repeat(uuid()::VARCHAR, 2000) FROM range(4000)',
    ],
  ])('%s', async (_, query) => {
    const reply = await ask(query, { format: 'csv' });
    expect([reply.status, failure(reply).code]).toEqual([400, 'storage.sql.tooLarge']);
  });

  test('that would never end, while others are answered', async () => {
    const before = Date.now();
    const slow = ask(
      'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT 1 - n FROM t) SELECT count(*) FROM t',
    );
    const quick = await rows('SELECT 1');
    expect([quick, (await api.call('GET', 'buckets')).status]).toEqual([[['1']], 200]);
    const reply = await slow;
    expect([reply.status, failure(reply).code]).toEqual([400, 'storage.sql.tooLong']);
    expect(Date.now() - before).toBeLessThan(40_000);
  });

  test('that is nested deeply', async () => {
    const reply = await ask(`SELECT ${'('.repeat(40_000)}1${')'.repeat(40_000)}`);
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(await rows(sumOf(300))).toEqual([['300']]);
    const deep = await ask(sumOf(1200));
    expect([deep.status, failure(deep).error]).toEqual([400, 'Max expression depth limit of 1000 exceeded.']);
  });

  test('when there are too many', async () => {
    const many = await Promise.all(Array.from({ length: 14 }, async () => await ask('SELECT 1')));
    // Two are answered and eight wait; on a busy machine one of these may wait too long.
    expect(many.filter(({ status }) => status === 503)).toHaveLength(4);
    expect(many.filter(({ status }) => status === 200).length).toBeGreaterThan(1);
    expect(await rows('SELECT 1')).toEqual([['1']]);
  });
});

/** A new version of the engine may bring functions: each is looked at before a query may call it. */
test('the functions that a query may call are some of those that the engine has', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const named = async (condition: string): Promise<Set<string>> =>
    new Set(
      (
        await connection.runAndReadAll(
          `SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE ${condition}`,
        )
      )
        .getRows()
        .map(([name]) => String(name)),
    );
  const known = await named("function_type IN ('scalar', 'aggregate', 'macro')");
  // Made by the parser, or window functions alone.
  const special = new Set(['unnest', 'switch']);
  expect([...ALLOWED_FUNCTIONS].filter((name) => !known.has(name) && !special.has(name))).toEqual([]);
  const tables = await named("function_type = 'table'");
  expect([...ALLOWED_TABLE_FUNCTIONS].filter((name) => !tables.has(name))).toEqual([]);
  const views = (await connection.runAndReadAll('SELECT DISTINCT view_name FROM duckdb_views()'))
    .getRows()
    .map(([name]) => String(name));
  const OPEN = /^(?:duckdb_|pragma_|pg_|sqlite_)/;
  // These have a schema of their own, which is not looked into without its name.
  expect(views.filter((name) => !OPEN.test(name)).toSorted()).toEqual(
    expect.arrayContaining(['columns', 'tables']),
  );
  for (const name of ['getvariable', 'current_setting', 'query', 'sleep_ms', 'nextval', 'write_log'])
    expect(ALLOWED_FUNCTIONS.has(name)).toBe(false);
});
