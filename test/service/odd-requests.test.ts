// @module-tag thorough
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FORM, startService, type Running } from './harness.ts';

let api: Running;
beforeAll(async () => {
  api = await startService();
});
afterAll(async () => {
  await api.stop();
});

/** Sends exactly that text, and gives the status and the body of the answer. */
async function sendRaw(text: string): Promise<{ status: number; body: unknown }> {
  const { port, hostname } = new URL(api.addresses.url);
  const answer = await new Promise<string>((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket
      .on('data', (data) => (received += data.toString()))
      .on('end', () => resolve(received))
      .on('error', reject);
  });
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(/^content-type: application\/json\r?$/im);
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body) as unknown };
}

describe('a Host that is none', () => {
  test.each(['Host: a b', 'Host: [::1', 'Host: %%:99999999', 'Host: http://x/../', 'Host:'])(
    '%j is answered with the address that the request came to',
    async (host) => {
      const answer = await sendRaw(`GET /v2/storage HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        services: [
          { id: 'import', url: api.addresses.url },
          { id: 's3', url: api.addresses.parts['s3'] },
        ],
      });
    },
  );

  test('also when it is left out, as HTTP 1.0 allows', async () => {
    expect((await sendRaw('GET /health HTTP/1.0\r\n\r\n')).body).toEqual({ status: 'ok' });
    expect((await sendRaw('GET /v2/storage HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

describe('what is refused before there is a route has the shape of every error', () => {
  const close = 'Connection: close\r\n\r\n';
  test.each([
    ['a method that is none', `FOO /v2/storage HTTP/1.1\r\nHost: x\r\n${close}`, 400, 'malformedRequest'],
    ['two hosts', `GET /v2/storage HTTP/1.1\r\nHost: x\r\nhost: y\r\n${close}`, 400, 'malformedRequest'],
    ['no HTTP', 'no http at all\r\n\r\n', 400, 'malformedRequest'],
    [
      'headers beyond all bounds',
      `GET /v2/storage?q=${'x'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n${close}`,
      431,
      'malformedRequest',
    ],
    [
      'an id longer than any',
      `GET /v2/storage/components/${'x'.repeat(5000)} HTTP/1.1\r\nHost: x\r\n${close}`,
      404,
      'notFound',
    ],
  ])('%s', async (_what, text, status, code) => {
    const answer = await sendRaw(text);
    expect(answer).toEqual({
      status,
      body: {
        status: 'error',
        error: expect.not.stringContaining('xxx') as unknown,
        code,
        exceptionId: expect.any(String) as unknown,
        params: {},
      },
    });
  });
});

test('an address put together from one with a slash at its end is found', async () => {
  expect((await api.call('GET', '//v2/storage/tokens/verify')).status).toBe(200);
  expect((await api.call('GET', '/v2/storage//tokens/verify')).status).toBe(404);
});

const columns = (count: number): string =>
  Array.from({ length: count }, (_, index) => `columnNames[]=c${index}`).join('&');

describe('many fields', () => {
  test('of a form are read or refused, and none is left out in silence', async () => {
    const read = await api.call('POST', 'webalize/column-names', columns(20_000), FORM);
    expect((read.body as { columnNames: unknown[] }).columnNames).toHaveLength(20_000);
    const refused = await api.call('POST', 'webalize/column-names', columns(100_001), FORM);
    expect(refused.status).toBe(413);
    expect(refused.body).toMatchObject({ code: 'requestTooLarge' });
  });

  test('of a multipart body are read', async () => {
    const body = new FormData();
    for (let index = 0; index < 1500; index++) body.append('columnNames[]', `c${index}`);
    const { body: read } = await api.call('POST', 'webalize/column-names', body);
    expect((read as { columnNames: unknown[] }).columnNames).toHaveLength(1500);
  });

  test('a field that is too long is refused, and not cut', async () => {
    const body = new FormData();
    body.append('displayName', 'x'.repeat(32 * 1024 * 1024 + 1));
    const answer = await api.call('POST', 'webalize/display-name', body);
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ code: 'requestTooLarge' });
  });
});

const FORM_TYPE = 'application/x-www-form-urlencoded';

const quick = async (ask: () => Promise<number>): Promise<number> => {
  const begin = process.cpuUsage();
  const status = await ask();
  const { user, system } = process.cpuUsage(begin);
  // Each took several seconds of the processor, in which nobody else was answered.
  expect((user + system) / 1000).toBeLessThan(1500);
  return status;
};
const numbered = (count: number, name: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => name(n)).join('&');

describe('nobody waits for what another request has in it', () => {
  test.each([
    ['lists with one far item', numbered(4500, (n) => `a${n}[9999]`)],
    ['a list from its end', numbered(6000, (n) => `a[${9999 - n}]`)],
  ])('a query of %s, which needs no token', async (_what, query) => {
    expect(await quick(async () => (await fetch(`${api.addresses.url}/health?${query}`)).status)).toBe(200);
  });

  test.each([
    ['a form of lists with one far item', FORM_TYPE, numbered(20_000, (n) => `a${n}[9999]`), 201],
    ['a form with too many fields', FORM_TYPE, 'a&'.repeat(2_000_000), 413],
    ['JSON that ends behind many lines', 'application/json', `[${'\n'.repeat(4_000_000)}x`, 400],
    ['JSON of nothing but lists', 'application/json', `[${'[],'.repeat(1_300_000)}[]]`, 413],
  ])('%s', async (_what, type, body, status) => {
    const headers = { 'content-type': type, 'x-storageapi-token': api.token };
    const url = `${api.addresses.url}/v2/storage/tokens`;
    expect(await quick(async () => (await fetch(url, { method: 'POST', headers, body })).status)).toBe(
      status,
    );
  });

  test('commas in a text are no values', async () => {
    const description = `${','.repeat(1_100_000)}\\"`;
    expect((await api.call('POST', 'dev-branches', { name: 'commas', description })).status).toBe(202);
  });
});
