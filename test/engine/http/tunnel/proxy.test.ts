import { connect, type Socket } from 'node:net';
import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ApiResponse } from '../../../../src/engine/shared/message.ts';
import { proxyFor, type Environment } from '../../../../src/engine/http/tunnel/proxy.ts';
import { createGotSend, type GotOptions } from '../../../../src/engine/http/send/got.ts';
import { targetOf } from '../../../../src/engine/http/send/target.ts';
import { secureContextOf } from '../../../../src/engine/http/send/tls.ts';
import { errorOf, freePort, get, makeCertificates, never, startApi, textOf } from '../support.ts';

function of(url: string, environment: Environment): string | undefined {
  return proxyFor(targetOf(url), environment)?.origin;
}

describe('proxyFor', () => {
  test.each([
    ['http://h/', { HTTP_PROXY: 'http://p:3128' }, 'http://p:3128'],
    ['https://h/', { HTTP_PROXY: 'http://p:3128' }, undefined],
    ['https://h/', { HTTPS_PROXY: 'p:3128' }, 'http://p:3128'],
    ['https://h/', { https_proxy: 'https://low', HTTPS_PROXY: 'http://up' }, 'https://low'],
    ['http://h/', { ALL_PROXY: 'http://all:1' }, 'http://all:1'],
    ['http://h/', { all_proxy: 'http://all:1', http_proxy: 'http://own:2' }, 'http://own:2'],
    ['http://h/', { HTTP_PROXY: '' }, undefined],
    ['http://h/', {}, undefined],
  ])('%s with %j → %s', (url, environment, proxy) => {
    expect(of(url, environment)).toBe(proxy);
  });

  test.each([
    ['*', 'h.example', true],
    ['h.example', 'h.example', true],
    ['example', 'h.example', true],
    ['.example', 'h.example', true],
    ['*.example', 'h.example', true],
    ['ample', 'h.example', false],
    ['a, b , H.Example', 'h.example', true],
    ['a b h.example', 'h.example', true],
    ['h.example:80', 'h.example', true],
    ['h.example:8080', 'h.example', false],
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3:81', '10.1.2.3', false],
    ['10.0.0.0/99', '10.1.2.3', false],
    ['.2.3', '10.1.2.3', false],
    ['::1', '[::1]', true],
    ['[::1]:80', '[::1]', true],
    ['fd00::/8', '[fd00::7]', true],
    ['fd00::/8', '[fe00::7]', false],
    ['', 'h.example', false],
  ])('NO_PROXY %s exempts %s: %s', (list, host, isExempt) => {
    expect(of(`http://${host}/`, { HTTP_PROXY: 'p', NO_PROXY: list })).toBe(
      isExempt ? undefined : 'http://p',
    );
  });

  test('a proxy of another kind is an error', () => {
    expect(() => of('http://h/', { ALL_PROXY: 'socks5://p' })).toThrow(/socks5/);
  });
});

interface TestProxy {
  readonly url: string;
  /** Request lines that it was given. */
  readonly asked: string[];
  readonly authorizations: (string | undefined)[];
}

/** A proxy that sends everything to the one port given. */
async function startProxy(port: number, refuse?: number): Promise<TestProxy> {
  const asked: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.host}`);
    authorizations.push(request.headers['proxy-authorization']);
    response.end('from the proxy');
  });
  proxy.on('connect', (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`);
    authorizations.push(request.headers['proxy-authorization']);
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (refuse !== undefined) {
      socket.end(`HTTP/1.1 ${refuse} No\r\n\r\n`);
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    sockets.add(upstream);
    upstream.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    sockets.forEach((socket) => socket.destroy());
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  return {
    url: `http://us%40r:pw@127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    asked,
    authorizations,
  };
}

const PROXY_BASIC = `Basic ${Buffer.from('us@r:pw').toString('base64')}`;

function open(proxy: string, options: Partial<GotOptions> = {}): (url: string) => Promise<ApiResponse> {
  const bottom = createGotSend({ ...options, proxyFor: () => targetOf(proxy) });
  onTestFinished(() => bottom.close());
  return (url) => bottom.send(get(url), { signal: never });
}

describe('a request through an HTTP proxy', () => {
  test('to http is asked in absolute form, byte for byte', async () => {
    const proxy = await startProxy(0);
    const send = open(proxy.url);
    expect(textOf(await send('http://far.example:8080/a/../b?c=[]'))).toBe('from the proxy');
    expect(proxy.asked).toEqual(['GET http://far.example:8080/a/../b?c=[] far.example:8080']);
    expect(proxy.authorizations).toEqual([PROXY_BASIC]);
  });

  test('to https goes through one tunnel, which is kept', async () => {
    const { ca, cert, key } = makeCertificates('far.example', 'an authority');
    const api = await startApi((response) => response.end('x'.repeat(100_000)), { cert, key });
    const proxy = await startProxy(api.port);
    const send = open(proxy.url, { secureContext: () => secureContextOf({ caCertificate: ca }) });
    for (let i = 0; i < 3; i++)
      expect(textOf(await send('https://far.example/a/../b?c=[]'))).toHaveLength(100_000);
    expect(proxy.asked).toEqual(['CONNECT far.example:443']);
    expect(proxy.authorizations).toEqual([PROXY_BASIC]);
    expect(api.seen.map(({ target }) => target)).toEqual(Array(3).fill('/a/../b?c=[]'));
    // What is meant for the proxy never arrives at the host.
    expect(api.seen[0]?.headers['proxy-authorization']).toBeUndefined();
  });

  test('a large response that ends with its connection comes whole', async () => {
    const { ca, cert, key } = makeCertificates('far.example', 'an authority');
    const api = await startApi(
      (response) => {
        response.writeHead(200, { Connection: 'close' });
        for (let i = 0; i < 20; i++) response.write('x'.repeat(100_000));
        response.end();
      },
      { cert, key },
    );
    const proxy = await startProxy(api.port);
    const send = open(proxy.url, { secureContext: () => secureContextOf({ caCertificate: ca }) });
    for (let i = 0; i < 2; i++) expect(textOf(await send('https://far.example/'))).toHaveLength(2_000_000);
    expect(proxy.asked).toHaveLength(2);
  });

  test('the certificate is checked against the far name', async () => {
    const { ca, cert, key } = makeCertificates('other.example', 'an authority');
    const api = await startApi(undefined, { cert, key });
    const proxy = await startProxy(api.port);
    const send = open(proxy.url, { secureContext: () => secureContextOf({ caCertificate: ca }) });
    expect(await errorOf(send('https://far.example/'))).toMatchObject({
      code: 'http.tls',
      details: { curl: 60 },
    });
  });

  test.each([
    [407, 'stop'],
    [403, 'stop'],
    [502, 'retry'],
  ])('a refusal with %d: %s', async (status, recovery) => {
    const proxy = await startProxy(0, status);
    const error = await errorOf(open(proxy.url)('https://far.example/'));
    expect(error).toMatchObject({ code: 'http.proxy', recovery });
    expect(error.message).toContain(String(status));
    expect(error.message).not.toContain('pw');
  });

  test('a proxy that is not there is named', async () => {
    const port = await freePort();
    const error = await errorOf(open(`http://127.0.0.1:${port}`)('https://far.example/'));
    expect(error).toMatchObject({ code: 'http.proxy', recovery: 'retry', details: { curl: 7 } });
    expect(error.message).toContain(String(port));
  });

  test('a host that the proxy cannot reach is a failure to retry', async () => {
    const proxy = await startProxy(await freePort());
    expect(await errorOf(open(proxy.url)('https://far.example/'))).toMatchObject({ recovery: 'retry' });
  });
});
