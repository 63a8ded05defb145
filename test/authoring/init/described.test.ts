import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runHere } from '../../cli/support.ts';
import { rowsOf, serve, type Answered, type Api, type Asked } from './apis.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-init-described-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const int = ({ query }: Asked, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);

const TOKEN = 'tok-91af33b7';

/** An API whose document is not right in all: what it says of pages is wrong at times, and one list is gone. */
const api: Api = (asked): Answered => {
  if (asked.headers['authorization'] !== `Bearer ${TOKEN}`) return { status: 401, body: {} };
  const records = /^\/v1\/buckets\/(\w+)\/collections\/(\w+)\/records$/.exec(asked.path);
  if (records !== null) {
    const from = int(asked, '_token', 0);
    const all = rowsOf(records[2] === 'c1' ? 25 : 3, `${records[1]}-${records[2]}-`);
    const next = `${asked.origin}${asked.path}?_limit=10&_token=${from + 10}`;
    return {
      headers: from + 10 < all.length ? { 'next-page': next } : {},
      body: { data: all.slice(from, from + 10) },
    };
  }
  const collections = /^\/v1\/buckets\/(\w+)\/collections$/.exec(asked.path);
  if (collections !== null)
    return {
      body: {
        data: [
          { id: 'c1', name: 'C1' },
          { id: 'c2', name: 'C2' },
        ],
      },
    };
  if (asked.path === '/v1/buckets')
    return {
      body: {
        data: [
          { id: 'b1', name: 'A' },
          { id: 'b2', name: 'B' },
        ],
      },
    };
  if (asked.path === '/v1/users') {
    const offset = int(asked, 'offset', 0);
    return { body: { users: rowsOf(61).slice(offset, offset + 20), total: 61, offset } };
  }
  const reports = /^\/v1\/reports\/(\d+)$/.exec(asked.path);
  if (reports !== null) return { body: [{ id: `r${reports[1]}`, title: 'T' }] };
  if (asked.path === '/v1/empty') return { body: { data: [] } };
  if (asked.path === '/v1/shops')
    return {
      body: {
        data: [
          { id: 's1', code: 'shp-1' },
          { id: 's2', code: 'shp-2' },
        ],
      },
    };
  if (asked.path === '/v1/teams')
    return {
      body: {
        data: [
          { id: 7, slug: 'red' },
          { id: 8, slug: 'blue' },
        ],
      },
    };
  if (/^\/v1\/teams\/(?:red|blue)\/members$/.test(asked.path))
    return { body: { data: [{ key: 'k1' }, { key: 'k2' }] } };
  if (/^\/v1\/teams\/red\/members\/k\d\/notes$/.test(asked.path))
    return { body: { data: [{ id: 'n1', text: 'Hi' }] } };
  if (/^\/v1\/teams\/blue\/members\/k\d\/notes$/.test(asked.path)) return { body: { data: [] } };
  const visits = /^\/v1\/visits\/shp-(\d)$/.exec(asked.path);
  if (visits !== null) return { body: { data: [{ id: `v${visits[1]}`, shop: visits[1] }] } };
  return { status: 404, body: { message: 'gone' } };
};

const list = (key: string | undefined, parameters: readonly object[] = [], code?: string): object => {
  const properties = {
    id: { type: 'string' },
    ...(code === undefined ? {} : { code: { type: 'string', example: code } }),
  };
  const items = { type: 'array', items: { type: 'object', properties } };
  const schema = key === undefined ? items : { type: 'object', properties: { [key]: items } };
  return {
    get: {
      parameters,
      responses: { 200: { description: 'ok', content: { 'application/json': { schema } } } },
    },
  };
};

const inPath = (name: string): object => ({ name, in: 'path', required: true, schema: { type: 'string' } });
const inQuery = (name: string): object => ({ name, in: 'query', schema: { type: 'integer' } });

const documentAt = (origin: string): object => ({
  openapi: '3.0.3',
  info: { title: 'Buckets', version: '1' },
  servers: [{ url: `${origin}/v1` }],
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  security: [{ token: [] }],
  paths: {
    '/buckets': list('data'),
    '/buckets/{id}/collections': list('data', [inPath('id')]),
    '/buckets/{bucket_id}/collections/{id}/records': list('data', [
      inPath('bucket_id'),
      inPath('id'),
      inQuery('_limit'),
    ]),
    '/buckets/{id}/gone': list('data', [inPath('id')]),
    // the document says page numbers, and the API skips rows
    '/users': list('users', [inQuery('page'), inQuery('offset')]),
    '/reports/{user_id}': list(undefined, [inPath('user_id')]),
    '/nothing': list('data'),
    '/empty': list('data', [inQuery('page')]),
    '/shops': list('data', [], 'shp-77'),
    // an id, by its name; the API wants the slug, and says so nowhere
    '/teams': list('data', [], undefined),
    '/teams/{team}/members': list('data', [inPath('team')]),
    '/teams/{team}/members/{member}/notes': list('data', [inPath('team'), inPath('member')]),
    // neither path nor name leads to the shops: the example does
    '/visits/{ref}': list('data', [{ ...inPath('ref'), example: 'shp-77' }]),
  },
});

/** Buckets whose rows have an id, which no document says. */
const buckets: Api = ({ path: at }) => {
  const bucket = /^\/buckets\/(b\d)\/records$/.exec(at)?.[1];
  if (bucket === undefined) return { body: { data: [{ id: 'b1' }, { id: 'b2' }] } };
  return { body: { data: rowsOf(3, `${bucket}-`) } };
};

describe('gex init --try asks for each list of a document', () => {
  test('lists below others, by id or another field, wrong pages, lists that are gone', async () => {
    const { origin, close, asked } = await serve(api);
    try {
      const file = path.join(folder, 'buckets.json');
      writeFileSync(file, JSON.stringify(documentAt(origin)));
      const out = path.join(folder, 'out');
      const env = { API_TOKEN: TOKEN };
      const made = await runHere(['init', file, '--out', out, '--try'], { env });
      const shown = made.stdout.replaceAll(/\s+/g, ' ');
      expect(made.code, made.stderr).toBe(1);
      // all ids, and one value of another field
      expect(asked.filter((line) => line.endsWith('/gone'))).toEqual(
        ['b1', 'b2', 'A'].map((id) => `GET /v1/buckets/${id}/gone`),
      );
      expect(made.stdout).toMatch(/^list +result +rows +total +id +next page$/m);
      expect(shown).toContain('/users complete 61 61 id the number of rows to skip in offset, 0 at first');
      expect(made.stdout).toMatch(
        /^ {2}└ \/\S+\/records +complete +25 +id +the address in header next-page/m,
      );
      expect(shown).toContain('GET /nothing, failed: The API answered 404');
      expect(shown).toContain('/empty empty 0');
      expect(shown).toContain('/shops ended 2 id');
      expect(made.stdout).toMatch(/^└ \/visits\/\{ref\} +ended +1/m);
      const report = JSON.parse(readFileSync(path.join(out, 'init-report.json'), 'utf8')) as {
        lists: { path: string; attempt: object }[];
      };
      expect(report.lists.find((each) => each.path === '/users')?.attempt).toMatchObject({
        verdict: 'complete',
        rows: 61,
        total: 61,
        id: ['id'],
        isProved: true,
      });
      expect(shown).toMatch(/Not taken:.*GET \/buckets\/\{id\}\/gone: The API answered 404/);
      const written = readFileSync(path.join(out, 'config.json'), 'utf8');
      expect(written).toContain('"team": "slug"');
      // there are lists below others
      expect(written).toContain('"concurrency": "auto"');
      expect(`${written}${made.stdout}${made.stderr}`).not.toContain(TOKEN);
      expect((await runHere(['validate', '--data', out, '--strict'], { env })).stdout).toContain('is valid');

      const ran = await runHere(['run', '--data', out, '--storage', 'none', '--json'], { env });
      expect(ran.code, ran.stderr).toBe(0);
      const { rows } = JSON.parse(ran.stdout) as { rows: { tables: { name: string; rows: number }[] }[] };
      const tables = rows.flatMap((row) => row.tables.map(({ name, rows: count }) => [name, count]));
      expect(Object.fromEntries(tables)).toEqual({
        buckets: 2,
        buckets_collections: 4,
        collections_records: 56,
        members_notes: 2,
        shops: 2,
        shops_visits: 2,
        teams: 2,
        teams_members: 4,
        users: 61,
        users_reports: 61,
      });
    } finally {
      close();
    }
  });

  test('lists below rows of which the document says nothing', async () => {
    const { origin, close } = await serve(buckets);
    try {
      const data = { type: 'array', items: { type: 'object', properties: { size: { type: 'integer' } } } };
      const schema = { type: 'object', properties: { data } };
      const get = { responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } } };
      const paths = { '/buckets': { get }, '/buckets/{bucket_id}/records': { get } };
      const file = path.join(folder, 'bare.json');
      writeFileSync(file, JSON.stringify({ openapi: '3.0.3', servers: [{ url: origin }], paths }));
      const out = path.join(folder, 'bare');
      const asIs = await runHere(['init', file, '--out', out]);
      expect(asIs.stdout).toContain('the rows of `/buckets` have nothing that is `bucket_id`');
      const tried = await runHere(['init', file, '--out', `${out}-tried`, '--try']);
      expect(tried.code, tried.stderr).toBe(0);
      expect(tried.stdout).toMatch(/^└ \/\{bucket_id\}\/records +ended +3/m);
    } finally {
      close();
    }
  });

  test('--auth in place of the login of the document, and --select', async () => {
    const { origin, close, asked } = await serve(api);
    try {
      const file = path.join(folder, 'selected.json');
      writeFileSync(file, JSON.stringify(documentAt(origin)));
      const out = path.join(folder, 'selected');
      const args = ['init', file, '--out', out, '--try', '--select', '/users', '--auth', 'bearer:$MY_TOKEN'];
      const { code, stderr } = await runHere(args, { env: { MY_TOKEN: TOKEN } });
      expect(code, stderr).toBe(0);
      expect(readFileSync(path.join(out, 'config.json'), 'utf8')).toContain('$env:MY_TOKEN');
      expect(asked.filter((line) => line.includes('/buckets'))).toEqual([]);
    } finally {
      close();
    }
  });

  test('a person logs in: the login is written, and --try wants a token', async () => {
    const { origin, close, asked } = await serve(api);
    try {
      const file = path.join(folder, 'person.json');
      const flows = {
        authorizationCode: {
          authorizationUrl: `${origin}/authorize`,
          tokenUrl: `${origin}/token`,
          scopes: { 'read:all': 'everything' },
        },
      };
      const document = {
        ...documentAt(origin),
        components: { securitySchemes: { token: { type: 'oauth2', flows } } },
      };
      writeFileSync(file, JSON.stringify(document));
      const out = path.join(folder, 'person');
      const { code, stdout } = await runHere(['init', file, '--out', out]);
      expect(code, stdout).toBe(0);
      expect(stdout).toContain('A person logs in: gex login opens the browser');
      const env = { API_CLIENT_ID: 'shop', API_CLIENT_SECRET: 'hush-hush' };
      expect((await runHere(['validate', '--data', out, '--strict'], { env })).stdout).toContain('is valid');
      expect(readFileSync(path.join(out, 'config.json'), 'utf8')).toContain('"scope": "read:all"');
      const tried = await runHere(['init', file, '--dry-run', '--try'], { env });
      expect({ code: tried.code, asked }).toEqual({ code: 1, asked: [] });
      expect(tried.stderr).toContain("--auth 'bearer:$API_TOKEN'");
    } finally {
      close();
    }
  });

  test('without the login nothing is asked for', async () => {
    const { origin, close, asked } = await serve(api);
    try {
      const file = path.join(folder, 'login.json');
      writeFileSync(file, JSON.stringify(documentAt(origin)));
      const { code, stderr } = await runHere(['init', file, '--dry-run', '--try']);
      expect({ code, asked }).toEqual({ code: 1, asked: [] });
      expect(stderr).toContain('$API_TOKEN is not set.');
      const components = { securitySchemes: { login: { type: 'http', scheme: 'basic' } } };
      writeFileSync(file, JSON.stringify({ ...documentAt(origin), components, security: [{ login: [] }] }));
      const basic = await runHere(['init', file, '--dry-run', '--try']);
      expect(basic.stderr).toContain('$API_USER and $API_PASSWORD are not set.');
    } finally {
      close();
    }
  });
});
