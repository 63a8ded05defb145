import { createHmac, generateKeyPairSync, verify, constants, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { getKey, isObject, parseExact, type AnyObject } from '../../../../src/lib/json/index.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { clientOf, failure, fakeEnv, startApi } from './support.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const ed = generateKeyPairSync('ed25519');
const pem = (key: KeyObject, type: 'pkcs8' | 'pkcs1' | 'sec1' = 'pkcs8'): string =>
  String(key.export({ type, format: 'pem' }));

/** A token taken apart; its signature is checked by `check`. */
function read(token: string, check: (bytes: Buffer, signature: Buffer) => boolean): [AnyObject, AnyObject] {
  const [head = '', body = '', signature = ''] = token.split('.');
  expect(check(Buffer.from(`${head}.${body}`), Buffer.from(signature, 'base64url'))).toBe(true);
  const parts = [head, body].map((part) => parseExact(Buffer.from(part, 'base64url').toString()));
  const [header, claims] = parts;
  if (!isObject(header) || !isObject(claims)) throw new Error('no objects');
  return [header, claims];
}

const bearer = (text: string | undefined): string => /^Bearer (.*)$/.exec(text ?? '')?.[1] ?? '';

describe('a signed token that is sent as it is', () => {
  test.each([
    ['RS256', pem(rsa.privateKey), (b: Buffer, s: Buffer) => verify('sha256', b, rsa.publicKey, s)],
    ['RS512', pem(rsa.privateKey, 'pkcs1'), (b: Buffer, s: Buffer) => verify('sha512', b, rsa.publicKey, s)],
    [
      'PS256',
      pem(rsa.privateKey),
      (b: Buffer, s: Buffer) =>
        verify(
          'sha256',
          b,
          { key: rsa.publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
          s,
        ),
    ],
    [
      'ES256',
      pem(ec.privateKey, 'sec1'),
      (b: Buffer, s: Buffer) => verify('sha256', b, { key: ec.publicKey, dsaEncoding: 'ieee-p1363' }, s),
    ],
    ['EdDSA', pem(ed.privateKey), (b: Buffer, s: Buffer) => verify(null, b, ed.publicKey, s)],
  ])('%s', async (algorithm, key, check) => {
    const api = await startApi();
    const auth = {
      type: 'jwt',
      algorithm,
      '#privateKey': { attr: '#key' },
      headers: { kid: { attr: 'kid' } },
      claims: { iss: { attr: 'who' }, sub: null, id: { jwt: 'id' } },
      backdate: 60,
    };
    // as it may come through a variable: on one line
    await clientOf({
      baseUrl: api.url,
      auth,
      config: { '#key': key.replaceAll('\n', '\\n'), kid: 'k1', who: 'robot' },
    }).get('a');
    const [header, claims] = read(bearer(api.seen[0]?.headers.authorization), check);
    expect(header).toEqual({ alg: algorithm, typ: 'JWT', kid: 'k1' });
    const id = getKey(claims, 'id');
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(claims).toEqual({ iat: 1_499_999_940, exp: 1_500_000_540, iss: 'robot', id });
  });

  test('HS256 with a secret in base64; signed anew before it ends, and when it is refused', async () => {
    const env = fakeEnv();
    let refuse = false;
    const api = await startApi(() => ({ status: refuse ? 401 : 200 }));
    const secret = Buffer.from('a shared secret');
    const auth = {
      type: 'jwt',
      '#secret': secret.toString('base64'),
      secretEncoding: 'base64',
      lifetime: 100,
    };
    const secrets = new Secrets();
    const client = clientOf({ baseUrl: api.url, auth, env, secrets });
    await client.get('a');
    env.pass(80);
    await client.get('b');
    env.pass(20);
    await client.get('c');
    refuse = true;
    await failure(() => client.get('d'));
    const tokens = api.seen.map(({ headers }) => bearer(headers.authorization));
    const issued = tokens.map((token) => {
      const [, claims] = read(token, (b, s) => createHmac('sha256', secret).update(b).digest().equals(s));
      return claims;
    });
    expect(issued.map((claims) => getKey(claims, 'iat'))).toEqual([
      1_500_000_000, 1_500_000_000, 1_500_000_100, 1_500_000_100, 1_500_000_100,
    ]);
    expect(secrets.redact(`x ${tokens[0] ?? ''}`)).toBe('x ***');
  });

  test('in another header, with another prefix; the key of a service account', async () => {
    const api = await startApi();
    const account = JSON.stringify({
      private_key: pem(rsa.privateKey),
      private_key_id: 'k9',
      client_email: 'robot@example.com',
    });
    const auth = {
      type: 'jwt',
      '#serviceAccount': { attr: '#a' },
      name: 'X-Token',
      prefix: 'T ',
      claims: { aud: 'x' },
    };
    await clientOf({ baseUrl: api.url, auth, config: { '#a': account } }).get('a');
    const [header, claims] = read(String(api.seen[0]?.headers['x-token']).slice(2), (b, s) =>
      verify('sha256', b, rsa.publicKey, s),
    );
    expect([getKey(header, 'kid'), getKey(claims, 'iss'), getKey(claims, 'aud')]).toEqual([
      'k9',
      'robot@example.com',
      'x',
    ]);
  });

  test.each([
    [{ '#privateKey': 'no key' }, 'The private key cannot be read.', '#privateKey'],
    [
      { '#privateKey': pem(ec.privateKey) },
      'The algorithm RS256 cannot sign with a key of the kind ec',
      '#privateKey',
    ],
    [
      { '#privateKey': pem(rsa.privateKey), algorithm: 'ES256' },
      'The algorithm ES256 cannot sign',
      '#privateKey',
    ],
    [{ '#serviceAccount': '{"a": 1}' }, 'is not the JSON text of a key file', '#serviceAccount'],
    [{ algorithm: 'RS257' }, 'There is no such “algorithm”', 'algorithm'],
    [{}, '“#privateKey” is required', '#privateKey'],
    [{ '#secret': 'abc', lifetime: 'long' }, '“lifetime” must be a whole number', 'lifetime'],
  ])('wrong settings: %s', async (settings, message, key) => {
    const found = await failure(() =>
      clientOf({ baseUrl: 'https://h/', auth: { type: 'jwt', ...settings } }),
    );
    expect(found.message).toContain(message);
    expect(found.path).toBe(`parameters.api.authentication.${key}`);
  });

  test('an encrypted key is opened by its passphrase', async () => {
    const api = await startApi();
    const sealed = String(
      rsa.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open' }),
    );
    await clientOf({
      baseUrl: api.url,
      auth: { type: 'jwt', '#privateKey': sealed, '#passphrase': 'open' },
    }).get('a');
    expect(bearer(api.seen[0]?.headers.authorization)).not.toBe('');
    const wrong = { type: 'jwt', '#privateKey': sealed, '#passphrase': 'shut' };
    expect((await failure(() => clientOf({ baseUrl: api.url, auth: wrong }))).message).toContain(
      '“#passphrase” does not open it',
    );
  });
});

describe('a signed token that is exchanged', () => {
  const answer = { body: '{"access_token": "a-1", "expires_in": 3600}' };

  test('by the grant jwt-bearer', async () => {
    const api = await startApi(({ line }) => (line.startsWith('POST /token') ? answer : undefined));
    const auth = {
      type: 'jwt',
      '#privateKey': pem(rsa.privateKey),
      claims: { scope: 'read' },
      tokenUrl: `${api.url}token`,
    };
    const client = clientOf({ baseUrl: api.url, auth });
    await Promise.all([client.get('a'), client.get('b')]);
    expect(api.seen.map(({ line }) => line)).toEqual(['POST /token', 'GET /a', 'GET /b']);
    const form = new URLSearchParams(api.seen[0]?.body);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [, claims] = read(form.get('assertion') ?? '', (b, s) => verify('sha256', b, rsa.publicKey, s));
    expect(claims).toEqual({ aud: `${api.url}token`, iat: 1_500_000_000, exp: 1_500_000_600, scope: 'read' });
    expect(api.seen[1]?.headers.authorization).toBe('Bearer a-1');
  });

  test('as client credentials', async () => {
    const api = await startApi(({ line }) => (line.startsWith('POST /token') ? answer : undefined));
    const auth = {
      type: 'jwt',
      '#secret': 'shared',
      tokenUrl: 'token',
      exchange: 'clientAssertion',
      params: { scope: { attr: 's' } },
    };
    await clientOf({ baseUrl: api.url, auth, config: { s: 'read' } }).get('a');
    const form = new URLSearchParams(api.seen[0]?.body);
    expect([form.get('grant_type'), form.get('client_assertion_type'), form.get('scope')]).toEqual([
      'client_credentials',
      'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      'read',
    ]);
    expect(form.get('client_assertion')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });
});
