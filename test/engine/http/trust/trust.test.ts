import { describe, expect, test } from 'vitest';
import { createTrust } from '../../../../src/engine/http/trust/trust.ts';
import { parseTrustedHosts } from '../../../../src/engine/http/trust/trusted-hosts.ts';
import { secretHeadersOf, trustedOriginsOf } from '../../../../src/engine/http/trust/sources.ts';
import { objectOf, type Json } from '../../../../src/lib/json/index.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { clientOf, collectWarnings, failure, json, signal, startApi } from '../auth/support.ts';

const bearer = { type: 'bearer', '#token': 'T0psecret' };

describe('credentials', () => {
  test('never arrive at a server that only a link names', async () => {
    const [api, other] = [await startApi(), await startApi()];
    const log = collectWarnings();
    const client = clientOf({
      baseUrl: api.url,
      auth: bearer,
      log,
      headers: { 'X-Api-Auth': 'hidden', Accept: 'text/json' },
    });
    await client.get('users');
    await client.get(`${other.url}users?page=2`);
    await client.get(`${other.url}users?page=3`);
    expect(api.seen[0]?.headers).toMatchObject({ authorization: 'Bearer T0psecret', 'x-api-auth': 'hidden' });
    expect(other.seen.map(({ line }) => line)).toEqual(['GET /users?page=2', 'GET /users?page=3']);
    expect(JSON.stringify(other.seen)).not.toMatch(/T0psecret|hidden/);
    expect(other.seen[0]?.headers.accept).toBe('text/json');
    expect(log.warnings).toEqual([
      `Requests to http://${other.host} are sent without credentials, because the configuration does not name this host. If it may have them, add "${other.host}" to "api.trustedHosts".`,
    ]);
  });

  test('nor at one that a redirect names, and they are back on the way home', async () => {
    const home = await startApi(({ line }) =>
      line.includes('start') ? { status: 302, headers: { location: other.url } } : undefined,
    );
    const other = await startApi(() => ({ status: 302, headers: { location: `${home.url}end` } }));
    const auth = { type: 'query', query: { api_key: 'T0psecret' } };
    await clientOf({ baseUrl: home.url, auth }).get('start');
    expect(home.seen.map(({ line }) => line)).toEqual([
      'GET /start?api_key=T0psecret',
      'GET /end?api_key=T0psecret',
    ]);
    expect(other.seen.map(({ line }) => line)).toEqual(['GET /']);
  });

  test('a login redirected elsewhere takes no secret along', async () => {
    const other = await startApi(() => ({ body: '{"token": "t"}' }));
    const api = await startApi(({ line }) =>
      line.startsWith('GET /login') ? { status: 302, headers: { location: other.url } } : undefined,
    );
    const auth = {
      type: 'login',
      loginRequest: { endpoint: 'login', headers: { 'X-Pin': '1234', 'X-Password': 'T0psecret' } },
      apiRequest: { headers: { 'X-Token': 'token' } },
    };
    await clientOf({ baseUrl: api.url, auth }).get('users');
    expect(api.seen[0]?.headers['x-pin']).toBe('1234');
    expect(other.seen[0]?.headers['x-pin']).toBeUndefined();
    expect(other.seen[0]?.headers['x-password']).toBeUndefined();
  });

  test('and its body is not sent on at all', async () => {
    const other = await startApi();
    const api = await startApi(() => ({ status: 307, headers: { location: other.url } }));
    const auth = {
      type: 'login',
      loginRequest: { endpoint: 'login', method: 'POST', params: { password: 'T0psecret' } },
    };
    expect(await failure(() => clientOf({ baseUrl: api.url, auth }).get('users'))).toMatchObject({
      code: 'http.untrustedHost',
      message: `The login failed: A request with a secret in its body would go to http://${other.host}, which the configuration does not name.`,
      hint: `If that host may have the secret, add "${other.host}" to "api.trustedHosts".`,
    });
    expect(other.seen).toEqual([]);
  });

  test('arrive where the option allows it', async () => {
    const [api, other] = [await startApi(), await startApi()];
    await clientOf({ baseUrl: api.url, auth: bearer, trust: { hosts: [other.host] } }).get(
      `${other.url}users`,
    );
    expect(other.seen[0]?.headers.authorization).toBe('Bearer T0psecret');
  });

  test('known secrets are taken out of headers, query and refused in a body, wherever they stand', async () => {
    const [api, other] = [await startApi(), await startApi()];
    const trust = {
      holdsSecret: (text: string) => text.includes('T0psecret'),
      secretHeaders: new Set(['x-mac']),
    };
    const { send } = clientOf({ baseUrl: api.url, auth: { type: '' }, trust });
    const headers = { 'X-Mac': 'abc', 'X-Sum': 'xT0psecretx', 'X-Page': '2' };
    await send({ method: 'GET', url: `${other.url}a?x=1&k=T0psecret&y=a+b`, headers }, { signal });
    expect(other.seen[0]?.line).toBe('GET /a?x=1&y=a+b');
    expect(other.seen[0]?.headers).toMatchObject({ 'x-page': '2' });
    expect(Object.keys(other.seen[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(['x-mac']));
    expect(Object.keys(other.seen[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(['x-sum']));
    const post = { method: 'POST', url: `${other.url}a`, headers: {}, body: '{"k":"T0psecret"}' };
    expect(await failure(() => send(post, { signal }))).toMatchObject({ code: 'http.untrustedHost' });
    expect(other.seen).toHaveLength(1);
  });

  test.each([
    ['in the path', 'x/T0psecret/y'],
    ['in the path, encoded', 'x/%54%30psecret'],
    ['in the path, encoded twice', 'x/%2554%2530psecret'],
    ['as a user', '@user'],
  ])('a secret that an answer echoes %s of a link or a redirect does not go there', async (_where, path) => {
    const other = await startApi();
    const address = path === '@user' ? other.url.replace('//', '//me:T0psecret@') : other.url + path;
    const api = await startApi(() => ({ status: 302, headers: { location: address } }));
    const secrets = new Secrets();
    secrets.add('T0psecret');
    const trust = { holdsSecret: (text: string) => secrets.holds(text) };
    const client = clientOf({ baseUrl: api.url, auth: bearer, trust });
    for (const url of ['users', address]) {
      expect(await failure(() => client.get(url))).toMatchObject({
        code: 'http.untrustedHost',
        message: `A request with a secret in its address would go to http://${other.host}, which the configuration does not name.`,
      });
    }
    expect(other.seen).toEqual([]);
    // and the query goes without it, however it is written
    await client.get(`${other.url}a?k=%54%30psecret&x=1`);
    expect(other.seen.map(({ line }) => line)).toEqual(['GET /a?x=1']);
  });

  test('nothing is said where nothing was taken away', async () => {
    const [api, other] = [await startApi(), await startApi()];
    const log = collectWarnings();
    await clientOf({ baseUrl: api.url, auth: { type: '' }, log }).get(`${other.url}users`);
    expect(log.warnings).toEqual([]);
  });
});

describe('trust', () => {
  test.each<[string, string, boolean]>([
    ['https://api.example.com/v1/', 'https://api.example.com:443/x', true],
    ['https://api.example.com/', 'https://API.example.com/x', true],
    ['https://api.example.com/', 'http://api.example.com/x', false],
    ['http://api.example.com/', 'https://api.example.com/x', true],
    ['http://api.example.com:8080/', 'https://api.example.com/x', true],
    ['http://api.example.com:8080/', 'https://api.example.com:8080/x', true],
    ['http://api.example.com/', 'https://api.example.com:8443/x', false],
    ['https://api.example.com/', 'https://api.example.com:8443/x', false],
    ['https://api.example.com/', 'https://api.example.com.evil.net/x', false],
    ['https://api.example.com/', 'https://api.example.com@evil.net/x', false],
    ['https://api.example.com/', 'https://evil.net/?https://api.example.com/', false],
    ['https://api.example.com/', 'https://evil.net#@api.example.com/', false],
  ])('with %s, %s: %s', (origin, url, expected) => {
    expect(createTrust({ origins: [origin], log: silentLog }).trusts(url)).toBe(expected);
  });

  test.each<[string, string, boolean]>([
    ['cdn.example.com', 'https://cdn.example.com/x', true],
    ['cdn.example.com', 'http://cdn.example.com/x', true],
    ['cdn.example.com', 'https://cdn.example.com:8443/x', false],
    ['CDN.example.com:8443', 'https://cdn.example.com:8443/x', true],
    ['cdn.example.com:8443', 'https://cdn.example.com/x', false],
    ['*.example.com', 'https://a.b.example.com/x', true],
    ['*.example.com', 'https://example.com/x', false],
    ['*.example.com', 'https://evilexample.com/x', false],
    ['[::1]:8080', 'http://[::1]:8080/x', true],
  ])('the host %s allows %s: %s', (host, url, expected) => {
    const hosts = parseTrustedHosts([host]);
    expect(createTrust({ origins: ['https://api.example.org'], hosts, log: silentLog }).trusts(url)).toBe(
      expected,
    );
  });

  test.each(['https://cdn.example.com', 'cdn.example.com/path', '*', 'a.*.com', '', 'host:port'])(
    '“%s” is no trusted host',
    async (host) => {
      expect(await failure(() => parseTrustedHosts(['ok', host]))).toMatchObject({
        path: 'parameters.api.trustedHosts.1',
      });
    },
  );

  test('the origins are those that the configuration writes out', () => {
    const api: Json = {
      authentication: {
        type: 'login',
        loginRequest: {
          endpoint: 'https://id.example.com/login',
          params: { url: 'https://param.example.com/' },
        },
        tokenUrl: 'https://token.example.com/t',
      },
      pagination: { scrollers: { a: { scrollRequest: { endpoint: 'https://scroll.example.com/s' } } } },
    };
    const jobs: Json = [
      { endpoint: 'users' },
      { endpoint: '//proto.example.com/x', params: { endpoint: 'https://param.example.com/' } },
      {
        endpoint: 'https://files.example.com:8443/a/{id}',
        children: [
          { endpoint: 'https://{host}/x' },
          { endpoint: 'https://fake.example.com{path}' },
          { endpoint: 'HTTPS://child.example.com?x={id}' },
        ],
      },
    ];
    expect(
      trustedOriginsOf({ baseUrl: 'https://api.example.com/v1/', api: objectOf(Object.entries(api)), jobs }),
    ).toEqual([
      'https://api.example.com/v1/',
      'https://id.example.com',
      'https://token.example.com',
      'https://scroll.example.com',
      'https://proto.example.com',
      'https://files.example.com:8443',
      'HTTPS://child.example.com',
    ]);
  });

  test('headers that are made of # attributes are secret', () => {
    const headers = json(
      '{"X-A": {"function": "md5", "args": [{"attr": "server.#pass"}]}, "X-B": {"attr": "plain"}, "X-C": "text"}',
    );
    expect([...secretHeadersOf([headers, undefined, []])]).toEqual(['x-a']);
  });
});
