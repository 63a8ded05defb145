import { describe, expect, test } from 'vitest';
import {
  memoryLogins,
  type KeptLogin,
  type LoginKeeper,
} from '../../../../src/engine/http/auth/kept-login.ts';
import type { React } from '../../../../src/engine/shared/message.ts';
import type { Json } from '../../../../src/lib/json/index.ts';
import { Secrets } from '../../../../src/lib/secrets.ts';
import { clientOf, collectWarnings, failure, fakeEnv, startApi, type Seen } from './support.ts';

/** Gives access tokens a1, a2 … and refresh tokens r1, r2 …, each for one use; `r0` is the first. */
async function rotatingApi(
  settings: { expiresIn?: number; isOnce?: boolean; answer?: (n: number) => Json } = {},
) {
  const { expiresIn = 3600, isOnce = true } = settings;
  let count = 0;
  let valid = 'r0';
  const refused = new Set<string>();
  const api = await startApi(({ line, body, headers }) => {
    if (!line.startsWith('POST /token'))
      return { status: refused.has(headers.authorization ?? '') ? 401 : 200 };
    const sent = new URLSearchParams(body).get('refresh_token');
    if (sent !== valid)
      return { status: 400, body: '{"error":"invalid_grant","error_description":"used or unknown"}' };
    count++;
    if (isOnce) valid = `r${count}`;
    const standard = {
      access_token: `a${count}`,
      expires_in: expiresIn,
      ...(isOnce ? { refresh_token: valid } : {}),
    };
    return { body: JSON.stringify(settings.answer?.(count) ?? standard) };
  });
  return { ...api, refused };
}

/** A keeper that writes down what is asked of it, and can be made to fail. */
function watched(kept: LoginKeeper = memoryLogins(), isShared = false) {
  const steps: string[] = [];
  const faults: (Error | undefined)[] = [];
  const keeper: LoginKeeper = {
    ...kept,
    isShared,
    isLasting: true,
    async write(name, login) {
      const fault = faults.shift();
      steps.push(describeKept(login) + (fault === undefined ? '' : ' failed'));
      if (fault !== undefined) throw fault;
      await kept.write(name, login);
    },
  };
  return { keeper, steps, faults };
}

const describeKept = ({ tokens: { accessToken, refreshToken }, pending }: KeptLogin): string =>
  `${accessToken ?? '-'} ${refreshToken ?? '-'}${pending === undefined ? '' : ' pending'}`;

const auth = {
  type: 'oauth20.refreshToken',
  tokenUrl: 'token',
  clientId: 'shop',
  '#clientSecret': 'hush',
  '#refreshToken': { attr: '#first' },
};
const config = { '#first': 'r0' };

const lines = (seen: readonly Seen[]): string[] =>
  seen.map(({ line, body, headers }) =>
    line.startsWith('POST /token')
      ? `token ${new URLSearchParams(body).get('refresh_token') ?? ''}`
      : `${line} ${headers.authorization ?? ''}`,
  );

describe('an access token that there is already', () => {
  const held = { '#accessToken': 'a0', accessTokenExpires: { attr: 'ends' } };

  test.each([
    ['a time to come', '2030-01-01T00:00:00Z', ['GET /items Bearer a0']],
    ['Unix seconds to come', 1_893_456_000, ['GET /items Bearer a0']],
    ['a time that is over', '2001-01-01T00:00:00Z', ['token r0', 'GET /items Bearer a1']],
    ['no time', '', ['token r0', 'GET /items Bearer a1']],
  ])('%s', async (_, ends, expected) => {
    const api = await rotatingApi();
    const client = clientOf({ baseUrl: api.url, auth: { ...auth, ...held }, config: { ...config, ends } });
    await client.get('items');
    expect(lines(api.seen)).toEqual(expected);
  });

  test('one that the API refuses is refreshed', async () => {
    const api = await rotatingApi();
    api.refused.add('Bearer a0');
    const ends = '2030-01-01T00:00:00Z';
    const client = clientOf({ baseUrl: api.url, auth: { ...auth, ...held }, config: { ...config, ends } });
    await client.get('items');
    expect(lines(api.seen)).toEqual(['GET /items Bearer a0', 'token r0', 'GET /items Bearer a1']);
  });

  test('what is kept goes before it', async () => {
    const api = await rotatingApi();
    const keeper = memoryLogins();
    const options = { baseUrl: api.url, config: { ...config, ends: '2001-01-01' }, logins: keeper };
    await clientOf({ ...options, auth: { ...auth, ...held } }).get('items');
    await clientOf({ ...options, auth: { ...auth, ...held } }).get('items');
    expect(lines(api.seen)).toEqual(['token r0', 'GET /items Bearer a1', 'GET /items Bearer a1']);
  });

  test('an end that is no time is told with its place', async () => {
    const options = {
      baseUrl: 'https://h/',
      auth: { ...auth, ...held },
      config: { ...config, ends: 'whenever' },
    };
    expect(await failure(() => clientOf(options).get('items'))).toMatchObject({
      path: 'parameters.api.authentication.accessTokenExpires',
      message: 'This is no time.',
    });
  });
});

describe('refresh tokens for one use', () => {
  test('what comes is kept before it is used, and what is under way before that', async () => {
    const api = await rotatingApi();
    const { keeper, steps } = watched();
    const secrets = new Secrets();
    const client = clientOf({ baseUrl: api.url, auth, config, logins: keeper, secrets });
    await Promise.all([client.get('x'), client.get('y')]);
    expect(steps).toEqual(['- - pending', 'a1 r1']);
    expect(lines(api.seen)).toEqual(['token r0', 'GET /x Bearer a1', 'GET /y Bearer a1']);
    expect(api.seen[0]?.body).toBe('grant_type=refresh_token&refresh_token=r0');
    expect(api.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('shop:hush').toString('base64')}`);
  });

  test('the next run uses the token that is kept while it holds, and the newest refresh token after that', async () => {
    const api = await rotatingApi();
    const env = fakeEnv();
    const { keeper, steps } = watched();
    const run = async (path: string) =>
      await clientOf({ baseUrl: api.url, auth, config, logins: keeper, env }).get(path);
    await run('one');
    await run('two');
    env.pass(3600);
    await run('three');
    expect(lines(api.seen)).toEqual([
      'token r0',
      'GET /one Bearer a1',
      'GET /two Bearer a1',
      'token r1',
      'GET /three Bearer a2',
    ]);
    expect(steps).toEqual(['- - pending', 'a1 r1', 'a1 r1 pending', 'a2 r2']);
  });

  test('a token that the API refuses is refreshed once', async () => {
    const api = await rotatingApi();
    api.refused.add('Bearer a1');
    const { keeper } = watched();
    await clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('x');
    expect(lines(api.seen)).toEqual(['token r0', 'GET /x Bearer a1', 'token r1', 'GET /x Bearer a2']);
  });

  test('a reaction that asks for a new login is not given the token that is kept', async () => {
    const api = await rotatingApi();
    const { keeper } = watched();
    const { send } = clientOf({ baseUrl: api.url, auth, config, logins: keeper });
    const reason = { isLogin: true, times: 1 };
    const react: React = (_response, isSpent) =>
      isSpent(reason) ? { do: 'take' } : { do: 'again', reason, why: 'it has ended', pause: { by: 'usual' } };
    const { signal } = new AbortController();
    await send({ method: 'GET', url: `${api.url}x`, headers: {} }, { signal, react });
    expect(lines(api.seen)).toEqual(['token r0', 'GET /x Bearer a1', 'token r1', 'GET /x Bearer a2']);
  });

  test('a token that stays the same stays', async () => {
    const api = await rotatingApi({ isOnce: false });
    const env = fakeEnv();
    const { keeper, steps } = watched();
    const client = clientOf({ baseUrl: api.url, auth, config, logins: keeper, env });
    await client.get('x');
    env.pass(3600);
    await client.get('y');
    expect(lines(api.seen)).toEqual(['token r0', 'GET /x Bearer a1', 'token r0', 'GET /y Bearer a2']);
    expect(steps.at(-1)).toBe('a2 r0');
  });

  test('a new first token is a new login; the older one is there when it comes back', async () => {
    const api = await rotatingApi();
    const { keeper } = watched();
    await clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('x');
    const error = await failure(() =>
      clientOf({ baseUrl: api.url, auth, config: { '#first': 'other' }, logins: keeper }).get('y'),
    );
    expect(error.message).toContain('The refresh token was refused. The login failed');
    expect(error.message).toContain('invalid_grant');
    expect(error.hint).toContain(
      'It may have expired, been taken back, or been used elsewhere. Log in again with gex login',
    );
    await clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('z');
    expect(lines(api.seen)).toEqual(['token r0', 'GET /x Bearer a1', 'token other', 'GET /z Bearer a1']);
  });

  test('other names in the answer, a public client, JSON, another prefix', async () => {
    const api = await startApi(({ line }) =>
      line.startsWith('POST') ? { body: '{"data":{"token":"a1","next":"r1","ttl":"60"}}' } : undefined,
    );
    const { keeper, steps } = watched();
    const own = {
      type: auth.type,
      tokenUrl: `${api.url}token`,
      clientId: 'shop',
      '#refreshToken': 'r0',
      bodyFormat: 'json',
      params: { kind: { attr: 'kind' } },
      answer: { accessToken: 'data.token', refreshToken: 'data.next', expiresIn: 'data.ttl' },
      prefix: 'Token ',
    };
    await clientOf({ baseUrl: api.url, auth: own, config: { kind: 'app' }, logins: keeper }).get('x');
    expect(api.seen[0]?.body).toBe(
      '{"grant_type":"refresh_token","refresh_token":"r0","client_id":"shop","kind":"app"}',
    );
    expect(api.seen[1]?.headers.authorization).toBe('Token a1');
    expect(steps.at(-1)).toBe('a1 r1');
  });

  test('the credentials of the configuration give client and first token', async () => {
    const api = await rotatingApi();
    const { keeper } = watched();
    const credentials = { appKey: 'shop', '#appSecret': 'hush', '#data': '{"refresh_token":"r0"}' };
    await clientOf({
      baseUrl: api.url,
      auth: { type: auth.type, tokenUrl: 'token' },
      credentials,
      logins: keeper,
    }).get('x');
    expect(lines(api.seen)).toEqual(['token r0', 'GET /x Bearer a1']);
  });

  test('without a token and without a way to log in there is no run', async () => {
    const found = await failure(() =>
      clientOf({ baseUrl: 'https://h/', auth: { type: auth.type, tokenUrl: 'token', clientId: 'shop' } }),
    );
    expect(found).toMatchObject({
      path: 'parameters.api.authentication.#refreshToken',
      message: 'There is no refresh token, and no way to log in.',
    });
  });

  test('when nobody has logged in yet, that is said', async () => {
    const own = {
      type: auth.type,
      tokenUrl: 'token',
      clientId: 'shop',
      authorizationUrl: 'https://id.test/a',
    };
    const found = await failure(() => clientOf({ baseUrl: 'https://h/', auth: own }).get('x'));
    expect([found.message, found.hint]).toEqual([
      'Nobody has logged in yet.',
      'Log in with gex login, or in the console on the page of the source; or set "#refreshToken" to one that the API gave.',
    ]);
  });

  test('a refusal is kept until the next refresh, and one of the client is none', async () => {
    const api = await rotatingApi();
    const { keeper } = watched();
    const name = await nameOf(api.url);
    await keeper.write(name, { tokens: { refreshToken: 'taken back' } });
    const run = async () => await clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('x');
    expect((await failure(run)).code).toBe('auth.loginEnded');
    expect(await keeper.read(name)).toMatchObject({ refusedAt: 1_500_000_000 });
    await keeper.write(name, { tokens: { refreshToken: 'r0' }, refusedAt: 1_500_000_000 });
    await run();
    expect((await keeper.read(name))?.refusedAt).toBeUndefined();

    const strict = await startApi(() => ({ status: 401, body: '{"error": "invalid_client"}' }));
    const own = watched();
    const found = await failure(
      async () => await clientOf({ baseUrl: strict.url, auth, config, logins: own.keeper }).get('x'),
    );
    expect([found.code, found.message]).toEqual([
      'auth.failed',
      expect.stringContaining('The token endpoint does not accept the client.'),
    ]);
    expect((await own.keeper.read(await nameOf(strict.url)))?.refusedAt).toBeUndefined();
  });

  test('who logged in, and when the refresh token ends, is kept beside the tokens', async () => {
    const idToken = `e30.${Buffer.from('{"sub": "7", "email": "anna@example.com"}').toString('base64url')}.x`;
    const api = await rotatingApi({
      answer: (n) => ({
        access_token: `a${n}`,
        refresh_token: `r${n}`,
        expires_in: 60,
        ...(n === 1 ? { id_token: idToken, refresh_expires_in: 3600 } : {}),
      }),
    });
    const { keeper } = watched();
    const env = fakeEnv();
    const run = async () => await clientOf({ baseUrl: api.url, auth, config, logins: keeper, env }).get('x');
    await run();
    const name = await nameOf(api.url);
    expect((await keeper.read(name))?.tokens).toMatchObject({
      account: 'anna@example.com',
      refreshUntil: 1_500_003_600,
    });
    env.pass(60);
    await run();
    // the end was that of a token that is no longer used
    const { tokens } = (await keeper.read(name)) ?? { tokens: {} };
    expect([tokens.account, tokens.refreshUntil]).toEqual(['anna@example.com', undefined]);
  });

  test('a token that changes where nothing is kept is told of', async () => {
    const api = await rotatingApi();
    const log = collectWarnings();
    await clientOf({ baseUrl: api.url, auth: { ...auth, keep: false }, config, log }).get('x');
    expect(log.warnings).toEqual([expect.stringContaining('nothing keeps it for the next run')]);
  });
});

describe('a refresh that is stopped', () => {
  test('before the token endpoint has taken it: the token is tried again, and works', async () => {
    const api = await rotatingApi();
    const { keeper } = watched();
    const log = collectWarnings();
    const pending = { since: 1_499_999_000, at: 1_499_999_000, by: 'killed' };
    const name = await nameOf(api.url);
    await keeper.write(name, { tokens: { refreshToken: 'r0' }, pending });
    await clientOf({ baseUrl: api.url, auth, config, logins: keeper, log }).get('x');
    expect(lines(api.seen)).toEqual(['token r0', 'GET /x Bearer a1']);
    expect(log.warnings).toEqual([
      'A run was stopped while it refreshed its login, at 2017-07-14T02:23:20Z. Its refresh token is tried again',
    ]);
    expect((await keeper.read(name))?.pending).toBeUndefined();
  });

  test('after it: the message says what happened, also the second time', async () => {
    const api = await rotatingApi();
    const { keeper } = watched();
    const name = await nameOf(api.url);
    const pending = { since: 1_499_999_000, at: 1_499_999_000, by: 'killed' };
    await keeper.write(name, { tokens: { refreshToken: 'lost' }, pending });
    for (const _ of [1, 2]) {
      const found = await failure(() =>
        clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('x'),
      );
      expect(found.code).toBe('auth.loginEnded');
      expect(found.message).toContain(
        'The refresh token was refused. A run was stopped at 2017-07-14T02:23:20Z, after it had sent this token and before it had kept what came: the API may have replaced it then.',
      );
    }
  });

  test('when what came cannot be kept, it is tried again, and then it is said', async () => {
    const api = await rotatingApi();
    const { keeper, steps, faults } = watched();
    faults.push(undefined, ...Array.from({ length: 5 }, () => new Error('the disk is full')));
    const found = await failure(() => clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('x'));
    expect([found.code, found.message]).toEqual([
      'auth.notKept',
      'The API gave a new refresh token, and it could not be kept in the memory of this process: the disk is full',
    ]);
    expect(steps).toEqual(['- - pending', ...Array.from({ length: 5 }, () => 'a1 r1 failed')]);
    expect(lines(api.seen)).toEqual(['token r0']);
  });

  test('a fault that passes loses nothing', async () => {
    const api = await rotatingApi();
    const { keeper, steps, faults } = watched();
    faults.push(undefined, new Error('busy'));
    await clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('x');
    expect(steps).toEqual(['- - pending', 'a1 r1 failed', 'a1 r1']);
  });

  test('one that cannot be marked is not begun', async () => {
    const api = await rotatingApi();
    const { keeper, faults } = watched();
    faults.push(new Error('read-only'));
    await expect(clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('x')).rejects.toThrow(
      'read-only',
    );
    expect(api.seen).toEqual([]);
  });

  test('Ctrl-C waits for the answer', async () => {
    const stop = new AbortController();
    const { keeper, steps } = watched();
    const api = await startApi(({ line }) => {
      if (!line.startsWith('POST')) return undefined;
      stop.abort(new Error('interrupted'));
      return { body: '{"access_token":"a1","refresh_token":"r1"}' };
    });
    const env = { ...fakeEnv(), sleep: async () => await new Promise<void>(() => {}) };
    const { send } = clientOf({ baseUrl: api.url, auth, config, logins: keeper, env });
    const request = { method: 'GET', url: `${api.url}x`, headers: {} };
    await send(request, { signal: stop.signal }).catch(() => undefined);
    expect(steps).toEqual(['- - pending', 'a1 r1']);
  });
});

describe('two runs at once', () => {
  test('one waits for the other, and takes what it kept', async () => {
    const api = await rotatingApi();
    const env = fakeEnv();
    const { keeper } = watched(memoryLogins(), true);
    const name = await nameOf(api.url);
    const now = Math.floor(env.now() / 1000);
    await keeper.write(name, {
      tokens: { refreshToken: 'r0' },
      pending: { since: now, at: now, by: 'other' },
    });
    let waits = 0;
    const waiting = {
      ...env,
      sleep: async (waitMs: number) => {
        await env.sleep(waitMs);
        if (++waits === 3)
          await keeper.write(name, {
            tokens: { accessToken: 'a9', refreshToken: 'r9', renewAt: now + 3600 },
          });
      },
    };
    await clientOf({ baseUrl: api.url, auth, config, logins: keeper, env: waiting }).get('x');
    expect(lines(api.seen)).toEqual(['GET /x Bearer a9']);
  });

  test('one that was slower takes the newer token, though its own was refused', async () => {
    const { keeper } = watched(memoryLogins(), true);
    const api = await startApi(({ line }) => {
      if (!line.startsWith('POST')) return undefined;
      void nameOf(api.url).then((name) =>
        keeper.write(name, { tokens: { accessToken: 'a9', refreshToken: 'r9', renewAt: 2_000_000_000 } }),
      );
      return { status: 400, body: '{"error":"invalid_grant"}' };
    });
    await clientOf({ baseUrl: api.url, auth, config, logins: keeper }).get('x');
    expect(lines(api.seen)).toEqual(['token r0', 'GET /x Bearer a9']);
  });
});

/** The name under which the login is kept: that of the first write. */
async function nameOf(baseUrl: string): Promise<string> {
  let found = '';
  const keeper: LoginKeeper = {
    ...memoryLogins(),
    write: async (name) => {
      found = name;
      await Promise.resolve();
      throw new Error('enough');
    },
  };
  await clientOf({ baseUrl, auth, config, logins: keeper })
    .get('x')
    .catch(() => undefined);
  return found;
}
