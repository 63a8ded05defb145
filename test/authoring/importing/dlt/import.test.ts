import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../../../src/lib/log.ts';
import { openStorage } from '../../../../src/service/open/index.ts';
import { textOf } from '../../../storage/client/support.ts';
import type { ImportReport } from '../../../../src/authoring/importing/report.ts';
import { dataFolder, filesOf, json, runHere } from '../../../cli/support.ts';

const ROWS = [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id, updated_at: `2024-01-0${id}T00:00:00Z` }));
const page = (index: number, size = 3): readonly object[] => ROWS.slice(index * size, (index + 1) * size);
const next = (index: number): number | null => ((index + 1) * 3 < ROWS.length ? index + 1 : null);

/** Times of which the last one is later than the one before, and is not so as a text. */
const ZONES = ['2024-01-02T00:00:00Z', '2024-01-02T05:00:00+02:00', '2024-01-02T04:30:00Z'].map(
  (updated_at, id) => ({ id, updated_at }),
);
/** How many of them there are. */
let zones = 0;

/** Requests as `GET /v1/cursor?after=1`, with the body behind it. */
let seen: string[] = [];
let base = '';
const server = createServer((request, response) => {
  void (async () => {
    const url = new URL(request.url ?? '/', base);
    const body = await text(request);
    seen.push(`${request.method} ${request.url}${body === '' ? '' : ` ${body}`}`);
    const number = (name: string): number => Number(url.searchParams.get(name) ?? 0);
    const link = (index: number): string => `${base}${url.pathname}?p=${index}`;
    const [, , kind = '', id, more] = url.pathname.split('/');
    const isAllowed =
      request.headers.authorization === 'Bearer s3cret' && request.headers['x-app'] === 'shop';
    if (!isAllowed) return json(response, { error: 'who?' }, 401);
    if (kind === 'json_link') {
      const index = number('p');
      const after = next(index);
      return json(response, { items: page(index), paging: { next: after === null ? null : link(after) } });
    }
    // two levels deep, and nowhere else
    if (kind === 'deep' && url.pathname === '/v1/deep/list') {
      const after = next(number('p'));
      return json(response, { items: page(number('p')), next: after === null ? null : `?p=${after}` });
    }
    if (kind === 'header_link' || kind === 'auto') {
      const index = number('p');
      const after = next(index);
      if (after !== null) response.setHeader('Link', `<${link(after)}>; rel="next"`);
      return json(response, page(index));
    }
    if (kind === 'header_cursor') {
      const after = next(number('cursor'));
      if (after !== null) response.setHeader('X-Next', String(after));
      return json(response, page(number('cursor')));
    }
    if (kind === 'cursor')
      return json(response, { data: page(number('after')), cursors: { next: next(number('after')) } });
    if (kind === 'cursor_more')
      return json(response, {
        data: page(number('cursor')),
        next: number('cursor') + 1,
        more: next(number('cursor')) !== null,
      });
    if (kind === 'cursor_body') {
      const { page: place } = JSON.parse(body) as { page?: { after?: number } };
      const index = place?.after ?? 0;
      return json(response, { data: page(index), cursors: { next: next(index) ?? '' } });
    }
    if (kind === 'offset') {
      const rows = ROWS.slice(number('offset'), number('offset') + number('limit'));
      return json(response, { total: ROWS.length, rows });
    }
    if (kind === 'skip') return json(response, ROWS.slice(number('skip'), number('skip') + number('limit')));
    if (kind === 'page0') return json(response, { total: 3, rows: page(number('page')) });
    if (kind === 'page1') return json(response, { total: 3, rows: page(number('page') - 1) });
    // counts from 1, and takes 0 for the first page
    if (kind === 'page01') return json(response, { total: 9, rows: page(Math.max(number('page'), 1) - 1) });
    if (kind === 'capped') {
      const rows = ROWS.slice(number('offset'), number('offset') + Math.min(number('limit'), 2));
      return json(response, { total: ROWS.length, rows });
    }
    if (kind === 'gaps') return json(response, [...ROWS, { id: 8, updated_at: null }, { id: 9 }]);
    if (kind === 'since')
      return json(
        response,
        ROWS.filter((row) => row.updated_at >= (url.searchParams.get('since') ?? '')),
      );
    if (kind === 'echo') return json(response, [{ url: request.url, body }]);
    if (kind === 'odd')
      return json(response, [
        { id: 1, flag: true, none: null, word: 'true', amount: 1.5, tags: ['a'], o: { x: { y: [null] } } },
      ]);
    if (kind === 'zones') return json(response, ZONES.slice(0, zones));
    if (kind === 'refused') return json(response, { message: 'Not found here' }, 400);
    if (kind === 'parents' && id === undefined)
      return json(response, [
        { id: 1, k: { x: 'a' } },
        { id: 2, k: { x: 'b' } },
      ]);
    if (kind === 'parents' && more === undefined) return json(response, { id: Number(id), detail: `d${id}` });
    if (kind === 'parents' && more === 'missing' && id === '2') return json(response, { e: 1 }, 404);
    if (kind === 'parents')
      return json(
        response,
        [1, 2].map((i) => ({ cid: Number(id) * 10 + i })),
      );
    return json(response, { error: url.pathname }, 404);
  })();
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A Python file with these resources. */
const pipeline = (resources: string): string => `
import dlt
from dlt.sources.rest_api import RESTAPIConfig, rest_api_resources

VERSION = "v1"

@dlt.source
def shop(token: str = dlt.secrets.value):
    config: RESTAPIConfig = {
        "client": {
            "base_url": f"${base}/{VERSION}/",
            "headers": {"X-App": "shop"},
            "auth": {"type": "bearer", "token": token},
            "paginator": "single_page",
        },
        "resource_defaults": {"endpoint": {"params": {"lang": "en"}}},
        "resources": [${resources}],
    }
    yield from rest_api_resources(config)
`;

interface Taken {
  readonly folder: string;
  readonly report: ImportReport;
  readonly stdout: string;
}

async function taken(resources: string): Promise<Taken> {
  const folder = dataFolder();
  const file = path.join(folder, 'shop.py');
  writeFileSync(file, pipeline(resources));
  const { code, stdout, stderr } = await runHere(['import', 'dlt', file, '--out', path.join(folder, 'shop')]);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  const report = JSON.parse(
    readFileSync(path.join(folder, 'shop', 'import-report.json'), 'utf8'),
  ) as ImportReport;
  return { folder: path.join(folder, 'shop'), report, stdout };
}

/** The rows of all tables, by their names. */
async function tablesOf({ folder }: Taken): Promise<Record<string, object[]>> {
  seen = [];
  const { code, stderr } = await runHere(['run', '--data', folder, '--storage', 'none'], {
    env: { TOKEN: 's3cret' },
  });
  expect([code, stderr]).toEqual([0, expect.anything()]);
  return Object.fromEntries(
    Object.entries(filesOf(folder))
      .filter(([name]) => /out\/tables\/[^.]+\.\w+$/.test(name) && !name.includes('out.previous'))
      .map(([name, csv]) => [name.split('.').at(-1) ?? '', parse<object>(csv, { columns: true })]),
  );
}

const ALL = ROWS.map(({ id, updated_at }) => ({ id: String(id), updated_at }));
const outcomes = ({ report }: Taken): Record<string, string> =>
  Object.fromEntries(report.streams.map(({ stream, outcome }) => [stream, outcome]));

/** Requests and rows are those that the library itself makes of the same source. */
describe('paginators', () => {
  test.each<[string, string, number | object[], string[]]>([
    [
      'json_link',
      '"paginator": {"type": "json_link", "next_url_path": "paging.next"}, "data_selector": "items"',
      7,
      ['?lang=en', '?p=1', '?p=2'],
    ],
    [
      'deep',
      '"path": "deep/list", "paginator": "json_link", "data_selector": "items"',
      7,
      ['/list?lang=en', '/list?p=1', '/list?p=2'],
    ],
    ['header_link', '"paginator": HeaderLinkPaginator()', 7, ['?lang=en', '?p=1', '?p=2']],
    ['auto', '"paginator": "auto"', 7, ['?lang=en', '?p=1', '?p=2']],
    [
      'header_cursor',
      '"paginator": {"type": "header_cursor", "cursor_key": "X-Next"}',
      7,
      ['?lang=en', '?lang=en&cursor=1', '?lang=en&cursor=2'],
    ],
    [
      'cursor',
      '"paginator": JSONResponseCursorPaginator("cursors.next", "after"), "data_selector": "data"',
      7,
      ['?lang=en', '?lang=en&after=1', '?lang=en&after=2'],
    ],
    [
      'cursor_more',
      '"paginator": {"type": "cursor", "cursor_path": "next", "has_more_path": "more"}, "data_selector": "data"',
      7,
      ['?lang=en', '?lang=en&cursor=1', '?lang=en&cursor=2'],
    ],
    [
      'cursor_body',
      '"method": "POST", "json": {"q": 1}, "paginator": {"type": "cursor", "cursor_body_path": "page.after"}, "data_selector": "data"',
      7,
      ['?lang=en {"q":1}', '?lang=en {"q":1,"page":{"after":1}}', '?lang=en {"q":1,"page":{"after":2}}'],
    ],
    [
      'offset',
      '"paginator": {"type": "offset", "limit": 3}, "data_selector": "rows"',
      7,
      ['?lang=en&limit=3&offset=0', '?lang=en&limit=3&offset=3', '?lang=en&limit=3&offset=6'],
    ],
    [
      'skip',
      '"paginator": OffsetPaginator(limit=3, offset_param="skip", total_path=None)',
      7,
      [
        '?lang=en&limit=3&skip=0',
        '?lang=en&limit=3&skip=3',
        '?lang=en&limit=3&skip=6',
        '?lang=en&limit=3&skip=7',
      ],
    ],
    [
      'skip',
      '"paginator": {"type": "offset", "limit": 3, "offset_param": "skip", "total_path": None, "maximum_offset": 6}',
      ALL.slice(0, 6),
      ['?lang=en&limit=3&skip=0', '?lang=en&limit=3&skip=3'],
    ],
    [
      'page0',
      '"paginator": {"type": "page_number"}, "data_selector": "rows"',
      7,
      ['?lang=en&page=0', '?lang=en&page=1', '?lang=en&page=2'],
    ],
    [
      'page1',
      '"paginator": PageNumberPaginator(base_page=1), "data_selector": "rows"',
      7,
      ['?lang=en&page=1', '?lang=en&page=2', '?lang=en&page=3'],
    ],
    [
      'page0',
      '"paginator": {"type": "page_number", "total_path": None, "maximum_page": 2}, "data_selector": "rows"',
      ALL.slice(0, 6),
      ['?lang=en&page=0', '?lang=en&page=1'],
    ],
  ])('%s: %s', async (name, endpoint, rows, requests) => {
    const imported = await taken(`{"name": "${name}", "endpoint": {${endpoint}}}`);
    expect(imported.report.streams.flatMap(({ reasons }) => reasons)).toEqual([]);
    const isSure =
      endpoint.includes('data_selector') && !/auto|offset|page0/.test(name) && !endpoint.includes('maximum');
    expect(outcomes(imported)).toEqual({ [name]: isSure ? 'exact' : 'other rows' });
    expect(await tablesOf(imported)).toEqual({ [name]: rows === 7 ? ALL : rows });
    expect(seen.map((line) => line.replace(/^\w+ \/v1\/\w+/, ''))).toEqual(requests);
  });

  test.each([
    ['MyPaginator()', 'the class MyPaginator, which is Python code'],
    ['make()', 'the class make, which is Python code'],
    ['{"type": "mine"}', 'the paginator “mine”'],
    ['{"type": "offset", "limit": N}', '“limit” of the paginator that is no number'],
    ['{"type": "offset", "limit": 1, "strange": 2}', '“strange” of the paginator “offset”'],
    ['{"type": "cursor", "cursor_path": "a[?(@.b)]"}', 'a JSONPath with filters, functions or unions'],
  ])('%s is told', async (paginator, message) => {
    const { report } = await taken(`{"name": "a", "endpoint": {"paginator": ${paginator}}}`);
    expect(report.streams[0]?.outcome).toBe('not');
    expect(report.streams[0]?.reasons.map((reason) => reason.message)).toContain(
      `No counterpart: ${message}`,
    );
  });
});

/** The library goes wrong here: the rows are right, and the level and a note say what differs. */
describe('an API that does not answer as the source takes for granted', () => {
  test('a page 0 that is page 1 is written once, and the others follow', async () => {
    const imported = await taken(
      '{"name": "page01", "endpoint": {"data_selector": "rows", "paginator": {"type": "page_number"}}}',
    );
    expect(outcomes(imported)).toEqual({ page01: 'other rows' });
    expect(imported.stdout).toContain('takes 0 for the first one');
    expect(await tablesOf(imported)).toEqual({ page01: ALL });
    expect(seen.map((line) => line.replace(/^.*page=/, ''))).toEqual(['0', '1', '2', '3', '4']);
  });

  test('an offset goes on behind the rows that came, as far as the total', async () => {
    const imported = await taken(
      '{"name": "capped", "endpoint": {"data_selector": "rows", "params": {"limit": 5}, "paginator": {"type": "offset", "limit": 3}}}',
    );
    expect(outcomes(imported)).toEqual({ capped: 'other rows' });
    expect(imported.stdout).toContain('it leaves some out');
    expect(await tablesOf(imported)).toEqual({ capped: ALL });
    expect(seen.map((line) => line.replace(/^.*\?lang=en&/, ''))).toEqual(
      [0, 2, 4, 6].map((offset) => `limit=3&offset=${offset}`),
    );
  });
});

const KEY_ENDPOINT = { endpoint: { data_selector: '$' } };
const KEYED = '"endpoint": {"data_selector": "$"}';

describe('levels', () => {
  test.each<[string, string, string, RegExp]>([
    ['rows are looked for', '{"name": "a"}', 'other rows', /no data_selector is named/],
    [
      'lists at several places',
      '{"name": "a", "endpoint": {"data_selector": "groups[*].items"}}',
      'other rows',
      /leads to several places/,
    ],
    [
      'items of lists',
      '{"name": "a", "endpoint": {"data_selector": "groups[*].items[*]"}}',
      'exact',
      /added|adds/,
    ],
    [
      'a highest page',
      '{"name": "a", "endpoint": {"data_selector": "a", "paginator": {"type": "page_number", "base_page": 1, "maximum_page": 9}}}',
      'other rows',
      /writes it again/,
    ],
    [
      'a state with an open range and a lag',
      `{"name": "a", "endpoint": {"data_selector": "$", "incremental": {"cursor_path": "u", "range_start": "open", "lag": 5, "initial_value": 3}}}`,
      'more rows',
      /the lag leads back to/,
    ],
    [
      'a state with an open range',
      `{"name": "a", "endpoint": {"data_selector": "$", "incremental": {"cursor_path": "u", "range_start": "open"}}}`,
      'exact',
      /is an error there/,
    ],
    [
      'a merged table',
      `{"name": "a", "write_disposition": "merge", "primary_key": "id", ${KEYED}}`,
      'more rows',
      /have lists/,
    ],
    [
      'a merge key',
      `{"name": "a", "write_disposition": "merge", "merge_key": "day", ${KEYED}}`,
      'other rows',
      /are removed/,
    ],
    [
      'a history',
      `{"name": "a", "write_disposition": {"disposition": "merge", "strategy": "scd2"}, ${KEYED}}`,
      'other rows',
      /time in which they were valid/,
    ],
    [
      'rows that stay',
      `{"name": "a", "write_disposition": {"disposition": "merge", "strategy": "insert-only"}, "primary_key": "id", ${KEYED}}`,
      'other rows',
      /stays as it is/,
    ],
    [
      'a hint that chooses rows',
      `{"name": "a", "write_disposition": "merge", "primary_key": "id", "columns": {"at": {"dedup_sort": "desc"}}, ${KEYED}}`,
      'other rows',
      /“dedup_sort” of the column “at”/,
    ],
    [
      'columns that code makes',
      `{"name": "a", "columns": User, ${KEYED}}`,
      'other rows',
      /Columns that code makes: User/,
    ],
    [
      'a value of the parent in a text',
      `{"name": "p", ${KEYED}}, {"name": "a", "endpoint": {"path": "a", "params": {"of": "{resources.p.flag}"}, "data_selector": "$"}}`,
      'exact',
      /adds its rows/,
    ],
    [
      'a primary key by which rows at the state are left out',
      `{"name": "a", "primary_key": "id", "endpoint": {"data_selector": "$", "incremental": {"cursor_path": "u"}}}`,
      'more rows',
      /written where it has changed/,
    ],
    [
      'a state without any primary key',
      `{"name": "a", "primary_key": "id", "endpoint": {"data_selector": "$", "incremental": {"cursor_path": "u", "primary_key": ()}}}`,
      'exact',
      /is an error there/,
    ],
    [
      'a lag of values that are not known',
      `{"name": "a", "endpoint": {"data_selector": "$", "incremental": {"cursor_path": "u", "lag": 1}}}`,
      'other rows',
      /in days where the values are days/,
    ],
    [
      'a child whose rows are compared with the state',
      `{"name": "p", ${KEYED}}, {"name": "a", "endpoint": {"path": "p/{resources.p.id}/a", "data_selector": "$", "incremental": {"cursor_path": "u", "initial_value": 3}}}`,
      'more rows',
      /and compared, from the newest value/,
    ],
    [
      'a contract',
      `{"name": "a", "schema_contract": {"columns": "discard_row"}, ${KEYED}}`,
      'other rows',
      /discard_row/,
    ],
    [
      'a contract that allows all',
      `{"name": "a", "schema_contract": "evolve", ${KEYED}}`,
      'exact',
      /adds its rows/,
    ],
    [
      'a table with another disposition than that of the parent',
      `{"name": "p", "write_disposition": "replace", ${KEYED}}, {"name": "a", "endpoint": {"path": "p/{resources.p.id}/a", "data_selector": "$"}}`,
      'equal rows, other columns',
      /It has a row of its own/,
    ],
    [
      'a parent whose rows come again',
      `{"name": "p", "endpoint": {"data_selector": "$", "incremental": {"cursor_path": "u", "range_start": "open", "lag": 5, "initial_value": 3}}}, {"name": "a", "endpoint": {"path": "p/{resources.p.id}/a", "data_selector": "$"}}`,
      'more rows',
      /below those of “p”/,
    ],
  ])('%s', async (_what, resources, level, note) => {
    const { report } = await taken(resources);
    const { outcome, notes } = report.streams.find(({ stream }) => stream === 'a') ?? { notes: [] };
    expect(outcome).toBe(level);
    expect(notes.join(' ')).toMatch(note);
  });

  test('tables whose names are one in snake case', async () => {
    const { report } = await taken(
      '{"name": "myThings", "endpoint": {"data_selector": "$"}}, {"name": "my-things", "endpoint": {"data_selector": "$"}}',
    );
    expect(report.streams.map(({ outcome, columns }) => [outcome, columns])).toEqual(
      ['my-things', 'myThings'].map((other) => [
        'equal rows, other columns',
        [`its rows are in one table with those of “${other}” there, “my_things”`],
      ]),
    );
  });

  test.each([
    ['"write_disposition": "skip"', 'No counterpart: a way to write the table'],
    [
      '"write_disposition": {"disposition": "merge", "strategy": "mine"}',
      'No counterpart: a way to merge rows',
    ],
    [
      '"endpoint": {"paginator": {"type": "cursor", "cursor_path": "rows[*].id"}}',
      'No counterpart: “cursor_path” that leads to several values, of which the library takes the first',
    ],
  ])('%s is not taken over', async (part, message) => {
    const { report } = await taken(`{"name": "a", ${part}}`);
    expect(report.streams).toMatchObject([{ outcome: 'not', reasons: [{ message }] }]);
  });

  test.each([
    ['of its own', { params: { p: 1 } }, 'exact'],
    ['of the defaults', {}, 'other rows'],
  ])('a resource beside one with a state has parameters %s', async (_what, own, level) => {
    const folder = dataFolder();
    const file = path.join(folder, 'shop.json');
    const incremental = { cursor_path: 'u', start_param: 'since' };
    const resources = [
      { name: 'a', endpoint: { incremental } },
      { name: 'b', endpoint: own },
    ];
    const endpoint = { params: { lang: 'en' }, data_selector: '$', paginator: 'single_page' };
    const source = { client: { base_url: base }, resource_defaults: { endpoint }, resources };
    writeFileSync(file, JSON.stringify(source));
    await runHere(['import', 'dlt', file, '--out', path.join(folder, 'shop')]);
    const { streams } = JSON.parse(
      readFileSync(path.join(folder, 'shop', 'import-report.json'), 'utf8'),
    ) as ImportReport;
    expect(streams.map(({ outcome }) => outcome)).toEqual(['exact', level]);
  });

  test('a parent that is not selected leaves the way of writing to what is below it', async () => {
    const { folder } = await taken(
      '{"name": "parents", "selected": False}, {"name": "details", "write_disposition": "replace", "endpoint": "parents/{resources.parents.id}"}',
    );
    const { rows } = JSON.parse(readFileSync(path.join(folder, 'config.json'), 'utf8')) as {
      rows: { configuration: { parameters: { config: object } } }[];
    };
    expect(rows.map(({ configuration }) => Object.keys(configuration.parameters.config))).toEqual([['jobs']]);
  });
});

describe('parents and children', () => {
  const RESOURCES = `
    {"name": "parents"},
    {"name": "details", "endpoint": "parents/{resources.parents.id}"},
    {"name": "subs", "include_from_parent": ["id"], "endpoint": {
      "path": "parents/{pid}/subs", "params": {"pid": {"type": "resolve", "resource": "parents", "field": "id"}}}},
    {"name": "missing", "endpoint": {"path": "parents/{resources.parents.id}/missing",
      "response_actions": [{"status_code": 404, "action": "ignore"}]}},
    {"name": "kids", "endpoint": {"path": "echo", "method": "POST", "params": {"of": "p-{resources.parents.k.x}"},
      "json": {"id": "{resources.parents.id}", "all": ["{resources.parents.k.x}"]}}},
    {"name": "grand", "endpoint": {"path": "parents/{resources.subs.cid}/x"}},`;

  test('one row with all of them, each asked for once', async () => {
    const imported = await taken(RESOURCES);
    expect(
      imported.report.streams.map(({ stream, outcome, row, columns }) => [stream, outcome, row, columns]),
    ).toEqual([
      ['parents', 'other rows', 'parents', []],
      ['details', 'other rows', 'parents', ['one more, “parent_id”: a value of a parent row']],
      [
        'subs',
        'other rows',
        'parents',
        [
          '“_parents_id” is called “parents_id”, and is empty where it is an object',
          'one more, “parent_id”: a value of a parent row',
        ],
      ],
      ['missing', 'other rows', 'parents', ['one more, “parent_id”: a value of a parent row']],
      ['kids', 'other rows', 'parents', ['one more, “parent_id”: a value of a parent row']],
      [
        'grand',
        'other rows',
        'parents',
        ['one more, “parent_id”: a value of a parent row', 'one more, “parent_cid”: a value of a parent row'],
      ],
    ]);
    const tables = await tablesOf(imported);
    expect(tables['parents']).toEqual([
      { id: '1', k_x: 'a' },
      { id: '2', k_x: 'b' },
    ]);
    expect(tables['details']).toEqual([
      { id: '1', detail: 'd1', parent_id: '1' },
      { id: '2', detail: 'd2', parent_id: '2' },
    ]);
    expect(tables['subs']).toEqual(
      [11, 12, 21, 22].map((cid) => {
        const id = String(cid).slice(0, 1);
        return { cid: String(cid), parents_id: id, parent_id: id };
      }),
    );
    expect(tables['missing']).toEqual([
      { cid: '11', parent_id: '1' },
      { cid: '12', parent_id: '1' },
    ]);
    expect(tables['kids']).toMatchObject([
      { url: '/v1/echo?lang=en&of=p-a', body: '{"id":1,"all":["a"]}' },
      { url: '/v1/echo?lang=en&of=p-b', body: '{"id":2,"all":["b"]}' },
    ]);
    expect(tables['grand']).toHaveLength(8);
    expect(seen.filter((line) => line === 'GET /v1/parents?lang=en')).toHaveLength(1);
  });

  test('a field that a parent includes from its own is known below it', async () => {
    const imported = await taken(`
      {"name": "parents"},
      {"name": "subs", "include_from_parent": ["id"], "endpoint": "parents/{resources.parents.id}/subs"},
      {"name": "below", "endpoint": "echo?of={resources.subs._parents_id}&c={resources.subs.cid}&x=y"},`);
    const { below = [] } = await tablesOf(imported);
    expect(below.map((row) => ('url' in row ? row.url : ''))).toEqual(
      [11, 12, 21, 22].map((cid) => `/v1/echo?of=${Math.floor(cid / 10)}&c=${cid}&x=y&lang=en`),
    );
  });

  test('a resource that is not selected makes no table, and is not run without others below it', async () => {
    const imported = await taken(`
      {"name": "parents", "selected": False},
      {"name": "details", "endpoint": "parents/{resources.parents.id}"},
      {"name": "subs", "selected": False, "endpoint": "parents/{resources.parents.id}/subs"},
      {"name": "alone", "selected": False},`);
    expect(Object.values(outcomes(imported))).not.toContain('not');
    expect(Object.keys(await tablesOf(imported))).toEqual(['details']);
    expect(seen.filter((line) => /subs|alone/.test(line))).toEqual([]);
  });

  test('a child that is not the same has a row of its own, disabled, and its parent goes on', async () => {
    const imported = await taken(`
      {"name": "parents"},
      {"name": "details", "endpoint": "parents/{resources.parents.id}", "processing_steps": [{"map": lambda r: mixed(r)}]},
      {"name": "more", "endpoint": "parents/{resources.details.id}/x"},`);
    expect(outcomes(imported)).toEqual({
      parents: 'other rows',
      details: 'not',
      more: 'not',
    });
    expect(imported.stdout).toContain(
      'No counterpart: a step whose code is not understood (resources[1].processing_steps[0]): mixed(r)',
    );
    expect(imported.stdout).toContain("Its parent “details” can't be taken over");
    expect(Object.keys(await tablesOf(imported))).toEqual(['parents']);
  });

  test.each([
    ['{"name": "a", "endpoint": "x/{resources.b.id}"}', 'There is no resource “b”'],
    [
      '{"name": "a", "endpoint": "x/{resources.b.id}"}, {"name": "b", "endpoint": "x/{resources.a.id}"}',
      'Resources depend on each other in a circle',
    ],
    [
      '{"name": "a"}, {"name": "b"}, {"name": "c", "endpoint": "x/{resources.a.id}/{resources.b.id}"}',
      'No counterpart: several parents: a, b',
    ],
    ['{"name": "a", "endpoint": "x/{y}"}', 'No counterpart: the placeholder “y”'],
    ['make_resource()', 'A resource that is Python code'],
    ['{"name": "a"}, {"name": "a"}', 'A resource that is Python code'],
    ['{"name": "a", "max_rows": 3}', 'No counterpart: “max_rows”'],
    ['{"name": "a", "endpoint": {"params": {"x": now()}}}', 'No counterpart: Python code'],
    [
      '{"name": "a"}, {"name": "b", "include_from_parent": ["k"], "endpoint": "b/{resources.a.id}"}, {"name": "c", "endpoint": "c/{resources.b._a_k}"}',
      'No counterpart: “_a_k”, which the parent includes from its own parent and does not ask with',
    ],
    [
      '{"name": "a", "endpoint": {"auth": MyAuth()}}',
      'No counterpart: the class MyAuth, which is Python code',
    ],
    [
      '{"name": "a"}, {"name": "b", "endpoint": {"params": {"ids": ["{resources.a.id}", "x"]}}}',
      'No counterpart: a list with values that are known only in a run',
    ],
    [
      '{"name": "a", "endpoint": {"response_actions": [{"status_code": 302, "action": "ignore"}]}}',
      'No counterpart: the status of a redirect, which is followed',
    ],
    [
      '{"name": "a", "endpoint": {"response_actions": [fix]}}',
      'No counterpart: a response action that is Python code',
    ],
    [
      '{"name": "a", "endpoint": {"incremental": {"cursor_path": "u", "convert": lambda x: x}}}',
      'No counterpart: a function that changes the value, which may be given none in the first run',
    ],
  ])('%s is told', async (resources, message) => {
    const { report } = await taken(resources);
    expect(report.streams.flatMap(({ reasons }) => reasons.map((reason) => reason.message))).toContain(
      message,
    );
  });
});

describe('requests', () => {
  test('parameters, headers and bodies as they are sent there', async () => {
    const imported = await taken(`
      {"name": "q", "endpoint": {"path": "/echo", "params": {"flag": True, "none": None, "n": 1, "t": "a b&c", "brace": "{{x}}"}}},
      {"name": "several", "endpoint": {"path": "echo", "params": {"tags": ["a", "b c"], "none": [], "flags": [True, None]}}},
      {"name": "bound", "endpoint": {"path": "{kind}?a=1", "data_selector": "$", "params": {"kind": "echo", "t": "x"}}},
      {"name": "bare", "endpoint": {"path": "echo", "method": "POST"}},
      {"name": "form", "endpoint": {"path": "echo", "method": "post", "data": {"a": "x y", "b": 1}}},
      {"name": "plain", "endpoint": {"path": "echo", "method": "POST", "data": "text"}},
      {"name": "refused", "table_name": "none", "endpoint": {"response_actions": [{"content": "Not found", "action": "ignore"}]}},`);
    const { none: _, ...tables } = await tablesOf(imported);
    expect(Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, rows[0]]))).toEqual({
      q: { url: '/v1/echo?lang=en&flag=True&n=1&t=a+b%26c&brace=%7Bx%7D', body: '' },
      several: { url: '/v1/echo?lang=en&tags=a&tags=b+c&flags=True', body: '' },
      bound: { url: '/v1/echo?a=1&lang=en&t=x', body: '' },
      bare: { url: '/v1/echo?lang=en', body: '' },
      form: { url: '/v1/echo?lang=en', body: 'a=x+y&b=1' },
      plain: { url: '/v1/echo?lang=en', body: 'text' },
    });
  });
});

test('fields of a parent are sent as Python writes them, and in JSON as they are', async () => {
  const imported = await taken(`
    {"name": "odd"},
    {"name": "e", "endpoint": {"path": "echo/{resources.odd.none}/{resources.odd.flag}", "method": "POST",
      "params": {"f": "{resources.odd.flag}", "n": "{resources.odd.none}", "w": "{resources.odd.word}", "a": "x{resources.odd.amount}", "l": "{resources.odd.tags}"},
      "json": {"f": "{resources.odd.flag}", "n": "{resources.odd.none}", "l": "{resources.odd.tags}", "o": "{resources.odd.o}", "t": "x-{resources.odd.none}"}}},`);
  expect((await tablesOf(imported))['e']).toEqual([
    {
      url: '/v1/echo/None/True?lang=en&f=True&n=None&w=true&a=x1.5&l=%5B%27a%27%5D',
      body: '{"f":true,"n":null,"l":["a"],"o":{"x":{"y":[null]}},"t":"x-None"}',
    },
  ]);
});

/** Rows of all tables in the storage after two runs. */
async function storedTwice({ folder }: Taken): Promise<Record<string, number>> {
  const storage = path.join(folder, 'storage');
  for (let run = 0; run < 2; run++) {
    const { code, stderr } = await runHere(['run', '--data', folder, '--storage', storage], {
      env: { TOKEN: 's3cret' },
    });
    expect([code, stderr]).toEqual([0, expect.anything()]);
  }
  const opened = await openStorage({
    storage,
    environment: {},
    log: silentLog,
    signal: new AbortController().signal,
    purpose: 'look',
    mustExist: true,
  });
  try {
    const counts: Record<string, number> = {};
    for (const { id, name } of await opened.client.tables.list()) {
      const csv = parse<object>(await textOf(await opened.client.tables.read(id)), { columns: true });
      counts[name] = csv.length;
    }
    return counts;
  } finally {
    await opened.close();
  }
}

describe('a table whose rows are merged', () => {
  test.each<[string, string, number]>([
    ['by a key', '"write_disposition": "merge", "primary_key": "id"', 7],
    ['by several', '"write_disposition": "merge", "primary_key": ("id", "updated_at")', 7],
    [
      'in some way',
      '"write_disposition": {"disposition": "merge", "strategy": "upsert"}, "primary_key": ["id"]',
      7,
    ],
    ['by no key: they are added', '"write_disposition": "merge"', 14],
    ['not at all, but added, whatever the key is', '"write_disposition": "append", "primary_key": "id"', 14],
    ['not at all, but replaced', '"write_disposition": "replace"', 7],
    ['in no way that is named: they are added', '"primary_key": "id"', 14],
    ['by a hint of a column', '"write_disposition": "merge", "columns": {"id": {"primary_key": True}}', 7],
  ])('has each of them once after two runs: %s', { tags: 'thorough' }, async (_how, hints, rows) => {
    const imported = await taken(
      `{"name": "page1", ${hints}, "endpoint": {"data_selector": "rows", "paginator": {"type": "page_number", "base_page": 1}}}`,
    );
    // the items of lists of rows that come again are added
    expect(imported.report.streams).toMatchObject([
      { outcome: rows === 7 && hints.includes('merge') ? 'more rows' : 'exact' },
    ]);
    expect(await storedTwice(imported)).toEqual({ page1: rows });
  });

  test('has its key as a path', async () => {
    const { folder } = await taken(
      '{"name": "offset", "write_disposition": "merge", "primary_key": "owner__id"}',
    );
    const [row] = (
      JSON.parse(readFileSync(path.join(folder, 'config.json'), 'utf8')) as {
        rows: { configuration: { parameters: { config: { jobs: object[] } } } }[];
      }
    ).rows;
    expect(row?.configuration.parameters.config.jobs).toMatchObject([{ primaryKey: 'owner.id' }]);
  });

  test('has the key that the defaults name in their columns, and a name that begins with __', async () => {
    const folder = dataFolder();
    const file = path.join(folder, 'shop.json');
    const resource = {
      name: 'a',
      write_disposition: 'merge',
      columns: { x: { data_type: 'text' } },
      ...KEY_ENDPOINT,
    };
    const resource_defaults = { columns: { __id: { primary_key: true } } };
    const client = { base_url: base };
    writeFileSync(file, JSON.stringify({ client, resource_defaults, resources: [resource] }));
    await runHere(['import', 'dlt', file, '--out', path.join(folder, 'shop')]);
    expect(readFileSync(path.join(folder, 'shop', 'config.json'), 'utf8')).toContain('"primaryKey": "__id"');
  });

  test('is not taken over where code makes its key', async () => {
    const { report } = await taken('{"name": "offset", "write_disposition": "merge", "primary_key": keys()}');
    expect(report.streams).toMatchObject([
      {
        outcome: 'not',
        reasons: [{ message: 'A primary key that code makes; write “primaryKey” of the job' }],
      },
    ]);
  });
});

describe('incremental', () => {
  const cursor = '"cursor_path": "updated_at", "initial_value": "2024-01-04T00:00:00Z"';

  test.each<[string, string, number, string]>([
    [
      'by its parameter',
      `"incremental": {${cursor}, "start_param": "since"}`,
      4,
      '?lang=en&since=2024-01-04T00:00:00Z',
    ],
    [
      'by a parameter of the request',
      `"params": {"since": {"type": "incremental", ${cursor}}}`,
      4,
      '?lang=en&since=2024-01-04T00:00:00Z',
    ],
    [
      'by a call',
      '"params": {"since": dlt.sources.incremental("updated_at", initial_value="2024-01-04T00:00:00Z")}',
      4,
      '?lang=en&since=2024-01-04T00:00:00Z',
    ],
    [
      'by a template',
      `"params": {"since": "{incremental.start_value}"}, "incremental": {${cursor}}`,
      4,
      '?lang=en&since=2024-01-04T00:00:00Z',
    ],
    ['by the rows alone', `"incremental": {${cursor}}`, 4, '?lang=en'],
    [
      'with an end',
      `"incremental": {${cursor}, "end_value": "2024-01-06T00:00:00Z", "start_param": "since", "end_param": "until"}`,
      2,
      '?lang=en&since=2024-01-04T00:00:00Z&until=2024-01-06T00:00:00Z',
    ],
  ])('%s', async (_how, endpoint, rows, first) => {
    const imported = await taken(`{"name": "since", "endpoint": {${endpoint}}}`);
    expect(imported.report.streams.flatMap(({ reasons }) => reasons)).toEqual([]);
    expect((await tablesOf(imported))['since']).toHaveLength(rows);
    expect(seen.map((line) => decodeURIComponent(line))).toEqual([`GET /v1/since${first}`]);
    // the next run begins with the newest row of this one
    const isFixed = endpoint.includes('end_value');
    expect((await tablesOf(imported))['since'] ?? []).toHaveLength(isFixed ? rows : 0);
    const next = first.includes('since') && !isFixed ? '?lang=en&since=2024-01-07T00:00:00Z' : first;
    expect(seen.map((line) => decodeURIComponent(line))).toEqual([`GET /v1/since${next}`]);
  });

  test.each([
    ['as texts, where the first one is', ', "initial_value": "2024-01-01T00:00:00Z"', []],
    ['as times, where it is not known', '', ['2']],
  ])('values are compared %s', async (_how, first, expected) => {
    const imported = await taken(
      `{"name": "zones", "endpoint": {"data_selector": "$", "incremental": {"cursor_path": "updated_at"${first}}}}`,
    );
    zones = 2;
    expect((await tablesOf(imported))['zones']).toHaveLength(2);
    zones = 3;
    const again = (await tablesOf(imported))['zones'] ?? [];
    expect(again.map((row) => ('id' in row ? row.id : undefined))).toEqual(expected);
  });

  test('rows without the value are left out where the source says so', async () => {
    const imported = await taken(
      `{"name": "gaps", "endpoint": {"incremental": {${cursor}, "on_cursor_value_missing": "exclude"}}}`,
    );
    expect((await tablesOf(imported))['gaps']).toEqual(ALL.slice(3));
  });

  test('with an open range the first run leaves out rows at its beginning', async () => {
    const imported = await taken(
      `{"name": "since", "endpoint": {"incremental": {${cursor}, "range_start": "open"}}}`,
    );
    expect((await tablesOf(imported))['since']).toEqual(ALL.slice(4));
    expect((await tablesOf(imported))['since']).toBeUndefined();
  });

  test.each<[string, string, string]>([
    ['never goes before the beginning', '"2024-01-04T00:00:00Z", "lag": 864000', '2024-01-04T00:00:00Z'],
    ['is in seconds for times', '"2024-01-04T00:00:00Z", "lag": 86400', '2024-01-06T00:00:00Z'],
    ['is in days for days', '"2024-01-04", "lag": 2', '2024-01-05T00:00:00Z'],
  ])('a lag %s', async (_what, value, next) => {
    const imported = await taken(
      `{"name": "since", "endpoint": {"incremental": {"cursor_path": "updated_at", "start_param": "since", "initial_value": ${value}}}}`,
    );
    await tablesOf(imported);
    await tablesOf(imported);
    expect(seen.map((line) => decodeURIComponent(line))).toEqual([`GET /v1/since?lang=en&since=${next}`]);
  });

  test('a beginning that is reckoned from now', { tags: 'thorough' }, async () => {
    const imported = await taken(
      '{"name": "since", "endpoint": {"incremental": {"cursor_path": "updated_at", "start_param": "since", "initial_value": pendulum.today().subtract(days=30).to_iso8601_string()}}}',
    );
    expect(outcomes(imported)).toEqual({ since: 'other rows' });
    await tablesOf(imported);
    expect(decodeURIComponent(seen[0] ?? '')).toMatch(
      /^GET \/v1\/since\?lang=en&since=\d{4}-\d\d-\d\dT00:00:00Z$/,
    );
  });
});

/** The outcomes of two resources, each with what is said of it, for a file with this code behind the source. */
async function levelsBehind(code: string): Promise<string[]> {
  const folder = dataFolder();
  const file = path.join(folder, 'shop.py');
  writeFileSync(file, `${pipeline(`{"name": "a", ${KEYED}}, {"name": "b", ${KEYED}}`)}\n${code}\n`);
  await runHere(['import', 'dlt', file, '--out', path.join(folder, 'shop')]);
  const { streams } = JSON.parse(
    readFileSync(path.join(folder, 'shop', 'import-report.json'), 'utf8'),
  ) as ImportReport;
  return streams.map(({ outcome, notes, columns, reasons }) =>
    [outcome, ...columns, ...reasons.map(({ message, template }) => `${message}: ${template}`), ...notes]
      .filter((line) => !line.startsWith('No write_disposition'))
      .join(' | '),
  );
}

const changed = (code: string): string => `not | Code changes its rows, or how they are written: ${code}`;

describe('what code does with the source', () => {
  test.each<[string, string[]]>([
    ['s = shop()\ns.b.add_map(mixed)', ['exact', changed('s.b.add_map(mixed)')]],
    [
      's = shop()\ns.resources["a"].add_filter(keep)',
      [changed('s.resources["a"].add_filter(keep)'), 'exact'],
    ],
    ['s = shop().add_limit(3)', [changed('shop().add_limit(3)'), changed('shop().add_limit(3)')]],
    [
      'for each in shop().resources.values():\n    each.apply_hints(primary_key="id")',
      [changed('each.apply_hints(primary_key="id")'), changed('each.apply_hints(primary_key="id")')],
    ],
    [
      'for name, each in shop().resources.items():\n    each.add_limit(2)',
      [changed('each.add_limit(2)'), changed('each.add_limit(2)')],
    ],
    ['p.run(shop().with_resources("b"))\np.run(shop())', ['exact', 'exact']],
    [
      's = shop().with_resources("a")\np.run(s)',
      ['exact', 'exact | It is not selected, so that it makes no table.'],
    ],
    [
      'p.run(shop(), table_name="t")',
      [changed('p.run(shop(), table_name="t")'), changed('p.run(shop(), table_name="t")')],
    ],
    ['s = shop()\ns.a.selected = False', [changed('s.a.selected = False'), 'exact']],
    ['mine = other()\nmine.add_map(f)\nlimits.add_limit(3)', ['exact', 'exact']],
    [
      'p.run(shop().with_resources("b"))',
      ['exact | It is not selected, so that it makes no table.', 'exact'],
    ],
    [
      'p.run(shop().with_resources(*names))',
      [changed('shop().with_resources(*names)'), changed('shop().with_resources(*names)')],
    ],
    [
      'p.run([shop()], write_disposition="skip")',
      [
        'not | No counterpart: a way to write the table: "skip"',
        'not | No counterpart: a way to write the table: "skip"',
      ],
    ],
    [
      'p.run(shop(), refresh="drop_sources")',
      Array.from(
        { length: 2 },
        () =>
          'other rows | The run there begins anew each time (“refresh”: "drop_sources"); here the state and the table go on.',
      ),
    ],
    ['p.run(other(), refresh="drop_sources")', ['exact', 'exact']],
  ])('%s', async (behind, expected) => {
    expect(await levelsBehind(behind)).toEqual(expected);
  });

  test('hints of the source are those of its resources', async () => {
    const source = `rest_api_source({"client": {"base_url": "https://h", "paginator": "single_page"}, "resources": [{"name": "c", ${KEYED}}]}, max_table_nesting=0)`;
    const found = await levelsBehind(`shop2 = ${source}`);
    expect(found).toHaveLength(3);
    for (const line of found) expect(line).toMatch(/^equal rows, other columns \| .*max_table_nesting/);
  });
});

describe('the report', () => {
  test('what code changes makes all of it doubtful', async () => {
    const folder = dataFolder();
    const file = path.join(folder, 'shop.py');
    writeFileSync(file, `${pipeline('"a"')}\n    config["resources"].append("b")\n`);
    const { stdout } = await runHere(['import', 'dlt', file]);
    expect(stdout).toMatch(
      /a {2}not\n {2}The source is changed after it was written\. Line \d+ changes “config” by code\./,
    );
  });

  test('secrets of the source are settings that the environment gives', async () => {
    const { report, folder } = await taken('"a"');
    expect(report.settings).toEqual([
      { key: 'settings.#token', title: 'the secret “token”', isRequired: true },
    ]);
    expect(readFileSync(path.join(folder, 'config.json'), 'utf8')).toContain('"#token": "$env:TOKEN"');
  });
});
