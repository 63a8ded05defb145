// @module-tag thorough
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Type } from 'typebox';
import { systemEnv, type Env } from '../../../../src/lib/env.ts';
import { createClients, isNetwork } from '../../../../src/service/http/limits/clients.ts';
import { createRateLimit } from '../../../../src/service/http/limits/rate-limit.ts';
import { route } from '../../../../src/service/http/route.ts';
import { containing, startService, type Running } from '../../harness.ts';

const running: Running[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const service of running.splice(0)) await service.stop();
});

async function start(options: Parameters<typeof startService>[0] = {}): Promise<Running> {
  const service = await startService(options);
  running.push(service);
  return service;
}

async function weakToken(service: Running, rights: object = {}): Promise<string> {
  const { body } = await service.call('POST', 'tokens', { description: 'weak', ...rights });
  return (body as { token: string }).token;
}

interface Sender {
  readonly socket: Socket;
  /** All that came so far. */
  text(): string;
  /** The first line of the answer. */
  status(): Promise<string>;
  readonly closed: () => Promise<void>;
}

async function send(service: Running, text: string): Promise<Sender> {
  const { hostname, port } = new URL(service.addresses.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  let got = '';
  socket.on('data', (data) => (got += data.toString())).on('error', () => undefined);
  const closing = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await Promise.race([once(socket, 'connect'), closing]);
  socket.write(text);
  const status = async (): Promise<string> => {
    await expect.poll(() => got).toContain('\r\n\r\n');
    return got.split('\r\n')[0] ?? '';
  };
  return { socket, text: () => got, status, closed: async () => await closing };
}

/** Waits until so many are refused for want of places, whichever came first. @returns the others */
async function refused(senders: readonly Sender[], count: number): Promise<readonly Sender[]> {
  const isRefused = (sender: Sender): boolean => sender.text().startsWith('HTTP/1.1 503');
  await expect.poll(() => senders.filter(isRefused).length).toBe(count);
  return senders.filter((sender) => !isRefused(sender));
}

const OWN_PAGE = 'Sec-Fetch-Site: same-origin\r\nX-Console: 1\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const head = (line: string, headers: string): string =>
  `${line} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const withToken = (token: string): string => `X-StorageApi-Token: ${token}\r\n`;

describe('nobody without a token keeps others out', () => {
  test.each([
    ['a sign-in', 'POST /console/session', OWN_PAGE, '413'],
    ['a sign-in from another site', 'POST /console/session', '', '403'],
    ['a sign-out', 'DELETE /console/session', OWN_PAGE, '413'],
    ['a sign-out from another site', 'DELETE /console/session', 'Origin: http://evil.example\r\n', '403'],
    ['what there is not', 'POST /nothing', '', '404'],
    ['a method that there is not', 'DELETE /v2/storage', '', '404'],
    ['a route that needs a token', 'POST /v2/storage/events', '', '401'],
  ])('by long bodies of %s', async (_what, line, headers, status) => {
    const service = await start({ maxRequests: 8 });
    const length = `${JSON_TYPE}Content-Length: 1000000\r\n`;
    const drips = await Promise.all(
      Array.from({ length: 12 }, async () => await send(service, `${head(line, headers + length)}{"a":`)),
    );
    const statuses = await Promise.all(drips.map(async (drip) => await drip.status()));
    // While a database elsewhere is asked, their share of the places may be taken.
    for (const each of statuses) expect(each).toMatch(new RegExp(`${status}|503`));
    expect(statuses.join()).toContain(status);
    expect((await service.call('GET', 'tokens/verify')).status).toBe(200);
  });

  test('by small bodies that hardly come: they have some of the places, and ten seconds', async () => {
    const { env, over } = waits(10_000);
    const service = await start({ maxRequests: 8, env });
    const signIn = `${head('POST /console/session', `${OWN_PAGE}${JSON_TYPE}Content-Length: 100\r\n`)}{"a":`;
    const drips: Sender[] = [];
    for (let n = 0; n < 6; n++) drips.push(await send(service, signIn));
    const taken = await refused(drips, 4);
    expect((await service.call('GET', 'tokens/verify')).status).toBe(200);
    over();
    for (const ended of taken) {
      expect(await ended.status()).toContain('408');
      await ended.closed();
    }
    const session = await fetch(`${service.addresses.url}/console/session`);
    expect(session.status).toBe(200);
  });

  test('by connections: a new one takes the place of one that is idle', async () => {
    const service = await start({ maxRequests: 8 });
    const idle: Sender[] = [];
    for (let n = 0; n < 20; n++) idle.push(await send(service, n % 2 === 0 ? '' : 'GET / HTTP/1.1\r\nX: '));
    await Promise.all(idle.slice(0, 4).map(async ({ closed }) => await closed()));
    expect((await service.call('GET', 'tokens/verify')).status).toBe(200);
    expect(idle[19]?.socket.destroyed).toBe(false);
  });
});

/** Lets waits of that length end when it is said. */
function waits(ms: number): { readonly env: Env; readonly over: () => void } {
  const said = Promise.withResolvers<void>();
  const sleep: Env['sleep'] = async (waitMs, signal) => {
    if (waitMs !== ms) return await systemEnv.sleep(waitMs, signal);
    const left = new Promise<never>((_resolve, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
    await Promise.race([said.promise, left]);
  };
  return { env: { ...systemEnv, sleep }, over: () => said.resolve() };
}

describe('a token', () => {
  test('has not all places', async () => {
    const service = await start({ maxRequests: 8 });
    const other = await weakToken(service);
    const event = `${head('POST /v2/storage/events', `${withToken(service.token)}${JSON_TYPE}Content-Length: 500\r\n`)}{`;
    const drips: Sender[] = [];
    for (let n = 0; n < 8; n++) drips.push(await send(service, event));
    const held = await refused(drips, 2);
    const verified = await service.call('GET', 'tokens/verify', undefined, { 'x-storageapi-token': other });
    expect(verified.status).toBe(200);
    expect((await service.call('GET', '/metrics')).status).toBe(503);
    expect((await service.call('GET', '/health')).status).toBe(200);
    held[0]?.socket.destroy();
    await expect.poll(async () => (await service.call('GET', 'tokens/verify')).status).toBe(200);
  });

  test.each([
    ['POST /v2/storage/buckets/in.c-main/tables-definition', 403],
    ['POST /v2/storage/tables/in.c-main.t/import-async', 403],
    ['PUT /v2/storage/components/ex-generic-v2/configs/1', 403],
    ['POST /v2/storage/components/nothing/configs', 404],
    ['POST /v2/storage/branch/77/components/ex-generic-v2/configs', 404],
    ['POST /v2/storage/tokens', 403],
    ['POST /v2/storage/dev-branches', 403],
    ['POST /v2/storage/workspaces', 501],
    ['POST /v2/storage/webalize/column-names', 413],
  ])('is judged at %s before its body comes', async (line, status) => {
    const service = await start();
    const headers = `${withToken(await weakToken(service))}${JSON_TYPE}Content-Length: 30000000\r\n`;
    const asked = await send(service, head(line, headers));
    expect(await asked.status()).toContain(String(status));
  });

  test('is told before it sends what it waits to be asked for', async () => {
    const service = await start();
    const body = '{"description":"by itself"}';
    const ask = async (token: string): Promise<Sender> =>
      await send(
        service,
        head(
          'POST /v2/storage/tokens',
          `${withToken(token)}${JSON_TYPE}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n`,
        ),
      );
    const refused = await ask(await weakToken(service));
    expect(await refused.status()).toContain('403');
    expect(refused.text()).toMatch(/^connection: close\r$/im);
    await refused.closed();
    const asked = await ask(service.token);
    expect(await asked.status()).toBe('HTTP/1.1 100 Continue');
    asked.socket.write(body);
    await expect.poll(() => asked.text()).toContain('HTTP/1.1 201');
    expect(asked.text()).not.toMatch(/^connection: close/im);
  });
});

const names = (token: string, headers: string): string =>
  head('POST /v2/storage/taken', withToken(token) + headers);

const taken = (handle: () => Promise<string>) =>
  route({
    method: 'POST',
    path: '/taken',
    summary: 'Takes a text',
    tag: 'Test',
    body: Type.Object({ text: Type.String() }),
    handle,
  });

test.each([
  ['what there is not', 'GET /nothing', ''],
  ['wrong tokens', 'GET /v2/storage/tokens', withToken('1-2-wrong')],
  ['no token', 'GET /v2/storage/tokens', ''],
  ['what its token has no place for', 'GET /v2/storage/tokens', undefined],
])('answers that wait behind another one of their connection take no places: %s', async (_what, line, by) => {
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const slow = taken(async () => {
    begun.resolve();
    await release.promise;
    return 'done';
  });
  const service = await start({ maxRequests: 8, parts: [() => ({ routes: [slow] })] });
  const other = await weakToken(service);
  const body = '{"text":"x"}';
  const first = await send(
    service,
    names(service.token, `${JSON_TYPE}Content-Length: ${body.length}\r\n`) + body,
  );
  await begun.promise;
  first.socket.write(head(line, by ?? withToken(service.token)).repeat(40));
  await systemEnv.sleep(200); // they have come
  // While a database elsewhere is asked who they are, they may have their share of the places.
  await expect
    .poll(
      async () =>
        (await service.call('GET', 'tokens/verify', undefined, { 'x-storageapi-token': other })).status,
    )
    .toBe(200);
  release.resolve();
  await expect.poll(() => first.text().match(/HTTP\/1\.1 /g)?.length).toBe(41);
});

describe('the memory for bodies', () => {
  const MB = 1024 * 1024;
  const big = JSON.stringify({ text: 'x'.repeat(MB) });
  const startTaking = async (handle: () => Promise<string> = async () => await Promise.resolve('done')) =>
    await start({ maxHeldBytes: 4 * MB, parts: [() => ({ routes: [taken(handle)] })] });
  test.each([
    [
      'with a length',
      (token: string) => names(token, `${JSON_TYPE}Content-Length: ${big.length + 1}\r\n`) + big,
    ],
    [
      'in chunks without an end',
      (token: string) =>
        `${names(token, `${JSON_TYPE}Transfer-Encoding: chunked\r\n`)}${big.length.toString(16)}\r\n${big}\r\n`,
    ],
    [
      'of fields',
      (token: string) =>
        `${names(token, `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${2 * MB}\r\n`)}--b\r\nContent-Disposition: form-data; name="text"\r\n\r\n${big}`,
    ],
  ])('has bounds for all and for each token: %s', async (_what, request) => {
    const service = await startTaking();
    const other = await weakToken(service);
    const holding: Sender[] = [];
    await expect
      .poll(async () => {
        holding.pop()?.socket.destroy();
        holding.push(await send(service, request(service.token)));
        await systemEnv.sleep(50); // it has come, and is not refused for the one that follows
        return await large(service, service.token);
      })
      .toBe(503);
    // Small ones find room, and so does another token.
    expect((await service.call('POST', 'taken', { text: 'small' })).status).toBe(200);
    expect(await large(service, other)).toBe(200);
    holding.pop()?.socket.destroy();
    await expect.poll(async () => await large(service, service.token)).toBe(200);
  });

  const large = async (service: Running, token: string): Promise<number> =>
    (await service.call('POST', 'taken', { text: 'x'.repeat(MB + 200) }, { 'x-storageapi-token': token }))
      .status;

  test('is that of a request until its work is done, also when its client has gone', async () => {
    const begun = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const service = await startTaking(async () => {
      begun.resolve();
      await release.promise;
      return 'done';
    });
    const gone = await send(
      service,
      names(service.token, `${JSON_TYPE}Content-Length: ${big.length}\r\n`) + big,
    );
    await begun.promise;
    gone.socket.destroy();
    await gone.closed();
    await systemEnv.sleep(50); // the service has seen it
    expect(await large(service, service.token)).toBe(503);
    release.resolve();
    await expect.poll(async () => await large(service, service.token)).toBe(200);
  });

  test('a body that comes too slowly in all is ended', async () => {
    const { env, over } = waits(60_000 + 800 / 8);
    const service = await start({ env });
    const headers = `${withToken(service.token)}${JSON_TYPE}Content-Length: 800\r\n`;
    const drip = await send(service, `${head('POST /v2/storage/events', headers)}{`);
    over();
    expect(await drip.status()).toContain('408');
    await drip.closed();
  });
});

test('uploads are taken as they come, beyond the memory for bodies', async () => {
  const service = await start({ maxHeldBytes: 300_000 });
  const form = new FormData();
  form.append('name', 'large.csv');
  form.append('data', new Blob(['x'.repeat(5_000_000)]), 'data.csv');
  const { status, body } = await service.call('POST', '/upload-file', form);
  expect(status).toBe(200);
  expect(body).toMatchObject({ name: 'large.csv', sizeBytes: 5_000_000 });
});

const from = (remoteAddress: string, forwarded?: string, proxies: string[] = ['10.0.0.0/8', '::1']): string =>
  createClients(proxies).addressOf({
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    // All that is looked at of a socket.
    socket: { remoteAddress } as Socket,
  });

const signInFrom = (address: string): string =>
  `${head('POST /console/session', `X-Forwarded-For: ${address}\r\n${OWN_PAGE}${JSON_TYPE}Content-Length: 100\r\n`)}{`;

describe('addresses', () => {
  test('come from the headers of trusted proxies alone', () => {
    expect(from('192.0.2.1', '198.51.100.7')).toBe('192.0.2.1');
    expect(from('10.1.2.3', '198.51.100.7')).toBe('198.51.100.7');
    expect(from('::ffff:10.1.2.3', '198.51.100.7:5000')).toBe('198.51.100.7');
    expect(from('10.1.2.3', 'made-up, 198.51.100.7, 10.9.9.9')).toBe('198.51.100.7');
    expect(from('10.1.2.3', '10.9.9.9')).toBe('10.9.9.9');
    expect(from('10.1.2.3')).toBe('10.1.2.3');
    expect(from('::1', '198.51.100.7')).toBe('198.51.100.7');
  });

  test('of IPv6 are those of their network', () => {
    expect(from('2001:db8:0:1:aaaa::1')).toBe(from('2001:0db8::1:bbbb:0:0:2'));
    expect(from('2001:db8:0:1::1')).not.toBe(from('2001:db8:0:2::1'));
    expect(from('fe80::1%eth0')).toBe(from('fe80::2'));
  });

  test('of proxies are checked', () => {
    expect(['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'].every(isNetwork)).toBe(true);
    expect(['', 'proxy', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/x', '::/129'].some(isNetwork)).toBe(false);
  });

  test('behind a proxy have places of their own', async () => {
    const service = await start({ maxRequests: 8, trustedProxies: ['127.0.0.1'] });
    const drips: Sender[] = [];
    for (let n = 0; n < 3; n++) drips.push(await send(service, signInFrom('192.0.2.1')));
    await refused(drips, 1);
    const others = await fetch(`${service.addresses.url}/v2/storage`, {
      headers: { 'x-forwarded-for': '192.0.2.2' },
    });
    expect(others.status).toBe(200);
  });
});

test('a clock that goes back an hour keeps nobody out', async () => {
  let now = systemEnv.now();
  const env: Env = { ...systemEnv, now: () => now };
  const service = await start({ env, requestsPerMinute: 100 });
  const [known, fresh] = [await weakToken(service), await weakToken(service)];
  const verify = async (token: string) =>
    await service.call('GET', 'tokens/verify', undefined, { 'x-storageapi-token': token });
  for (let n = 0; n < 60; n++) await verify(`1-wrong-${n}`);
  for (let n = 0; n < 100; n++) expect((await verify(known)).status).toBe(200);
  now -= 3_600_000;
  expect((await verify(known)).status).toBe(200);
  expect((await verify(known)).headers.get('retry-after')).toBe('1');
  expect((await verify(fresh)).status).toBe(200);
});

test('wrong tokens of an hour that the clock took back are forgotten', () => {
  const limit = createRateLimit(600);
  const now = 10 * 3_600_000;
  for (let n = 0; n < 600; n++) expect(limit.take('address', now)).toBe(0);
  expect(limit.take('address', now)).toBe(100);
  expect(limit.take('address', now - 3_600_000)).toBe(0);
  expect(limit.take('address', now - 3_600_000)).toBe(100);
});

test('what is refused says when to come again', async () => {
  const service = await start({ maxHeldBytes: 1000 });
  const { status, headers, body } = await service.call('POST', 'events', { message: 'x'.repeat(100_000) });
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect(body).toMatchObject({ code: 'storage.busy', error: containing('large bodies') });
});
