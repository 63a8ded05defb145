import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { bytesBody } from '../../../src/storage/client/index.ts';
import { makeCertificates, startApi } from '../../engine/http/support.ts';
import { clientOf, closedAddress, failureOf, listening, quickEnv, startServer, TOKEN } from './support.ts';

interface Proxy {
  readonly url: string;
  /** Requests so far, each with its host and credentials. */
  readonly seen: string[];
}

/** Answers everything itself; a tunnel leads to the port, or is refused. */
async function startProxy(port?: number): Promise<Proxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((request, response) => {
    const { host, 'proxy-authorization': who = '' } = request.headers;
    seen.push(`${request.method} ${request.url} ${host} ${Buffer.from(who.slice(6), 'base64').toString()}`);
    request.resume().on('end', () => response.end('{"id":1,"name":"a"}'));
  });
  proxy.on('connect', (request, socket: Socket) => {
    seen.push(`CONNECT ${request.url}`);
    sockets.add(socket.on('error', () => {}));
    if (port === undefined) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const far = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(far).pipe(socket);
    });
    sockets.add(far.on('error', () => {}));
    return socket;
  });
  const url = await listening(proxy);
  onTestFinished(() => {
    sockets.forEach((socket) => socket.destroy());
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url: url.replace('//', '//us%40r:pw@'), seen };
}

describe('a proxy of the environment', () => {
  test('is asked for calls and content of a service without TLS', async () => {
    const proxy = await startProxy();
    const { files } = clientOf('http://storage.example', { environment: { HTTP_PROXY: proxy.url } });
    await files.detail(1).catch(() => {}); // the answer is no whole file
    const importUrl = 'http://import.example:81/';
    expect(await files.uploadByImporter(bytesBody('x'), { name: 'a', importUrl })).toMatchObject({ id: 1 });
    expect(proxy.seen).toEqual([
      'GET http://storage.example/v2/storage/files/1 storage.example us@r:pw',
      'POST http://import.example:81/upload-file import.example:81 us@r:pw',
    ]);
  });

  test('is gone through by TLS, which it cannot look into', async () => {
    const { ca, cert, key } = makeCertificates('storage.example', 'an authority');
    const known = tls.getCACertificates();
    tls.setDefaultCACertificates([...known, ca]);
    onTestFinished(() => tls.setDefaultCACertificates(known));
    const api = await startApi((response) => response.end('[]'), { cert, key });
    const proxy = await startProxy(api.port);
    const client = clientOf('https://storage.example', { environment: { HTTPS_PROXY: proxy.url } });
    expect(await client.tables.list()).toEqual([]);
    expect(await client.tables.list()).toEqual([]);
    client.close();
    expect(proxy.seen).toEqual(['CONNECT storage.example:443']);
    expect(api.seen[0]?.headers).toMatchObject({ 'x-storageapi-token': TOKEN });
    expect(api.seen[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  test('that refuses is named, without its password', async () => {
    const proxy = await startProxy();
    const client = clientOf('https://storage.example', { environment: { https_proxy: proxy.url } });
    const error = await failureOf(client.tables.list());
    expect(error.message).toMatch(/^The proxy http:\/\/127\.0\.0\.1:\d+ answered 403 to a connection/);
    expect(error.message).not.toContain('pw');
  });

  test('that is not there is named with the variables that say it', async () => {
    const client = clientOf('https://storage.example', {
      environment: { HTTPS_PROXY: await closedAddress() },
    });
    const error = await failureOf(client.tables.list());
    expect(error.code).toBe('storage.unreachable');
    expect(error.hint).toContain('HTTPS_PROXY');
  });

  test('is left out for this machine, and for hosts in NO_PROXY', async () => {
    const url = await startServer((_, response) => response.end('[]'));
    const environment = { HTTP_PROXY: await closedAddress(), NO_PROXY: 'example' };
    expect(await clientOf(url, { environment }).tables.list()).toEqual([]);
    const elsewhere = clientOf('http://storage.example', { environment, retry: { maxRetries: 0 } });
    expect((await failureOf(elsewhere.tables.list())).message).toContain('http://storage.example');
  });
});

test('a service that says nothing over the network is left after two minutes', async () => {
  const late: number[] = [];
  const url = await startServer(() => {
    vi.advanceTimersByTime(119_000);
    late.push(vi.getTimerCount());
    vi.advanceTimersByTime(2000);
  });
  const { env, waits } = quickEnv();
  const client = clientOf(url, { env, retry: { maxRetries: 1 } });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const error = await failureOf(client.tables.list()).finally(() => vi.useRealTimers());
  expect(error.message).toBe(`No answer in time from ${url}, for GET tables.`);
  expect(late.every((timers) => timers > 0)).toBe(true);
  expect(waits).toEqual([1000]);
});
