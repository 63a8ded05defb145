import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { validateConfig } from '../../../src/engine/config/validate.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';

const ROWS = [
  { id: 1, user: { id: 7, 'last name': 'a' }, at: '2026-01-01', tags: [{ name: 'x' }], 'Order No': 5 },
  { id: 2, user: { id: 8, 'last name': 'b' }, at: '2026-01-02', tags: [{ name: 'y' }], 'Order No': 6 },
];

const api = async (): Promise<Api> =>
  await startApi(({ url }, response) => json(response, url.pathname === '/none' ? [] : ROWS));

const orders = (more: object): object => ({ id: 'orders', endpoint: 'orders', dataField: '.', ...more });

interface Manifest {
  readonly incremental: boolean;
  readonly primary_key?: readonly string[];
}

/** The manifests of the tables, by their names. */
async function manifests(
  jobs: readonly object[],
  config: object = {},
  warnings: string[] = [],
): Promise<Readonly<Record<string, Manifest>>> {
  const folder = dataFolder(configOf(await api(), jobs, { config }));
  await run({ dataFolder: folder, log: { ...silentLog, warn: (text) => void warnings.push(text) } });
  return Object.fromEntries(
    Object.entries(filesOf(folder)).flatMap(([name, text]) => {
      const table = /^out\/tables\/library\.(.*)\.manifest$/.exec(name)?.[1];
      return table === undefined ? [] : [[table, JSON.parse(text) as Manifest]];
    }),
  );
}

describe('primaryKey of a job', () => {
  test.each<readonly [string, object, readonly string[]]>([
    ['a path', { primaryKey: 'id' }, ['id']],
    ['a nested path', { primaryKey: 'user.id' }, ['user_id']],
    ['a list', { primaryKey: ['user.id', 'at'] }, ['user_id', 'at']],
    ['a column', { primaryKey: ['user_last_name'] }, ['user_last_name']],
    ['a name that no column has as it is', { primaryKey: 'Order No' }, ['Order_No']],
    ['a field that is renamed', { primaryKey: 'id', rename: { id: 'order_id' } }, ['order_id']],
    ['its new name', { primaryKey: 'order_id', rename: { id: 'order_id' } }, ['order_id']],
    ['a field in another case', { primaryKey: 'Order No', case: 'snake' }, ['order_no']],
    [
      'a computed column',
      { primaryKey: ['day', 'id'], columns: { day: { value: '2026-01-01' } } },
      ['day', 'id'],
    ],
    ['user data', { primaryKey: ['region', 'id'], userData: { region: 'eu' } }, ['region', 'id']],
  ])('may be %s', async (_name, job, key) => {
    expect((await manifests([orders(job)]))['orders']).toMatchObject({
      primary_key: key,
      incremental: false,
    });
  });

  test('is that of the table of its rows, and not of their lists', async () => {
    const all = await manifests([orders({ primaryKey: 'id' })]);
    expect(Object.keys(all).toSorted()).toEqual(['orders', 'orders_tags']);
    expect(all['orders_tags']?.primary_key).toBeUndefined();
  });

  test('may name the column of a parent row', async () => {
    const child = { endpoint: 'lines/{id}', dataType: 'lines', dataField: '.', placeholders: { id: 'id' } };
    const all = await manifests([orders({ children: [{ ...child, primaryKey: ['parent_id', 'id'] }] })]);
    expect(all['lines']?.primary_key).toEqual(['parent_id', 'id']);
    expect(all['orders']?.primary_key).toBeUndefined();
  });

  test('names fields as the answer has them, or columns, where there is a mapping', async () => {
    const mappings = {
      orders: { id: { mapping: { destination: 'order' } }, 'user.id': 'user' },
      none: { id: 'id' },
    };
    const jobs = [
      orders({ dataType: 'orders', primaryKey: ['id', 'user'] }),
      { endpoint: 'none', dataType: 'none', dataField: '.', primaryKey: 'id' },
    ];
    const all = await manifests(jobs, { mappings });
    expect(all['orders']?.primary_key).toEqual(['order', 'user']);
    expect(all['none']?.primary_key).toEqual(['id']);
  });

  test('merges what is new into the table, and into those below it', async () => {
    const warnings: string[] = [];
    const child = { endpoint: 'lines/{id}', dataType: 'lines', dataField: '.', placeholders: { id: 'id' } };
    const all = await manifests(
      [
        orders({ primaryKey: 'id', incremental: { cursor: 'at' }, children: [child] }),
        { id: 'whole', endpoint: 'whole', dataType: 'orders-whole', dataField: '.', primaryKey: 'id' },
      ],
      {},
      warnings,
    );
    expect(Object.entries(all).map(([name, { incremental }]) => [name, incremental])).toEqual(
      expect.arrayContaining([
        ['orders', true],
        ['orders_tags', true],
        ['lines', true],
        ['lines_tags', true],
        ['orders-whole', false],
        ['orders-whole_tags', false],
      ]),
    );
    expect(warnings.join('\n')).not.toContain('in place of the whole table');
    // rows that come again stand twice in what is added to without a key
    const keyless = warnings.filter((text) => text.includes('has no primary key'));
    expect(
      keyless.map((text) => /^The table “([^”]*)” is added to/.exec(text)?.[1] ?? '').toSorted(),
    ).toEqual(['lines', 'lines_tags', 'orders_tags']);
    expect(keyless[0]).toContain('rows that come again stand in it twice. Give the child a “primaryKey”');
  });

  test('does not merge where “incrementalOutput” says that it should not, and that is told', async () => {
    const warnings: string[] = [];
    const job = orders({ primaryKey: 'id', incremental: { cursor: 'at' } });
    const all = await manifests([job], { incrementalOutput: false }, warnings);
    expect(all['orders']).toMatchObject({ incremental: false, primary_key: ['id'] });
    expect(warnings.join('\n')).toContain('in place of the whole table');
  });
});

describe('a primary key that names no column', () => {
  test.each<readonly [string, object, string]>([
    ['a slip', { primaryKey: 'idd' }, 'Did you mean “id”?'],
    ['a nested slip', { primaryKey: 'user.idd' }, 'Did you mean “user_id”?'],
    ['a list of rows', { primaryKey: 'nothing-like-it' }, 'It has id, user_id, user_last_name, at, tags'],
    ['the same column twice', { primaryKey: ['user.id', 'user_id'] }, 'names the column “user_id” twice'],
  ])('ends the run with nothing in out: %s', async (_name, job, words) => {
    const folder = dataFolder(configOf(await api(), [orders(job)]));
    const error: unknown = await run({ dataFolder: folder, log: silentLog }).catch(
      (thrown: unknown) => thrown,
    );
    expect(`${String(error)} ${(error as { hint?: string }).hint ?? ''}`).toContain(words);
    expect(error).toMatchObject({ code: 'records.invalid' });
    expect(existsSync(path.join(folder, 'out', 'tables'))).toBe(false);
  });

  test.each<readonly [string, readonly object[], object, string, string]>([
    [
      'a column of a mapping',
      [orders({ dataType: 'orders', primaryKey: 'usr' })],
      { mappings: { orders: { id: 'id', 'user.id': 'user' } } },
      'parameters.config.jobs[0].primaryKey',
      'Did you mean “user”?',
    ],
    [
      'a field that is left out',
      [orders({ dataType: 'orders', primaryKey: ['at', 'id'], exclude: ['id'] })],
      {},
      'parameters.config.jobs[0].primaryKey[1]',
      'Take it out of “exclude”.',
    ],
    [
      'another key than the job of the same table',
      [orders({ dataType: 'a', primaryKey: 'id' }), { endpoint: 'b', dataType: 'a', primaryKey: 'at' }],
      {},
      'parameters.config.jobs[1].primaryKey',
      'The other one is at parameters.config.jobs[0].primaryKey',
    ],
    [
      'another key than its mapping',
      [orders({ dataType: 'orders', primaryKey: 'at' })],
      { mappings: { orders: { id: { mapping: { destination: 'id', primaryKey: true } }, at: 'at' } } },
      'parameters.config.jobs[0].primaryKey',
      'Its mapping says id',
    ],
    [
      'a name twice',
      [orders({ primaryKey: ['id', 'id'] })],
      {},
      'parameters.config.jobs[0].primaryKey',
      'twice',
    ],
    [
      'an object',
      [orders({ primaryKey: { id: true } })],
      {},
      'parameters.config.jobs[0].primaryKey',
      'must be',
    ],
  ])('is an error before the run, where that can be known: %s', async (_name, jobs, config, at, words) => {
    const document = configOf('http://localhost:1/', jobs, { config });
    const problems = await validateConfig(JSON.stringify(document));
    expect(problems).toMatchObject([{ severity: 'error', path: at }]);
    expect(`${problems[0]?.message} ${problems[0]?.hint}`).toContain(words);
  });
});
