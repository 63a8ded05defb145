import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ExtractorError, run, type RunOptions } from '../../src/index.ts';
import { configOf, dataFolder, json, startApi } from '../cli/support.ts';
import { freePort, makeCertificates } from '../engine/http/support.ts';

/** Runs against an address with a clock of its own: what it waited, what it was told, and how it ended. */
async function runOver(baseUrl: string, more: Partial<RunOptions> = {}, jobs = [{ endpoint: 'a' }]) {
  const waits: number[] = [];
  const told: string[] = [];
  const log = { debug() {}, info: (line: string) => void told.push(line), warn() {}, error() {} };
  let now = 1_600_000_000_000;
  const env = {
    now: () => now,
    randomBytes: (count: number) => new Uint8Array(count),
    sleep: async (ms: number) => {
      now += ms;
      waits.push(ms / 1000);
    },
  };
  // as many retries as by default; a trial gives up at once where nothing is reached, others are not retried
  const retryConfig = more.limit === undefined ? {} : { curl: { codes: [6, 7, 35] } };
  const config = configOf(baseUrl, jobs, { api: { retryConfig } });
  const error = await run({ dataFolder: dataFolder(config), log, env, ...more }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { waits, told, error };
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port; // it listens on a port
}

describe('an API that cannot be reached', () => {
  test('ends the run after three tries within seconds, and every wait is told', async () => {
    const { waits, told, error } = await runOver(`http://127.0.0.1:${await freePort()}/`);
    expect(waits).toEqual([1, 2]);
    expect(told.filter((line) => line.startsWith('Retrying'))).toHaveLength(2);
    expect(error).toMatchObject({ code: 'http.network', details: { curl: 7, system: 'ECONNREFUSED' } });
  });

  test('the same for a host that has no address', async () => {
    const { waits, error } = await runOver('http://host.invalid/');
    expect(waits).toEqual([1, 2]);
    expect(error).toMatchObject({ code: 'http.network', details: { curl: 6 } });
  });

  test('and at once in a trial', async () => {
    const { waits, error } = await runOver(`http://127.0.0.1:${await freePort()}/`, { limit: 1 });
    expect(waits).toEqual([]);
    expect(error).toMatchObject({ code: 'http.network' });
  });

  test('a status that stays is tried again twice in a trial, with its answer shown once', async () => {
    const api = await startApi((_request, response) => json(response, { error: 'disk full' }, 500));
    const { waits, told, error } = await runOver(api.url, { limit: 1 });
    expect(waits).toEqual([1, 2]);
    expect(told.filter((line) => line.includes('disk full'))).toEqual([
      'Retrying in 1 second (1 of 2) after status 500: {"error":"disk full"}',
    ]);
    expect(error).toMatchObject({ code: 'http.status' });
    expect((await runOver(api.url)).waits).toHaveLength(10);
  });

  test('later, when it has answered before, it is waited for', async () => {
    const closed = await freePort();
    const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
    const { waits, error } = await runOver(api.url, {}, [
      { endpoint: 'a' },
      { endpoint: `http://127.0.0.1:${closed}/b` },
    ]);
    expect(waits).toHaveLength(10);
    expect(error).toMatchObject({ code: 'http.network' });
  });

  test('an iteration that begins later has that patience, too', async () => {
    const closed = await freePort();
    const api = await startApi((_request, response) => json(response, [{ id: 1 }]));
    const config = configOf(api.url, [{ endpoint: 'a' }], { api: { retryConfig: {} } }) as {
      parameters: Record<string, unknown>;
    };
    config.parameters['iterations'] = [
      { jobs: [{ endpoint: 'a' }] },
      { jobs: [{ endpoint: `http://127.0.0.1:${closed}/b`, dataType: 'b' }] },
    ];
    const waits: number[] = [];
    const env = {
      now: () => 1_600_000_000_000,
      randomBytes: (count: number) => new Uint8Array(count),
      sleep: async (ms: number) => void waits.push(ms),
    };
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    await expect(run({ dataFolder: dataFolder(config), log, env })).rejects.toThrow(ExtractorError);
    expect(waits).toHaveLength(10);
  });

  test('a server that asks for a day ends the run, with that number', async () => {
    const api = await startApi((_request, response) =>
      response.writeHead(429, { 'Retry-After': '86400' }).end(),
    );
    const { waits, error } = await runOver(api.url);
    expect(waits).toEqual([]);
    expect(error).toMatchObject({ code: 'http.status', where: { job: 'a', url: `${api.url}a` } });
    expect(String(error)).toContain('86400 seconds');
  });
});

describe('the wrong scheme', () => {
  test('https to a port of http says so', async () => {
    const port = await portOf(createServer((_request, response) => void response.end('[]')));
    const { error } = await runOver(`https://127.0.0.1:${port}/`, { limit: 1 });
    expect(error).toMatchObject({ code: 'http.tls', details: { curl: 35 } });
    expect(error).toMatchObject({
      hint: expect.stringContaining('write http:// instead of https://') as string,
    });
  });

  test('http to a port of https, or of something else, says so', async () => {
    const { key, cert } = makeCertificates('127.0.0.1', 'ca');
    const secure = await portOf(
      createSecureServer({ key, cert }, (_request, response) => void response.end('[]')),
    );
    const other = await portOf(createTcpServer((socket) => void socket.end('SSH-2.0-x\r\n')));
    for (const [port, curl] of [
      [secure, 52],
      [other, 56],
    ] as const) {
      const { error } = await runOver(`http://127.0.0.1:${port}/`, { limit: 1 });
      expect(error).toMatchObject({ code: 'http.network', details: { curl } });
      expect(error).toMatchObject({ hint: expect.stringContaining('https:// instead of http://') as string });
    }
  });
});
