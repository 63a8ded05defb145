// @module-tag thorough
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createReach } from '../../src/engine/http/trust/reach.ts';
import { systemEnv, type Env } from '../../src/lib/env.ts';
import type { Alert, AlertMessage } from '../../src/storage/protocol/alert.ts';
import { lookAtAlerts } from '../../src/service/domain/alerts/look.ts';
import { sendMessages, type MessageReach } from '../../src/service/domain/alerts/send.ts';
import type { HttpContext } from '../../src/service/http/http-context.ts';
import { metaOf } from './database.ts';
import { startService, type Running } from './harness.ts';

interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly body: {
    readonly id: string;
    readonly event: string;
    readonly text: string;
    readonly isReminder: boolean;
    readonly error?: { readonly code: string };
    readonly sources: readonly {
      readonly configuration: string;
      readonly run?: string;
      readonly link?: string;
    }[];
  };
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A receiver of messages, which answers with the status that is set. */
async function receiver() {
  const got: Received[] = [];
  const answers = { status: 200 };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      got.push({ headers: request.headers, text, body: JSON.parse(text) as Received['body'] });
      response
        .writeHead(answers.status, answers.status === 302 ? { location: 'http://127.0.0.1:1/' } : {})
        .end();
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { got, answers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

/** A service whose alerts are looked at by hand, at times of the test. */
async function world() {
  // About now: messages that the API writes have the time of the database.
  const clock = { now: Date.now() };
  const env: Env = { ...systemEnv, now: () => clock.now };
  let context: HttpContext | undefined;
  const { dataPart } = await import('../../src/service/start/data.ts');
  const part: typeof dataPart = async (base, options) => {
    context = base;
    // The test looks at alerts in place of the service.
    return await dataPart(base, { ...options, roles: ['api'] });
  };
  const service: Running = await startService({ env, parts: [part] });
  closing.push(async () => await service.stop());
  const meta = await metaOf(service.dir);
  closing.push(async () => await meta.destroy());
  const hook = await receiver();
  const create = async (more: object = {}): Promise<Alert> => {
    const made = await service.call('POST', 'alerts', { name: 'ops', url: hook.url, ...more });
    expect(made.status).toBe(201);
    return made.body as Alert;
  };
  const source = async (id: string): Promise<void> => {
    const body = { configurationId: id, name: id, configuration: {} };
    await service.call('POST', 'components/ex-generic-v2/configs', body);
  };
  return {
    service,
    hook,
    now: clock.now,
    create,
    source,
    meta,
    /** Lets a run of a configuration end now. */
    ran: async (configuration: string, how: { error?: string; verdict?: string } = {}): Promise<string> => {
      const started = await service.call('POST', 'runs', { component: 'ex-generic-v2', configuration });
      const { id } = started.body as { id: string };
      const { error, verdict = 'complete' } = how;
      const message = { code: 'http.status', message: error, audience: 'user' };
      await meta
        .updateTable('runs')
        .set({
          status: error === undefined ? 'success' : 'error',
          verdict: error === undefined ? verdict : null,
          error: error === undefined ? null : JSON.stringify(message),
          report: '[]',
          ended: new Date(clock.now).toISOString(),
        })
        .where('id', '=', Number(id))
        .execute();
      return id;
    },
    /** Looks so many minutes later, and returns what was received by it. */
    after: async (minutes: number, reach?: MessageReach): Promise<readonly Received['body'][]> => {
      clock.now += minutes * 60_000;
      if (context === undefined) throw new Error('The service has not started.');
      const before = hook.got.length;
      const queue = {
        ...context.queue,
        runs: { ...context.queue.runs, now: async () => await Promise.resolve(clock.now) },
      };
      const all = { ...context, queue, publicUrl: 'https://gex.example.com' };
      await lookAtAlerts(all);
      await sendMessages(all, reach, new AbortController().signal);
      return hook.got.slice(before).map(({ body }) => body);
    },
    messages: async (id: string): Promise<readonly AlertMessage[]> =>
      (await service.call('GET', `alerts/${id}/messages`)).body as AlertMessage[],
  };
}

describe('an alert', () => {
  test('tells once of a cause that several sources share, and once that it is over', async () => {
    const { create, source, ran, after, hook } = await world();
    const { secret = '' } = await create();
    for (const id of ['a', 'b', 'c']) await source(id);
    await ran('a');
    expect(await after(1)).toEqual([]);
    const run = await ran('a', {
      error: 'The API answered 500 to GET https://x.example/1: request 17 failed',
    });
    await ran('b', { error: 'The API answered 500 to GET https://x.example/2: request 18 failed' });
    await ran('c', { error: 'The login answered with status 400.' });
    const told = await after(1);
    expect(
      told.map(({ event, sources }) => [event, sources.map(({ configuration }) => configuration)]),
    ).toEqual(
      expect.arrayContaining([
        ['failed', ['a', 'b']],
        ['failed', ['c']],
      ]),
    );
    expect(told).toHaveLength(2);
    const first = told.find(({ sources }) => sources.length === 2);
    expect(first?.sources[0]).toMatchObject({ run, link: `https://gex.example.com/runs/${run}` });
    expect(first?.error).toMatchObject({ code: 'http.status' });
    expect(first?.text).toMatch(/: a, b failed: The API answered 500/);
    for (const { headers, text } of hook.got)
      expect(headers['x-gex-signature']).toBe(
        `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`,
      );
    expect(await after(1)).toEqual([]);
    // the same again, and a third source with it: nothing new
    await ran('a', { error: 'The API answered 500 to GET https://x.example/9: request 99 failed' });
    expect(await after(5)).toEqual([]);
    await ran('a');
    expect(await after(1)).toEqual([]);
    await ran('b');
    const end = await after(1);
    expect(end).toMatchObject([{ event: 'recovered', sources: [{ configuration: 'b' }] }]);
    expect(await after(60)).toEqual([]);
  });

  test('tells of doubts, and not of what its kinds and its scope leave out', async () => {
    const { create, source, ran, after } = await world();
    await create({ kinds: ['doubtful'], component: 'ex-generic-v2', configuration: 'a' });
    for (const id of ['a', 'b']) await source(id);
    await ran('a', { error: 'x' });
    await ran('b', { verdict: 'doubtful' });
    expect(await after(1)).toEqual([]);
    await ran('a', { verdict: 'doubtful' });
    expect(await after(1)).toMatchObject([{ event: 'doubtful', sources: [{ configuration: 'a' }] }]);
  });

  test('tells of a source that is late within a look, once, and when it is back', async () => {
    const { create, source, ran, after, service } = await world();
    await create({ lateMinutes: 60 });
    for (const id of ['a', 'b', 'paused']) await source(id);
    for (const id of ['a', 'b', 'paused'])
      await service.call('POST', `components/ex-generic-v2/configs/${id}/schedules`, {
        cron: '0 5 31 12 *',
        isEnabled: id !== 'paused',
      });
    await ran('a');
    expect(await after(59)).toEqual([]);
    // The schedule has the time of the database.
    const late = await after(2);
    expect(late.map(({ event, sources }) => [event, sources[0]?.configuration])).toEqual([
      ['late', 'a'],
      ['late', 'b'],
    ]);
    expect(await after(1)).toEqual([]);
    await ran('a');
    expect(await after(1)).toMatchObject([{ event: 'recovered', sources: [{ configuration: 'a' }] }]);
  });

  test('reminds, is muted, and tells what is still wrong when that is over', async () => {
    const { create, source, ran, after, now } = await world();
    await create({ remindMinutes: 30, mutedUntil: new Date(now + 10 * 60_000).toISOString() });
    await source('a');
    await ran('a', { error: 'x' });
    expect(await after(5)).toEqual([]);
    expect(await after(6)).toMatchObject([{ event: 'failed', isReminder: false }]);
    expect(await after(29)).toEqual([]);
    expect(await after(1)).toMatchObject([{ event: 'failed', isReminder: true }]);
  });

  test('sends a message again until it is taken, gives it up at last, and sends it by hand', async () => {
    const { create, source, ran, after, hook, messages, service } = await world();
    const { id } = await create();
    await source('a');
    await ran('a', { error: 'x' });
    hook.answers.status = 503;
    expect(await after(1)).toHaveLength(1);
    expect(await after(0)).toEqual([]);
    for (const minutes of [1, 2, 10, 60, 360]) expect(await after(minutes)).toHaveLength(1);
    expect(await messages(id)).toMatchObject([{ status: 'dead', attempts: 6, answer: 'It answered 503.' }]);
    expect(await after(1000)).toEqual([]);
    expect(new Set(hook.got.map(({ body }) => body.id)).size).toBe(1);
    hook.answers.status = 204;
    const [dead] = await messages(id);
    expect((await service.call('POST', `alerts/${id}/messages/${dead?.id}/send`)).status).toBe(202);
    expect(await after(0)).toHaveLength(1);
    expect(await messages(id)).toMatchObject([{ status: 'sent', attempts: 1 }]);
  });

  test('follows no redirect, and is tried by a test', async () => {
    const { create, after, hook, messages, service } = await world();
    const { id } = await create();
    hook.answers.status = 302;
    expect((await service.call('POST', `alerts/${id}/test`)).status).toBe(202);
    expect(await after(1)).toMatchObject([{ event: 'test', sources: [] }]);
    expect(await messages(id)).toMatchObject([
      { event: 'test', status: 'waiting', answer: 'It answered 302.' },
    ]);
  });

  test('goes where the rules of the service let it', async () => {
    const { create, after, messages, service } = await world();
    const { id } = await create();
    await service.call('POST', `alerts/${id}/test`);
    const near = createReach({ allow: [], deny: [], isNearDenied: true });
    expect(await after(1, near)).toEqual([]);
    expect(await messages(id)).toMatchObject([
      { status: 'waiting', attempts: 1, answer: expect.stringContaining('not allowed here') as string },
    ]);
  });

  test('is for the master token, and checked when it is made', async () => {
    const { create, hook, service } = await world();
    const made = await service.call('POST', 'tokens', { description: 'x', canManageBuckets: true });
    const { token } = made.body as { token: string };
    expect((await service.call('GET', 'alerts', undefined, { 'x-storageapi-token': token })).status).toBe(
      403,
    );
    for (const wrong of [
      { url: 'file:///etc/passwd' },
      { url: 'http://user:password@example.com/' },
      { kinds: ['late'] },
      { kinds: [] },
      { configuration: 'a' },
      { mutedUntil: 'soon' },
    ])
      expect((await service.call('POST', 'alerts', { name: 'x', url: hook.url, ...wrong })).status).toBe(400);
    const { id, secret } = await create({ lateMinutes: 10 });
    expect(secret).toMatch(/^[\w-]{43}$/);
    const all = await service.call('GET', 'alerts');
    expect(all.text).not.toContain('secret');
    expect(all.body).toMatchObject([{ id, kinds: ['failed', 'doubtful', 'late'], wrong: [] }]);
    const changed = await service.call('PUT', `alerts/${id}`, {
      kinds: ['failed'],
      lateMinutes: null,
      isEnabled: false,
    });
    expect(changed.body).toMatchObject({
      kinds: ['failed'],
      lateMinutes: null,
      isEnabled: false,
      name: 'ops',
    });
    expect((await service.call('DELETE', `alerts/${id}`)).status).toBeLessThan(300);
    expect((await service.call('GET', `alerts/${id}`)).status).toBe(404);
  });
});

test('the service sends messages on its own', { timeout: 60_000 }, async () => {
  const service = await startService();
  closing.push(async () => await service.stop());
  const hook = await receiver();
  const made = await service.call('POST', 'alerts', { name: 'ops', url: hook.url });
  const { id } = made.body as Alert;
  await service.call('POST', `alerts/${id}/test`);
  await expect.poll(() => hook.got.map(({ body }) => body.event), { timeout: 45_000 }).toEqual(['test']);
});
