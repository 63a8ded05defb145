import { describe, expect, test } from 'vitest';
import { runAction } from '../../../src/authoring/actions/actions.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import { encodeExact, type Json } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { act, at, failed, json, startApi, type Answer, type Seen } from './support.ts';

const SECRET = 's3cr3t-v4lue';

interface Setup {
  readonly jobs?: readonly object[];
  readonly selected?: string;
  readonly api?: object;
  readonly config?: object;
}

interface Tested {
  readonly result: Json;
  readonly log: string;
  /** Address of the last request. */
  readonly url: string;
  readonly text: string;
  readonly seen: readonly Seen[];
}

async function probe(
  answer: (seen: Seen) => Answer | undefined,
  { jobs = [{ endpoint: 'users' }], selected = '0', api: more = {}, config = {} }: Setup = {},
): Promise<Tested> {
  const api = await startApi(answer);
  const result = await act('test_request', {
    api: { baseUrl: api.url, ...more },
    config: { jobs, ...config },
    __SELECTED_JOB: selected,
  });
  const [log, url] = [at(result, 'debug_log'), at(result, 'request', 'url')];
  if (typeof log !== 'string' || typeof url !== 'string')
    throw new Error('a result has a log and an address');
  return { result, log, url, text: JSON.stringify(result), seen: api.seen };
}

describe('test_request', () => {
  test('shows request, response and records', async () => {
    const { result, seen, log, url } = await probe(
      () => ({ json: { items: [{ id: 1 }, { id: 2 }], next: 'x' }, headers: { 'X-Rate': '9' } }),
      {
        jobs: [
          {
            endpoint: 'users',
            method: 'POST',
            params: { q: 'a', since: { time: 'previousStart' } },
            dataField: 'items',
          },
        ],
        api: { pagination: { method: 'response.param', responseParam: 'next', queryParam: 'after' } },
      },
    );
    expect(seen).toHaveLength(1);
    expect(result).toMatchObject({
      response: {
        status_code: 200,
        reason: 'OK',
        data: { items: [{ id: 1 }, { id: 2 }], next: 'x' },
        headers: { 'x-rate': '9' },
      },
      request: {
        method: 'POST',
        data: '{"q":"a","since":0}',
        headers: { 'Content-Type': 'application/json' },
      },
      records: [{ id: 1 }, { id: 2 }],
    });
    expect(url).toMatch(/\/users$/);
    expect(log).toMatch(/DEBUG POST .*\/users .*\n.*DEBUG 200 POST/s);
  });

  test.each([
    [404, 'Not Found', { error: 'gone' }],
    [503, 'Service Unavailable', { error: 'later' }],
    [429, 'Too Many Requests', { error: 'slow down' }],
  ])('returns an answer with status %i, asked for once', async (status, reason, data) => {
    const { result, seen, log } = await probe(() => ({
      status,
      json: data,
      headers: { 'Retry-After': '60' },
    }));
    expect(seen).toHaveLength(1);
    expect(result).toMatchObject({ response: { status_code: status, reason, data }, records: [] });
    expect(log).toContain(`ERROR The API answered ${status} ${reason}`);
  });

  test('a byte order mark before JSON is passed over', async () => {
    const { result } = await probe(() => ({ text: '\ufeff[{"id":1}]' }));
    expect(result).toMatchObject({ response: { data: [{ id: 1 }] }, records: [{ id: 1 }] });
  });

  test('returns a body that is not JSON as text', async () => {
    const { result, log } = await probe(() => ({ text: '<html>Hello</html>' }));
    expect(result).toMatchObject({
      response: { status_code: 200, data: '<html>Hello</html>' },
      request: { data: null },
      records: [],
    });
    expect(log).toContain('ERROR The response is not JSON');
  });

  test('returns an answer whose rows cannot be told', async () => {
    const { result, log } = await probe(() => ({ json: { a: [1], b: [2] } }));
    expect(result).toMatchObject({ response: { data: { a: [1], b: [2] } }, records: [] });
    expect(log).toContain('more than one list');
  });

  test('keeps numbers and the order of keys as they came', async () => {
    const api = await startApi(() => ({ text: '[{"10":12345678901234567890,"2":1.50}]' }));
    const configuration = json({
      parameters: { api: { baseUrl: api.url }, config: { jobs: [{ endpoint: 'x' }] }, __SELECTED_JOB: '0' },
    });
    const result = await runAction('test_request', {
      configuration,
      env: systemEnv,
      log: silentLog,
      signal: new AbortController().signal,
    });
    expect(encodeExact(result)).toContain('"records":[{"10":12345678901234567890,"2":1.50}]');
  });

  test('runs a child for the first rows of its parent, ten times at most', async () => {
    const rows = Array.from({ length: 15 }, (_, id) => ({ id }));
    const { result, seen, log } = await probe(
      ({ target }) => ({ json: target === '/users' ? rows : [{ path: target }] }),
      {
        jobs: [
          { endpoint: 'other' },
          {
            endpoint: 'users',
            children: [{ endpoint: 'never' }, { endpoint: 'users/{id}', placeholders: { id: 'id' } }],
          },
        ],
        selected: '1_1',
      },
    );
    expect(seen.map(({ target }) => target)).toEqual([
      '/users',
      ...rows.slice(0, 10).map(({ id }) => `/users/${id}`),
    ]);
    expect(at(result, 'records')).toEqual(rows.slice(0, 10).map(({ id }) => ({ path: `/users/${id}` })));
    expect(at(result, 'request', 'url')).toMatch(/\/users\/9$/);
    expect(log).toContain('Only the first 10 calls of each job were made');
  });

  test('stops at jobs in between that never come to the selected one', async () => {
    const rows = Array.from({ length: 15 }, (_, id) => ({ id }));
    const child = {
      endpoint: 'empty/{id}',
      dataType: 'users',
      placeholders: { id: 'id' },
      children: [{ endpoint: 'leaf/{id}', placeholders: { id: 'id' } }],
    };
    const { result, seen, log, url } = await probe(
      ({ target }) => ({ json: target === '/users' ? rows : [] }),
      {
        jobs: [{ endpoint: 'users', children: [child] }],
        selected: '0_0_0',
      },
    );
    expect(seen).toHaveLength(11);
    expect(result).toMatchObject({ records: [] });
    expect(url).toMatch(/\/empty\/9$/);
    expect(log).toMatch(/“leaf\/\{id\}” was not called/);
  });

  test('tells a child from a parent of the same name', async () => {
    const { result } = await probe(({ target }) => ({ json: [{ id: 1, path: target }] }), {
      jobs: [
        {
          endpoint: 'users',
          dataType: 'users',
          children: [{ endpoint: 'users/{id}', dataType: 'users', placeholders: { id: 'id' } }],
        },
      ],
      selected: '0_0',
    });
    expect(at(result, 'records')).toEqual([{ id: 1, path: '/users/1' }]);
  });

  test('shows the answer to the parent when that fails', async () => {
    const { result, url } = await probe(() => ({ status: 403, json: { error: 'no' } }), {
      jobs: [{ endpoint: 'users', children: [{ endpoint: 'users/{id}', placeholders: { id: 'id' } }] }],
      selected: '0_0',
    });
    expect(result).toMatchObject({ response: { status_code: 403 }, records: [] });
    expect(url).toMatch(/\/users$/);
  });

  test('keeps the records of calls before one that fails', async () => {
    const { result } = await probe(
      ({ target }) =>
        target === '/users'
          ? { json: [{ id: 1 }, { id: 2 }] }
          : target === '/users/1'
            ? { json: [{ ok: 1 }] }
            : { status: 500, json: {} },
      {
        jobs: [{ endpoint: 'users', children: [{ endpoint: 'users/{id}', placeholders: { id: 'id' } }] }],
        selected: '0_0',
      },
    );
    expect(result).toMatchObject({ response: { status_code: 500 }, records: [{ ok: 1 }] });
  });

  test('shows the end of redirects', async () => {
    const { result, url } = await probe(({ target }) =>
      target === '/users'
        ? { status: 302, headers: { Location: '/people' }, json: {} }
        : { json: [{ id: 1 }] },
    );
    expect(result).toMatchObject({ response: { status_code: 200 }, records: [{ id: 1 }] });
    expect(url).toMatch(/\/people$/);
  });

  test('shows a hundred records, and parts of a large body', async () => {
    const rows = Array.from({ length: 300 }, (_, id) => ({ id, text: 'x'.repeat(20_000) }));
    const { result, text, log } = await probe(() => ({ json: rows }));
    expect(log).toContain('Of 300 records the first 100 are shown');
    expect(log).toContain('“response.data” is large');
    expect(at(result, 'response', 'data')).toHaveLength(30);
    expect(text.length).toBeLessThan(2_500_000);
  });

  test('uses the first iteration', async () => {
    const api = await startApi(() => ({ json: [] }));
    const jobs = [{ endpoint: 'users', params: { account: { attr: 'account' } } }];
    await act('test_request', {
      api: { baseUrl: api.url },
      config: { jobs },
      iterations: [{ account: 'one' }, { account: 'two' }],
      __SELECTED_JOB: '0',
    });
    expect(api.seen.map(({ target }) => target)).toEqual(['/users?account=one']);
  });
});

describe('secrets in the result of test_request', () => {
  /** An API that says back whatever it was told. */
  const echo = ({ method, target, headers, body }: Seen): Answer => ({
    json: [{ method, target, headers, body, [`key ${SECRET}`]: 1 }],
    headers: {
      'Set-Cookie': [`sid=${SECRET}-cookie; Expires=Wed, 21 Oct 2026 07:28:00 GMT`, 'theme=dark'],
      'X-Echo': SECRET,
    },
  });

  test.each<[name: string, setup: object]>([
    [
      'an attribute with #',
      { config: { '#token': SECRET, http: { headers: { 'X-Own': { attr: '#token' } } } } },
    ],
    [
      'an attribute with __',
      { config: { __token: SECRET, http: { headers: { 'X-Own': { attr: '__token' } } } } },
    ],
    [
      'basic authentication',
      { api: { authentication: { type: 'basic' } }, config: { username: 'me', '#password': SECRET } },
    ],
    [
      'a header Authorization in plain text',
      { api: { http: { headers: { Authorization: `Bearer ${SECRET}` } } } },
    ],
    ['an API key in plain text', { api: { http: { headers: { 'X-Api-Key': SECRET } } } }],
    ['a cookie in plain text', { api: { http: { headers: { Cookie: `a=b; sid=${SECRET}` } } } }],
    [
      'a parameter of the query',
      {
        config: { '#key': SECRET },
        jobs: [
          {
            endpoint: 'users',
            params: { q: { attr: '#key' }, r: { function: 'concat', args: ['x', { attr: '#key' }] } },
          },
        ],
      },
    ],
    ['a parameter with a telling name', { jobs: [{ endpoint: 'users', params: { access_token: SECRET } }] }],
    [
      'a body of JSON',
      {
        config: { '#key': SECRET },
        jobs: [
          { endpoint: 'users', method: 'POST', params: { a: { attr: '#key' }, deep: { password: SECRET } } },
        ],
      },
    ],
    [
      'a body of JSON with telling names',
      {
        jobs: [{ endpoint: 'users', method: 'POST', params: { deep: { password: SECRET, pin_secret: 12 } } }],
      },
    ],
    [
      'a form',
      { jobs: [{ endpoint: 'users', method: 'FORM', params: { client_secret: SECRET, sig: 'x' } }] },
    ],
    [
      'a query authentication',
      { api: { authentication: { type: 'query', query: { k: { attr: '#k' } } } }, config: { '#k': SECRET } },
    ],
  ])('%s is hidden everywhere', async (_name, setup) => {
    const { text, seen, result } = await probe(echo, setup);
    const told = JSON.stringify(seen);
    const forms = [SECRET, Buffer.from(`me:${SECRET}`).toString('base64')];
    expect(forms.some((form) => told.includes(form))).toBe(true);
    for (const form of forms) expect(text).not.toContain(form);
    expect(at(result, 'response', 'headers', 'set-cookie')).toBe('***');
    expect(text).not.toContain(`${SECRET}-cookie`);
  });

  test('telling names are enough in a body', async () => {
    const jobs = [
      { endpoint: 'users', method: 'FORM', params: { client_secret: 'abc', page_token: 'p1', q: 'z' } },
    ];
    const form = await probe(() => ({ json: [] }), { jobs });
    expect(at(form.result, 'request', 'data')).toBe('client_secret=***&page_token=p1&q=z');
    const other = await probe(() => ({ json: [] }), { jobs: [{ ...jobs[0], method: 'POST' }] });
    expect(at(other.result, 'request', 'data')).toBe('{"client_secret":"***","page_token":"p1","q":"z"}');
  });

  test('words of a cookie stay where they are no secret', async () => {
    const { result } = await probe(() => ({
      json: [{ theme: 'dark' }],
      headers: { 'Set-Cookie': 'theme=dark' },
    }));
    expect(at(result, 'records')).toEqual([{ theme: 'dark' }]);
  });

  test('a token that a login gave is hidden, and the login is not the answer', async () => {
    const api = {
      authentication: {
        type: 'login',
        loginRequest: { endpoint: 'login', method: 'POST', params: { password: { attr: '#password' } } },
        apiRequest: { headers: { 'X-Session': 'session.id' } },
      },
    };
    const { text, seen, url } = await probe(
      ({ target, headers }) => ({
        json:
          target === '/login'
            ? { session: { id: 'fresh-session-token' } }
            : [{ given: headers['x-session'] }],
      }),
      {
        api,
        config: { '#password': SECRET },
      },
    );
    expect(seen.at(-1)?.headers['x-session']).toBe('fresh-session-token');

    expect(url).toMatch(/\/users$/);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('fresh-session-token');
  });
});

describe('test_request cannot run', () => {
  const parameters = {
    api: { baseUrl: 'http://127.0.0.1:9/' },
    config: {
      jobs: [
        { endpoint: 'a', children: [{ endpoint: 'b' }] },
        { endpoint: 'a', children: [{ endpoint: 'b' }] },
      ],
    },
  };

  test.each<[selected: unknown, message: RegExp]>([
    [undefined, /`__SELECTED_JOB` is missing/],
    ['a', /names no job/],
    ['0_', /names no job/],
    [['0'], /names no job/],
    ['2', /There is no job 2 here: the last one is 1/],
    ['1_1', /There is no job 1 here: the last one is 0/],
    ['1_0_0', /There is no job 0 here: there are none/],
    ['0', /This job never runs/],
  ])('the job %j', async (selected, message) => {
    expect((await failed('test_request', { ...parameters, __SELECTED_JOB: selected })).message).toMatch(
      message,
    );
  });

  test('when the API cannot be reached', async () => {
    expect(await failed('test_request', { ...parameters, __SELECTED_JOB: '1' })).toMatchObject({
      code: 'http.network',
      audience: 'user',
    });
  });

  test('when a function fails', async () => {
    const config = { jobs: [{ endpoint: 'a', params: { x: { attr: 'gone' } } }] };
    expect(await failed('test_request', { ...parameters, config, __SELECTED_JOB: '0' })).toMatchObject({
      code: 'function.failed',
    });
  });

  test('when a placeholder finds nothing', async () => {
    const api = await startApi(() => ({ json: [{ id: 1 }] }));
    const config = {
      jobs: [{ endpoint: 'a', children: [{ endpoint: '{x}', placeholders: { x: 'gone' } }] }],
    };
    expect(
      (await failed('test_request', { api: { baseUrl: api.url }, config, __SELECTED_JOB: '0_0' })).message,
    ).toMatch(/found nothing at “gone”/);
  });
});
