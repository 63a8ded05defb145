import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/lib/json/index.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { clientOf, failure, fakeEnv, startApi, type Seen } from './support.ts';

/** A server that gives tokens t1, t2 … for this many seconds, and refuses the ones it is told to. */
async function tokenApi(expiresIn: Json, refused: ReadonlySet<string> = new Set()) {
  let count = 0;
  return startApi(({ line, headers }) => {
    if (line.startsWith('POST /token'))
      return {
        body: JSON.stringify({ access_token: `t${++count}`, token_type: 'bearer', expires_in: expiresIn }),
      };
    return { status: refused.has(headers.authorization ?? '') ? 401 : 200 };
  });
}

const auth = {
  type: 'oauth20.clientCredentials',
  tokenUrl: 'token',
  clientId: 'my id',
  '#clientSecret': { attr: '#secret' },
};
const config = { '#secret': 's:1' };
const steps = (seen: readonly Seen[]): string[] =>
  seen.map(({ line, headers }) => (line.includes('token') ? 'token' : (headers.authorization ?? '')));

describe('oauth20.clientCredentials', () => {
  test('fetches a token with the client in the header', async () => {
    const api = await tokenApi(3600);
    const client = clientOf({
      baseUrl: api.url,
      auth: { ...auth, scope: ['a', 'b'], audience: 'https://x/' },
      config,
    });
    await Promise.all([client.get('users'), client.get('orders')]);
    expect(steps(api.seen)).toEqual(['token', 'Bearer t1', 'Bearer t1']);
    expect(api.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('my+id:s%3A1').toString('base64')}`);
    expect(api.seen[0]?.body).toBe('grant_type=client_credentials&scope=a+b&audience=https%3A%2F%2Fx%2F');
  });

  test('keeps that header out of what is shown', async () => {
    const api = await tokenApi(3600);
    const secrets = new Secrets();
    await clientOf({ baseUrl: api.url, auth, config, secrets }).get('users');
    expect(secrets.redact(String(api.seen[0]?.headers.authorization))).toBe('Basic ***');
  });

  test('or in the body, with further parameters and the stored client', async () => {
    const api = await tokenApi('3600');
    await clientOf({
      baseUrl: api.url,
      auth: {
        type: auth.type,
        tokenUrl: `${api.url}token?x=1`,
        authStyle: 'body',
        params: { resource: { attr: 'r' } },
      },
      config: { r: 'files' },
      credentials: { appKey: 'id', '#appSecret': 'key' },
    }).get('users');
    expect(api.seen[0]?.body).toBe(
      'grant_type=client_credentials&client_id=id&client_secret=key&resource=files',
    );
    expect(api.seen[0]?.headers.authorization).toBeUndefined();
  });

  test('renews a token before it expires', async () => {
    const env = fakeEnv();
    const api = await tokenApi(100);
    const client = clientOf({ baseUrl: api.url, auth, config, env });
    await client.get('a');
    env.pass(89);
    await client.get('b');
    env.pass(1);
    await client.get('c');
    expect(steps(api.seen)).toEqual(['token', 'Bearer t1', 'Bearer t1', 'token', 'Bearer t2']);
  });

  test('and once when it is refused, also for requests at the same time', async () => {
    const api = await tokenApi(null, new Set(['Bearer t1']));
    const client = clientOf({ baseUrl: api.url, auth, config });
    await Promise.all([client.get('a'), client.get('b')]);
    expect(steps(api.seen).filter((step) => step === 'token')).toHaveLength(2);
    expect(steps(api.seen).slice(-1)).toEqual(['Bearer t2']);
  });

  test('a second refusal is an error of the API', async () => {
    const api = await tokenApi(3600, new Set(['Bearer t1', 'Bearer t2']));
    expect(await failure(() => clientOf({ baseUrl: api.url, auth, config }).get('a'))).toMatchObject({
      code: 'http.status',
    });
    expect(steps(api.seen)).toEqual(['token', 'Bearer t1', 'token', 'Bearer t2']);
  });

  test('an answer without a token is an error', async () => {
    const api = await startApi();
    expect(await failure(() => clientOf({ baseUrl: api.url, auth, config }).get('a'))).toMatchObject({
      code: 'auth.failed',
      message: 'The token response has no “access_token”.',
      path: 'parameters.api.authentication.tokenUrl',
    });
  });

  test.each<[string, Record<string, Json>, string]>([
    ['tokenUrl', { clientId: 'a', '#clientSecret': 'b' }, 'tokenUrl'],
    ['clientId', { tokenUrl: 'a', '#clientSecret': 'b' }, 'clientId'],
    ['the secret', { tokenUrl: 'a', clientId: 'a' }, '#clientSecret'],
    ['a known style', { tokenUrl: 'a', clientId: 'a', '#clientSecret': 'b', authStyle: 'url' }, 'authStyle'],
  ])('without %s it is a wrong configuration', async (_name, node, key) => {
    const wrong = { ...node, type: auth.type };
    expect(await failure(() => clientOf({ baseUrl: 'http://h/', auth: wrong }))).toMatchObject({
      code: 'config.invalid',
      path: `parameters.api.authentication.${key}`,
    });
  });
});
