import { describe, expect, onTestFinished, test } from 'vitest';
import type { ApiResponse } from '../../../../src/engine/shared/message.ts';
import { proxyFor, type Environment } from '../../../../src/engine/http/tunnel/proxy.ts';
import { createTransport, type TransportOptions } from '../../../../src/engine/http/send/transport.ts';
import { createNetwork } from '../../../../src/engine/http/send/network.ts';
import { systemEnv } from '../../../../src/lib/env.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import { targetOf } from '../../../../src/engine/http/send/target.ts';
import { secureContextOf } from '../../../../src/engine/http/send/tls.ts';
import { errorOf, freePort, get, makeCertificates, never, startApi, startRaw, textOf } from '../support.ts';
import { startProxy } from './support.ts';

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

const PROXY_BASIC = `Basic ${Buffer.from('us@r:pw').toString('base64')}`;

function open(proxy: string, options: Partial<TransportOptions> = {}): (url: string) => Promise<ApiResponse> {
  const transport = createTransport({ ...options, proxyFor: () => targetOf(proxy) });
  onTestFinished(() => transport.close());
  return (url) => transport.send(get(url), { signal: never });
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
    // Headers for the proxy never reach the host.
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

  test('a proxy that says nothing ends with the connect timeout, and is let go', async () => {
    let ended = 0;
    const proxy = await startRaw((socket) => void socket.resume().on('close', () => ended++));
    const options = { connectTimeoutMs: 60, proxyFor: () => targetOf(proxy.url) };
    const transport = createTransport(options);
    const error = await errorOf(transport.send(get('https://far.example/'), { signal: never }));
    expect(error).toMatchObject({ code: 'http.network', recovery: 'retry', details: { curl: 28 } });
    expect(error.message).toBe('No connection to https://far.example within 0.06 s.');
    await transport.close();
    await expect.poll(() => ended).toBe(1);
  });

  test('over TLS to the proxy itself', async () => {
    const own = makeCertificates('localhost', 'an authority of proxies');
    const far = makeCertificates('far.example', 'an authority');
    const api = await startApi((response) => response.end('x'.repeat(100_000)), far);
    const proxy = await startProxy(api.port, undefined, own);
    const network = (caCertificate: string) => {
      const options = { tls: { caCertificate }, environment: { ALL_PROXY: proxy.url } };
      const transport = createNetwork(options, systemEnv, silentLog);
      onTestFinished(() => transport.close());
      return async (url: string) => await transport.send(get(url), { signal: never });
    };
    const unknown = network(far.ca);
    for (const url of ['https://far.example/', 'http://far.example/'])
      expect(await errorOf(unknown(url))).toBeInstanceOf(Error);
    expect(proxy.asked).toEqual([]);
    // The authorities of the configuration count for the proxy as well.
    const send = network(far.ca + own.ca);
    for (let i = 0; i < 2; i++) expect(textOf(await send('https://far.example/'))).toHaveLength(100_000);
    expect(textOf(await send('http://far.example/'))).toBe('from the proxy');
    expect(proxy.asked).toEqual(['CONNECT far.example:443', 'GET http://far.example/ far.example']);
  });

  test('a host that the proxy cannot reach is a failure to retry', async () => {
    const proxy = await startProxy(await freePort());
    expect(await errorOf(open(proxy.url)('https://far.example/'))).toMatchObject({ recovery: 'retry' });
  });
});
