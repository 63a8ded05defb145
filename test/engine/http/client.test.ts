import { readdirSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import {
  createHttpClient,
  type HttpClient,
  type HttpClientOptions,
} from '../../../src/engine/http/client.ts';
import { withHeader, type SendWrapper } from '../../../src/engine/shared/message.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import {
  errorOf,
  fakeEnv,
  get,
  makeCertificates,
  never,
  recordingLog,
  scripted,
  startApi,
  temporaryFolder,
  textOf,
} from './support.ts';

function open(options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = createHttpClient({
    env: fakeEnv(),
    log: recordingLog(),
    secrets: new Secrets(),
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** Adds a header with a number that grows with every use. */
function counting(name: string): SendWrapper {
  let count = 0;
  return (next) => (request, options) =>
    next({ ...request, headers: withHeader(request.headers, name, String(++count)) }, options);
}

describe('the client', () => {
  test('does credentials, checks and signatures afresh for every attempt and every hop', async () => {
    const api = await startApi((response, { target }, count) => {
      if (count === 1) response.writeHead(503).end();
      else if (target === '/a') response.writeHead(302, { Location: '/b' }).end();
      else response.end('{"ok":true}');
    });
    const client = open({
      auth: counting('x-auth'),
      allowedHosts: counting('x-allowed'),
      sign: counting('x-sign'),
    });
    const response = await client.send(get(`${api.url}/a`), { signal: never });
    expect(textOf(response)).toBe('{"ok":true}');
    expect(response.url).toBe(`${api.url}/b`);
    const seen = api.seen.map(({ target, headers }) => [
      target,
      headers['x-auth'],
      headers['x-allowed'],
      headers['x-sign'],
    ]);
    expect(seen).toEqual([
      ['/a', '1', '1', '1'],
      ['/a', '2', '2', '2'],
      ['/b', '3', '3', '3'],
    ]);
  });

  test('an error status after all retries is an error, unless it is ignored', async () => {
    const api = await startApi((response) => response.writeHead(500).end('broken'));
    const retry = { maxRetries: 1 };
    expect(await errorOf(open({ retry }).send(get(api.url), { signal: never }))).toMatchObject({
      code: 'http.status',
    });
    expect(api.seen).toHaveLength(2);
    const response = await open({ retry, ignoreErrors: [500] }).send(get(api.url), { signal: never });
    expect(textOf(response)).toBe('broken');
    expect(api.seen).toHaveLength(4);
  });

  test('a body that was cut is asked for again', async () => {
    const api = await startApi((response, _seen, count) => {
      response.writeHead(200, { 'Content-Length': 2 }).write('{');
      if (count === 1) response.destroy();
      else response.end('}');
    });
    expect(textOf(await open().send(get(api.url), { signal: never }))).toBe('{}');
    expect(api.seen).toHaveLength(2);
  });

  test('a login inside of a request has room where only one request at a time is allowed', async () => {
    const api = await startApi();
    const client: HttpClient = open({
      env: systemEnv,
      rateLimits: { concurrency: 1, requestsPerSecond: 1000 },
      auth: (next) => async (request, options) => {
        await client.plain(get(`${api.url}/login`), options);
        return next(request, options);
      },
    });
    await Promise.all([1, 2].map((id) => client.send(get(`${api.url}/${id}`), { signal: never })));
    expect(api.seen.map(({ target }) => target)).toEqual(['/login', '/1', '/login', '/2']);
  });

  test('plain requests have no authentication, ignore no status and leave nothing in the cache', async () => {
    const api = await startApi((response, { target }) =>
      response.writeHead(target === '/missing' ? 404 : 200).end('{}'),
    );
    const folder = temporaryFolder();
    const client = open({
      auth: counting('x-auth'),
      guard: counting('x-guard'),
      ignoreErrors: [404],
      cache: { folder },
    });
    await client.plain(get(`${api.url}/login`), { signal: never });
    expect(api.seen[0]?.headers).toMatchObject({ 'x-guard': '1' });
    expect(api.seen[0]?.headers['x-auth']).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
    expect(await errorOf(client.plain(get(`${api.url}/missing`), { signal: never }))).toMatchObject({
      code: 'http.status',
    });
    expect((await client.send(get(`${api.url}/missing`), { signal: never })).status).toBe(404);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test('a given bottom takes the place of the network', async () => {
    const bottom = scripted({ body: 'replayed' });
    expect(textOf(await open({ bottom }).send(get('http://nowhere.invalid/'), { signal: never }))).toBe(
      'replayed',
    );
  });

  test('logs requests when asked to', async () => {
    const log = recordingLog();
    await open({ bottom: scripted(), log, debug: true }).send(get('http://h/'), { signal: never });
    expect(log.lines.map(({ message }) => message)).toEqual(['GET http://h/', '200 GET http://h/']);
    const silent = recordingLog();
    await open({ bottom: scripted(), log: silent }).send(get('http://h/'), { signal: never });
    expect(silent.lines).toEqual([]);
  });
});

describe('the network', () => {
  test('goes through the proxy of the environment, but not for exempt hosts', async () => {
    const api = await startApi();
    const proxy = await startApi((response) => response.end('from the proxy'));
    const environment = { http_proxy: proxy.url, no_proxy: '127.0.0.1' };
    const client = open({ network: { environment } });
    expect(textOf(await client.send(get(api.url), { signal: never }))).toBe('{}');
    expect(textOf(await client.send(get('http://far.example/x'), { signal: never }))).toBe('from the proxy');
    expect(proxy.seen.map(({ target }) => target)).toEqual(['http://far.example/x']);
  });

  test('uses the certificates that are given', async () => {
    const { ca, cert, key, client: clientCertificate } = makeCertificates('localhost', 'an authority');
    const api = await startApi(undefined, { cert, key, ca, requestCert: true, rejectUnauthorized: true });
    const client = open({ network: { tls: { caCertificate: ca, clientCertificate } } });
    const response = await client.send(get(`https://localhost:${api.port}/`), { signal: never });
    expect(response.status).toBe(200);
  });

  test.each([
    [{ caCertificate: '' }, 'application', 'parameters.api.caCertificate'],
    [{ caCertificate: 'no PEM' }, 'user', 'parameters.api.caCertificate'],
    [{ clientCertificate: 'no PEM' }, 'user', 'parameters.api.#clientCertificate'],
  ])('a certificate that cannot be read is an error before the first request: %j', (tls, audience, path) => {
    expect(() => open({ network: { tls } })).toThrow(
      expect.objectContaining({ code: 'http.tls', audience, where: { path } }),
    );
  });
});
