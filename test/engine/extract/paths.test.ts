import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Log } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { component, configOf, dataFolder, filesOf, json, startApi, type Answer } from '../../cli/support.ts';

interface Ran {
  readonly asked: readonly string[];
  readonly rows: Readonly<Record<string, number>>;
  readonly warnings: readonly string[];
}

/** Runs one configuration in this process. */
async function ran(
  answer: Answer,
  jobs: readonly unknown[],
  more: { api?: object; config?: object } = {},
): Promise<Ran> {
  const api = await startApi(answer);
  const warnings: string[] = [];
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (text) => warnings.push(text),
    error: () => undefined,
  };
  const result = await run({ dataFolder: dataFolder(configOf(api, jobs, more)), log });
  const tables = result.rows.flatMap((row) => row.tables);
  return {
    asked: api.seen,
    rows: Object.fromEntries(tables.map((table) => [table.name.replace('library.', ''), table.rows])),
    warnings,
  };
}

/** Three pages of two rows; the id of the last row is the cursor. */
const byLastId: Answer = ({ url }, response) => {
  const after = Number(url.searchParams.get('after') ?? 0);
  const items =
    after >= 6
      ? []
      : [
          { id: after + 1, total: 6 },
          { id: after + 2, total: 6 },
        ];
  json(response, { items });
};

const withTotal: Answer = ({ url }, response) =>
  json(response, { items: [{ id: url.searchParams.get('page'), total: 3 }] });

const withTags: Answer = ({ url }, response) =>
  json(
    response,
    url.pathname === '/users' ? [{ tags: [{ id: 7, on: 1 }], 'a.b': { c: [1] } }] : [{ ok: true }],
  );

const withLink: Answer = ({ url, headers }, response) => {
  const next = `http://${headers.host}/users?page=2`;
  json(response, { value: [{ id: 1 }], ...(url.search === '' ? { '@odata.nextLink': next } : {}) });
};

const malformed: Answer = (_request, response) => response.writeHead(202).end('{"items":[{"a":1 "b":2}]}');

describe('a path into the rows', () => {
  test.each(['items.1.id', '$.items[1].id', '$.items[-1].id', '$.items[-1:].id', "$['items'][1]['id']"])(
    'drives the pagination as %s',
    async (responseParam) => {
      const pagination = { method: 'response.param', responseParam, queryParam: 'after' };
      const { rows, asked } = await ran(byLastId, [{ endpoint: 'users', dataField: 'items' }], {
        api: { pagination },
      });
      expect(rows).toEqual({ users: 6 });
      expect(asked.at(-1)).toBe('GET /users?after=6');
    },
  );

  test('is read from rows as the filter left them, and from gathered rows', async () => {
    const pagination = { method: 'response.param', responseParam: '$.items[-1].id', queryParam: 'after' };
    const filtered = { endpoint: 'users', dataField: 'items', responseFilter: 'extra' };
    expect((await ran(byLastId, [filtered], { api: { pagination } })).rows).toEqual({ users: 6 });
    const gathered = { endpoint: 'users', dataField: '$.items[*]' };
    expect((await ran(byLastId, [gathered], { api: { pagination } })).rows).toEqual({ users: 6 });
  });

  test('says the total', async () => {
    const pagination = {
      method: 'pagenum',
      firstPage: 1,
      limitStop: { field: '$.items[0].total' },
    };
    const { rows } = await ran(withTotal, [{ endpoint: 'users', dataField: 'items' }], {
      api: { pagination },
    });
    expect(rows).toEqual({ users: 3 });
  });

  test('is JSONPath in placeholders, filters of children, mappings, filters of rows and functions', async () => {
    const { asked, rows } = await ran(
      withTags,
      [
        {
          endpoint: 'users',
          dataType: 'users',
          responseFilter: ['$.tags[*].on', 'a.b'],
          children: [
            {
              endpoint: 'users/{id}',
              dataType: 'details',
              placeholders: { id: '$.tags[-1].id' },
              recursionFilter: '$.tags[0].id==7',
              params: { q: { parent: '$.tags[0].id' } },
            },
          ],
        },
      ],
      { config: { mappings: { users: { '$.tags[-1].id': 'tag', 'a.b': 'text' } } } },
    );
    expect(asked).toEqual(['GET /users', 'GET /users/7?q=7']);
    expect(rows).toEqual({ users: 1, details: 1 });
  });
});

test('a link whose key has a dot in its name is followed', async () => {
  const pagination = { method: 'response.url', urlKey: '@odata.nextLink' };
  const { rows } = await ran(withLink, [{ endpoint: 'users', dataField: 'value' }], { api: { pagination } });
  expect(rows).toEqual({ users: 2 });
});

test('a total that is never there is a warning', async () => {
  const pagination = { method: 'pagenum', limitStop: { field: 'meta.total' } };
  const { warnings } = await ran(byLastId, [{ endpoint: 'users', dataField: 'items' }], {
    api: { pagination },
  });
  expect(warnings).toEqual([
    '“meta.total” was not found in any response. Correct the path in the pagination: `parameters.api.pagination.limitStop.field`.',
    '“users” may not have everything. “meta.total” was found on no page. Correct `pagination.limitStop.field`.',
  ]);
});

describe('a body that is malformed inside its rows', () => {
  test('is an error of the answer', async () => {
    const api = await startApi(malformed);
    const { code, stderr } = await component(
      dataFolder(configOf(api, [{ endpoint: 'users', dataField: 'items' }])),
    );
    expect(code).toBe(1);
    expect(stderr).toContain('The response is not JSON');
    expect(stderr).toContain('/users');
    expect(stderr).not.toContain('a mistake of generic-extractor');
  });

  test('is data where its status is ignored', async () => {
    const api = await startApi((_request, response) => response.writeHead(202).end('[{"a":1 "b":2}]'));
    const folder = dataFolder(
      configOf(api, [{ endpoint: 'users', dataField: '.' }], { api: { http: { ignoreErrors: [202] } } }),
    );
    expect((await component(folder)).code).toBe(0);
    expect(Object.values(filesOf(path.join(folder, 'out', 'tables')))).toContain(
      '"errorData"\n"[{""a"":1 ""b"":2}]"\n',
    );
  });
});

test('a path that is no JSONPath is refused before anything is asked', async () => {
  const api = await startApi(byLastId);
  const folder = dataFolder(configOf(api, [{ endpoint: 'users', dataField: '$.items[?(@.id)]' }]));
  const { code, stderr } = await component(folder);
  expect({ code, asked: api.seen }).toEqual({ code: 1, asked: [] });
  expect(stderr).toContain('parameters.config.jobs[0].dataField');
});

describe('an empty list', () => {
  const users = { endpoint: 'users', dataField: 'items' };

  test('is no warning where the pages end with it', async () => {
    const pagination = { method: 'cursor', idKey: 'id', param: 'after' };
    const { rows, warnings, asked } = await ran(byLastId, [users], { api: { pagination } });
    expect({ rows, warnings, last: asked.at(-1) }).toEqual({
      rows: { users: 6 },
      warnings: [],
      last: 'GET /users?after=6',
    });
  });

  test('is one on the first page', async () => {
    const { warnings } = await ran((_request, response) => json(response, { items: [] }), [users]);
    expect(warnings).toEqual(['The list at “items” is empty']);
  });
});

const linked: Answer = (_asked, response) =>
  json(response, { items: [{ id: 1 }], paging: { url: '/x?cursor=2', page: 1, pages: 3 } });

const warningsOf = async (pagination: object): Promise<string> =>
  (await ran(linked, [{ endpoint: 'users', dataField: 'items' }], { api: { pagination } })).warnings[0] ?? '';

describe('a source that finds nothing', () => {
  const param = { method: 'response.param', queryParam: 'after' };

  test.each<[string, object, string]>([
    [
      'an expression that never matches',
      { ...param, responseParam: { path: 'paging.url', match: 'after=(\\d+)' } },
      'Nothing was ever found for “after=(\\d+)” in paging.url: what it is a part of was “/x?cursor=2”. Correct the path in the pagination: `parameters.api.pagination.responseParam`.',
    ],
    [
      'a parameter that no link has',
      { ...param, responseParam: { path: 'paging.url', param: 'after' } },
      'Nothing was ever found for the parameter “after” of paging.url: what it is a part of was “/x?cursor=2”. Correct the path in the pagination: `parameters.api.pagination.responseParam`.',
    ],
    [
      'a path that a condition compares',
      {
        method: 'pagenum',
        forceStop: { pages: 1 },
        stopWhen: { value: 'paging.page', is: 'atLeast', than: { path: 'paging.count' } },
      },
      '“paging.count” was not found in any response. Correct the path in the pagination: `parameters.api.pagination.stopWhen.than`.',
    ],
  ])('%s', async (_name, pagination, warning) => {
    expect(await warningsOf(pagination)).toBe(warning);
  });
});
