import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog, type LogFields } from '../../src/lib/log.ts';
import { hurry, isOnPostgres } from './database.ts';
import { anyNumber, containing, matching, FORM, startService, type Reply, type Running } from './harness.ts';

let api: Running;
let now = Date.parse('2026-11-21T08:00:00Z');
const warnings: { readonly message: string; readonly fields: LogFields }[] = [];
const warn = (message: string, fields: LogFields = {}): void => void warnings.push({ message, fields });
beforeAll(async () => {
  const { systemEnv } = await import('../../src/lib/env.ts');
  api = await startService({ env: { ...systemEnv, now: () => now }, log: { ...silentLog, warn } });
  await api.call('POST', 'buckets', { name: 'main' });
  await api.call('POST', 'buckets', { name: 'other' });
});
afterAll(async () => {
  await api.stop();
});

interface Made {
  id: string;
  token: string;
}
const as = (token: string): Record<string, string> => ({ 'x-storageapi-token': token });
const make = async (rights: object): Promise<Made> => (await api.call('POST', 'tokens', rights)).body as Made;

describe('authentication', () => {
  test('both spellings of the header and a bearer are taken', async () => {
    for (const headers of [
      { 'X-StorageAPI-Token': api.token, 'x-storageapi-token': '' },
      { 'x-storageapi-token': '', authorization: `Bearer ${api.token}` },
      { 'x-storageapi-token': '', authorization: `Bearer ${api.token}`, 'x-kbc-projectid': '1' },
    ]) {
      const merged = new Headers();
      for (const [name, value] of Object.entries(headers)) if (value !== '') merged.set(name, value);
      const answer = await fetch(`${api.addresses.url}/v2/storage/tokens/verify`, { headers: merged });
      expect(answer.status).toBe(200);
    }
  });

  test('no token, an unknown one and a foreign project are 401, and no message repeats the token', async () => {
    const none = await fetch(`${api.addresses.url}/v2/storage/tokens/verify`);
    expect(none.status).toBe(401);
    expect(await none.json()).toMatchObject({ error: 'Access token must be set', code: '' });
    const wrong = await api.call('GET', 'tokens/verify', undefined, as('1-2-top-secret'));
    expect(wrong.status).toBe(401);
    expect(wrong.body).toMatchObject({ error: 'Invalid access token', code: 'storage.tokenInvalid' });
    expect(wrong.text).not.toContain('secret');
    const foreign = await api.call('GET', 'tokens/verify', undefined, { 'x-kbc-projectid': '99' });
    expect(foreign.status).toBe(401);
  });

  test('the index and a component need no token, the branch form does', async () => {
    const { url } = api.addresses;
    expect((await fetch(`${url}/v2/storage`)).status).toBe(200);
    expect((await fetch(`${url}/v2/storage/components/wr-db`)).status).toBe(200);
    expect((await fetch(`${url}/v2/storage/branch/default/components/wr-db`)).status).toBe(401);
  });

  test('a token ends when its time is over', async () => {
    const { token } = await make({ description: 'short', expiresIn: 60 });
    expect((await api.call('GET', 'tokens/verify', undefined, as(token))).body).toMatchObject({
      ...(isOnPostgres ? {} : { expires: '2026-11-21T08:01:00+0000' }),
      isExpired: false,
    });
    now += 60_000;
    await hurry(api.dir, 60_000);
    expect((await api.call('GET', 'tokens/verify', undefined, as(token))).status).toBe(401);
  });
});

describe('verify', () => {
  test('shows the master token as that of an administrator, with the project', async () => {
    expect((await api.call('GET', 'tokens/verify')).body).toMatchObject({
      id: matching(/^\d+$/),
      token: api.token,
      isMasterToken: true,
      bucketPermissions: { 'in.c-main': 'manage', 'in.c-other': 'manage' },
      admin: { role: 'admin' },
      adminOwner: { id: anyNumber, name: matching(/./), email: matching(/@/) },
      owner: {
        id: 1,
        defaultBackend: 'snowflake',
        fileStorageProvider: 'aws',
        dataSizeBytes: 0,
        rowsCount: 0,
      },
    });
  });

  test('shows limits and metrics as maps, which clients with types decode them to', async () => {
    const { text, body } = await api.call('GET', 'tokens/verify');
    expect(text).toContain('"metrics":{}');
    expect(text).not.toContain('payAsYouGo');
    const { limits } = (body as { owner: { limits: Record<string, unknown> } }).owner;
    expect(Object.keys(limits).length).toBeGreaterThan(0);
    for (const [name, limit] of Object.entries(limits)) expect(limit).toEqual({ name, value: anyNumber });
  });

  test('who may manage buckets may manage each, and no list of components is shown that is empty', async () => {
    const made = await make({ description: 'manager', canManageBuckets: true });
    const { body } = await api.call('GET', 'tokens/verify', undefined, as(made.token));
    expect(body).toMatchObject({ bucketPermissions: { 'in.c-main': 'manage', 'in.c-other': 'manage' } });
    expect(body).not.toHaveProperty('componentAccess');
    const inBranch = await api.call('GET', `branch/default/tokens/${made.id}`);
    expect(inBranch.body).toMatchObject({ bucketPermissions: { 'in.c-main': 'manage' } });
  });

  test('a bucket whose permission is null is not among the rights', async () => {
    const made = await make({ bucketPermissions: { 'in.c-main': 'read', 'in.c-other': null } });
    const { body } = await api.call('GET', 'tokens/verify', undefined, as(made.token));
    expect(body).toMatchObject({ bucketPermissions: { 'in.c-main': 'read' } });
    expect(body).not.toHaveProperty(['bucketPermissions', 'in.c-other']);
  });

  test('shows another token with its rights and without an administrator', async () => {
    const made = await make({ description: 'limited', bucketPermissions: { 'in.c-main': 'read' } });
    const { body } = await api.call('GET', 'tokens/verify', undefined, as(made.token));
    expect(body).toMatchObject({
      bucketPermissions: { 'in.c-main': 'read' },
      creatorToken: { description: 'Master token' },
    });
    expect(body).not.toHaveProperty('admin');
  });
});

describe('management', () => {
  test('a token is made, listed, changed, refreshed and ended; the secret is shown twice at most', async () => {
    const form =
      'description=by+form&bucketPermissions[in.c-main]=write&componentAccess[]=wr-db&canReadAllFileUploads=1';
    const answer = await api.call('POST', 'tokens', form, FORM);
    expect(answer.status).toBe(201);
    const made = answer.body as Made;
    expect(made.token.split('-').slice(0, 2)).toEqual(['1', made.id]);
    expect(made).toMatchObject({ bucketPermissions: { 'in.c-main': 'write' }, componentAccess: ['wr-db'] });

    const list = await api.call('GET', 'tokens');
    expect(list.text).not.toContain(made.token);
    expect((list.body as Made[]).map(({ id }) => id)).toContain(made.id);
    const master = (list.body as { isMasterToken: boolean }[]).filter((token) => token.isMasterToken);
    expect(master).toMatchObject([{ admin: { id: anyNumber } }]);

    const changed = await api.call('PUT', `tokens/${made.id}`, {
      description: 'changed',
      bucketPermissions: [],
    });
    expect(changed.body).toMatchObject({
      description: 'changed',
      bucketPermissions: [],
      componentAccess: ['wr-db'],
    });

    const refreshed = (await api.call('POST', `tokens/${made.id}/refresh`, {}, as(made.token))).body as Made;
    expect(refreshed.token).not.toBe(made.token);
    expect((await api.call('GET', 'tokens/verify', undefined, as(made.token))).status).toBe(401);
    expect((await api.call('GET', 'tokens/verify', undefined, as(refreshed.token))).status).toBe(200);

    expect((await api.call('DELETE', `tokens/${made.id}`)).status).toBe(204);
    expect((await api.call('GET', `tokens/${made.id}`)).status).toBe(404);
    expect((await api.call('GET', 'tokens/verify', undefined, as(refreshed.token))).status).toBe(401);
  });

  test('only the master manages tokens; every token may look at itself', async () => {
    const made = await make({ description: 'plain' });
    const refused = async (method: string, path: string, body?: object): Promise<Reply> =>
      await api.call(method, path, body, as(made.token));
    for (const answer of [
      await refused('POST', 'tokens', { description: 'x' }),
      await refused('PUT', `tokens/${made.id}`, { bucketPermissions: { 'in.c-main': 'manage' } }),
      await refused('DELETE', 'tokens/1002'),
      await refused('GET', 'tokens/1'),
      await refused('POST', 'dev-branches', { name: 'x' }),
    ]) {
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({
        code: 'accessDenied',
        error: "You don't have access to the resource.",
      });
    }
    expect((await refused('GET', `tokens/${made.id}`)).status).toBe(200);
  });

  test('who manages buckets manages no tokens, and who writes into one makes none', async () => {
    await api.call('POST', 'buckets', { name: 'written', stage: 'in' });
    const as = async (rights: object): Promise<Record<string, string>> => {
      const { body } = await api.call('POST', 'tokens', { description: 'some rights', ...rights });
      return { 'x-storageapi-token': (body as { token: string }).token };
    };
    const manager = await as({ canManageBuckets: true });
    expect((await api.call('POST', 'tokens', { description: 'more' }, manager)).status).toBe(403);
    const writer = await as({ bucketPermissions: { 'in.c-written': 'write' } });
    for (const name of ['written', 'other'])
      expect((await api.call('POST', 'buckets', { name, stage: 'in' }, writer)).status).toBe(403);
  });

  test('what was given for a bucket ends with it: another one of its name is another bucket', async () => {
    await api.call('POST', 'buckets', { name: 'short' });
    const given = { 'in.c-main': 'read', 'in.c-short': 'write' };
    const made = await make({ description: 'x', bucketPermissions: given });
    await api.call('DELETE', 'buckets/in.c-short');
    await api.call('POST', 'buckets', { name: 'short' });
    expect((await api.call('GET', 'buckets/in.c-short', undefined, as(made.token))).status).toBe(403);
    expect((await api.call('GET', `tokens/${made.id}`)).body).toMatchObject({
      bucketPermissions: { 'in.c-main': 'read' },
    });
  });

  test('a token lists, sees and ends itself', async () => {
    const made = await make({});
    expect((await api.call('GET', 'tokens', undefined, as(made.token))).body).toMatchObject([
      { id: made.id, description: 'Created by Master token' },
    ]);
    const own = await api.call('GET', `tokens/${made.id}`, undefined, as(made.token));
    expect(own.body).toMatchObject({ token: made.token, owner: { id: 1, name: 'My project' } });
    const seen = await api.call('GET', `tokens/${made.id}`);
    expect(seen.body).toMatchObject({ owner: { id: 1 }, adminOwner: {} });
    expect(seen.body).not.toHaveProperty('token');
    expect((await api.call('DELETE', `tokens/${made.id}`, undefined, as(made.token))).status).toBe(204);
    expect((await api.call('GET', 'tokens/verify', undefined, as(made.token))).status).toBe(401);
  });

  test.each([
    [{ 'in.c-main': 'manage' }, containing('"manage"')],
    [{ 'in.c-main': 'own' }, containing('"own"')],
    [{ 'in.c-main': 'read', 'in.c-none': 'read' }, containing('"in.c-none"')],
  ])('the permissions %j are refused, for a new token and for one that is there', async (given, error) => {
    const made = await make({ description: 'as it was', bucketPermissions: { 'in.c-other': 'read' } });
    for (const answer of [
      await api.call('POST', 'tokens', { bucketPermissions: given }),
      await api.call('PUT', `tokens/${made.id}`, { description: 'changed', bucketPermissions: given }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'storage.tokens.invalidPermissions', error });
    }
    expect((await api.call('GET', `tokens/${made.id}`)).body).toMatchObject({
      description: 'as it was',
      bucketPermissions: { 'in.c-other': 'read' },
    });
  });

  test('the master token is neither deleted nor shared; others are shared by a line in the log', async () => {
    const { id } = (await api.call('GET', 'tokens/verify')).body as Made;
    expect((await api.call('DELETE', `tokens/${id}`)).status).toBe(400);
    const mail = { recipientEmail: 'ann@example.com', message: 'for you' };
    expect((await api.call('POST', `tokens/${id}/share`, mail)).body).toMatchObject({
      code: 'storage.token.cannotShareMasterToken',
    });
    const made = await make({ description: 'share me' });
    expect((await api.call('POST', `tokens/${made.id}/share`, mail)).status).toBe(204);
    expect((await api.call('POST', `tokens/${made.id}/share`, { message: 'to nobody' })).status).toBe(400);
    expect(warnings.filter(({ fields }) => fields['token'] === Number(made.id))).toMatchObject([
      { message: containing('sends no e-mail'), fields: { recipient: 'ann@example.com' } },
    ]);
  });

  test.each([
    [{ bucketPermissions: 'all' }],
    [{ componentAccess: 'wr-db' }],
    [{ expiresIn: -1 }],
    [{ canManageBuckets: 'perhaps' }],
  ])('%j is refused', async (rights) => {
    const answer = await api.call('POST', 'tokens', rights);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'storage.validation', errors: [{}] });
  });

  test.each(['abc', '999999'])('the id %s, which no token has, is not found', async (id) => {
    for (const [method, path] of [
      ['GET', `tokens/${id}`],
      ['PUT', `tokens/${id}`],
      ['DELETE', `tokens/${id}`],
      ['POST', `tokens/${id}/refresh`],
    ] as const) {
      const { status, body } = await api.call(method, path, method === 'GET' ? undefined : {});
      expect([status, body]).toMatchObject([404, { error: 'resource not found', code: 'notFound' }]);
    }
  });
});

describe('what a token may do with configurations', () => {
  test('component access, bucket management or nothing', async () => {
    const path = 'components/wr-db/configs';
    const allowed = await make({ description: 'a', componentAccess: ['wr-db'] });
    const manager = await make({ description: 'b', canManageBuckets: true });
    const other = await make({ description: 'c', componentAccess: ['transformation'] });
    for (const { token } of [allowed, manager]) {
      expect((await api.call('POST', path, { name: 'x' }, as(token))).status).toBe(201);
      expect((await api.call('GET', path, undefined, as(token))).status).toBe(200);
    }
    expect((await api.call('GET', path, undefined, as(other.token))).status).toBe(403);
    expect((await api.call('GET', 'components', undefined, as(other.token))).body).toEqual([]);
    const none = await make({ description: 'd' });
    expect((await api.call('GET', 'components', undefined, as(none.token))).body).toMatchObject({
      code: 'accessDenied',
    });
  });

  test('purging needs its own right', async () => {
    const path = 'components/wr-db/configs/doomed';
    const mayNot = await make({ description: 'a', componentAccess: ['wr-db'] });
    const may = await make({ description: 'b', componentAccess: ['wr-db'], canPurgeTrash: true });
    await api.call('POST', 'components/wr-db/configs', { name: 'x', configurationId: 'doomed' });
    expect((await api.call('DELETE', path, undefined, as(mayNot.token))).status).toBe(204);
    expect((await api.call('DELETE', path, undefined, as(mayNot.token))).status).toBe(403);
    expect((await api.call('DELETE', path, undefined, as(may.token))).status).toBe(204);
    expect((await api.call('DELETE', path, undefined, as(may.token))).status).toBe(404);
  });
});

describe('a token that only reads', () => {
  interface Operations {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  }
  /** Operations that are no GET and take it: of the console those that belong to a session. */
  const READS = [
    'DELETE /console/session',
    'POST /console/codes',
    'POST /console/session',
    'POST /v2/storage/sql',
    'POST /v2/storage/tables/{table}/export-async',
    'POST /v2/storage/tables/{table}/profile',
  ];

  test('sees what its rights give, and is refused by every operation that is no reading', async () => {
    const { token, ...made } = await make({ description: 'r', canManageBuckets: true, isReadOnly: true });
    expect(made).toMatchObject({ isReadOnly: true, canManageBuckets: true });
    for (const path of ['buckets', 'tables', 'components', 'runs', 'schedules', 'tokens/verify'])
      expect((await api.call('GET', path, undefined, as(token))).status).toBe(200);
    const { paths } = (await api.call('GET', 'openapi.json')).body as Operations;
    const taken: string[] = [];
    for (const [path, operations] of Object.entries(paths)) {
      const address = new URL(path.replaceAll(/\{\w+\}/g, '1'), api.addresses.url);
      for (const method of Object.keys(operations).map((each) => each.toUpperCase())) {
        if (method === 'GET' || path.startsWith('/v2/storage/branch/')) continue;
        const answer = await fetch(address, { method, headers: as(token) });
        const text = await answer.text();
        if (!(answer.status === 403 && text.includes('may only read'))) taken.push(`${method} ${path}`);
      }
    }
    expect(taken.toSorted()).toEqual(READS);
  });

  test('may be made of another, which loses what it could change, and back', async () => {
    const { id, token } = await make({ description: 'r', bucketPermissions: { 'in.c-main': 'write' } });
    const path = 'buckets/in.c-main/metadata';
    const note = { provider: 'user', metadata: [{ key: 'a', value: 'b' }] };
    const write = async (): Promise<number> => (await api.call('POST', path, note, as(token))).status;
    expect(await write()).toBe(201);
    await api.call('PUT', `tokens/${id}`, { isReadOnly: true });
    expect(await write()).toBe(403);
    expect((await api.call('POST', `tokens/${id}/refresh`, {}, as(token))).status).toBe(403);
    expect((await api.call('GET', path, undefined, as(token))).status).toBe(200);
    await api.call('PUT', `tokens/${id}`, { isReadOnly: false });
    expect(await write()).toBe(201);
  });
});
