import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runHere, type Ended } from '../../cli/support.ts';
import { rowsOf, serve, type Api, type Asked } from './apis.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-init-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;

interface Inited extends Ended {
  readonly asked: readonly string[];
  /** Text of the config.json; undefined where none was written. */
  readonly written: string | undefined;
  readonly pagination: Record<string, unknown> | undefined;
  readonly origin: string;
}

async function init(
  api: Api,
  {
    word = 'ORIGIN/v1/users',
    args = [],
    env = {},
  }: { word?: string; args?: readonly string[]; env?: Readonly<Record<string, string>> } = {},
): Promise<Inited> {
  const { origin, asked, close } = await serve(api);
  const out = path.join(folder, String(++made));
  try {
    const ended = await runHere(
      [
        'init',
        word.replaceAll('ORIGIN', origin),
        '--out',
        out,
        ...args.map((arg) => arg.replaceAll('ORIGIN', origin)),
      ],
      { env },
    );
    const file = path.join(out, 'config.json');
    const written = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    const config =
      written === undefined
        ? undefined
        : (JSON.parse(written) as { parameters: { api: { pagination?: Record<string, unknown> } } });
    return { ...ended, asked, written, origin, pagination: config?.parameters.api.pagination };
  } finally {
    close();
  }
}

const int = ({ query }: Asked, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);

describe('gex init never writes a wrong configuration without a word', () => {
  test('an API that ignores parameters, with a hundred rows: it says that there may be more', async () => {
    const { code, stdout, pagination } = await init(() => ({ body: rowsOf(100) }));
    expect({ code, pagination }).toEqual({ code: 0, pagination: undefined });
    expect(stdout).toMatch(/exactly 100, which is what many\s+APIs give at most/);
    expect(stdout).toContain('they change nothing: page 1 comes again');
  });

  test('a token that leads nowhere', async () => {
    const { code, stdout, pagination } = await init(() => ({
      body: { data: rowsOf(20), next_cursor: 'abc' },
    }));
    expect({ code, pagination }).toEqual({ code: 1, pagination: undefined });
    expect(stdout).toContain('`next_cursor` → `cursor`: page 1 comes again');
    expect(stdout).toContain('doubtful');
  });

  test('a total that nothing leads to', async () => {
    const { code, stdout, pagination } = await init(() => ({ body: { data: rowsOf(20), total: 61 } }));
    expect({ code, pagination }).toEqual({ code: 1, pagination: undefined });
    expect(stdout).toMatch(/total: 61/);
  });

  test('a total above the rows that come', async () => {
    const all = rowsOf(61);
    const { code, stdout } = await init((asked) => {
      const page = int(asked, 'page', 1);
      return { body: { data: all.slice((page - 1) * 20, page * 20), page, total: 70 } };
    });
    expect(code).toBe(1);
    expect(stdout).toContain('The answer says `total: 70`, and 61 rows came');
  });

  test('rows with a value that changes, and an API that ignores parameters', async () => {
    let at = 0;
    const { code, stdout, pagination } = await init(() => ({
      body: rowsOf(20).map((row) => ({ ...row, served: `t${++at}` })),
    }));
    expect({ code, pagination }, stdout).toEqual({ code: 0, pagination: undefined });
  });

  test('the same without an id', async () => {
    let at = 0;
    const { stdout, pagination } = await init(() => ({
      body: rowsOf(20).map(({ name }) => ({ name: name.slice(0, 6), served: `t${++at}` })),
    }));
    expect(pagination, stdout).toBeUndefined();
    expect(stdout).toContain('`served` changed from one request to the next');
  });

  test('rows in another order for each request', async () => {
    let turn = 0;
    const all = rowsOf(61);
    const { code, stdout } = await init((asked) => {
      const page = int(asked, 'page', 1);
      const by = ++turn * 17;
      const shuffled = all.map((row, i) => ({ row, key: (i * by) % 61 })).toSorted((a, b) => a.key - b.key);
      return {
        body: { data: shuffled.slice((page - 1) * 20, page * 20).map(({ row }) => row), page, total: 61 },
      };
    });
    expect(code, stdout).toBe(1);
    expect(stdout).toContain('doubtful');
  });

  test('pages that overlap', async () => {
    const all = rowsOf(61);
    const { code, stdout } = await init((asked) => {
      const page = int(asked, 'page', 1);
      const from = page === 1 ? 0 : (page - 1) * 20 - 1;
      return { body: { data: all.slice(from, from + 20), page } };
    });
    expect(code, stdout).toBe(1);
    expect(stdout).toMatch(/rows of page 1|came twice/);
  });

  test.each([
    [
      'the size that is asked for',
      'ORIGIN/v1/users?text=a&size=10',
      1,
      'may be the number of its rows alone',
    ],
    ['a size that pages commonly have', 'ORIGIN/v1/users', 0, 'Whether these are all rows'],
  ])('a total that only counts the page, which has %s', async (_name, word, exit, words) => {
    const all = rowsOf(63);
    const api: Api = (asked) => {
      const rows = all.slice(0, int(asked, 'size', 20));
      return { body: { data: rows, total: rows.length } };
    };
    const { code, stdout } = await init(api, { word });
    expect(code, stdout).toBe(exit);
    expect(stdout).toContain(words);
    expect(stdout).not.toContain('complete:');
  });

  test('a flag of the end beside a link to more', async () => {
    const { code, stdout } = await init(() => ({
      body: { data: rowsOf(50), truncated: false, next_url: '/v1/elsewhere', filtered_table_rows_count: 237 },
    }));
    expect(code, stdout).toBe(1);
    expect(stdout).toContain('237');
  });

  test.each(['DELETE', 'PATCH', 'PUT'])('a %s is not sent', async (method) => {
    const word = `curl -X ${method} ORIGIN/v1/users`;
    const { code, asked, stderr, written } = await init(() => ({ body: rowsOf(3) }), { word });
    expect({ code, asked, written }).toEqual({ code: 1, asked: [], written: undefined });
    expect(stderr).toContain(`A ${method} request changes data`);
  });

  test('an empty list', async () => {
    const { code, stdout } = await init(() => ({ body: { data: [], total: 0 } }));
    expect(code).toBe(1);
    expect(stdout).toContain('`data` is empty: nothing can be learnt');
  });

  test('one object', async () => {
    const { code, stdout, written } = await init(() => ({ body: { id: 7, name: 'Anna', roles: ['a'] } }), {
      word: 'ORIGIN/v1/me',
    });
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('one object');
    expect(written).toContain('"dataField": "."');
  });

  test('a list that is too long: its last page is looked at', async () => {
    const all = rowsOf(5003);
    const { code, stdout, asked, pagination } = await init((request) => {
      const page = int(request, 'page', 1);
      return { body: { data: all.slice((page - 1) * 50, page * 50), page, total: 5003 } };
    });
    expect({ code, pagination }).toEqual({ code: 0, pagination: { method: 'pagenum' } });
    expect(asked.length).toBeLessThanOrEqual(12);
    expect(stdout).toContain('unproved');
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /: \d+ of the 5003 rows that the API speaks of came, on \d+ pages, none of them twice/,
    );
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'page 101, the last one by the total, has its 3 rows; the page behind it is empty',
    );
  });

  test('as many requests as are allowed', async () => {
    const all = rowsOf(61);
    for (const most of [1, 2, 3]) {
      const { asked, stdout, code } = await init(
        (request) => ({
          body: {
            data: all.slice(int(request, 'offset', 0), int(request, 'offset', 0) + 20),
            offset: int(request, 'offset', 0),
            total: 61,
          },
        }),
        { args: ['--max-requests', String(most)] },
      );
      expect(asked.length).toBeLessThanOrEqual(most);
      expect(stdout).toMatch(/unproved|doubtful/);
      expect([0, 1]).toContain(code);
    }
  });
});

describe('gex init begins at the beginning', () => {
  test.each([
    ['a page in the middle', 'ORIGIN/v1/users?page=3', '`page: 3` was given'],
    ['an offset in the middle', 'ORIGIN/v1/users?offset=40', '`offset: 40` was given'],
  ])('%s', async (_, word, said) => {
    const all = rowsOf(61);
    const { code, stdout } = await init(
      (asked) => {
        const from = asked.query.has('offset') ? int(asked, 'offset', 0) : (int(asked, 'page', 1) - 1) * 20;
        return { body: { data: all.slice(from, from + 20), total: 61 } };
      },
      { word },
    );
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(said);
    expect(stdout).toContain('reached, 61 rows');
  });

  test('page 1 of an API that counts from 0', async () => {
    const all = rowsOf(61);
    const { code, stdout, pagination } = await init(
      (asked) => ({ body: all.slice(int(asked, 'page', 0) * 20, int(asked, 'page', 0) * 20 + 20) }),
      { word: 'ORIGIN/v1/users?page=1' },
    );
    expect(code, stdout).toBe(0);
    expect(pagination).toMatchObject({ firstPage: 0 });
    expect(stdout).toContain('61 rows');
  });
});

/** An API that wants a login. */
const wants =
  (check: (asked: Asked) => boolean): Api =>
  (asked) =>
    check(asked)
      ? { body: { data: rowsOf(3), total: 3 } }
      : { status: 401, headers: { 'www-authenticate': 'Bearer realm="api"' }, body: {} };

describe('gex init keeps secrets to itself', () => {
  const SECRET = 'tok-5f1d9a7c33';

  test.each<
    [
      string,
      { word?: string; args?: readonly string[]; env?: Record<string, string> },
      (asked: Asked) => boolean,
      string,
    ]
  >([
    [
      'a bearer token',
      { args: ['--auth', `bearer:${SECRET}`] },
      ({ headers }) => headers['authorization'] === `Bearer ${SECRET}`,
      '$env:API_TOKEN',
    ],
    [
      'a variable by its name',
      { args: ['--auth', 'bearer:$MY_TOKEN'], env: { MY_TOKEN: SECRET } },
      ({ headers }) => headers['authorization'] === `Bearer ${SECRET}`,
      '$env:MY_TOKEN',
    ],
    [
      'a variable that the shell has replaced',
      { args: ['--auth', `bearer:${SECRET}`], env: { LIBRARY_TOKEN: SECRET } },
      ({ headers }) => headers['authorization'] === `Bearer ${SECRET}`,
      '$env:LIBRARY_TOKEN',
    ],
    [
      'user and password',
      { args: ['--auth', `basic:anna:${SECRET}`] },
      ({ headers }) =>
        headers['authorization'] === `Basic ${Buffer.from(`anna:${SECRET}`).toString('base64')}`,
      '$env:API_PASSWORD',
    ],
    [
      'a key in a header',
      { args: ['--auth', `header:X-Api-Key=${SECRET}`] },
      ({ headers }) => headers['x-api-key'] === SECRET,
      '$env:API_KEY',
    ],
    [
      'a key in the query',
      { args: ['--auth', `query:api_key=${SECRET}`] },
      ({ query }) => query.get('api_key') === SECRET,
      '$env:API_KEY',
    ],
    [
      'a key in the address',
      { word: `ORIGIN/v1/users?api_key=${SECRET}` },
      ({ query }) => query.get('api_key') === SECRET,
      '$env:API_KEY',
    ],
    [
      'a header',
      { args: ['--header', `Authorization: Bearer ${SECRET}`] },
      ({ headers }) => headers['authorization'] === `Bearer ${SECRET}`,
      '$env:API_TOKEN',
    ],
    [
      'a curl command',
      { word: `curl 'ORIGIN/v1/users' -H 'Authorization: Bearer ${SECRET}' -H 'Accept: application/json'` },
      ({ headers }) => headers['authorization'] === `Bearer ${SECRET}`,
      '$env:API_TOKEN',
    ],
    [
      'a curl command with a user',
      { word: `curl -u anna:${SECRET} ORIGIN/v1/users` },
      ({ headers }) =>
        headers['authorization'] === `Basic ${Buffer.from(`anna:${SECRET}`).toString('base64')}`,
      '$env:API_PASSWORD',
    ],
    [
      'a curl command with cookies',
      { word: `curl ORIGIN/v1/users -b 'session=${SECRET}; theme=dark'` },
      ({ headers }) => (headers['cookie'] ?? '').includes(SECRET),
      '$env:API_COOKIE',
    ],
    [
      'a key in a body',
      { word: `curl ORIGIN/v1/users --json '{"api_key":"${SECRET}","q":"a"}'` },
      ({ body }) => body['api_key'] === SECRET,
      '$env:',
    ],
  ])('%s', async (_, options, check, reference) => {
    const { code, stdout, stderr, written = '' } = await init(wants(check), options);
    expect(code, stdout + stderr).toBe(0);
    expect(written).toContain(reference);
    expect(`${written}${stdout}${stderr}`).not.toContain(SECRET);
    expect(`${written}${stdout}${stderr}`).not.toContain(Buffer.from(`anna:${SECRET}`).toString('base64'));
  });

  test('a variable that is not set', async () => {
    const { code, stderr, asked } = await init(
      wants(() => true),
      { args: ['--auth', 'bearer:$NOWHERE_TOKEN'] },
    );
    expect({ code, asked }).toEqual({ code: 1, asked: [] });
    expect(stderr).toContain('$NOWHERE_TOKEN is not set.');
  });

  test('a client with a secret', async () => {
    const {
      code,
      stdout,
      stderr,
      written = '',
    } = await init(
      (asked) => {
        if (asked.path !== '/token')
          return wants(({ headers }) => headers['authorization'] === 'Bearer at-77')(asked);
        const given = Buffer.from(`shop:${SECRET}`).toString('base64');
        return asked.headers['authorization'] === `Basic ${given}`
          ? { body: { access_token: 'at-77', expires_in: 3600 } }
          : { status: 401, body: {} };
      },
      { args: ['--auth', `client:shop:${SECRET}@ORIGIN/token`] },
    );
    expect(code, stdout + stderr).toBe(0);
    expect(written).toContain('"#clientSecret": "$env:API_CLIENT_SECRET"');
    expect(written).toContain('"clientId": "shop"');
    expect(`${written}${stdout}${stderr}`).not.toContain(SECRET);
  });

  test('a key in a header that the refusal speaks of', async () => {
    const { code, stderr } = await init(() => ({
      status: 403,
      body: { message: 'Missing header: X-Shop-Api-Key' },
    }));
    expect(code).toBe(1);
    expect(stderr).toContain("--auth 'header:X-Shop-Api-Key=$KEY'");
  });

  test('a login that is missing is advised', async () => {
    const { code, stderr, written } = await init(wants(() => false));
    expect({ code, written }).toEqual({ code: 1, written: undefined });
    expect(stderr).toContain('The API asks for: Bearer realm="api"');
    expect(stderr).toContain("--auth 'bearer:$API_TOKEN'");
  });
});

describe('gex init says what is wrong with the address', () => {
  test.each<[string, Api, string]>([
    ['a page for people', () => ({ body: '<!doctype html><h1>Welcome</h1>' }), 'page for people'],
    [
      'a login page behind a redirect',
      (asked) =>
        asked.path === '/login'
          ? { body: '<html>log in</html>' }
          : { status: 302, headers: { location: '/login' }, body: '' },
      'That is how a missing login looks',
    ],
    ['not found', () => ({ status: 404, body: { message: 'no' } }), 'is it that of the API'],
    [
      'a wait that is too long',
      () => ({ status: 429, headers: { 'retry-after': '3600' }, body: {} }),
      'allows no more requests for now',
    ],
    ['no list', () => ({ body: '42' }), 'no list'],
    ['nothing', () => ({ status: 204, body: '' }), 'empty'],
  ])('%s', async (_, api, said) => {
    const { code, stderr, written } = await init(api);
    expect({ code, written }).toEqual({ code: 1, written: undefined });
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('parameters.config');
  });

  test.each([
    [2, 0],
    [3, 1],
  ])('%i faults of the API at the first look: exit code %i', async (faults, expected) => {
    const { code, asked, stdout } = await init((request) =>
      request.number <= faults ? { status: 500, body: 'fault' } : { body: { data: rowsOf(3), total: 3 } },
    );
    expect(code, stdout).toBe(expected);
    expect(new Set(asked.slice(0, 3)).size).toBe(1);
    if (expected === 1) expect(asked).toHaveLength(3);
  });

  test('it waits when the API asks for it', async () => {
    const all = rowsOf(30);
    const { code, stdout } = await init((asked) =>
      asked.number % 2 === 0
        ? { status: 429, headers: { 'retry-after': '0.05' }, body: {} }
        : {
            body: {
              data: all.slice((int(asked, 'page', 1) - 1) * 20, int(asked, 'page', 1) * 20),
              page: int(asked, 'page', 1),
              total: 30,
            },
          },
    );
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('the API asked to wait');
  });
});

const api: Api = () => ({ body: { data: rowsOf(3), total: 3 } });

describe('gex init and files', () => {
  test('a config.json that is there stays', async () => {
    const out = mkdtempSync(path.join(folder, 'there-'));
    writeFileSync(path.join(out, 'config.json'), '{"mine": true}');
    const { code, stderr, asked } = await init(api, { args: ['--out', out] });
    expect({ code, asked }).toEqual({ code: 1, asked: [] });
    expect(stderr).toContain('Give --force to replace it');
    expect(readFileSync(path.join(out, 'config.json'), 'utf8')).toBe('{"mine": true}');
    expect((await init(api, { args: ['--out', out, '--force'] })).code).toBe(0);
    expect(readFileSync(path.join(out, 'config.json'), 'utf8')).toContain('baseUrl');
  });

  test('--dry-run writes nothing, and shows the configuration', async () => {
    const { code, stdout, written } = await init(api, { args: ['--dry-run'] });
    expect({ code, written }).toEqual({ code: 0, written: undefined });
    expect(stdout).toContain('"dataField": "data"');
  });

  test('--json has all that was found', async () => {
    const { stdout } = await init(api, { args: ['--json', '--dry-run'] });
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'complete',
      rows: { path: 'data', firstPage: 3 },
      id: ['id'],
      time: 'updated_at',
      rowsRead: 3,
      report: { verdict: 'complete', proof: { code: 'totalEquals' } },
    });
  });
});

describe('gex init and parameters that mean something else', () => {
  const all = rowsOf(61);

  test('rows to skip that are no rows to skip', async () => {
    const { code, stdout } = await init((asked) => {
      const offset = int(asked, 'offset', 0);
      const from = offset === 0 ? 0 : offset + 1;
      return { body: all.slice(from, from + 20) };
    });
    expect(code, stdout).toBe(1);
    expect(stdout).toContain('the API knows some of them');
  });

  test('pages that are only made when they are asked for', async () => {
    const { code, stdout, pagination } = await init((asked) => {
      const page = int(asked, '_page', 0);
      return { body: page === 0 ? all : all.slice((page - 1) * 10, page * 10) };
    });
    expect({ code, pagination }, stdout).toEqual({ code: 0, pagination: undefined });
    expect(stdout).toContain('it only cuts the list, which comes whole without it');
  });

  test('a token that leads to the same page for ever', async () => {
    const { stdout } = await init((asked) => ({
      body: { data: asked.query.has('cursor') ? all.slice(20, 40) : all.slice(0, 20), next: 'zz' },
    }));
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'its last page came again, and nothing says that it is the last one',
    );
  });

  test('a token that never ends', async () => {
    const { code, stdout, written } = await init((asked) => {
      const from = int(asked, 'cursor', 0);
      return { body: { data: all.slice(from, from + 20), next_cursor: String(from + 20) } };
    });
    expect(code, stdout).toBe(0);
    expect(written).toContain('"emptyPage": "stop"');
    expect(written).toContain('"notSigns"');
  });

  test('an error with the status of a success', async () => {
    const { code, stderr, written } = await init(() => ({
      body: { error: { code: 403, message: 'no access' } },
    }));
    expect({ code, written }).toEqual({ code: 1, written: undefined });
    expect(stderr).toContain('The answer tells of an error: `error`');
  });

  test('ids that go down', async () => {
    const { code, stdout, pagination } = await init((asked) => {
      const below = Number(asked.query.get('max_id') ?? 1e9);
      const rows = all
        .toReversed()
        .filter(({ id }) => Number(id) < below)
        .slice(0, 20);
      return { body: { data: rows, has_more: rows.at(-1)?.id !== 1 } };
    });
    expect(code, stdout).toBe(0);
    expect(pagination).toMatchObject({ responseParam: { last: 'id' }, queryParam: 'max_id' });
  });
});
