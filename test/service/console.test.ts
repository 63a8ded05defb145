import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemEnv } from '../../src/lib/env.ts';
import { sessionCookie } from '../../src/service/http/console/cookie.ts';
import { isOnPostgres } from './database.ts';
import { startService, type Running } from './harness.ts';

let service: Running;
let url: string;

beforeAll(async () => {
  service = await startService();
  ({ url } = service.addresses);
});
afterAll(async () => await service.stop());

const PAGE = { 'x-console': '1', 'sec-fetch-site': 'same-origin' };

/** One request as a browser sends it, with any Host and Origin. */
async function ask(
  method: string,
  path: string,
  {
    headers = {},
    body,
    at = url,
  }: { readonly headers?: Record<string, string>; readonly body?: object; readonly at?: string } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: unknown }> {
  return await new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const json = text === undefined ? {} : { 'content-type': 'application/json' };
    httpRequest(at + path, { method, headers: { ...json, ...headers } }, (answer) => {
      let answered = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (answered += chunk));
      answer.on('end', () => {
        const isJson = answer.headers['content-type'] === 'application/json';
        const { statusCode: status = 0 } = answer;
        resolve({ status, headers: answer.headers, body: isJson ? JSON.parse(answered) : answered });
      });
    })
      .on('error', reject)
      .end(text);
  });
}

async function signIn(token = service.token, at = url): Promise<string> {
  const { headers, status } = await ask('POST', '/console/session', { headers: PAGE, body: { token }, at });
  expect(status).toBe(201);
  return (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
}

async function newToken(rights: object = {}): Promise<{ id: string; token: string }> {
  const { body } = await service.call('POST', 'tokens', { description: 'Passing', ...rights });
  return body as { id: string; token: string };
}

describe('a session', () => {
  test('is begun by a token, counts in its place, and never shows it', async () => {
    const { headers, body } = await ask('POST', '/console/session', {
      headers: PAGE,
      body: { token: service.token },
    });
    const cookie = String(headers['set-cookie']);
    expect(cookie).toMatch(/^gex-console-\d+=[\w-]{40}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(JSON.stringify(body)).not.toContain(service.token);
    const used = { cookie: cookie.split(';')[0] ?? '', ...PAGE };
    const verified = await ask('GET', '/v2/storage/tokens/verify', { headers: used });
    expect(verified.status).toBe(200);
    expect(verified.body).toMatchObject({ isMasterToken: true });
    expect(JSON.stringify(verified.body)).not.toContain(service.token);
    const made = await ask('POST', '/v2/storage/buckets', {
      headers: used,
      body: { name: 'main', stage: 'in' },
    });
    expect(made.status).toBe(201);
  });

  test('is begun by a code once', async () => {
    const { body } = await service.call('POST', '/console/codes');
    const by = { headers: PAGE, body: body as object };
    const answers = await Promise.all([
      ask('POST', '/console/session', by),
      ask('POST', '/console/session', by),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401]);
    expect(answers.find(({ status }) => status === 401)?.body).toMatchObject({ code: 'console.codeInvalid' });
  });

  test('says who is signed in, and that nobody is, without an error', async () => {
    const cookie = await signIn();
    expect((await ask('GET', '/console/session', { headers: { cookie, ...PAGE } })).body).toMatchObject({
      isSignedIn: true,
      token: { description: 'Master token', isMaster: true },
      project: { name: 'My project' },
      runs: false,
    });
    const nobody = await ask('GET', '/console/session');
    expect(nobody).toMatchObject({ status: 200, body: { isSignedIn: false } });
    expect(nobody.headers['cache-control']).toBe('no-store');
  });

  test('ends by signing out, and the cookie is taken away', async () => {
    const cookie = await signIn();
    const out = await ask('DELETE', '/console/session', { headers: { cookie, ...PAGE } });
    expect(out.status).toBe(204);
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0');
    const after = await ask('GET', '/v2/storage/tokens/verify', { headers: { cookie, ...PAGE } });
    expect(after).toMatchObject({ status: 401, body: { code: 'console.signedOut' } });
  });

  test.each(['DELETE', 'refresh'] as const)('ends with its token: %s', async (how) => {
    const { id, token } = await newToken();
    const cookie = await signIn(token);
    const look = async () => await ask('GET', '/v2/storage/tokens/verify', { headers: { cookie, ...PAGE } });
    expect((await look()).status).toBe(200);
    if (how === 'DELETE') await service.call('DELETE', `tokens/${id}`);
    else await service.call('POST', `tokens/${id}/refresh`);
    expect((await look()).status).toBe(401);
  });

  // Over PostgreSQL the time is that of the database, which no test may set; the rule is one for both.
  test.skipIf(isOnPostgres)(
    'ends when nobody uses it for twelve hours, and after a week however much it is used',
    async () => {
      const clock = { now: Date.now() };
      const own = await startService({ env: { ...systemEnv, now: () => clock.now } });
      const at = own.addresses.url;
      const begin = async (): Promise<() => Promise<number>> => {
        const cookie = await signIn(own.token, at);
        return async () =>
          (await ask('GET', '/v2/storage/tokens/verify', { headers: { cookie, ...PAGE }, at })).status;
      };
      const HOUR = 3_600_000;
      try {
        const unused = await begin();
        clock.now += 11 * HOUR;
        expect(await unused()).toBe(200);
        clock.now += 13 * HOUR;
        expect(await unused()).toBe(401);
        const used = await begin();
        const since = clock.now;
        const statuses: number[] = [];
        for (let hours = 6; hours <= 7 * 24 + 6; hours += 6) {
          clock.now = since + hours * HOUR;
          statuses.push(await used());
        }
        expect(statuses).toEqual([...Array.from({ length: 27 }, () => 200), 401, 401]);
      } finally {
        await own.stop();
      }
    },
  );

  test('may do what its token may do, and no more', async () => {
    const { token } = await newToken();
    const cookie = await signIn(token);
    const made = await ask('POST', '/v2/storage/buckets', {
      headers: { cookie, ...PAGE },
      body: { name: 'other', stage: 'in' },
    });
    expect(made.status).toBe(403);
  });

  test('is not begun by a wrong token', async () => {
    const answer = await ask('POST', '/console/session', { headers: PAGE, body: { token: '1-2-x' } });
    expect(answer).toMatchObject({ status: 401, body: { code: 'storage.tokenInvalid' } });
    expect(answer.headers['set-cookie']).toBeUndefined();
  });
});

describe('what another site sends', () => {
  const CHANGE = { body: { name: 'theirs', stage: 'in' } };

  test.each([
    ['without the header', { 'sec-fetch-site': 'same-origin' }],
    ['from another site', { 'x-console': '1', 'sec-fetch-site': 'cross-site' }],
    ['from another port', { 'x-console': '1', 'sec-fetch-site': 'same-site' }],
    ['by hand', { 'x-console': '1', 'sec-fetch-site': 'none' }],
    [
      'from another origin, by a browser that says no more',
      { 'x-console': '1', origin: 'http://evil.example' },
    ],
    ['from nowhere', { 'x-console': '1', origin: 'null' }],
  ])('is refused: %s', async (_, headers) => {
    const cookie = await signIn();
    const answer = await ask('POST', '/v2/storage/buckets', { headers: { cookie, ...headers }, ...CHANGE });
    expect(answer).toMatchObject({ status: 403, body: { code: 'console.otherSite' } });
    const begun = await ask('POST', '/console/session', { headers, body: { token: service.token } });
    expect(begun.status).toBe(403);
  });

  test('is refused also when it only reads', async () => {
    const cookie = await signIn();
    for (const site of ['cross-site', 'same-site']) {
      const answer = await ask('GET', '/v2/storage/tables', { headers: { cookie, 'sec-fetch-site': site } });
      expect(answer.status).toBe(403);
    }
  });

  test('a link of the page and a stream of events read without a header of their own', async () => {
    const cookie = await signIn();
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }, {}])
      expect((await ask('GET', '/v2/storage/tables', { headers: { cookie, ...headers } })).status).toBe(200);
  });

  test('a name that leads to this machine is not this machine', async () => {
    const cookie = await signIn();
    const { port } = new URL(url);
    const host = `rebound.example:${port}`;
    const headers = { ...PAGE, cookie, host };
    expect(await ask('GET', '/v2/storage/tables', { headers })).toMatchObject({ status: 403 });
    const begun = await ask('POST', '/console/session', { headers, body: { token: service.token } });
    expect(begun).toMatchObject({ status: 403, body: { code: 'console.otherName' } });
    expect(
      (await ask('GET', '/v2/storage/tables', { headers: { ...headers, host: `localhost:${port}` } })).status,
    ).toBe(200);
  });

  test('a token in a header is a token, wherever it comes from', async () => {
    const headers = { 'x-storageapi-token': service.token, 'sec-fetch-site': 'cross-site' };
    expect((await ask('GET', '/v2/storage/tables', { headers })).status).toBe(200);
  });
});

describe('over TLS', () => {
  test('the cookie is for TLS and this host alone', () => {
    expect(sessionCookie('https://storage.example.com', 'x')).toBe(
      '__Host-gex-console=x; Path=/; HttpOnly; SameSite=Strict; Secure',
    );
  });
});

describe('the page', () => {
  const HTML = { accept: 'text/html,application/xhtml+xml' };

  test.each([
    '/',
    '/tables',
    '/tables/in.c-main.users',
    '/sources/a/b/rows',
    '/new',
    '/runs/1',
    '/jobs',
    '/files',
    '/tokens',
  ])('is at %s for browsers, and nowhere for programs', async (path) => {
    const page = await ask('GET', path, { headers: HTML });
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    expect(await ask('GET', path, { headers: { accept: 'application/json' } })).toMatchObject({
      status: 404,
      body: { status: 'error', code: 'notFound' },
    });
  });

  test('allows nothing from elsewhere, and no code that is not a file', async () => {
    const { headers } = await ask('GET', '/', { headers: HTML });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'; base-uri 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
    expect(headers['cache-control']).toBe('no-cache');
  });

  test('takes nothing away from what was there', async () => {
    expect((await ask('GET', '/docs', { headers: HTML })).body).toContain('X-StorageApi-Token');
    expect((await ask('GET', '/health')).status).toBe(200);
    expect((await ask('GET', '/v2/storage')).status).toBe(200);
    expect((await ask('GET', '/elsewhere', { headers: HTML })).status).toBe(404);
  });

  test.each(['/assets/..%2f..%2fpackage.json', '/assets/.hidden.js', '/assets/none.js', '/assets/a.txt'])(
    'gives no file but its own: %s',
    async (path) => {
      expect((await ask('GET', path)).status).toBe(404);
    },
  );
});
