import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { describeError } from '../../../src/lib/errors.ts';
import { silentLog, type Log } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Answer } from '../../cli/support.ts';

interface Ran {
  readonly asked: readonly string[];
  /** Contents of the tables, by name without the bucket. */
  readonly tables: Readonly<Record<string, string>>;
  readonly said: readonly string[];
  readonly warned: readonly string[];
  readonly report: string;
}

async function ran(
  answer: Answer,
  job: object,
  { now, ...more }: { api?: object; config?: object; now?: number } = {},
): Promise<Ran> {
  const api = await startApi(answer);
  const [said, warned]: [string[], string[]] = [[], []];
  const log: Log = {
    debug: () => undefined,
    info: (text) => said.push(text),
    warn: (text) => {
      said.push(text);
      warned.push(text);
    },
    error: () => undefined,
  };
  const folder = dataFolder(configOf(api, [{ endpoint: 'rows', ...job }], more));
  const env = now === undefined ? systemEnv : { ...systemEnv, now: () => now };
  await run({ dataFolder: folder, log, env });
  const files = filesOf(path.join(folder, 'out/tables'));
  const tables = Object.entries(files)
    .filter(([name]) => !name.endsWith('.manifest'))
    .map(([name, text]) => [name.replace('library.', ''), text] as const);
  return {
    asked: api.seen,
    tables: Object.fromEntries(tables),
    said,
    warned,
    report: filesOf(path.join(folder, 'out'))['report.json'] ?? '',
  };
}

function answering(body: unknown): Answer {
  return (_request, response) => json(response, body);
}

async function failure(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return describeError(error);
  }
  throw new Error('it did not fail');
}

const STEPS = {
  dataField: 'items',
  where: [
    { value: 'kind', is: 'differs', than: 'test' },
    { value: 'at', is: 'atLeast', than: { attr: 'since' } },
  ],
  columns: {
    sum: { function: 'add', args: [{ row: 'a' }, { response: 'plus' }] },
    page: { answer: 'page' },
    trace: { header: 'X-Trace' },
    asked: { request: 'page' },
    when: { function: 'date', args: ['Y'] },
  },
  exclude: ['_links'],
  rename: { a: 'amount' },
};

const withInner: Answer = ({ url }, response) =>
  json(
    response,
    url.pathname === '/rows' ? [{ id: 1, hidden: true }, { id: 2 }] : [{ n: Number(url.pathname.slice(-1)) }],
  );

describe('rows that are changed before they are written', () => {
  const pages = [
    [
      { id: 1, kind: 'x', at: '2026-01-02', a: 1, _links: {} },
      { id: 2, kind: 'test', at: '2026-01-02', a: 2 },
    ],
    [{ id: 3, kind: 'x', at: '2025-01-02', a: 3 }],
    [{ id: 4, kind: 'x', at: '2026-02-02', a: 4, late: { b: true } }],
  ];
  const paged: Answer = ({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    response.setHeader('X-Trace', `t${page}`);
    json(response, { plus: page * 10, total: 4, items: pages[page - 1] ?? [] });
  };
  const more = { api: { pagination: { method: 'pagenum' } }, config: { since: '2026-01-01' } };

  test('are made equally when a page is read a second time, for a column that came later', async () => {
    const { tables, said, report, asked } = await ran(paged, STEPS, { ...more, now: Date.UTC(2031, 5, 1) });
    expect(tables['rows']).toBe(
      `"id","kind","at","amount","sum","page","trace","asked","when","late_b"\n` +
        `"1","x","2026-01-02","1","11","1","t1","1","2031",""\n` +
        `"4","x","2026-02-02","4","34","3","t3","3","2031","1"\n`,
    );
    expect(said).toContain(
      '2 of 4 rows left out by “where” (kept: kind is not “test” and at is at least attr since)',
    );
    expect(asked).toHaveLength(4);
    expect(JSON.parse(report)).toMatchObject({ jobs: [{ verdict: 'complete', rows: 4, leftOut: 2 }] });
  });

  test('in a page of several chunks, whose columns are not known before', async () => {
    const filler = 'x'.repeat(400);
    const items = Array.from({ length: 8000 }, (_, id) => ({
      id,
      even: id % 2 === 0,
      filler,
      ...(id === 7999 ? { last: 1 } : {}),
    }));
    const { tables, said } = await ran(answering({ items }), {
      dataField: 'items',
      where: { value: 'even', is: 'false' },
      columns: { filler: null, twice: { function: 'multiply', args: [{ row: 'id' }, 2] } },
    });
    const lines = tables['rows']?.trim().split('\n') ?? [];
    expect(lines).toHaveLength(4001);
    expect(lines[1]).toBe('"1","","2",""');
    expect(lines.at(-1)).toBe('"7999","","15998","1"');
    expect(said).toContain('4000 of 8000 rows left out by “where” (kept: even is false)');
  });

  test('in a table of their own for each parent row, which children see as they came', async () => {
    const { tables, asked, said } = await ran(withInner, {
      where: { value: 'hidden', is: 'absent' },
      rename: { id: 'number' },
      children: [
        {
          endpoint: 'rows/{id}',
          placeholders: { id: 'id' },
          dataType: 'inner',
          columns: {
            of: { parent: 'id' },
            by: { placeholder: 'id' },
            m: { function: 'add', args: [{ parent: 'id' }, { row: 'n' }] },
          },
        },
      ],
    });
    expect(asked).toEqual(['GET /rows', 'GET /rows/1', 'GET /rows/2']);
    expect(tables['rows']).toBe('"number"\n"2"\n');
    expect(said).toContain(
      '1 of 2 rows left out by “where” (kept: hidden is absent); their children were asked for all the same, as “recursionFilter” is for them',
    );
    expect(tables['inner']).toBe('"n","of","by","m","parent_id"\n"1","1","1","2","1"\n"2","2","2","4","2"\n');
  });

  test('none of which is left give no table, and a warning', async () => {
    const { tables, said } = await ran(answering([{ id: 1, status: 'a' }]), {
      where: { value: 'staus', is: 'equals', than: 'a' },
    });
    expect(tables).toEqual({});
    expect(said).toContain('1 of 1 rows left out by “where” (kept: staus is “a”)');
    expect(said).toContain('No row has “staus”; they have “status”. Correct the path');
  });

  test('none of which are wanted are no surprise', async () => {
    const { warned, said } = await ran(answering([{ id: 1 }]), {
      where: { value: { value: null }, is: 'present' },
    });
    expect(said.join()).toContain('1 of 1 rows left out by “where”');
    expect(warned.join()).not.toContain('left out');
  });

  test('go into a mapping as fields, and into the older way of tables', async () => {
    const job = {
      dataField: 'items',
      where: { value: 'a', is: 'above', than: 1 },
      columns: { b: { row: 'a' } },
      exclude: 'c',
    };
    const body = {
      items: [
        { a: 1, c: 0 },
        { a: 2, c: 0 },
      ],
    };
    const mappings = { rows: { b: { mapping: { destination: 'bee', primaryKey: true } } } };
    expect((await ran(answering(body), job, { config: { mappings } })).tables['rows']).toBe('"bee"\n"2"\n');
    expect((await ran(answering(body), job, { config: { compatLevel: 1 } })).tables['rows']).toBe(
      '"a","b"\n"2","2"\n',
    );
  });

  test('that are no objects get columns beside their own', async () => {
    const job = { columns: { upper: { function: 'upper', args: [{ row: '.' }] } } };
    expect((await ran(answering(['a', 'b']), job)).tables['rows']).toBe('"data","upper"\n"a","A"\n"b","B"\n');
  });
});

describe('a part of a run goes on', () => {
  test.each([
    [
      'a column that is nowhere',
      { columns: { u: 'user_id' } },
      'No row has “user_id”; they have “userId”. Correct the path',
    ],
    [
      'a column without a value',
      { columns: { u: { response: 'nowhere' } } },
      'The column “u” got no value in any row',
    ],
    [
      'a condition on a computed column',
      { columns: { year: { value: 1 } }, where: { value: 'year', is: 'equals', than: 1 } },
      'No row has “year”. It is a column of this job, and columns are computed from the rows that “where” keeps. Write its source into the condition',
    ],
    [
      'a pattern without a field',
      { exclude: ['**.href'] },
      '“**.href” in “exclude” is no field of any row. They have “userId”',
    ],
    [
      'a name for no field',
      { rename: { user: 'u' } },
      '“user” in “rename” is no field of any row. They have “userId”',
    ],
    [
      'an expansion of nothing',
      { expand: 'lines' },
      '1 of 1 rows have nothing that “expand” could make rows of',
    ],
  ])('but says of %s what it is', async (_what, job, words) => {
    const { said } = await ran(answering([{ userId: 1 }]), job);
    expect(said).toContain(words);
  });

  test('without a word where a field may be absent', async () => {
    const { said } = await ran(answering([{ id: 1 }]), {
      where: { not: { value: 'deleted', is: 'true' } },
      columns: { name: { firstOf: ['nick', 'id'] } },
    });
    expect(said.filter((text) => /No row|column/.test(text))).toEqual([]);
  });
});

describe('what would lose a value ends the run', () => {
  test.each([
    [
      'two fields of one name',
      [{ userId: 1, user_id: 2 }],
      { case: 'snake' },
      'Two fields of a row would both be called “user_id”: “userId” and “user_id”',
    ],
    [
      'a field of the items',
      [{ id: 1, lines: [{ id: 2 }] }],
      { expand: { path: 'lines', with: ['id'] } },
      'have a field “id” of their own',
    ],
    [
      'a key of rows',
      { a: { key: 'b' } },
      { dataField: '.', rowsAt: 'values' },
      'The rows under keys have a field “key” of their own',
    ],
    [
      'cells without a name',
      [['a'], [1, 2]],
      { rowsAt: { form: 'cells', header: 'first' } },
      'A row has 2 cells, and the header has 1 name: a',
    ],
    [
      'columns of many lengths',
      { a: [1], b: [1, 2] },
      { dataField: '.', rowsAt: 'columns' },
      'The lists of columns are not equally long: “b” has 2 values and “a” has 1',
    ],
    [
      'another form',
      { data: [{ a: 1 }] },
      { rowsAt: { form: 'cells', header: ['x'] } },
      'Rows at “cells” need a list of lists of cells, and there is an object',
    ],
    [
      'names that are nowhere',
      { data: [[1]] },
      { dataField: 'data', rowsAt: { form: 'cells', header: 'cols' } },
      'The names of the columns are not at “cols”',
    ],
    [
      'a function that fails',
      [{ a: 'x' }],
      { columns: { b: { function: 'add', args: [{ row: 'a' }, 1] } } },
      'The function “add” failed: an argument is not a number',
    ],
  ])('%s', async (_what, body, job, words) => {
    expect(await failure(ran(answering(body), job))).toContain(words);
  });

  test.each([
    [{ rowsAt: 'value' }, 'Did you mean “values”?'],
    [{ where: { value: 'a', is: 'biggerThan', than: 1 } }, '`is` must be “absent”'],
    [{ columns: { a: { hedder: 'x' } } }, 'Did you mean “header”?'],
    [{ columns: { a: { last: 'x' } } }, 'There is no “last” here'],
    [{ columns: { a: { function: 'uper', args: ['x'] } } }, 'Did you mean “upper”?'],
    [{ exclude: ['/(/'] }, 'The regular expression “(” cannot be read'],
    [{ expand: { path: 'a', withs: ['b'] } }, 'Did you mean “with”?'],
    [{ case: 'camel' }, '`case`'],
  ])('and a setting that is wrong does before anything is asked for: %j', async (job, words) => {
    const api = await startApi(answering([]));
    const folder = dataFolder(configOf(api, [{ endpoint: 'first' }, { endpoint: 'rows', ...job }]));
    expect(await failure(run({ dataFolder: folder, log: silentLog }))).toContain(words);
    expect(api.seen).toEqual([]);
  });
});
