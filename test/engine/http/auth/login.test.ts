import { describe, expect, test } from 'vitest';
import { buildRequest } from '../../../../src/engine/http/request.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import type { Json } from '../../../../src/lib/json/index.ts';
import { clientOf, failure, fakeEnv, signal, startApi, type Answer, type Seen } from './support.ts';

const AT = 'parameters.api.authentication';

/** An API with a login at `/login` that answers with this. */
function loginApi(answer: Answer | (() => Answer)) {
  return startApi(({ line }) => {
    if (!line.includes('/login')) return undefined;
    return typeof answer === 'function' ? answer() : answer;
  });
}

function loginAuth(more: Record<string, Json>): Json {
  return { type: 'login', loginRequest: { endpoint: 'login' }, ...more };
}

const token: Json = { headers: { 'X-Token': { response: 'auth.token' } } };
const lines = (seen: readonly Seen[]): string[] => seen.map(({ line }) => line);

describe('login', () => {
  test('logs in once, lazily, and puts the answer into every request', async () => {
    const api = await loginApi({ body: '{"auth": {"token": "a1b2"}}' });
    const client = clientOf({
      baseUrl: api.url,
      config: { '#login': 'JohnDoe', '#password': 'TopSecret' },
      headers: { 'X-Default': 'yes' },
      auth: loginAuth({
        loginRequest: {
          endpoint: 'login',
          method: 'post',
          params: { user: { attr: '#login' }, nested: { a: [1] } },
          headers: {
            'X-Authorization': {
              function: 'base64_encode',
              args: [{ function: 'concat', args: [{ attr: '#login' }, ':', { attr: '#password' }] }],
            },
          },
        },
        apiRequest: token,
      }),
    });
    expect(api.seen).toEqual([]);
    await client.get('users');
    await client.get('orders');
    expect(lines(api.seen)).toEqual(['POST /login', 'GET /users', 'GET /orders']);
    expect(api.seen[0]?.body).toBe('{"user":"JohnDoe","nested":{"a":[1]}}');
    expect(api.seen[0]?.headers).toMatchObject({
      'x-authorization': 'Sm9obkRvZTpUb3BTZWNyZXQ=',
      'x-default': 'yes',
      'content-type': 'application/json',
    });
    expect(api.seen.map(({ headers }) => headers['x-token'])).toEqual([undefined, 'a1b2', 'a1b2']);
  });

  test('a parameter that the query has already becomes a list at the end', async () => {
    const api = await loginApi({ body: '{"auth": {"token": 987654, "key": "a1b2", "account": "abc"}}' });
    const query = {
      apiToken: { response: 'auth.token' },
      secretKey: { response: 'auth.key' },
      customerId: { response: 'auth.account' },
    };
    const client = clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest: { query } }) });
    await client.get('users?debug=1&secretKey=none&customerId=234&s=a+b');
    expect(api.seen[1]?.line).toBe(
      'GET /users?debug=1&s=a%20b&apiToken=987654&secretKey%5B0%5D=none&secretKey%5B1%5D=a1b2&customerId%5B0%5D=234&customerId%5B1%5D=abc',
    );
  });

  test('a link that has the token already is left alone', async () => {
    const api = await loginApi({ body: '{"token": "t0"}' });
    const client = clientOf({
      baseUrl: api.url,
      auth: loginAuth({ apiRequest: { query: { token: { response: 'token' } } } }),
    });
    await client.get('users?token=t0&page=2');
    expect(api.seen[1]?.line).toBe('GET /users?token=t0&page=2');
  });

  test('a text that is a path of the answer stands for its value, another stays', async () => {
    const api = await loginApi({ body: '{"auth": {"token": "a1b2"}}' });
    const headers = { 'X-Token': 'auth.token', 'X-Mode': 'auth.mode' };
    await clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest: { headers } }) }).get('users');
    expect(api.seen[1]?.headers).toMatchObject({ 'x-token': 'a1b2', 'x-mode': 'auth.mode' });
  });

  test('the format text gives the whole body as data', async () => {
    const api = await loginApi({ headers: { 'content-type': 'text/plain' }, body: 'a1b2\n' });
    const auth = loginAuth({ format: 'text', apiRequest: { headers: { 'X-Token': { response: 'data' } } } });
    await clientOf({ baseUrl: api.url, auth }).get('users');
    expect(api.seen[1]?.headers['x-token']).toBe('a1b2');
  });

  test('a scalar as JSON is data, too', async () => {
    const api = await loginApi({ body: '"a1b2"' });
    await clientOf({
      baseUrl: api.url,
      auth: loginAuth({ apiRequest: { headers: { 'X-Token': 'data' } } }),
    }).get('users');
    expect(api.seen[1]?.headers['x-token']).toBe('a1b2');
  });

  test('requests at the same time share one login', async () => {
    const api = await loginApi({ body: '{"auth": {"token": "a1b2"}}' });
    const client = clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest: token }) });
    await Promise.all(['a', 'b', 'c'].map((endpoint) => client.get(endpoint)));
    expect(lines(api.seen).filter((line) => line === 'GET /login')).toHaveLength(1);
    expect(api.seen).toHaveLength(4);
  });

  test('the tokens of the answer are kept out of logs', async () => {
    const api = await loginApi({ body: '{"auth": {"token": "a1b2c3d4", "plan": "premium"}}' });
    const secrets = new Secrets();
    await clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest: token }), secrets }).get('users');
    expect(secrets.redact('plan premium, token a1b2c3d4')).toBe('plan premium, token ***');
  });

  test('so is whatever requests take from the answer, under any name', async () => {
    const api = await loginApi({
      body: '{"session": {"id": "SESS01", "number": 987654}, "plan": "premium"}',
    });
    const secrets = new Secrets();
    const apiRequest = {
      headers: {
        'X-Session': { function: 'concat', args: ['Session ', { response: 'session.id' }] },
        'X-Sum': { function: 'md5', args: [{ response: 'session.id' }] },
      },
      query: { n: 'session.number', format: 'compact' },
    };
    await clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest }), secrets }).get('users');
    const [, seen] = api.seen;
    expect(secrets.redact(`${seen?.line} ${String(seen?.headers['x-session'])}`)).toBe(
      'GET /users?n=***&format=compact Session ***',
    );
    expect(secrets.redact(`premium ${String(seen?.headers['x-sum'])}`)).toBe('premium ***');
  });
});

async function linesAfter(body: string, expires: Json, pauses: readonly number[]): Promise<string[]> {
  const env = fakeEnv(1_500_000_000);
  const api = await loginApi({ body });
  const client = clientOf({ baseUrl: api.url, env, auth: loginAuth({ apiRequest: token, expires }) });
  await client.get('0');
  for (const [index, seconds] of pauses.entries()) {
    env.pass(seconds);
    await client.get(String(index + 1));
  }
  return lines(api.seen).map((line) => line.slice('GET /'.length));
}

const body = (value: Json): string => JSON.stringify({ auth: { token: 'a' }, expires: value });

describe('the expiry of a login', () => {
  test.each<[string, Json, Json, number[], string[]]>([
    ['"-1" is a login before every request', '-1', null, [0, 0], ['login', '0', 'login', '1', 'login', '2']],
    ['seconds hold up to their end', 10, null, [10, 1], ['login', '0', '1', 'login', '2']],
    [
      'a relative text is a date',
      { response: 'expires' },
      '-0 second',
      [0, 1],
      ['login', '0', '1', 'login', '2'],
    ],
    [
      'relative seconds',
      { response: 'expires', relative: true },
      0,
      [0, 1],
      ['login', '0', '1', 'login', '2'],
    ],
    [
      'relative seconds as a text',
      { response: 'expires', relative: true },
      '5',
      [5, 1],
      ['login', '0', '1', 'login', '2'],
    ],
    [
      'a relative text counted from the login',
      { response: 'expires', relative: true },
      '+5 seconds',
      [5, 1],
      ['login', '0', '1', 'login', '2'],
    ],
    ['Unix seconds', { response: 'expires' }, 1_500_000_005, [5], ['login', '0', '1']],
    ['an absolute date', { response: 'expires' }, '2017-07-14T02:40:05Z', [5], ['login', '0', '1']],
    ['nothing there never expires', { response: 'other' }, 1, [1_000_000], ['login', '0', '1']],
  ])('%s', async (_name, expires, value, pauses, expected) => {
    expect(await linesAfter(body(value), expires, pauses)).toEqual(expected);
  });

  test('Unix seconds that have passed bring a new login', async () => {
    const env = fakeEnv(1_500_000_000);
    const api = await loginApi(() => ({
      body: `{"auth": {"token": "a"}, "expires": ${Math.floor(env.now() / 1000) + 5}}`,
    }));
    const client = clientOf({
      baseUrl: api.url,
      env,
      auth: loginAuth({ apiRequest: token, expires: { response: 'expires' } }),
    });
    await client.get('a');
    env.pass(6);
    await client.get('b');
    expect(lines(api.seen)).toEqual(['GET /login', 'GET /a', 'GET /login', 'GET /b']);
  });

  test.each<[string, Json, Json, string]>([
    [
      'in the past',
      { response: 'expires' },
      1_499_999_999,
      'The login has already expired when it was answered.',
    ],
    [
      'no date',
      { response: 'expires' },
      'soonish',
      '“expires” of the login response is no time: it is a text that cannot be read as a date.',
    ],
    [
      'no time at all',
      { response: 'expires' },
      true,
      '“expires” of the login response is no time: it is true that cannot be read as a date.',
    ],
  ])('a time that is %s is an error', async (_name, expires, value, message) => {
    expect(await failure(() => linesAfter(body(value), expires, []))).toMatchObject({
      code: 'auth.failed',
      message,
    });
  });

  test.each<[Json]>([['soon'], [[]], [true], [{ relative: true }], [1.5]])(
    'expires: %j is a wrong configuration',
    async (expires) => {
      const auth = loginAuth({ expires });
      expect(await failure(() => clientOf({ baseUrl: 'http://h/', auth }))).toMatchObject({
        code: 'config.invalid',
        path: `${AT}.expires`,
      });
    },
  );

  test('is checked again for each retry', async () => {
    let calls = 0;
    const api = await startApi(({ line }) => {
      if (line.includes('login')) return { body: '{"auth": {"token": "a"}}' };
      return { status: calls++ === 0 ? 503 : 200 };
    });
    await clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest: token, expires: '-1' }) }).get('users');
    expect(lines(api.seen)).toEqual(['GET /login', 'GET /users', 'GET /login', 'GET /users']);
  });
});

describe('a login that fails', () => {
  test.each<[string, Answer, string]>([
    [
      'is refused',
      { status: 401, body: 'no' },
      'The login failed: The API answered 401 Unauthorized to GET URL',
    ],
    [
      'answers no JSON',
      { headers: { 'content-type': 'text/html' }, body: '<p>secret</p>' },
      'The login answered with something that is not JSON: 13 bytes of text/html, status 200.',
    ],
    [
      'answers a list',
      { body: '[]' },
      'The login must answer with a JSON object, but it answered with an empty list.',
    ],
    [
      'answers null',
      { body: 'null' },
      'The login must answer with a JSON object, but it answered with null.',
    ],
    [
      'lacks the token',
      { body: '{"user": "x", "session": {"token": "s3cr3t"}}' },
      'The login was answered, but its answer cannot be used: ',
    ],
  ])('because it %s says so, without its answer', async (_name, answer, message) => {
    const api = await loginApi(answer);
    const client = clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest: token }) });
    const error = await failure(() => client.get('users'));
    expect(error.code).toBe('auth.failed');
    expect(error.message.replace(api.url, 'URL')).toContain(message);
    expect(JSON.stringify(error)).not.toMatch(/<p>|s3cr3t/);
    expect(lines(api.seen)).toEqual(['GET /login']);
  });

  test('names what the answer has', async () => {
    const api = await loginApi({ body: '{"user": "x", "session": {"token": "s3cr3t"}}' });
    const client = clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest: token }) });
    const { path, hint } = await failure(() => client.get('users'));
    expect(path).toContain(`${AT}.apiRequest.headers.X-Token`);
    expect(hint).toContain('The login response has: user, session.token.');
  });

  test('whose path leads to an object is an error', async () => {
    const api = await loginApi({ body: '{"auth": {"token": "a"}}' });
    const client = clientOf({
      baseUrl: api.url,
      auth: loginAuth({ apiRequest: { headers: { 'X-Token': 'auth' } } }),
    });
    expect(await failure(() => client.get('users'))).toMatchObject({
      code: 'auth.failed',
      message: '“auth” of the login response is an object, not a text.',
    });
  });

  test('is tried again by the next request, and retried only as often as any request', async () => {
    let up = false;
    const api = await loginApi(() => (up ? { body: '{"auth": {"token": "a"}}' } : { status: 503 }));
    const client = clientOf({ baseUrl: api.url, auth: loginAuth({ apiRequest: token }) });
    expect(await failure(() => client.get('users'))).toMatchObject({ code: 'auth.failed' });
    expect(lines(api.seen)).toEqual(['GET /login', 'GET /login', 'GET /login']);
    up = true;
    await client.get('users');
    expect(lines(api.seen).slice(3)).toEqual(['GET /login', 'GET /users']);
  });

  test('for want of a network is not retried by the request that waits for it', async () => {
    const api = await startApi();
    const auth = loginAuth({ loginRequest: { endpoint: 'http://127.0.0.1:1/login' }, apiRequest: token });
    const { context, send } = clientOf({ baseUrl: api.url, auth });
    const before = context.env.now();
    const request = context.buildRequest({ endpoint: 'users', method: 'GET', params: {}, headers: {} });
    const error = await failure(() => send(request, { signal }));
    expect(error.code).toBe('http.network');
    expect(error.message).toContain('The login failed: ');
    // two retries of the login: one second, then two
    expect(context.env.now() - before).toBe(3000);
  });

  test.each<[string, Json, string]>([
    ['loginRequest', { type: 'login' }, `${AT}.loginRequest`],
    ['its endpoint', { type: 'login', loginRequest: { method: 'GET' } }, `${AT}.loginRequest.endpoint`],
    ['a known format', { type: 'login', loginRequest: { endpoint: 'a' }, format: 'xml' }, `${AT}.format`],
    [
      'a map of headers',
      { type: 'login', loginRequest: { endpoint: 'a' }, apiRequest: { headers: 'x' } },
      `${AT}.apiRequest.headers`,
    ],
  ])('lacking %s is a wrong configuration', async (_name, auth, path) => {
    expect(await failure(() => clientOf({ baseUrl: 'http://h/', auth }))).toMatchObject({
      code: 'config.invalid',
      path,
    });
  });
});

const from = (name: string): Json => ({ response: `authorization.${name}` });

describe('a configuration with default options', () => {
  test('keeps defaults, job parameters and login parameters apart and in order', async () => {
    const api = await loginApi({
      body: '{"authorization": {"token": "987654", "secretKey": "a1b2c3d435f6", "accountId": "abc"}}',
    });
    const { send } = clientOf({
      baseUrl: api.url,
      auth: loginAuth({
        apiRequest: {
          query: { apiToken: from('token'), secretKey: from('secretKey'), customerId: from('accountId') },
          headers: { 'X-SecretKey': from('secretKey'), 'X-Account-Id': from('accountId') },
        },
      }),
    });
    const job = {
      endpoint: 'users',
      method: 'GET',
      params: { orderBy: 'userName', secretKey: 'none', customerId: '234' },
      headers: {},
    };
    const defaultOptions = {
      headers: { 'X-Mode': 'development', 'X-Account-Id': 123 },
      params: { debug: '1', orderBy: 'default', secretKey: '123' },
    };
    await send(buildRequest(job, { baseUrl: api.url, headers: {}, defaultOptions }), { signal });
    expect(api.seen[1]?.line).toBe(
      'GET /users?debug=1&orderBy=userName&apiToken=987654&secretKey%5B0%5D=none&secretKey%5B1%5D=a1b2c3d435f6&customerId%5B0%5D=234&customerId%5B1%5D=abc',
    );
    expect(api.seen[1]?.headers).toMatchObject({
      'x-mode': 'development',
      'x-secretkey': 'a1b2c3d435f6',
      'x-account-id': 'abc',
    });
  });
});
