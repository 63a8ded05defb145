// @module-tag thorough
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, describe, expect, test } from 'vitest';
import { createReach } from '../../src/engine/http/trust/reach.ts';
import { systemEnv, type Env } from '../../src/lib/env.ts';
import { bytesBody, StorageClient } from '../../src/storage/client/index.ts';
import type { Alert, AlertMessage } from '../../src/storage/protocol/alert.ts';
import { createLook } from '../../src/service/domain/alerts/look.ts';
import { createMailer } from '../../src/service/domain/alerts/mail.ts';
import { sendMessages, type MessageWays } from '../../src/service/domain/alerts/send.ts';
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
    readonly severity: string;
    readonly isReminder: boolean;
    readonly error?: { readonly code: string };
    readonly sources: readonly {
      readonly configuration?: string;
      readonly run?: string;
      readonly token?: string;
      readonly table?: string;
      readonly detail?: string;
      readonly link?: string;
    }[];
  };
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A receiver of messages, which answers with the status that is set, after what is to happen before. */
async function receiver() {
  const got: Received[] = [];
  const answers: { status: number; before?: () => unknown } = { status: 200 };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    const answer = async (): Promise<void> => {
      got.push({ headers: request.headers, text, body: JSON.parse(text) as Received['body'] });
      await answers.before?.();
      response
        .writeHead(answers.status, answers.status === 302 ? { location: 'http://127.0.0.1:1/' } : {})
        .end();
    };
    request.on('end', () => void answer());
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { got, answers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

const DAY = 86_400;

/** Report of a run with one job. */
const report = (pages: number, rows: number, code = 'noRows') => [
  {
    rows,
    tables: [],
    jobs: [
      {
        job: 'orders',
        at: 'parameters.config.jobs[0]',
        pages,
        rows,
        reasons: [{ reason: { code }, text: `the ${code}`, runs: 1 }],
      },
    ],
  },
];

const minute = (ago: number): string => new Date(Date.now() - ago * 60_000).toISOString();

const watched = (table: string, column = 'at') => ({
  table: `in.c-shop.${table}`,
  column,
  warnMinutes: 60,
  errorMinutes: 120,
});

/** A mail server, which may refuse what comes. */
async function mailServer() {
  const state = { got: [] as { to: string[]; user: unknown; text: string }[], refuses: false, port: 0 };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username = '', password }, _session, done) => {
      if (password === 's3cret') done(null, { user: username });
      else done(new Error('Wrong password'));
    },
    onData: (stream, session, done) => {
      let text = '';
      stream.on('data', (chunk) => (text += String(chunk)));
      stream.on('end', () => {
        if (state.refuses) {
          done(Object.assign(new Error('Not now'), { responseCode: 550 }));
          return;
        }
        const to = session.envelope.rcptTo.map(({ address }) => address);
        state.got.push({ to, user: session.user, text: text.replaceAll(/=\r\n/g, '') });
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  closing.push(async () => await new Promise((resolve) => server.close(() => resolve(undefined))));
  state.port = (server.server.address() as AddressInfo).port;
  return state;
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
  const lookAtAlerts = createLook();
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
    pass: (ms: number): void => void (clock.now += ms),
    create,
    source,
    meta,
    /** Lets a run of a configuration end now. */
    ran: async (
      configuration: string,
      how: { error?: string; verdict?: string; report?: object; asked?: object } = {},
    ): Promise<string> => {
      const body = { component: 'ex-generic-v2', configuration, ...how.asked };
      const started = await service.call('POST', 'runs', body);
      const { id } = started.body as { id: string };
      const { error, verdict = 'complete' } = how;
      const message = { code: 'http.status', message: error, audience: 'user' };
      await meta
        .updateTable('runs')
        .set({
          status: error === undefined ? 'success' : 'error',
          verdict: error === undefined ? verdict : null,
          error: error === undefined ? null : JSON.stringify(message),
          report: JSON.stringify(how.report ?? []),
          ended: new Date(clock.now).toISOString(),
        })
        .where('id', '=', Number(id))
        .execute();
      return id;
    },
    /** Looks so many minutes later, and returns what was received by it. */
    after: async (minutes: number, ways: MessageWays = {}): Promise<readonly Received['body'][]> => {
      clock.now += minutes * 60_000;
      if (context === undefined) throw new Error('The service has not started.');
      const before = hook.got.length;
      const queue = {
        ...context.queue,
        runs: { ...context.queue.runs, now: async () => await Promise.resolve(clock.now) },
      };
      const all = { ...context, env, queue, publicUrl: 'https://gex.example.com' };
      await lookAtAlerts(all);
      await sendMessages(all, ways, new AbortController().signal);
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

  test('tells in one message of all that are late after the service was off, and of others apart', async () => {
    const { create, source, ran, after, service } = await world();
    await create({ kinds: ['late'], lateMinutes: 60, lateErrorMinutes: 2000 });
    const many = Array.from({ length: 20 }, (_, i) => `m${String(i).padStart(2, '0')}`);
    for (const id of many) {
      await source(id);
      await service.call('POST', `components/ex-generic-v2/configs/${id}/schedules`, { cron: '0 5 31 12 *' });
      await ran(id);
    }
    const named = (told: Awaited<ReturnType<typeof after>>) =>
      told.map(({ event, sources }) => [event, sources.map(({ configuration }) => configuration)]);
    expect(await after(1)).toEqual([]);
    expect(named(await after(1440))).toEqual([['late', many]]);
    expect(await after(1)).toEqual([]);
    // One that is late later is told of by itself, and those of before stay one cause.
    await source('x');
    await service.call('POST', 'components/ex-generic-v2/configs/x/schedules', { cron: '0 5 31 12 *' });
    await ran('x');
    expect(await after(1)).toEqual([]);
    expect(named(await after(61))).toEqual([['late', ['x']]]);
    for (const id of many) await ran(id);
    const back = await after(1);
    expect(back).toMatchObject([{ event: 'recovered' }]);
    expect(await after(1)).toEqual([]);
  });

  test('does not see as wrong what is deleted, and sees it again when it is restored', async () => {
    const own = await world();
    const { id } = await own.create({ kinds: ['failed', 'late'], lateMinutes: 60 });
    const path = 'components/ex-generic-v2/configs';
    for (const name of ['a', 'b']) await own.source(name);
    await own.service.call('POST', `${path}/b/schedules`, { cron: '0 * * * *' });
    await own.ran('a', { error: 'The API answered 500' });
    const wrong = async (): Promise<readonly string[]> => {
      const { body } = await own.service.call('GET', `alerts/${id}`);
      return (body as Alert).wrong.map(({ configuration }) => String(configuration)).toSorted();
    };
    await own.after(90);
    expect(await wrong()).toEqual(['a', 'b']);
    for (const name of ['a', 'b']) await own.service.call('DELETE', `${path}/${name}`);
    await own.after(1);
    expect(await wrong()).toEqual([]);
    await own.after(1);
    expect(await wrong()).toEqual([]);
    await own.service.call('POST', `${path}/b/restore`);
    await own.after(1);
    expect(await wrong()).toEqual(['b']);
  });

  test('says what was deleted, and not that it is well again', async () => {
    const { create, source, ran, after, service } = await world();
    await create({ kinds: ['failed'] });
    const error = 'The API answered 500';
    for (const name of ['a', 'b']) await source(name);
    for (const name of ['a', 'b']) await ran(name, { error });
    expect(await after(1)).toMatchObject([{ event: 'failed', sources: [{}, {}] }]);
    await service.call('DELETE', 'components/ex-generic-v2/configs/a');
    await ran('b');
    const [well] = await after(1);
    expect(well).toMatchObject({ event: 'recovered', sources: [{ configuration: 'b' }] });
    expect(well?.text).toMatch(/: b is well again$/);
    expect(well).not.toHaveProperty('isDeleted');
    await ran('b', { error });
    await after(1);
    await service.call('DELETE', 'components/ex-generic-v2/configs/b');
    const [gone, ...more] = await after(1);
    expect(gone).toMatchObject({ event: 'recovered', isDeleted: true, sources: [{ configuration: 'b' }] });
    expect(gone?.text).toMatch(/: b was deleted, so it is told of no longer$/);
    expect(more).toEqual([]);
    expect(await after(1)).toEqual([]);
  });

  test('warns of what is late, tells once more when it is an error, and once when it is back', async () => {
    const { create, source, ran, after, service } = await world();
    await create({ lateMinutes: 60, lateErrorMinutes: 120 });
    await source('a');
    await service.call('POST', 'components/ex-generic-v2/configs/a/schedules', { cron: '0 5 31 12 *' });
    await ran('a');
    expect(await after(61)).toMatchObject([{ event: 'late', severity: 'warning', isReminder: false }]);
    expect(await after(30)).toEqual([]);
    expect(await after(30)).toMatchObject([{ event: 'late', severity: 'error', isReminder: false }]);
    expect(await after(60)).toEqual([]);
    await ran('a');
    expect(await after(1)).toMatchObject([{ event: 'recovered', severity: 'error' }]);
    const { text } = await service.call('GET', 'alerts');
    expect(text).toContain('"wrong":[]');
  });

  test('tells of unusual numbers beside enough runs, and of no partial or first ones', async () => {
    const { create, source, ran, after } = await world();
    await create({ kinds: ['unusual'] });
    await source('a');
    // too few runs for a judgement
    await ran('a', { report: report(1, 5) });
    for (let run = 0; run < 8; run += 1)
      await ran('a', {
        report: report(30 + (run % 3), 3000 + run * 10, run % 2 === 0 ? 'noRows' : 'shortPage'),
      });
    expect(await after(1)).toEqual([]);
    await ran('a', { report: report(29, 2900) });
    expect(await after(1)).toEqual([]);
    await ran('a', { report: report(1, 100), asked: { from: '2026-01-01' } });
    await ran('a', { report: report(1, 100), verdict: 'doubtful' });
    expect(await after(1)).toEqual([]);
    const run = await ran('a', { report: report(1, 100) });
    expect(await after(1)).toEqual([]); // the first run had no more
    await ran('a', { report: report(0, 0) });
    const [told, ...more] = await after(1);
    expect(more).toEqual([]);
    expect(told).toMatchObject({ event: 'unusual', severity: 'warning', sources: [{ configuration: 'a' }] });
    expect(told?.sources[0]?.detail).toContain(
      'orders: 0 pages (−100 %): 11 runs before had 30 in the median, 1 to 32; orders: 0 rows',
    );
    expect(told?.text).toContain('a has unusual numbers: orders: 0 pages');
    expect(Number(told?.sources[0]?.run)).toBeGreaterThan(Number(run));
    await ran('a', { report: report(31, 3000, 'flag') });
    const [reason] = await after(1);
    // the same cause: a job that is still unusual is not told of again
    expect(reason).toBeUndefined();
    await ran('a', { report: report(31, 3000) });
    expect(await after(1)).toMatchObject([{ event: 'recovered' }]);
    await ran('a', { report: report(31, 3000, 'forcePages') });
    expect((await after(1))[0]?.sources[0]?.detail).toMatch(
      /orders: it ended because the forcePages, as none of \d+ runs before; the last one ended because the noRows/,
    );
  });

  test('tells of tokens that end soon, once more when they have ended, and not of short ones', async () => {
    const { create, after, service } = await world();
    await create({ endingDays: 3 });
    const long = await service.call('POST', 'tokens', { description: 'nightly', expiresIn: 10 * DAY });
    await service.call('POST', 'tokens', { description: 'a day', expiresIn: DAY });
    const { id } = long.body as { id: string };
    expect(await after(6 * 24 * 60)).toEqual([]);
    const [told, ...more] = await after(2 * 24 * 60);
    expect(more).toEqual([]);
    expect(told).toMatchObject({ event: 'ending', severity: 'warning', sources: [{ token: id }] });
    expect(told?.text).toMatch(/: token \d+ ends: The token “nightly” ends at /);
    expect(await after(24 * 60)).toEqual([]);
    expect(await after(2 * 24 * 60)).toMatchObject([{ event: 'ending', severity: 'error' }]);
    await service.call('DELETE', `tokens/${id}`);
    expect(await after(1)).toMatchObject([{ event: 'recovered', sources: [{ token: id }] }]);
  });

  test('tells of logins that end, or were refused, once, and not of those that were left over', async () => {
    const { create, source, after, meta, now } = await world();
    await create({ endingDays: 3 });
    await source('a');
    const second = Math.floor(now / 1000);
    const keep = async (logins: object): Promise<void> => {
      const state = JSON.stringify({ component: { logins } });
      await meta.updateTable('configurations').set({ state }).where('configuration_id', '=', 'a').execute();
    };
    const made = { savedAt: second, account: 'ann@example.com', isRenewed: false };
    const old = { savedAt: second - 9 * DAY, refusedAt: second - 9 * DAY };
    await keep({
      old,
      now: { ...made, endsAt: second + 10 * DAY },
      short: { ...made, endsAt: second + DAY },
    });
    expect(await after(1)).toEqual([]);
    await keep({ old, now: { ...made, endsAt: second + 10 * DAY } });
    const [told, ...more] = await after(8 * 24 * 60);
    expect(more).toEqual([]);
    expect(told).toMatchObject({ event: 'ending', severity: 'warning', sources: [{ configuration: 'a' }] });
    expect(told?.text).toMatch(/: a needs a login: The login of ann@example.com ends at /);
    expect(told?.sources[0]?.link).toBe('https://gex.example.com/sources/ex-generic-v2/a');
    expect(await after(60)).toEqual([]);
    await keep({ old, now: { savedAt: second + 8 * DAY, refusedAt: second + 8 * DAY } });
    const [refused] = await after(1);
    expect(refused).toMatchObject({ event: 'ending', severity: 'error' });
    expect(refused?.text).toContain('was refused by the provider');
    await keep({ old, now: { ...made, savedAt: second + 8 * DAY, endsAt: second + 40 * DAY } });
    expect(await after(1)).toMatchObject([{ event: 'recovered', sources: [{ configuration: 'a' }] }]);
  });

  test('goes by mail, as text and under TLS where it is not loopback, and counts and logs what it tells', async () => {
    const { create, source, ran, after, messages, service } = await world();
    const mails = await mailServer();
    const { id } = await create({ url: 'mailto:ops@example.com,data@example.com' });
    await source('a');
    await ran('a', { error: 'The API answered 500 <b>now</b>\r\nBcc: x@example.com' });
    expect(await after(1)).toEqual([]);
    expect(await messages(id)).toMatchObject([
      { status: 'waiting', answer: 'The service has no mail server: start it with --smtp.' },
    ]);
    const mail = createMailer({ url: `smtp://gex:s3cret@127.0.0.1:${mails.port}`, from: 'gex@example.com' });
    await after(1, { mail });
    expect(await messages(id)).toMatchObject([{ status: 'sent', attempts: 2 }]);
    const [got, ...more] = mails.got;
    expect(more).toEqual([]);
    expect(got?.to).toEqual(['ops@example.com', 'data@example.com']);
    expect(got?.user).toBe('gex');
    expect(got?.text).toMatch(/^Subject: \[error\] My project: a failed: The API answered 500 <b>now<\/b>/m);
    expect(got?.text.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/im);
    expect(got?.text).toContain('Content-Type: text/plain');
    expect(got?.text).not.toContain('text/html');
    expect(got?.text).toMatch(/- configuration a of ex-generic-v2, run \d+, since /);
    expect(got?.text).toContain('https://gex.example.com/runs/');
    mails.refuses = true;
    await service.call('POST', `alerts/${id}/test`);
    await after(1, { mail });
    expect((await messages(id))[0]).toMatchObject({
      event: 'test',
      status: 'waiting',
      answer: expect.stringContaining('550') as string,
    });
    const part = async (query: string) => (await service.call('GET', `alerts/${id}/messages?${query}`)).body;
    expect(await part('status=sent')).toMatchObject([{ event: 'failed' }]);
    expect(await part('limit=1&offset=1')).toMatchObject([{ event: 'failed' }]);
    expect((await service.call('GET', 'alerts?limit=1&offset=1')).body).toEqual([]);
    const { text } = await service.call('GET', '/metrics');
    expect(text).toContain('gex_alerts_total{event="failed",severity="error"} 1');
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

  test('is not held up by a receiver that takes nothing, and is not asked for each of its messages', async () => {
    const { create, after, hook, messages, service } = await world();
    const deaf = await receiver();
    deaf.answers.status = 503;
    const { id } = await create({ url: deaf.url });
    for (let n = 0; n < 25; n++) await service.call('POST', `alerts/${id}/test`);
    const other = await create();
    await service.call('POST', `alerts/${other.id}/test`);
    expect(await after(1)).toHaveLength(1);
    expect(deaf.got).toHaveLength(1);
    expect(hook.got).toHaveLength(1);
    deaf.answers.status = 200;
    for (let n = 0; n < 3; n++) await after(1);
    expect(new Set(deaf.got.map(({ body }) => body.id)).size).toBe(25);
    expect((await messages(id)).filter(({ status }) => status !== 'sent')).toEqual([]);
  });

  test('is held up only so long by a receiver that is slow to take its messages', async () => {
    const { create, after, pass, service } = await world();
    const slow = await receiver();
    slow.answers.before = () => pass(8000);
    const { id } = await create({ url: slow.url });
    for (let n = 0; n < 5; n++) await service.call('POST', `alerts/${id}/test`);
    await after(1);
    expect(slow.got).toHaveLength(2);
    for (let n = 0; n < 2; n++) await after(1);
    expect(new Set(slow.got.map(({ body }) => body.id)).size).toBe(5);
    expect(slow.got).toHaveLength(5);
  });

  test('sends a message with the same id again when its end could not be written down', async () => {
    const { create, source, ran, after, hook, messages, meta } = await world();
    const { id } = await create();
    await source('a');
    await ran('a', { error: 'x' });
    const rename = async (from: string, to: string): Promise<void> =>
      await meta.schema.alterTable(from).renameTo(to).execute();
    // As when the process is killed behind the answer: it was taken, and nobody knows.
    hook.answers.before = async () => await rename('alert_messages', 'away');
    await expect(after(1)).rejects.toThrow('alert_messages');
    await rename('away', 'alert_messages');
    delete hook.answers.before;
    expect(await messages(id)).toMatchObject([{ status: 'waiting', attempts: 0 }]);
    expect(await after(1)).toHaveLength(1);
    expect(await after(30)).toEqual([]);
    expect(hook.got).toHaveLength(2);
    expect(new Set(hook.got.map(({ text }) => text)).size).toBe(1);
    expect(new Set(hook.got.map(({ headers }) => headers['x-gex-message'])).size).toBe(1);
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
    expect(await after(1, { reach: near })).toEqual([]);
    expect(await messages(id)).toMatchObject([
      { status: 'waiting', attempts: 1, answer: expect.stringContaining('not allowed here') as string },
    ]);
  });

  test('sources have a state, those that need a look first, for those who may see them', async () => {
    const { create, source, ran, service, meta } = await world();
    await create({ lateMinutes: 60 });
    for (const id of ['fresh', 'failed', 'doubtful', 'late', 'never', 'paused']) await source(id);
    const schedule = async (id: string, isEnabled = true): Promise<void> =>
      void (await service.call('POST', `components/ex-generic-v2/configs/${id}/schedules`, {
        cron: '0 5 31 12 *',
        isEnabled,
      }));
    for (const id of ['fresh', 'late', 'never']) await schedule(id);
    await schedule('paused', false);
    const old = await ran('late');
    const before = new Date(Date.now() - 61 * 60_000).toISOString();
    await meta.updateTable('runs').set({ ended: before }).where('id', '=', Number(old)).execute();
    await ran('failed', { error: 'x' });
    await ran('doubtful', { verdict: 'doubtful' });
    for (const id of ['fresh', 'paused']) await ran(id);
    const { body } = await service.call('GET', 'runs/sources');
    expect(body).toMatchObject({
      counts: { failed: 1, late: 1, doubtful: 1, neverRun: 1, fresh: 2 },
      paused: 1,
      total: 6,
      sources: [
        { configuration: 'failed', state: 'failed', lastLoadTime: null, lateMinutes: 60 },
        { configuration: 'late', state: 'late', lastRun: old },
        { configuration: 'doubtful', state: 'doubtful' },
        { configuration: 'never', state: 'neverRun', lastRun: null, isPaused: false },
        {
          configuration: 'fresh',
          state: 'fresh',
          nextTime: expect.stringContaining('-12-31T05:00') as string,
        },
        { configuration: 'paused', state: 'fresh', isPaused: true, nextTime: null },
      ],
    });
    const asked = await service.call('GET', 'runs/sources?state[]=failed&state[]=late&search=LA&limit=1');
    expect(asked.body).toMatchObject({ total: 1, sources: [{ configuration: 'late' }] });
    const sorted = async (query: string): Promise<readonly string[]> => {
      const { body } = await service.call('GET', `runs/sources?${query}`);
      return (body as { sources: { configuration: string }[] }).sources.map((each) => each.configuration);
    };
    const byName = ['doubtful', 'failed', 'fresh', 'late', 'never', 'paused'];
    expect(await sorted('sort=name')).toEqual(byName);
    expect(await sorted('sort=name&isReversed=true&limit=2&offset=1')).toEqual(['never', 'late']);
    const byRun = await sorted('sort=lastRun');
    expect([byRun.at(-2), byRun.at(-1)]).toEqual(['late', 'never']);
    expect((await sorted('sort=lastLoad')).slice(-2).toSorted()).toEqual(['failed', 'never']);
    expect((await sorted('sort=next')).at(-1)).not.toBe('fresh');
    const paused = await service.call('GET', 'runs/sources?isPaused=true');
    expect(paused.body).toMatchObject({ total: 1, sources: [{ configuration: 'paused' }] });
    const tokenWith = async (componentAccess: readonly string[]): Promise<Record<string, string>> => {
      const made = await service.call('POST', 'tokens', { description: 'x', componentAccess });
      return { 'x-storageapi-token': (made.body as { token: string }).token };
    };
    const other = await tokenWith(['ex-other']);
    expect((await service.call('GET', 'runs/sources', undefined, other)).body).toMatchObject({ total: 0 });
    const none = await tokenWith([]);
    expect((await service.call('GET', 'runs/sources', undefined, none)).status).toBe(403);
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
      { url: 'mailto:' },
      { url: 'mailto:a@example.com?bcc=b@example.com' },
      { url: 'mailto:a@example.com%0d%0aBcc:b@example.com' },
      { kinds: ['stale'] },
      { kinds: ['failed'], endingDays: 3 },
      { lateMinutes: 60, lateErrorMinutes: 60 },
      { columns: [{ table: 'in.c-a.b', column: 'c', warnMinutes: 10, errorMinutes: 5 }] },
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

test(
  'the service sends messages on its own, also of columns without new values',
  { timeout: 180_000 },
  async () => {
    const service = await startService();
    closing.push(async () => await service.stop());
    const hook = await receiver();
    const client = new StorageClient({ url: service.addresses.url, token: service.token });
    closing.push(async () => await Promise.resolve(client.close()));
    await client.buckets.create({ name: 'shop', stage: 'in' });
    const load = async (table: string, times: readonly string[]): Promise<void> => {
      const content = ['id,at', ...times.map((time, row) => `${row},${time}`)].join('\n');
      const { id } = await client.files.upload(bytesBody(content), { name: 't.csv' });
      await client.tables.create('in.c-shop', { name: table, dataFileId: id });
    };
    // The last one is in the future, and no sign of new rows.
    await load('old', [minute(180), minute(90), '', 'never', minute(-600)]);
    await load('new', [minute(500), minute(10)]);
    await load('none', ['never']);
    const columns = [
      watched('old'),
      watched('new'),
      watched('none'),
      watched('new', 'gone'),
      watched('lost'),
    ];
    const made = await service.call('POST', 'alerts', { name: 'ops', url: hook.url, columns });
    expect(made.status).toBe(201);
    const { id, kinds } = made.body as Alert;
    expect(kinds).toEqual(['failed', 'doubtful', 'stale']);
    await service.call('POST', `alerts/${id}/test`);
    await expect
      .poll(
        () => hook.got.map(({ body: { event, severity, sources } }) => [event, severity, sources[0]?.table]),
        {
          timeout: 120_000,
        },
      )
      .toEqual(
        expect.arrayContaining([
          ['test', 'warning', undefined],
          ['stale', 'warning', 'in.c-shop.old'],
          ['stale', 'error', 'in.c-shop.new'],
          ['stale', 'error', 'in.c-shop.lost'],
        ]),
      );
    expect(hook.got).toHaveLength(4);
    const wrong = (await service.call('GET', `alerts/${id}`)).body as Alert;
    expect(wrong.wrong.map(({ table, column, detail }) => `${table} ${column}: ${detail}`)).toEqual([
      expect.stringMatching(/^in\.c-shop\.lost at: There is no such table/),
      expect.stringMatching(/^in\.c-shop\.new gone: The table has no such column/),
      expect.stringMatching(/^in\.c-shop\.old at: The newest time is .*, and the table was loaded last at /),
    ]);
  },
);
