import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyText, matching, FORM, startService, type Reply, type Running } from './harness.ts';

let api: Running;
beforeAll(async () => {
  api = await startService();
});
afterAll(async () => {
  await api.stop();
});

type Body = Record<string, unknown>;
const get = async (path: string): Promise<Reply> => await api.call('GET', path);
const post = async (path: string, body: unknown = {}, headers = {}): Promise<Reply> =>
  await api.call('POST', path, body, headers);

describe('events', () => {
  test('are written, read and filtered, the newest first', async () => {
    const runId = { 'X-KBC-RunId': '77.1' };
    const made = await post(
      'events',
      { component: 'ex', message: 'one thing', params: '{"a":[]}', duration: 2.5 },
      runId,
    );
    expect(made.status).toBe(201);
    const { id } = made.body as { id: string };
    expect(made.body).toMatchObject({
      id: matching(/^\d+$/),
      uuid: anyText,
      runId: '77.1',
      params: { a: [] },
    });
    await post('events', 'component=ex&message=another&type=warn', FORM);
    const messages = async (query: string): Promise<unknown[]> =>
      ((await get(`events?component=ex&${query}`)).body as Body[]).map((event) => event['message']);
    expect(await messages('')).toEqual(['another', 'one thing']);
    expect(await messages(`sinceId=${id}`)).toEqual(['another']);
    expect(await messages('runId=77')).toEqual(['one thing']);
    expect(await messages('q=type:warn')).toEqual(['another']);
    expect(await messages('q=thing')).toEqual(['one thing']);
    expect(await messages('limit=1&offset=1')).toEqual(['one thing']);
    expect((await get(`events/${id}`)).body).toEqual(made.body);
  });

  test('q looks for words whatever their case, and for signs as they are', async () => {
    await post('events', { component: 'q', message: 'Done 100% of A_B' });
    await post('events', { component: 'q', message: 'done 1000 of AxB', runId: '5x' });
    const messages = async (query: string): Promise<unknown[]> =>
      ((await get(`events?component=q&${query}`)).body as Body[]).map((event) => event['message']);
    expect(await messages('q=DONE')).toHaveLength(2);
    expect(await messages('q=100%25')).toEqual(['Done 100% of A_B']);
    expect(await messages('q=a_b')).toEqual(['Done 100% of A_B']);
    expect(await messages('runId=5_')).toEqual([]);
    const many = await get(`events?q=${'word+'.repeat(2000)}`);
    expect([many.status, many.body]).toMatchObject([400, { code: 'query.syntax' }]);
    expect((await get(`events?q=${'x'.repeat(60_000)}`)).status).toBe(400);
    expect((await get(`events?runId=${'x'.repeat(60_000)}`)).status).toBe(400);
  });

  test('have UUIDs, which stand for their ids everywhere', async () => {
    const first = (await post('events', { component: 'uuid', message: 'first' })).body as Body;
    const second = (await post('events', { component: 'uuid', message: 'second' })).body as Body;
    expect(first['uuid']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await get(`events/${String(first['uuid'])}`)).body).toEqual(first);
    expect((await get(`events?component=uuid&sinceId=${String(first['uuid'])}`)).body).toEqual([second]);
    expect((await get(`events?component=uuid&maxId=${String(second['uuid'])}`)).body).toEqual([first]);
    expect((await get(`events?component=uuid&maxId=${String(second['id'])}`)).body).toEqual([first]);
    const none = '00000000-0000-7000-8000-000000000000';
    expect((await get(`events/${none}`)).status).toBe(404);
    expect((await get(`events?sinceId=${none}`)).body).toMatchObject({ code: 'storage.validation' });
  });

  test('q is a query over their fields', async () => {
    const { id: tokenId } = (await get('tokens/verify')).body as { id: string };
    const made = (await post('tokens', { description: 'other one', canManageBuckets: true })).body as Body;
    const as = { 'x-storageapi-token': String(made['token']) };
    await post('events', { component: 'q1', message: 'mine', runId: '5.1', configurationId: 'a b' });
    await post('events', { component: 'q1', message: 'theirs', type: 'warn' }, as);
    const found = async (q: string): Promise<unknown[]> => {
      const { status, body } = await get(`events?component=q1&q=${encodeURIComponent(q)}`);
      expect(status).toBe(200);
      return (body as Body[]).map((event) => event['message']);
    };
    expect(await found(`token.id:${tokenId} AND event:ext.q1.`)).toEqual(['mine']);
    expect(await found(`token.id:${String(made['id'])}`)).toEqual(['theirs']);
    expect(await found('token.name:"other one"')).toEqual(['theirs']);
    expect(await found('project.id:1 AND runId:5.*')).toEqual(['mine']);
    expect(await found('project.id:2')).toEqual([]);
    expect(await found('configurationId:"a b" OR type:warn')).toEqual(['theirs', 'mine']);
    expect(await found('event:ext.* AND NOT (mine OR nothing)')).toEqual(['theirs']);
    expect(await found('mine theirs')).toEqual(['theirs', 'mine']);
  });

  test.each(['(', 'a AND', '"open', 'nothing:like', 'token.id:me', 'a) b', 'some / other:'])(
    'the query %j is refused',
    async (q) => {
      const { status, body } = await get(`events?q=${encodeURIComponent(q)}`);
      expect([status, body]).toMatchObject([400, { code: 'query.syntax' }]);
    },
  );

  test('a token without wide rights reads its own, and those of its components', async () => {
    const token = (await post('tokens', { componentAccess: ['wr-db'] })).body as { token: string };
    const as = { 'x-storageapi-token': token.token };
    const theirs = await post('events', { component: 'secret', message: 'of another' });
    await post('events', { component: 'wr-db', message: 'of the component' });
    await post('events', { component: 'secret', message: 'mine' }, as);
    const seen = (await api.call('GET', 'events', undefined, as)).body as Body[];
    expect(seen.map((event) => event['message'])).toEqual(['mine', 'of the component']);
    const { id } = theirs.body as { id: string };
    expect((await api.call('GET', `events/${id}`, undefined, as)).status).toBe(404);
    expect((await get(`events/${id}`)).status).toBe(200);
  });

  test.each([
    [{ message: 'no component' }, 'storage.validation'],
    [{ component: 'c', message: 'm', duration: {} }, 'malformedRequest'],
    [{ component: 'c', message: 'm', duration: { toString: 1 } }, 'malformedRequest'],
    [{ component: 'c', message: 'm', duration: 'long' }, 'malformedRequest'],
    [{ component: 'c', message: 'm', params: '{' }, 'malformedRequest'],
    [{ component: 'c', message: 'm', type: 'odd' }, 'storage.validation'],
    [{ component: 'c', message: 'm'.repeat(210_000) }, 'requestTooLarge'],
  ])('a wrong event is refused (%#)', async (body, code) => {
    const answer = await post('events', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code });
  });
});

describe('triggers', () => {
  test('are made, listed, changed and deleted', async () => {
    const token = (await get('tokens/verify')).body as { id: string };
    const body = {
      runWithTokenId: Number(token.id),
      component: 'keboola.orchestrator',
      configurationId: '1',
      coolDownPeriodMinutes: 5,
      tableIds: ['in.c-main.a', 'in.c-main.b'],
    };
    const made = await post('triggers/', body);
    expect(made.status).toBe(201);
    const { id } = made.body as { id: string };
    expect(made.body).toMatchObject({
      component: 'keboola.orchestrator',
      configurationId: '1',
      coolDownPeriodMinutes: 5,
      tables: [{ tableId: 'in.c-main.a' }, { tableId: 'in.c-main.b' }],
    });
    const changed = await api.call('PUT', `triggers/${id}`, {
      coolDownPeriodMinutes: 9,
      tableIds: ['in.c-main.c'],
    });
    expect(changed.body).toMatchObject({
      coolDownPeriodMinutes: 9,
      configurationId: '1',
      tables: [{ tableId: 'in.c-main.c' }],
    });
    expect((await get('triggers?component=keboola.orchestrator')).body).toEqual([changed.body]);
    expect((await api.call('DELETE', `triggers/${id}/`)).status).toBe(204);
    expect((await get(`triggers/${id}`)).status).toBe(404);
    expect((await post('triggers', { ...body, runWithTokenId: 1 })).status).toBe(400);
  });
});

describe('triggers and rights', () => {
  test('who is not the master names its own token, and sees those of its components', async () => {
    const made = (await post('tokens', { componentAccess: ['of-mine'] })).body as {
      id: string;
      token: string;
    };
    const as = { 'x-storageapi-token': made.token };
    const master = (await get('tokens/verify')).body as { id: string };
    const body = { component: 'of-mine', configurationId: '1', coolDownPeriodMinutes: 1, tableIds: [] };
    expect((await post('triggers', { ...body, runWithTokenId: master.id }, as)).status).toBe(403);
    const own = await post('triggers', { ...body, runWithTokenId: made.id }, as);
    expect(own.status).toBe(201);
    const { id } = own.body as { id: string };
    expect((await api.call('PUT', `triggers/${id}`, { runWithTokenId: master.id }, as)).status).toBe(403);
    const other = await post('triggers', {
      ...body,
      component: 'transformation',
      runWithTokenId: master.id,
    });
    expect((await api.call('GET', 'triggers', undefined, as)).body).toEqual([own.body]);
    const address = `triggers/${(other.body as { id: string }).id}`;
    expect((await api.call('GET', address, undefined, as)).status).toBe(403);
  });

  test('a bucket manager names a token with no more rights than its own, and changes no run of the master', async () => {
    const tokenOf = async (rights: object): Promise<{ id: string; token: string }> =>
      (await post('tokens', rights)).body as { id: string; token: string };
    const manager = await tokenOf({ canManageBuckets: true });
    const limited = await tokenOf({ componentAccess: ['of-mine'] });
    const reader = await tokenOf({ canReadAllFileUploads: true });
    const master = (await get('tokens/verify')).body as { id: string };
    const as = { 'x-storageapi-token': manager.token };
    const body = {
      component: 'wr-db',
      configurationId: '1',
      coolDownPeriodMinutes: 1,
      tableIds: ['in.c-main.a'],
    };
    const made = async (runWithTokenId: string): Promise<number> =>
      (await post('triggers', { ...body, runWithTokenId }, as)).status;
    expect(await made(limited.id)).toBe(201);
    expect(await made(manager.id)).toBe(201);
    expect(await made(reader.id)).toBe(403);
    expect(await made(master.id)).toBe(403);
    const { id } = (await post('triggers', { ...body, runWithTokenId: master.id })).body as { id: string };
    const change = { configurationId: '2' };
    expect((await api.call('PUT', `triggers/${id}`, change, as)).status).toBe(403);
    expect((await api.call('PUT', `triggers/${id}`, change)).status).toBe(200);
  });

  test('a trigger runs with no token that may do more than who names it, in any respect', async () => {
    const tokenOf = async (rights: object): Promise<{ id: string; token: string }> =>
      (await post('tokens', rights)).body as { id: string; token: string };
    const every = { canManageBuckets: true, canReadAllFileUploads: true, canPurgeTrash: true };
    await post('buckets', { name: 'acted', stage: 'in' });
    const master = (await get('tokens/verify')).body as { id: string };
    const [almost, reader, writer, other] = [
      await tokenOf(every),
      await tokenOf({ componentAccess: ['wr-db'], bucketPermissions: { 'in.c-acted': 'read' } }),
      await tokenOf({ componentAccess: ['wr-db'], bucketPermissions: { 'in.c-acted': 'write' } }),
      await tokenOf({ componentAccess: ['wr-db', 'another'] }),
    ];
    const body = { component: 'wr-db', configurationId: '1', coolDownPeriodMinutes: 1, tableIds: [] };
    const made = async (by: { token: string }, runWithTokenId: string): Promise<number> =>
      (await post('triggers', { ...body, runWithTokenId }, { 'x-storageapi-token': by.token })).status;
    expect(await made(almost, master.id)).toBe(403);
    expect(await made(almost, writer.id)).toBe(201);
    expect(await made(reader, writer.id)).toBe(403);
    expect(await made(writer, reader.id)).toBe(201);
    expect(await made(writer, other.id)).toBe(403);
    for (const right of Object.keys(every)) {
      const with_ = await tokenOf({ [right]: true });
      const without = await tokenOf({ ...every, [right]: false });
      expect({ right, status: await made(without, with_.id) }).toEqual({ right, status: 403 });
    }
  });

  test('changes by several clients at once are all kept', async () => {
    const master = (await get('tokens/verify')).body as { id: string };
    const { body } = await post('triggers', {
      runWithTokenId: master.id,
      component: 'wr-db',
      configurationId: '1',
      coolDownPeriodMinutes: 1,
      tableIds: [],
    });
    const address = `triggers/${(body as { id: string }).id}`;
    await Promise.all(
      [{ coolDownPeriodMinutes: 7 }, { configurationId: '9' }, { tableIds: ['in.c-main.a'] }].map(
        async (change) => await api.call('PUT', address, change),
      ),
    );
    expect((await get(address)).body).toMatchObject({
      coolDownPeriodMinutes: 7,
      configurationId: '9',
      tables: [{ tableId: 'in.c-main.a' }],
    });
  });
});
