import { createHmac } from 'node:crypto';
import { array, assert, property, string, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiRequest } from '../../../../src/engine/shared/message.ts';
import { baseString } from '../../../../src/engine/http/auth/oauth10.ts';
import type { Json } from '../../../../src/lib/json/index.ts';
import { clientOf, collectWarnings, failure, fakeEnv, signal, startApi } from './support.ts';
import { createAuth } from '../../../../src/engine/http/auth/index.ts';
import { times } from '../../../support/sample.ts';

/** An environment that stands at a second and gives these bytes. */
function fixed(seconds: number, hex: string) {
  return { ...fakeEnv(seconds), randomBytes: () => Buffer.from(hex, 'hex') };
}

/** The request as the authentication makes it, with nothing sent. */
async function signed(
  auth: Json,
  credentials: Record<string, Json>,
  seconds: number,
  nonce: string,
  request: ApiRequest,
): Promise<ApiRequest> {
  const { context } = clientOf({
    baseUrl: 'http://h/',
    auth: { type: '' },
    credentials,
    env: fixed(seconds, nonce),
  });
  const sent: ApiRequest[] = [];
  const wrapper = createAuth({ authentication: auth }, context);
  await wrapper?.(async (one) => {
    sent.push(one);
    return { status: 200, headers: {}, url: one.url, body: new Uint8Array() };
  })(request, { signal });
  return sent[0] ?? request;
}

const user = {
  '#data': '{"oauth_token":"userToken","oauth_token_secret":"tokenSecret"}',
  appKey: 1234,
  '#appSecret': 'TopSecret',
};

describe('oauth10', () => {
  test('gives the known signature, with a number as the key and the usual port left out', async () => {
    const request = { method: 'GET', url: 'http://mock-server:80/102-oauth1/users', headers: {} };
    const { headers } = await signed(
      { type: 'oauth10' },
      user,
      1492904452,
      '72469d96572dabb4d0ea02b057ea4f246d722b72',
      request,
    );
    expect(headers).toEqual({
      Authorization:
        'OAuth oauth_consumer_key="1234", oauth_nonce="72469d96572dabb4d0ea02b057ea4f246d722b72", oauth_signature="zl0y5CyySCPj8IqODV3Egjqgg6Q%3D", oauth_signature_method="HMAC-SHA1", oauth_timestamp="1492904452", oauth_token="userToken", oauth_version="1.0"',
    });
  });

  test('signs query and form as in the example of RFC 5849 3.4.1', () => {
    const request = {
      method: 'POST',
      url: 'http://EXAMPLE.COM/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'c2&a3=2+q',
    };
    const oauth: [string, string][] = [
      ['oauth_consumer_key', '9djdj82h48djs9d2'],
      ['oauth_token', 'kkk9d7dh3k39sjv7'],
      ['oauth_signature_method', 'HMAC-SHA1'],
      ['oauth_timestamp', '137131201'],
      ['oauth_nonce', '7d8f3e4a'],
    ];
    expect(baseString(request, oauth)).toBe(
      'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
    );
  });

  test('a JSON body does not count', () => {
    const request = {
      method: 'POST',
      url: 'https://h:8443/a',
      headers: { 'content-type': 'application/json' },
      body: 'a=1',
    };
    expect(baseString(request, [])).toBe('POST&https%3A%2F%2Fh%3A8443%2Fa&');
  });

  test('whatever is in a query, the parameters are the same in any order', () => {
    const pairs = array(tuple(string({ unit: 'binary' }), string({ unit: 'binary' })), { maxLength: 5 });
    assert(
      property(pairs, (list) => {
        const of = (some: typeof list): string =>
          baseString(
            { method: 'GET', url: `http://h/?${new URLSearchParams(some).toString()}`, headers: {} },
            [],
          );
        expect(of(list)).toBe(of(list.toReversed()));
      }),
      { numRuns: times(50) },
    );
  });

  test('a retry gets a fresh nonce, timestamp and signature', async () => {
    let calls = 0;
    const api = await startApi(() => ({ status: calls++ === 0 ? 500 : 200 }));
    await clientOf({ baseUrl: api.url, auth: { type: 'oauth10' }, credentials: user }).get('users?a=1');
    const [first = new Map<string, string>(), second = new Map<string, string>()] = api.seen.map(
      ({ headers }) =>
        new Map(
          Array.from((headers.authorization ?? '').matchAll(/(\w+)="([^"]*)"/g), ([, name, value]) => [
            name ?? '',
            decodeURIComponent(value ?? ''),
          ]),
        ),
    );
    for (const part of ['oauth_nonce', 'oauth_timestamp', 'oauth_signature'])
      expect(first.get(part)).not.toBe(second.get(part));
    const { oauth_signature, ...parameters } = Object.fromEntries(second);
    const base = baseString(
      { method: 'GET', url: `${api.url}users?a=1`, headers: {} },
      Object.entries(parameters),
    );
    expect(createHmac('sha1', 'TopSecret&tokenSecret').update(base).digest('base64')).toBe(oauth_signature);
    expect(first.get('oauth_nonce')).toMatch(/^[0-9a-f]{40}$/);
  });

  test.each<[string, Record<string, Json>, string]>([
    ['#data', { appKey: 'a', '#appSecret': 'b' }, '#data'],
    ['appKey', { '#data': '{}', '#appSecret': 'b' }, 'appKey'],
    ['#appSecret', { '#data': '{}', appKey: 'a' }, '#appSecret'],
    ['JSON in #data', { ...user, '#data': 'secret' }, '#data'],
    ['an object in #data', { ...user, '#data': '[1]' }, '#data'],
    ['oauth_token', { ...user, '#data': '{"oauth_token_secret": "x"}' }, '#data.oauth_token'],
    ['oauth_token_secret', { ...user, '#data': '{"oauth_token": "x"}' }, '#data.oauth_token_secret'],
  ])('without %s it is an error that names the place', async (_name, credentials, key) => {
    const error = await failure(() =>
      clientOf({ baseUrl: 'http://h/', auth: { type: 'oauth10' }, credentials }),
    );
    expect(error).toMatchObject({
      code: 'config.invalid',
      path: `authorization.oauth_api.credentials.${key}`,
    });
    expect(JSON.stringify(error)).not.toMatch(/"secret"/);
  });
});

const part = (name: string): Json => ({ request: name });
const own = (name: string): Json => ({ authorization: name });

describe('oauth20', () => {
  const stored = { '#data': 'SomeToken', appKey: 'clientId', '#appSecret': 'clientSecret' };

  test('the stored text is the token', async () => {
    const api = await startApi();
    const auth = {
      type: 'oauth20',
      headers: { Authorization: { function: 'concat', args: ['Bearer ', { authorization: 'data' }] } },
      query: { client: { authorization: 'clientId' }, page: 'x' },
    };
    await clientOf({ baseUrl: api.url, auth, credentials: stored }).get('users?page=1&s=a+b');
    expect(api.seen[0]?.headers.authorization).toBe('Bearer SomeToken');
    expect(api.seen[0]?.line).toBe('GET /users?page=x&s=a%20b&client=clientId');
  });

  test('a MAC over the request gives the known value', async () => {
    const text = [
      own('timestamp'),
      own('nonce'),
      part('method'),
      part('resource'),
      part('hostname'),
      part('port'),
      '\n',
    ];
    const mac = {
      function: 'md5',
      args: [
        {
          function: 'hash_hmac',
          args: ['sha256', { function: 'implode', args: ['\n', text] }, own('data.mac_secret')],
        },
      ],
    };
    const auth = {
      type: 'oauth20',
      format: 'json',
      headers: {
        Authorization: {
          function: 'concat',
          args: [
            'MAC id="',
            own('data.access_token'),
            '", ts="',
            own('timestamp'),
            '", nonce="',
            own('nonce'),
            '", mac="',
            mac,
          ],
        },
      },
    };
    const credentials = {
      ...stored,
      '#data': '{"status": "ok","access_token": "testToken", "mac_secret": "iAreSoSecret123"}',
    };
    const request = { method: 'GET', url: 'http://mock-server:80/104-oauth2-hmac/users', headers: {} };
    const { headers } = await signed(auth, credentials, 1492958193, '605cce2a2f687253', request);
    expect(headers['Authorization']).toBe(
      'MAC id="testToken", ts="1492958193", nonce="605cce2a2f687253", mac="ae96f93def8f02770f30e858e074b2a7',
    );
  });

  test('another format, and data that is no JSON, are errors', async () => {
    const [xml, notJson] = await Promise.all(
      ['xml', 'json'].map((format) =>
        failure(() =>
          clientOf({ baseUrl: 'http://h/', auth: { type: 'oauth20', format }, credentials: stored }),
        ),
      ),
    );
    expect(xml).toMatchObject({ path: 'parameters.api.authentication.format' });
    expect(notJson).toMatchObject({
      path: 'authorization.oauth_api.credentials.#data',
      message: 'The OAuth credentials “#data” are not JSON (line 1, column 1).',
    });
  });
});

describe('oauth20.login', () => {
  test('exchanges the stored token for another', async () => {
    const api = await startApi(({ line }) =>
      line.includes('token') ? { body: '{"access_token": "new1234"}' } : undefined,
    );
    const auth = {
      type: 'oauth20.login',
      loginRequest: {
        endpoint: 'token',
        method: 'FORM',
        headers: { 'X-App-Key': { consumer: 'client_id' } },
        params: {
          client_id: { consumer: 'client_id' },
          client_secret: { consumer: 'client_secret' },
          refresh_token: { user: 'tokens.refresh' },
          grant_type: 'refresh_token',
        },
      },
      apiRequest: { query: { access_token: { response: 'access_token' } } },
    };
    const credentials = { '#data': '{"tokens": {"refresh": "efgh"}}', appKey: 'id', '#appSecret': 'key' };
    const log = collectWarnings();
    await clientOf({ baseUrl: api.url, auth, credentials, log }).get('reports');
    expect(log.warnings).toEqual([]);
    expect(api.seen.map(({ line, body }) => [line, body])).toEqual([
      ['POST /token', 'client_id=id&client_secret=key&refresh_token=efgh&grant_type=refresh_token'],
      ['GET /reports?access_token=new1234', ''],
    ]);
    expect(api.seen[0]?.headers['x-app-key']).toBe('id');
  });

  test('warns of a refresh token that changes, since it keeps none', async () => {
    const tokens = ['r0', 'r1'];
    const api = await startApi(({ line }) =>
      line.includes('token')
        ? { body: `{"access_token": "a", "refresh_token": "${tokens.shift()}"}` }
        : undefined,
    );
    const auth = {
      type: 'oauth20.login',
      loginRequest: {
        endpoint: 'token',
        method: 'FORM',
        params: { refresh_token: { user: 'refresh_token' } },
      },
      apiRequest: { query: { token: { response: 'access_token' } } },
    };
    const credentials = { '#data': '{"refresh_token": "r0"}', appKey: 'id', '#appSecret': 'key' };
    const log = collectWarnings();
    await clientOf({ baseUrl: api.url, auth, credentials, log }).get('reports');
    expect(log.warnings).toEqual([]);
    await clientOf({ baseUrl: api.url, auth, credentials, log }).get('reports');
    expect(log.warnings).toEqual([expect.stringContaining('use "oauth20.refreshToken", which keeps it')]);
  });
});
