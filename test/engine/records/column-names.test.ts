import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import type { Log } from '../../../src/lib/log.ts';
import { openStorage, run, silentLog } from '../../../src/index.ts';
import { configOf, dataFolder, filesOf, json, startApi } from '../../cli/support.ts';
import { textOf } from '../../storage/client/support.ts';

const env = { ...systemEnv, sleep: async () => {} };

/** The tables that a run makes of rows, and its warnings. */
async function made(
  rows: string,
  {
    jobs = [{ endpoint: 'books', dataType: 'books' }],
    storage,
  }: { jobs?: readonly object[]; storage?: string } = {},
): Promise<{
  readonly tables: Readonly<Record<string, string>>;
  readonly told: readonly string[];
  readonly folder: string;
}> {
  const api = await startApi((_, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(rows),
  );
  const told: string[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn: (text) => told.push(text),
    error: (text) => told.push(text),
  };
  const folder = dataFolder(configOf(api, jobs));
  // a storage waits by the clock
  await run({
    dataFolder: folder,
    log,
    ...(storage === undefined ? { env } : { storage: `${folder}/${storage}` }),
  });
  const tables = Object.fromEntries(
    Object.entries(filesOf(folder)).filter(([name]) => /^out\/tables\/.*(?<!manifest)$/.test(name)),
  );
  return { tables, told: told.filter((text) => /table “/.test(text)), folder };
}

const HINT = 'Give the fields other names by “rename” of the job, or use a mapping';
const told = (what: string): string =>
  `Columns of the table “books” have names that are empty, or those of other columns: ${what}. ${HINT}`;

describe('names of columns that are no names of their own', () => {
  test.each([
    ['[{"😀":1,"id":2}]', '"","id"', '“😀” is “”'],
    ['[{"😀":1,"😁":2}]', '"","_u0"', '“😀” is “”, “😁” is “_u0”'],
    ['[{"a b":1,"a.b":2}]', '"a_b","a_b_u0"', '“a.b” is “a_b_u0”'],
    ['[{"a b":1,"a-b":2}]', '"a_b","a-b"', '“a b” is “a_b”, “a-b” is “a-b”'],
    ['[{"Id":1,"id":2}]', '"Id","id"', '“Id” is “Id”, “id” is “id”'],
    ['[{"x":{"😀":1,"😁":2}}]', '"x_u0","x_u1"', '“x.😀” is “x_u0”, “x.😁” is “x_u1”'],
    ['[{"\\u0007":1}]', '""', '“\\u0007” is “”'],
  ])('%s', async (rows, header, what) => {
    const { tables, told: said } = await made(rows);
    expect(tables['out/tables/library.books']?.split('\n')[0]).toBe(header);
    expect(said).toEqual([told(what)]);
  });

  test('are told of by their first ten', async () => {
    const row = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [String.fromCodePoint(0x1f600 + i), i]),
    );
    const { told: said } = await made(JSON.stringify([row]));
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/“_u8” and 2 more\. /);
  });

  test('are not told of where all is well', async () => {
    const { told: said } = await made('[{"id":1,"café":2,"a_b":3,"nested":{"x":1,"y":[{"z":1}]},"_x":4}]');
    expect(said).toEqual([]);
  });
});

describe('lists that share a table by their names', () => {
  test('are told of', async () => {
    const jobs = [
      { endpoint: 'a', dataType: 'my books' },
      { endpoint: 'b', dataType: 'my_books' },
    ];
    const { told: said } = await made('[{"id":1}]', { jobs });
    expect(said).toEqual([
      expect.stringContaining(
        '“my books” and “my_books” are written to one table “my_books”. Give the job another',
      ),
    ]);
  });

  test('are meant where they have one name', async () => {
    const jobs = [
      { endpoint: 'a', dataType: 'books' },
      { endpoint: 'b', dataType: 'books' },
    ];
    expect((await made('[{"id":1}]', { jobs })).told).toEqual([]);
  });
});

describe('NUL characters', () => {
  const ROWS =
    '[{"id":"a\\u0000b","text":"\\u0000"},{"id":"b","text":"long enough to be copied in one piece \\u0000","more":1}]';
  const TABLE =
    '"id","text","more"\n"a\uFFFDb","\uFFFD",""\n"b","long enough to be copied in one piece \uFFFD","1"\n';

  test(
    'become U+FFFD in tables, which is told once, and the table is pushed',
    { tags: 'thorough' },
    async () => {
      const { tables, told: said, folder } = await made(ROWS, { storage: 'storage' });
      expect(said).toEqual([
        '3 NUL characters in the table “books” became U+FFFD: no database has texts with them',
      ]);
      expect(tables['out/tables/library.books']).toBe(TABLE);
      const signal = new AbortController().signal;
      const opened = await openStorage({
        storage: `${folder}/storage`,
        environment: {},
        log: silentLog,
        signal,
        purpose: 'look',
        mustExist: true,
      });
      try {
        expect(await textOf(await opened.client.tables.read('in.c-library.books'))).toBe(TABLE);
      } finally {
        await opened.close();
      }
    },
  );

  test('are counted once in rows that are written again', async () => {
    const rows = ['[{"id":"\\u0000"}]', '[{"id":"\\u0000","late":1}]', '[]'];
    const api = await startApi(({ url }, response) =>
      json(response, JSON.parse(rows[Number(url.searchParams.get('page')) - 1] ?? '[]') as object),
    );
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (text) => warnings.push(text) };
    const folder = dataFolder(
      configOf(api, [{ endpoint: 'books', dataType: 'books', pagination: { method: 'pagenum' } }]),
    );
    await run({ dataFolder: folder, log, env });
    expect(filesOf(folder)['out/tables/library.books']).toBe('"id","late"\n"\uFFFD",""\n"\uFFFD","1"\n');
    expect(warnings.filter((text) => text.includes('NUL'))).toEqual([
      '2 NUL characters in the table “books” became U+FFFD: no database has texts with them',
    ]);
  });

  test.each([undefined, 1])('are the same in mapped tables and in older ones', async (compatLevel) => {
    const api = await startApi((_, response) => json(response, [{ id: 'a\0b' }]));
    const mappings = { books: { id: { mapping: { destination: 'name' } } } };
    const folder = dataFolder(
      configOf(api, [{ endpoint: 'books', dataType: 'books' }], {
        config: compatLevel === undefined ? { mappings } : { compatLevel },
      }),
    );
    await run({ dataFolder: folder, log: silentLog, env });
    expect(filesOf(folder)['out/tables/library.books']).toContain('"a\uFFFDb"\n');
  });
});
