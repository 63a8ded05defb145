import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ImportReport } from '../../../../src/authoring/importing/report.ts';
import { run, silentLog } from '../../../../src/index.ts';
import { startApi } from '../../actions/support.ts';
import { dataFolder, filesOf, gexHere, type Api } from '../../../cli/support.ts';
import { startShop } from './shop.ts';

let api: Api;
beforeAll(async () => {
  api = await startShop();
});

async function imported(
  tool: string,
  document: unknown,
): Promise<{ readonly report: ImportReport; readonly out: string; readonly config: string }> {
  const folder = dataFolder();
  const file = path.join(folder, `shop.${tool}`);
  writeFileSync(file, JSON.stringify(document));
  const out = path.join(folder, 'data');
  const { stdout, stderr } = await gexHere('import', tool, file, '--out', out, '--json');
  if (stdout === '') throw new Error(stderr);
  return { report: JSON.parse(stdout) as ImportReport, out, config: filesOf(out)['config.json'] ?? '' };
}

const entry = (
  target: string,
  body: unknown,
  token = 't-1',
  base = api.url,
  more: readonly object[] = [],
): unknown => ({
  request: {
    method: 'GET',
    url: `${base}${target}`,
    headers: [{ name: 'Authorization', value: `Bearer ${token}` }, ...more],
  },
  response: { status: 200, content: { text: JSON.stringify(body) } },
});

const request = (name: string, method = 'GET'): unknown => ({
  name,
  request: { method, url: `${api.url}${name}` },
  response: [{ body: JSON.stringify([{ id: 1 }]) }],
});

const headers = (version: string): readonly object[] => [
  { name: 'X-App', value: 'shop' },
  { name: 'X-Version', value: version },
];

describe('documents that gex init reads', () => {
  test('a HAR file gives a row for each list that was recorded', async () => {
    const rows = [
      { id: 1, name: 'Row 1' },
      { id: 2, name: 'Row 2' },
    ];
    const { report, out, config } = await imported('har', {
      log: { entries: [entry('links', rows), entry('pages', { items: rows }), entry('logo', 'x')] },
    });
    expect(report.streams.map(({ stream, outcome }) => [stream, outcome])).toEqual([
      ['links', 'equal rows, other columns'],
      ['pages', 'equal rows, other columns'],
    ]);
    expect(config).not.toContain('t-1');
    const variable = /\$env:(\w+)/.exec(config)?.[1] ?? '';
    await run({ dataFolder: out, log: silentLog, environment: { [variable]: 't-1' } });
    const tables = Object.keys(filesOf(out)).filter((name) => /tables\/[^/]+$/.test(name));
    expect(tables.filter((name) => !name.endsWith('.manifest'))).toHaveLength(2);
  });

  test('recorded lists of one host have one row each, in whatever folder; another login is told of', async () => {
    const rows = [{ id: 1 }, { id: 2 }];
    const { report } = await imported('har', {
      log: {
        entries: [
          entry('v1/links', rows),
          entry('v2/pages', rows),
          entry('v2/orders', rows, 'another-token'),
          entry('v1/users', rows, 't-1', 'https://api.example.com/'),
        ],
      },
    });
    expect(
      report.streams.map(({ stream, reasons }) => [stream, ...reasons.map((one) => one.message)]),
    ).toEqual([
      ['links'],
      ['pages'],
      ['orders', 'It logs in in another way than the first request'],
      ['users', 'It logs in to another host than the first request'],
    ]);
  });

  test('each recorded request is sent with headers of its own', async () => {
    const rows = [{ id: 1 }, { id: 2 }];
    const echo = await startApi(() => ({ json: rows }));
    const { out, config } = await imported('har', {
      log: {
        entries: [
          entry('links', [...rows, { id: 3 }], 't-1', echo.url, [
            ...headers('1'),
            { name: 'X-Only', value: 'a' },
          ]),
          entry('pages?ids[]=1&ids[]=2', rows, 't-1', echo.url, headers('2')),
        ],
      },
    });
    const variable = /\$env:(\w+)/.exec(config)?.[1] ?? '';
    await run({ dataFolder: out, log: silentLog, environment: { [variable]: 't-1' } });
    const sent = echo.seen.map(({ target, headers: all }) => [
      target,
      all['x-app'],
      all['x-version'],
      all['x-only'],
    ]);
    expect(sent).toEqual([
      ['/links', 'shop', '1', 'a'],
      ['/pages?ids%5B%5D=1&ids%5B%5D=2', 'shop', '2', undefined],
    ]);
  });

  test('a request of a Postman collection sends its headers, and lists of its query; a login in it is told of', async () => {
    const echo = await startApi(() => ({ json: [] }));
    const { report, out, config } = await imported('postman', {
      info: { name: 'Shop' },
      item: [
        {
          name: 'orders',
          request: {
            method: 'GET',
            url: `${echo.url}orders?ids[]=1&ids[]=2&access_token=secret-1`,
            header: [
              { key: 'X-Version', value: '3' },
              { key: 'X-Off', value: '1', disabled: true },
              { key: 'X-Api-Key', value: 'secret-2' },
            ],
          },
        },
      ],
    });
    expect(report.notes).toEqual(
      expect.arrayContaining([
        expect.stringContaining('The parameter access_token'),
        expect.stringContaining('The header X-Api-Key'),
      ]),
    );
    expect(config).not.toContain('secret-');
    await run({ dataFolder: out, log: silentLog });
    const sent = echo.seen.map(({ target, headers }) => [target, headers['x-version'], headers['x-off']]);
    expect(sent).toEqual([['/orders?ids%5B%5D=1&ids%5B%5D=2', '3', undefined]]);
  });

  test('lists of a Postman collection that are sent by POST are told of', async () => {
    const { report } = await imported('postman', {
      info: { name: 'Shop' },
      item: [
        request('links'),
        request('orders/query', 'POST'),
        { name: 'search', request: { method: 'POST', url: `${api.url}search` } },
        { name: 'orders', request: { method: 'POST', url: `${api.url}orders` } },
      ],
    });
    const not = report.streams.filter(({ outcome }) => outcome === 'not');
    expect(not.map(({ stream }) => stream)).toEqual(['POST /orders/query', 'POST /search']);
    expect(not[0]?.reasons[0]?.message).toContain('give that to gex init');
  });

  test('a Postman collection gives what gex init gives, with a report', async () => {
    const collection = {
      info: { name: 'Shop', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
      item: [request('links'), request('orders', 'DELETE')],
    };
    const { report, config } = await imported('postman', collection);
    expect(report.streams.find(({ stream }) => stream.includes('links'))?.outcome).toBe(
      'equal rows, other columns',
    );
    const folder = dataFolder();
    writeFileSync(path.join(folder, 'shop.json'), JSON.stringify(collection));
    await gexHere('init', path.join(folder, 'shop.json'), '--out', folder);
    const made = JSON.parse(filesOf(folder)['config.json'] ?? '') as object;
    expect(JSON.parse(config)).toMatchObject(made);
  });

  test('another document is refused', async () => {
    const folder = dataFolder();
    const file = path.join(folder, 'x.json');
    writeFileSync(file, '{"openapi": "3.0.0", "info": {"title": "x"}, "paths": {}}');
    const { code, stderr } = await gexHere('import', 'har', file);
    expect(code).toBe(1);
    expect(stderr).toContain('The file is no HAR file');
  });
});
