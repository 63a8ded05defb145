import { describe, expect, test } from 'vitest';
import { buildRequest } from '../../../../src/engine/http/request.ts';
import { clientOf, failure, signal, startApi } from './support.ts';

const request = (baseUrl: string, method: string, params = {}, headers = {}) =>
  buildRequest({ endpoint: 'users', method, params, headers }, { baseUrl, headers: {} });

const AT = 'parameters.api.authentication';

describe('headers', () => {
  test('several, with functions that see the request', async () => {
    const api = await startApi();
    const auth = { type: 'headers', headers: { 'X-Key': { attr: '#key' }, 'X-Path': { request: 'path' } } };
    await clientOf({ baseUrl: api.url, auth, config: { '#key': 'abc' } }).get('users');
    expect(api.seen[0]?.headers).toMatchObject({ 'x-key': 'abc', 'x-path': '/users' });
  });

  test('none are refused', async () => {
    const found = await failure(() => clientOf({ baseUrl: 'https://h/', auth: { type: 'headers' } }));
    expect([found.path, found.message]).toEqual([
      `${AT}.headers`,
      expect.stringContaining('needs “headers”'),
    ]);
  });
});

describe('a key elsewhere', () => {
  test('in a JSON body, below a key, beside what is there', async () => {
    const api = await startApi();
    const auth = { type: 'apiKey', name: 'auth.key', in: 'body', '#key': 'abc' };
    const { send } = clientOf({ baseUrl: api.url, auth });
    await send(request(api.url, 'POST', { auth: { user: 'me' }, page: 1 }), { signal });
    await send(request(api.url, 'POST'), { signal });
    expect(api.seen.map(({ body }) => body)).toEqual([
      '{"auth":{"user":"me","key":"abc"},"page":1}',
      '{"auth":{"key":"abc"}}',
    ]);
  });

  test('in a form, in place of an older one', async () => {
    const api = await startApi();
    const auth = { type: 'apiKey', name: 'key', in: 'body', '#key': 'a b' };
    const { send } = clientOf({ baseUrl: api.url, auth });
    await send(request(api.url, 'FORM', { key: 'old', page: 1 }), { signal });
    await send(request(api.url, 'FORM'), { signal });
    expect(api.seen.map(({ body }) => body)).toEqual(['page=1&key=a+b', 'key=a+b']);
  });

  test('in a cookie, beside others', async () => {
    const api = await startApi();
    const auth = { type: 'apiKey', name: 'sid', in: 'cookie', '#key': 'abc' };
    const { send } = clientOf({ baseUrl: api.url, auth });
    await send(request(api.url, 'GET', {}, { Cookie: 'lang=en; sid=old' }), { signal });
    expect(api.seen[0]?.headers.cookie).toBe('lang=en; sid=abc');
  });

  test('a request without a body cannot have it there', async () => {
    const auth = { type: 'apiKey', name: 'key', in: 'body', '#key': 'abc' };
    const found = await failure(() => clientOf({ baseUrl: 'https://h/', auth }).get('users'));
    expect([found.path, found.message]).toEqual([
      `${AT}.in`,
      '“key” goes into the body, but a GET request has none.',
    ]);
  });
});

describe('several and a choice', () => {
  test('several at once, the later seeing the earlier', async () => {
    const api = await startApi();
    const auth = {
      type: 'several',
      of: [
        { type: 'apiKey', name: 'k', in: 'query', '#key': 'abc' },
        { type: 'headers', headers: { 'X-Query': { request: 'queryString' } } },
      ],
    };
    await clientOf({ baseUrl: api.url, auth }).get('users');
    expect([api.seen[0]?.line, api.seen[0]?.headers['x-query']]).toEqual(['GET /users?k=abc', 'k=abc']);
  });

  const choice = {
    type: 'choice',
    choose: { attr: 'login' },
    from: {
      token: { type: 'bearer', '#token': { attr: '#token' } },
      key: { type: 'apiKey', name: 'X-Key', '#key': { attr: '#key' } },
      none: {},
    },
  };

  test('only the one that is chosen is made', async () => {
    const api = await startApi();
    await clientOf({ baseUrl: api.url, auth: choice, config: { login: 'token', '#token': 'abc' } }).get('a');
    await clientOf({ baseUrl: api.url, auth: choice, config: { login: 'key', '#key': 'def' } }).get('b');
    await clientOf({ baseUrl: api.url, auth: choice, config: { login: 'none' } }).get('c');
    expect(api.seen.map(({ headers }) => [headers.authorization, headers['x-key']])).toEqual([
      ['Bearer abc', undefined],
      [undefined, 'def'],
      [undefined, undefined],
    ]);
  });

  test('a name that is not there is told, with those that are', async () => {
    const found = await failure(() =>
      clientOf({ baseUrl: 'https://h/', auth: choice, config: { login: 'tokn' } }),
    );
    expect(found).toMatchObject({
      path: `${AT}.choose`,
      message: '“choose” gives “tokn”, and there is no such authentication in “from”.',
      hint: 'Did you mean "token"? There is "token", "key", "none".',
    });
  });

  test('a mistake inside names its place', async () => {
    const auth = { type: 'choice', choose: 'x', from: { x: { type: 'bearr' } } };
    const found = await failure(() => clientOf({ baseUrl: 'https://h/', auth }));
    expect(found.path).toBe(`${AT}.from.x.type`);
  });
});
