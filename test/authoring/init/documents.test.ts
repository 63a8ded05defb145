import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { afterAll, describe, expect, test } from 'vitest';
import { runHere, type Ended } from '../../cli/support.ts';
import { rowsOf, serve, type Api, type Asked } from './apis.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-init-documents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;

const int = ({ query }: Asked, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);
const slice = <T>(rows: readonly T[], from: number, size: number): T[] => rows.slice(from, from + size);

/** A library: authors on pages, their books by a cursor, the loans of each book at once. */
const library: Api = (asked) => {
  if (asked.headers['x-api-key'] !== 'key-3141592') return { status: 401, body: { error: 'no key' } };
  if (asked.path === '/v2/authors') {
    const size = int(asked, 'per_page', 2);
    return { body: { total: 5, authors: slice(rowsOf(5), (int(asked, 'page', 1) - 1) * size, size) } };
  }
  const [, author, book] = /^\/v2\/authors\/(\d+)\/books(?:\/([\w-]+)\/loans)?$/.exec(asked.path) ?? [];
  if (book !== undefined) return { body: [{ at: '2026-01-01T00:00:00Z', book }] };
  if (author !== undefined) {
    const from = int(asked, 'cursor', 0);
    const books = Array.from({ length: 3 }, (_, i) => ({ isbn: `b${author}-${i}`, title: `Title ${i}` }));
    return { body: { data: slice(books, from, 2), meta: { next_cursor: from === 0 ? '2' : null } } };
  }
  return { status: 404, body: { error: 'not found' } };
};

const string = { type: 'string' };
const integer = { type: 'integer' };
const listOf = (properties: object): object => ({ type: 'array', items: { type: 'object', properties } });

/** The same answers for both versions; only where they stand differs. */
const ANSWERS = {
  '/authors': {
    type: 'object',
    properties: { total: integer, authors: { type: 'array', items: { ref: 'Author' } } },
  },
  '/authors/{authorId}': { ref: 'Author' },
  '/authors/{authorId}/books': {
    type: 'object',
    properties: {
      data: listOf({ isbn: string, title: string }),
      meta: { type: 'object', properties: { next_cursor: string } },
    },
  },
  '/authors/{authorId}/books/{isbn}/loans': listOf({
    at: { type: 'string', format: 'date-time' },
    book: string,
  }),
  '/tenants/{tenant}/users': listOf({ id: string }),
  '/search': listOf({ id: string }),
};

function openApi(version: '2.0' | '3.0.3' | '3.1.0', origin: string): object {
  const is2 = version === '2.0';
  const query = (name: string, schema: object, required = false): object =>
    is2 ? { name, in: 'query', required, ...schema } : { name, in: 'query', required, schema };
  const parameters: Record<string, object[]> = {
    '/authors': [
      query('page', { type: 'integer', default: 1 }),
      query('per_page', { type: 'integer', maximum: 2 }),
    ],
    '/authors/{authorId}/books': [query('cursor', { type: 'string' })],
    '/search': [query('q', { type: 'string' }, true)],
  };
  const refs = is2 ? '#/definitions/' : '#/components/schemas/';
  const text = (value: object): object =>
    JSON.parse(JSON.stringify(value).replaceAll(/"ref":"(\w+)"/g, `"$ref":"${refs}$1"`)) as object;
  const paths = Object.fromEntries(
    Object.entries(ANSWERS).map(([at, schema]) => [
      at,
      {
        get: {
          parameters: parameters[at] ?? [],
          responses: {
            '200': is2
              ? { description: 'ok', schema: text(schema) }
              : { description: 'ok', content: { 'application/json': { schema: text(schema) } } },
          },
        },
      },
    ]),
  );
  const Author = { type: 'object', properties: { id: integer, name: string } };
  const security = { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } };
  const info = { title: 'Library', version: '1' };
  return is2
    ? {
        swagger: '2.0',
        info,
        host: new URL(origin).host,
        basePath: '/v2',
        schemes: ['http'],
        definitions: { Author },
        securityDefinitions: security,
        security: [{ key: [] }],
        paths,
      }
    : {
        openapi: version,
        info,
        servers: [{ url: `${origin}/{version}`, variables: { version: { default: 'v2' } } }],
        components: { schemas: { Author }, securitySchemes: security },
        security: [{ key: [] }],
        paths,
      };
}

interface Ran extends Ended {
  readonly out: string;
  /** Tables of all rows: name to lines of CSV. */
  readonly tables: Readonly<Record<string, number>>;
  readonly verdicts: readonly string[];
}

/** Makes the configuration of a file, checks it, and runs it. */
async function fromFile(name: string, content: string, args: readonly string[] = []): Promise<Ran> {
  const out = path.join(folder, String(++made));
  const file = path.join(folder, `${made}-${name}`);
  writeFileSync(file, content);
  const init = await runHere(['init', file, '--out', out, ...args]);
  expect(init.code, init.stderr).toBe(0);
  const env = { API_KEY: 'key-3141592' };
  expect((await runHere(['validate', '--data', out, '--strict'], { env })).stdout).toContain('is valid');
  const run = await runHere(['run', '--data', out, '--storage', 'none', '--json'], { env });
  expect(run.code, run.stderr).toBe(0);
  const result = JSON.parse(run.stdout) as {
    rows: { tables: { name: string; rows: number }[]; jobs: { verdict: string }[] }[];
  };
  return {
    ...init,
    out,
    tables: Object.fromEntries(
      result.rows.flatMap(({ tables }) => tables.map((table) => [table.name, table.rows])),
    ),
    verdicts: result.rows.flatMap(({ jobs }) => jobs.map(({ verdict }) => verdict)),
  };
}

describe('gex init takes lists, children, server, login and pagination from an OpenAPI document', () => {
  test.each([
    ['2.0', 'json'],
    ['3.0.3', 'yaml'],
    ['3.1.0', 'json'],
  ] as const)('%s as %s', async (version, form) => {
    const { origin, close } = await serve(library);
    try {
      const document = openApi(version, origin);
      const text = form === 'json' ? JSON.stringify(document) : stringify(document);
      const { stdout, tables, verdicts } = await fromFile(`library.${form}`, text);
      expect(tables).toEqual({ authors: 5, authors_books: 15, books_loans: 15 });
      expect(verdicts).toEqual(['complete', 'complete', 'ended']);
      expect(stdout).toContain('page numbers from 1 in `page`');
      expect(stdout).toContain('GET /tenants/{tenant}/users: no list gives `tenant`');
      expect(stdout).toContain('GET /search: it wants `q`, and the document has no value for it');
      expect(stdout).toContain('The value of $API_KEY');
    } finally {
      close();
    }
  });

  test('at an address, with a server that is relative to it', async () => {
    const { origin, close } = await serve((asked) =>
      asked.path === '/v2/openapi.json'
        ? { body: { ...openApi('3.0.3', origin), servers: [{ url: './' }] } }
        : library(asked),
    );
    try {
      const out = path.join(folder, String(++made));
      const { code, stdout } = await runHere([
        'init',
        `${origin}/v2/openapi.json`,
        '--out',
        out,
        '--select',
        '/authors',
      ]);
      expect(code, stdout).toBe(0);
      expect(readFileSync(path.join(out, 'config.json'), 'utf8')).toContain(`"baseUrl": "${origin}/v2/"`);
    } finally {
      close();
    }
  });

  test('in YAML at an address, with no server: the API is at its root', async () => {
    const answer = { description: 'OK', content: { 'application/json': { schema: listOf({ id: string }) } } };
    const document = { openapi: '3.0.3', paths: { '/users': { get: { responses: { 200: answer } } } } };
    const { origin, close } = await serve((asked) =>
      asked.path === '/docs/schema/'
        ? {
            headers: { 'content-type': 'application/vnd.oai.openapi; charset=utf-8' },
            body: `# made by a framework\n${stringify(document)}`,
          }
        : { body: rowsOf(3) },
    );
    try {
      const out = path.join(folder, String(++made));
      const { code, stdout, stderr } = await runHere([
        'init',
        `${origin}/docs/schema/`,
        '--out',
        out,
        '--try',
      ]);
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(/^\/users +ended +3/m);
      expect(readFileSync(path.join(out, 'config.json'), 'utf8')).toContain(`"baseUrl": "${origin}/"`);
    } finally {
      close();
    }
  });

  test('schemas that refer to themselves, and other documents', async () => {
    const Node = {
      type: 'object',
      properties: {
        id: string,
        parent: { $ref: '#/components/schemas/Node' },
        children: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
      },
    };
    const document = {
      openapi: '3.0.0',
      info: { title: 'T', version: '1' },
      servers: [{ url: 'https://api.example.com' }],
      components: { schemas: { Node, Loop: { $ref: '#/components/schemas/Loop' } } },
      paths: {
        '/nodes': {
          get: {
            responses: {
              200: {
                content: {
                  'application/json': {
                    schema: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
                  },
                },
              },
            },
          },
        },
        '/loops': {
          get: {
            responses: {
              200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Loop' } } } },
            },
          },
        },
        '/others': {
          get: {
            responses: { 200: { content: { 'application/json': { schema: { $ref: 'other.yaml#/List' } } } } },
          },
        },
      },
    };
    const file = path.join(folder, 'loops.json');
    writeFileSync(file, JSON.stringify(document));
    const { code, stdout } = await runHere(['init', file, '--dry-run']);
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('GET /nodes → nodes');
    expect(stdout).toContain('GET /loops: the document does not say what it answers');
    expect(stdout).toContain('What other.yaml#/List describes was not read');
  });
});

const saved = (body: unknown): object[] => [{ code: 200, body: JSON.stringify(body) }];

const collection = (origin: string, is20: boolean): object => {
  const url = (raw: string): unknown =>
    is20
      ? raw
      : {
          raw,
          query: [...new URL(raw.replace('{{base}}', origin)).searchParams].map(([key, value]) => ({
            key,
            value,
          })),
        };
  const apikey = is20
    ? { key: 'X-Api-Key', value: 'key-3141592', in: 'header' }
    : [
        { key: 'key', value: 'X-Api-Key' },
        { key: 'value', value: 'key-3141592' },
      ];
  return {
    info: {
      name: 'Library',
      schema: `https://schema.getpostman.com/json/collection/v2.${is20 ? 0 : 1}.0/collection.json`,
    },
    variable: [{ key: 'base', value: `${origin}/v2` }],
    auth: { type: 'apikey', apikey: is20 ? { key: 'X-Api-Key', value: 'key-3141592' } : apikey },
    item: [
      {
        name: 'Authors',
        item: [
          {
            name: 'List',
            request: { method: 'GET', url: url('{{base}}/authors?page=1&per_page=2') },
            response: saved({ total: 5, authors: rowsOf(2) }),
          },
          {
            name: 'Books',
            request: { method: 'GET', url: url('{{base}}/authors/:id/books') },
            response: saved({ data: [{ isbn: 'b1', title: 'T' }], meta: { next_cursor: 'x' } }),
          },
          { name: 'New', request: { method: 'POST', url: url('{{base}}/authors') } },
        ],
      },
    ],
  };
};

describe('gex init takes the requests of a Postman collection', () => {
  test.each([
    ['2.0', true],
    ['2.1', false],
  ] as const)('%s', async (_, is20) => {
    const { origin, close } = await serve(library);
    try {
      const text = JSON.stringify(collection(origin, is20));
      const { stdout, tables, out } = await fromFile('postman.json', text);
      expect(tables['authors'], stdout).toBe(5);
      expect(readFileSync(path.join(out, 'config.json'), 'utf8')).not.toContain('key-3141592');
      expect(stdout).not.toContain('key-3141592');
    } finally {
      close();
    }
  });
});

const entry = (method: string, url: string, body: unknown, headers: Record<string, string> = {}): object => ({
  request: { method, url, headers: Object.entries(headers).map(([name, value]) => ({ name, value })) },
  response: { status: 200, content: { mimeType: 'application/json', text: JSON.stringify(body) } },
});

describe('gex init takes a request of a HAR file', () => {
  test('the list with most rows, at its first page, without the secrets of the browser', async () => {
    const all = rowsOf(30);
    const token = 'eyJhbGciOi.secret-token.abc';
    const { origin, close, asked } = await serve((request) =>
      request.headers['authorization'] === `Bearer ${token}`
        ? {
            body: {
              data: slice(all, int(request, 'page', 1) * 10 - 10, 10),
              page: int(request, 'page', 1),
              total: 30,
            },
          }
        : { status: 401, body: {} },
    );
    try {
      const headers = {
        Authorization: `Bearer ${token}`,
        'User-Agent': 'Mozilla/5.0',
        'sec-ch-ua': 'x',
        Accept: 'application/json',
      };
      const har = {
        log: {
          entries: [
            entry('GET', `${origin}/api/menu`, [{ id: 1, title: 'Home' }], headers),
            entry(
              'GET',
              `${origin}/api/orders?page=2&sort=id`,
              { data: slice(all, 10, 10), page: 2, total: 30 },
              headers,
            ),
            entry('POST', `${origin}/api/track`, { ok: true }, headers),
          ],
        },
      };
      const file = path.join(folder, 'browser.har');
      writeFileSync(file, JSON.stringify(har));
      const out = path.join(folder, String(++made));
      const { code, stdout, stderr } = await runHere(['init', file, '--out', out]);
      expect(code, stdout + stderr).toBe(0);
      const written = readFileSync(path.join(out, 'config.json'), 'utf8');
      expect(JSON.parse(written)).toEqual({
        parameters: {
          api: {
            baseUrl: `${origin}/api/`,
            authentication: { type: 'bearer', '#token': '$env:API_TOKEN' },
            http: { headers: { Accept: 'application/json' }, concurrency: 'auto' },
            pagination: { method: 'pagenum' },
          },
          config: { jobs: [{ endpoint: 'orders', params: { sort: 'id' }, dataField: 'data', types: true }] },
        },
      });
      expect(`${written}${stdout}${stderr}`).not.toContain('secret-token');
      expect(stdout).toContain('reached, 30 rows');
      expect(stderr).toContain('truth values as true and false');
      expect(stderr).toContain('--select TEXT chooses another');
      expect(asked.every((line) => line.startsWith('GET /api/orders'))).toBe(true);
    } finally {
      close();
    }
  });
});

describe('gex init and files that are something else', () => {
  test.each([
    ['no.json', '{"a": 1}', 'none of the documents that are understood'],
    ['broken.json', '{"a": ', 'is neither JSON nor YAML'],
    ['broken.yaml', 'a: [1', 'is neither JSON nor YAML'],
    ['empty.har', '{"log": {"entries": []}}', 'No answer in the file is a list of rows'],
  ])('%s', async (name, content, said) => {
    const file = path.join(folder, name);
    writeFileSync(file, content);
    const { code, stderr } = await runHere(['init', file, '--dry-run']);
    expect(code).toBe(1);
    expect(stderr).toContain(said);
  });

  test('one that is not there', async () => {
    const { code, stderr } = await runHere(['init', path.join(folder, 'nowhere.yaml')]);
    expect(code).toBe(1);
    expect(stderr).toContain('There is no file');
  });
});
