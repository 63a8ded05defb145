import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { validateConfig } from '../../../src/engine/config/validate.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import { partKey } from '../../../src/engine/jobs/index.ts';
import { askedOf } from '../../../src/engine/jobs/incremental/asked.ts';
import { jobDefinitions } from '../../../src/engine/jobs/job-options.ts';
import { getKey, objectOf } from '../../../src/lib/json/index.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';

const env = { ...systemEnv, now: () => Date.parse('2026-07-01T00:00:00Z'), sleep: async () => {} };
const at = (day: number): string => `2026-06-${String(day).padStart(2, '0')}T00:00:00Z`;

interface Row {
  readonly id: number;
  readonly shop: string;
  readonly at: string;
}

interface Shops extends Api {
  /** Grows from run to run. */
  readonly rows: Row[];
}

/** The shops N and S, and the orders of that which a parameter, a header or the path names. */
async function shops(): Promise<Shops> {
  const rows: Row[] = [
    { id: 1, shop: 'N', at: at(1) },
    { id: 2, shop: 'N', at: at(9) },
  ];
  const api = await startApi(({ url, headers }, response) => {
    if (url.pathname === '/regions') return json(response, [{ code: 'eu' }]);
    if (url.pathname === '/shops' || url.pathname === '/stores')
      return json(response, [
        { id: 'N', no: 1, area: { key: 'N' } },
        { id: 'S', no: 2, area: { key: 'S' } },
      ]);
    const shop =
      url.searchParams.get('shop') ?? headers['x-shop'] ?? /^\/shops\/([^/]+)/.exec(url.pathname)?.[1] ?? '';
    const since = url.searchParams.get('since') ?? '';
    return json(
      response,
      rows.filter((row) => String(shop).endsWith(row.shop) && row.at >= since),
    );
  });
  return Object.assign(api, { rows });
}

const orders = (more: object): object => ({
  id: 'orders',
  endpoint: 'orders',
  dataType: 'orders',
  dataField: '.',
  incremental: { cursor: 'at', to: 'since' },
  ...more,
});
const below = (child: object): object => ({
  id: 'shops',
  endpoint: 'shops',
  dataField: '.',
  children: [child],
});

interface Said {
  readonly ids: readonly string[];
  readonly warnings: string;
}

async function start(folder: string): Promise<Said> {
  const warnings: string[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    warn: (text: string) => void warnings.push(text),
    error: () => {},
  };
  await run({ dataFolder: folder, log, env });
  const table = filesOf(folder)['out/tables/library.orders'] ?? '';
  return { ids: [...table.matchAll(/^"(\d+)"/gm)].map(([, id = '']) => id), warnings: warnings.join('\n') };
}

const folderOf = (api: Api, jobs: readonly object[], more: object = {}): string =>
  dataFolder(configOf(api, jobs, { config: { incrementalOutput: true, ...more } }));

function edited(folder: string, before: string, after: string): void {
  const file = path.join(folder, 'config.json');
  const plain = JSON.stringify(JSON.parse(readFileSync(file, 'utf8')));
  expect(plain).toContain(before);
  writeFileSync(file, plain.replace(before, after));
}

/** Orders of the account that a secret opens. */
function accounts(api: Api, iterations: readonly object[]): object {
  const { parameters } = configOf(api, [orders({ params: { shop: { attr: '#key' } } })], {
    config: { incrementalOutput: true },
  }) as { parameters: object };
  return { parameters: { ...parameters, iterations } };
}

describe('the state of a parent row', () => {
  const ways: readonly (readonly [string, readonly object[]])[] = [
    ['a path', [below(orders({ endpoint: 'shops/{id}/orders', placeholders: { id: 'id' } }))]],
    [
      'a reference',
      [below(orders({ endpoint: 'shops/{id}/orders', placeholders: { id: { parent: 'id' } } }))],
    ],
    [
      'a reference to a nested value',
      [below(orders({ endpoint: 'shops/{id}/orders', placeholders: { id: { parent: 'area.key' } } }))],
    ],
    [
      'a function',
      [
        below(
          orders({
            endpoint: 'shops/{id}/orders',
            placeholders: { id: { function: 'concat', args: ['shop-', { parent: 'id' }] } },
          }),
        ),
      ],
    ],
    [
      'a path with a function',
      [
        below(
          orders({
            endpoint: 'shops/{id}/orders',
            placeholders: {
              id: { path: 'id', function: 'concat', args: ['shop-', { placeholder: 'value' }] },
            },
          }),
        ),
      ],
    ],
    ['a parameter without a placeholder', [below(orders({ params: { shop: { parent: 'id' } } }))]],
    ['a header', [below(orders({ headers: { 'X-Shop': { parent: 'id' } } }))]],
    ['the query', [below(orders({ query: { shop: { parent: 'id' } } }))]],
    [
      'a function for an endpoint',
      [below(orders({ endpoint: { function: 'concat', args: ['shops/', { parent: 'id' }, '/orders'] } }))],
    ],
    [
      'a computed one of the job above',
      [
        {
          id: 'shops',
          endpoint: 'shops',
          dataField: '.',
          children: [
            {
              id: 'same',
              endpoint: 'stores?of={of}',
              dataField: '.',
              recursionFilter: '',
              placeholders: { of: { parent: 'id' } },
              children: [orders({ endpoint: 'shops/{of}/orders', recursionFilter: 'no==1' })],
            },
          ],
        },
      ],
    ],
    [
      'the row above its own',
      [
        {
          id: 'regions',
          endpoint: 'regions',
          dataField: '.',
          children: [
            {
              id: 'shops',
              endpoint: 'shops',
              dataField: '.',
              params: { region: '{code}' },
              placeholders: { code: 'code' },
              children: [
                orders({
                  endpoint: 'shops/{id}/orders',
                  params: { region: { placeholder: '2:code' } },
                  placeholders: { id: { parent: 'id' }, '2:code': 'code' },
                }),
              ],
            },
          ],
        },
      ],
    ],
    [
      'a parent that is named',
      [
        { id: 'shops', endpoint: 'shops', dataField: '.' },
        orders({ endpoint: 'shops/{id}/orders', placeholders: { id: { parent: 'id' } }, parents: ['shops'] }),
      ],
    ],
  ];

  test.each(ways)('is its own when its request says it by %s', async (_name, jobs) => {
    const api = await shops();
    const folder = folderOf(api, jobs);
    expect((await start(folder)).ids).toEqual(['1', '2']);
    // older than the state of the other shop
    api.rows.push({ id: 3, shop: 'S', at: at(2) });
    expect((await start(folder)).ids).toEqual(['2', '3']);
    api.rows.push({ id: 4, shop: 'S', at: at(3) });
    expect((await start(folder)).ids).toEqual(['2', '3', '4']);
    api.rows.push({ id: 5, shop: 'N', at: at(20) });
    expect((await start(folder)).ids).toEqual(['2', '5', '4']);
    api.rows.push({ id: 6, shop: 'S', at: at(5) });
    expect((await start(folder)).ids).toEqual(['5', '4', '6']);
  });

  test('has a name that the time, the window and a request of its own do not change', () => {
    const { own } = {
      own: askedOf(
        objectOf([
          ['params', { year: { function: 'date', args: ['Y', { window: 'from' }] } }],
          ['export', { create: { endpoint: 'jobs', body: { shop: { parent: '{key}' } } } }],
          ['where', [{ row: 'no', is: { parent: 'no' } }]],
          ['columns', { no: { parent: 'no' } }],
        ]),
        'GET',
      ),
    };
    const keyOf = (id: string, year: string): string =>
      partKey(
        { own, above: [] },
        {
          parameters: [
            { name: 'key', path: 'key', value: 'id' },
            { name: 'year', value: year, isComputed: true },
          ],
          rows: [{ id, no: year }],
          own: { window: { from: year } },
        },
      );
    expect(keyOf('N', '2025')).toBe(keyOf('N', '2026'));
    expect(keyOf('N', '2025')).not.toBe(keyOf('S', '2025'));
  });
});

describe('a state that says nothing of what is asked for now', () => {
  const child = orders({ endpoint: 'shops/{id}/orders', placeholders: { id: 'id' } });
  const top = orders({ params: { shop: { attr: 'shop' } }, headers: { 'User-Agent': 'one' } });
  const own = { shop: 'N', '#token': 'first' };

  const changes: readonly (readonly [string, readonly object[], string, string])[] = [
    ['an attribute', [top], '"shop":"N"', '"shop":"shop-N"'],
    ['a header', [orders({ headers: { 'X-Shop': 'N' } })], '"X-Shop":"N"', '"X-Shop":"shop-N"'],
    ['a parameter', [orders({ params: { shop: 'N', open: 1 } })], '"open":1', '"open":0'],
    [
      'its method',
      [orders({ query: { shop: 'N' }, incremental: { cursor: 'at', to: { query: 'since' } } })],
      '"dataType":"orders"',
      '"dataType":"orders","method":"POST"',
    ],
    ['the form of the time', [top], '"to":"since"', '"to":"since","format":"Y-m-d"'],
    ['its place', [top], '"to":"since"', '"to":"after"'],
    [
      'its conditions',
      [orders({ params: { shop: 'N' } })],
      '"dataField":"."',
      '"dataField":".","where":{"value":{"row":"id"},"is":"above","than":0}',
    ],
    ['a placeholder', [below(child)], '"placeholders":{"id":"id"}', '"placeholders":{"id":"area.key"}'],
    ['the parent', [below(child)], '"endpoint":"shops"', '"endpoint":"stores"'],
    [
      'the choice of parents that share a state',
      [
        below(
          orders({
            endpoint: 'shops/{id}/orders',
            placeholders: { id: 'id' },
            recursionFilter: 'no==1',
            incremental: { cursor: 'at', to: 'since', perParent: false },
          }),
        ),
      ],
      '"no==1"',
      '"no>0"',
    ],
  ];

  test.each(changes)(
    'is not used when %s has changed, and that is said',
    async (_name, jobs, before, after) => {
      const api = await shops();
      const folder = folderOf(api, jobs, own);
      expect((await start(folder)).ids).toEqual(['1', '2']);
      const again = await start(folder);
      expect(again.ids).toEqual(['2']);
      expect(again.warnings).not.toContain('begins anew');
      edited(folder, before, after);
      const said = await start(folder);
      expect(said.ids).toContain('1');
      expect(said.warnings).toContain('asks for something else than when its state was kept');
      expect((await start(folder)).warnings).not.toContain('begins anew');
    },
  );

  const harmless: readonly (readonly [string, readonly object[], string, string])[] = [
    ['a secret', [top], '"#token":"first"', '"#token":"second"'],
    ['an attribute that nothing refers to', [top], '"#token"', '"other":1,"#token"'],
    ['who asks', [top], '"User-Agent":"one"', '"User-Agent":"two"'],
    ['the beginning', [top], '"to":"since"', '"to":"since","first":"2020-01-01"'],
    ['the lookback', [top], '"to":"since"', '"to":"since","lookback":"1 second"'],
    ['how pages follow', [top], '"dataField":"."', '"dataField":".","pagination":{"method":"pagenum"}'],
    ['what becomes of the rows', [top], '"dataField":"."', '"dataField":".","columns":{"x":{"value":1}}'],
    [
      'which parents have one',
      [below(child)],
      '"endpoint":"shops/{id}/orders"',
      '"endpoint":"shops/{id}/orders","recursionFilter":"no==1"',
    ],
  ];

  test.each(harmless)('stays when %s has changed', async (_name, jobs, before, after) => {
    const api = await shops();
    const folder = folderOf(api, jobs, own);
    await start(folder);
    edited(folder, before, after);
    const { ids, warnings } = await start(folder);
    expect(ids).toEqual(['2']);
    expect(warnings).not.toContain('begins anew');
  });

  test('begins for a new value of a list alone', async () => {
    const api = await shops();
    api.rows.push({ id: 3, shop: 'S', at: at(2) });
    const folder = folderOf(api, [orders({ params: { shop: '{of}' }, over: { of: ['N'] } })]);
    await start(folder);
    edited(folder, '["N"]', '["N","S"]');
    expect(await start(folder)).toEqual({ ids: ['2', '3'], warnings: '' });
  });
});

describe('iterations that only a secret tells apart', () => {
  test('are refused, as the second would begin where the first ended', async () => {
    const api = await shops();
    const same = accounts(api, [{ '#key': 'N' }, { '#key': 'S' }]);
    await expect(start(dataFolder(same))).rejects.toThrow(
      'The state of “orders” is that of two iterations: nothing but secrets or jobs tells this one from iteration 0',
    );
    expect(await validateConfig(JSON.stringify(same))).toMatchObject([
      { severity: 'error', path: 'parameters.iterations[1]' },
    ]);
    expect(api.seen).toEqual([]);
    const named = accounts(api, [
      { '#key': 'N', account: 'north' },
      { '#key': 'S', account: 'south' },
    ]);
    expect(await validateConfig(JSON.stringify(named))).toEqual([]);
    const folder = dataFolder(named);
    await start(folder);
    api.rows.push({ id: 3, shop: 'S', at: at(2) });
    expect((await start(folder)).ids).toEqual(['2', '3']);
  });
});

/** Keys that decide nothing of what is asked for, besides those of the columns. */
const ELSEWHERE =
  'children completeness dataType id pagination parents primaryKey reactions responseFilter responseFilterDelimiter scroller userData';

const isAsked = (key: string): boolean => getKey(askedOf(objectOf([[key, 'x']]), 'GET'), key) !== undefined;

test('each key of a job is asked for, or is one of those that decide nothing of it', () => {
  const keys = [jobDefinitions.job, jobDefinitions.childJob].flatMap(({ properties }) =>
    Object.keys(properties ?? {}),
  );
  expect([...new Set(keys)].filter((key) => !isAsked(key)).toSorted()).toEqual(ELSEWHERE.split(' '));
});

const methodOf = (method: string, usual: string): unknown =>
  getKey(askedOf(objectOf([['method', method]]), usual), 'method');

test('a method is asked for where it is not that of jobs that name none', () => {
  expect([methodOf('get', 'GET'), methodOf('post', 'POST')]).toEqual([undefined, undefined]);
  expect([methodOf('get', 'POST'), methodOf('post', 'GET')]).toEqual(['GET', 'POST']);
});
