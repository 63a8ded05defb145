import { describe, expect, test } from 'vitest';
import { clientOf, collectWarnings, failure, startApi } from './support.ts';

describe('query', () => {
  test('parameters are added, and replace those of the same name in place', async () => {
    const api = await startApi();
    const auth = { type: 'query', query: { token: { attr: '#key' }, version: 2 } };
    await clientOf({ baseUrl: api.url, auth, config: { '#key': 'a/b' } }).get('users?version=1&page=1');
    expect(api.seen[0]?.line).toBe('GET /users?version=2&page=1&token=a%2Fb');
  });

  test('the query is written anew: plus becomes %20, a bare name stays bare, lists repeat the name', async () => {
    const api = await startApi();
    const auth = { type: 'query', query: { k: 'v', ids: [1, 2], flag: null } };
    await clientOf({ baseUrl: api.url, auth }).get('users?s=a+b&bare&x=1&x=2&arr%5B0%5D=*');
    expect(api.seen[0]?.line).toBe('GET /users?s=a%20b&bare&x=1&x=2&arr%5B0%5D=%2A&k=v&ids=1&ids=2&flag');
  });

  test('functions see the request and its query', async () => {
    const api = await startApi();
    const auth = {
      type: 'query',
      query: {
        page2: { query: 'page' },
        sign: {
          function: 'implode',
          args: [
            ' ',
            [
              { request: 'method' },
              { request: 'resource' },
              { request: 'path' },
              { request: 'queryString' },
              { request: 'hostname' },
              { request: 'url' },
            ],
          ],
        },
        port: { request: 'port' },
      },
    };
    await clientOf({ baseUrl: api.url, auth }).get('users?page=7');
    const { searchParams } = new URL(`http://h${api.seen[0]?.line.slice(4)}`);
    expect(Object.fromEntries(searchParams)).toEqual({
      page: '7',
      page2: '7',
      sign: `GET /users?page=7 /users page=7 127.0.0.1 ${api.url}users?page=7`,
      port: api.host.split(':')[1],
    });
  });

  test('the port is the usual one where none is written', async () => {
    const { context } = clientOf({ baseUrl: 'https://h/', auth: { type: '' } });
    const { query } = await import('../../../../src/engine/http/auth/query.ts');
    const wrapper = query.create(
      { type: 'query', query: { p: { request: 'port' } } },
      { ...context, nested: () => (next) => next },
    );
    const urls: string[] = [];
    const send = wrapper(async ({ url }) => {
      urls.push(url);
      return { status: 200, headers: {}, url, body: new Uint8Array() };
    });
    await send({ method: 'GET', url: 'https://h/x', headers: {} }, { signal: new AbortController().signal });
    await send({ method: 'GET', url: 'http://h/x', headers: {} }, { signal: new AbortController().signal });
    expect(urls).toEqual(['https://h/x?p=443', 'http://h/x?p=80']);
  });

  test('the older words work with a warning', async () => {
    const api = await startApi();
    const log = collectWarnings();
    await clientOf({
      baseUrl: api.url,
      auth: { query: { k: 'old' }, authentication: { type: 'url.query' } },
      log,
    }).get('users');
    expect(api.seen[0]?.line).toBe('GET /users?k=old');
    expect(log.warnings).toEqual([
      'The authentication type “url.query” is an older word for “query”.',
      '“api.query” is deprecated; move it to “api.authentication.query”.',
    ]);
  });

  test('without parameters it is an error, and so is an object as a value', async () => {
    expect(
      await failure(() => clientOf({ baseUrl: 'http://h/', auth: { type: 'query', query: [] } })),
    ).toMatchObject({
      code: 'config.invalid',
      path: 'parameters.api.authentication.query',
    });
    const api = await startApi();
    const client = clientOf({ baseUrl: api.url, auth: { type: 'query', query: { a: { b: 1, c: 2 } } } });
    expect(await failure(() => client.get('users'))).toMatchObject({
      path: 'parameters.api.authentication.query.a',
    });
    expect(api.seen).toEqual([]);
  });
});

describe('bearer', () => {
  test('the token goes into the header', async () => {
    const api = await startApi();
    await clientOf({
      baseUrl: api.url,
      auth: { type: 'bearer', '#token': { attr: '#t' } },
      config: { '#t': 'abc\n' },
    }).get('users');
    expect(api.seen[0]?.headers.authorization).toBe('Bearer abc');
  });

  test('without a token it is an error', async () => {
    expect(await failure(() => clientOf({ baseUrl: 'http://h/', auth: { type: 'bearer' } }))).toEqual({
      code: 'config.invalid',
      path: 'parameters.api.authentication.#token',
      message: '“#token” is required for this authentication.',
      hint: 'Add "#token" beside "type".',
    });
  });
});

describe('apiKey', () => {
  test('the key goes into a header by default, with its prefix', async () => {
    const api = await startApi();
    await clientOf({
      baseUrl: api.url,
      auth: { type: 'apiKey', name: 'X-Key', '#key': 'abc', prefix: 'Token ' },
    }).get('users');
    expect(api.seen[0]?.headers['x-key']).toBe('Token abc');
  });

  test('or into the query', async () => {
    const api = await startApi();
    await clientOf({ baseUrl: api.url, auth: { type: 'apiKey', name: 'key', key: 'a b', in: 'query' } }).get(
      'users?x=1',
    );
    expect(api.seen[0]?.line).toBe('GET /users?x=1&key=a%20b');
  });

  test('any other place is an error', async () => {
    const auth = { type: 'apiKey', name: 'key', key: 'a', in: 'path' };
    expect(await failure(() => clientOf({ baseUrl: 'http://h/', auth }))).toMatchObject({
      path: 'parameters.api.authentication.in',
    });
  });
});
