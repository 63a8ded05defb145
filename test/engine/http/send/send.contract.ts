import { hash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as setTimer } from 'node:timers/promises';
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ApiRequest, ApiResponse, FileRule } from '../../../../src/engine/shared/message.ts';
import { secureContextOf, type TlsSettings } from '../../../../src/engine/http/send/tls.ts';
import type { Transport, TransportOptions } from '../../../../src/engine/http/send/transport.ts';
import { errorOf, freePort, get, makeCertificates, never, startApi, startRaw, textOf } from '../support.ts';

const QUICK = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

/** The behaviour of the transport over each kind of route: `direct`, or one that others connect. */
export function sendContract(
  name: string,
  create: (options: Partial<TransportOptions>) => Promise<Transport>,
  { isDirect = false, resetCurl = 56 }: { readonly isDirect?: boolean; readonly resetCurl?: number } = {},
): void {
  function open(
    options: Partial<TransportOptions> = {},
    file?: FileRule,
  ): (request: ApiRequest, signal?: AbortSignal) => Promise<ApiResponse> {
    const creating = create(options);
    onTestFinished(async () => (await creating).close());
    return async (request, signal = never) => (await creating).send(request, { signal, file });
  }

  describe(`${name}: a request`, () => {
    test.each([
      '/',
      '/a%20b/%c4%8d',
      "/a/../b/./c?x='y'",
      '/x?',
      '//double//slash',
      '/%7Bid%7D/{raw}"<>`|^\\',
      '/x?a[]=1&b={}&c="<>`',
      '/x?a=1?b=2&&c',
      '/100%25?q=%',
    ])('arrives with the very target %s', async (target) => {
      const api = await startApi();
      const response = await open()(get(api.url + target));
      expect(response).toMatchObject({ status: 200, url: api.url + target });
      expect(api.seen[0]?.target).toBe(target);
    });

    test('has what cannot stand in a target encoded, and no fragment', async () => {
      const api = await startApi();
      await open()(get(`${api.url}/a b/č?d=\u0007e é#top?x`));
      expect(api.seen[0]?.target).toBe('/a%20b/%C4%8D?d=%07e%20%C3%A9');
    });

    test('an address without a path has one', async () => {
      const api = await startApi();
      const send = open();
      await send(get(`${api.url}?a=1`));
      await send(get(api.url));
      expect(api.seen.map(({ target }) => target)).toEqual(['/?a=1', '/']);
    });

    test('keeps the spelling of its headers; text beyond ASCII is UTF-8', async () => {
      const api = await startApi();
      await open()(get(api.url, { 'X-My-HEADER': 'a', 'x-name': 'čáé' }));
      const { rawHeaders = [], headers } = api.seen[0] ?? {};
      expect(rawHeaders).toContain('X-My-HEADER');
      expect(Buffer.from(String(headers?.['x-name']), 'latin1').toString()).toBe('čáé');
      expect(headers?.['accept-encoding']).toBeUndefined();
      expect(headers?.['user-agent']).toBeUndefined();
    });

    test('names its host, unless a Host header is given', async () => {
      const api = await startApi();
      const send = open();
      await send(get(api.url));
      await send(get(api.url, { Host: 'other.example' }));
      expect(api.seen.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${api.port}`, 'other.example']);
    });

    test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
      '%s carries a body of exact length',
      async (method) => {
        const api = await startApi();
        const send = open();
        const body = '{"a":"č"}';
        await send({ method, url: api.url, headers: {}, body });
        await send({ method, url: api.url, headers: {}, body: new TextEncoder().encode(body) });
        expect(api.seen.map((one) => [one.method, one.body, one.headers['content-length']])).toEqual([
          [method, body, '10'],
          [method, body, '10'],
        ]);
      },
    );

    test('an empty body has the length 0', async () => {
      const api = await startApi();
      await open()({ method: 'POST', url: api.url, headers: {}, body: '' });
      expect(api.seen[0]?.headers['content-length']).toBe('0');
    });

    test('shows the user of its address, unless it has an authorization', async () => {
      const api = await startApi();
      const send = open();
      const url = api.url.replace('://', '://us%40r:p%3Aw@');
      await send(get(url));
      await send(get(url, { authorization: 'Bearer x' }));
      expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([
        `Basic ${Buffer.from('us@r:p:w').toString('base64')}`,
        'Bearer x',
      ]);
    });
  });

  describe(`${name}: a response`, () => {
    test('has its status, its headers in lower case and its bytes; no status is an error', async () => {
      const api = await startApi((response) => {
        response.writeHead(503, {
          'X-Odd': 'A',
          'Set-Cookie': ['a=1', 'b=2'],
          Link: Buffer.from('<č>').toString('latin1'),
        });
        response.end(Buffer.from([0, 255, 1]));
      });
      const response = await open()(get(api.url));
      expect(response.status).toBe(503);
      expect(response.headers).toMatchObject({ 'x-odd': 'A', 'set-cookie': 'a=1, b=2', link: '<č>' });
      expect([...response.body]).toEqual([0, 255, 1]);
    });

    test('a redirect is not followed', async () => {
      const api = await startApi((response) => response.writeHead(302, { Location: '/other' }).end());
      expect(await open()(get(api.url))).toMatchObject({ status: 302, headers: { location: '/other' } });
      expect(api.seen).toHaveLength(1);
    });

    test('204 has an empty body', async () => {
      const api = await startApi((response) => response.writeHead(204).end());
      expect((await open()(get(api.url))).body).toHaveLength(0);
    });

    test.each([0, 1, 65_536, 1_000_000])(
      'of %d bytes comes whole, with a length and without',
      async (size) => {
        const bytes = Buffer.alloc(size, 'abcdefghij');
        const api = await startApi((response, { target }) => {
          if (target === '/length') response.setHeader('Content-Length', size);
          for (let at = 0; at < size; at += 30_000) response.write(bytes.subarray(at, at + 30_000));
          response.end();
        });
        const send = open();
        for (const path of ['/length', '/chunked']) {
          const { body } = await send(get(api.url + path));
          expect(Buffer.compare(body, bytes)).toBe(0);
        }
      },
    );

    const plain = Buffer.from(JSON.stringify({ text: 'č'.repeat(100_000), random: 'qwertzuiop' }));
    test.each([
      ['gzip', gzipSync(plain)],
      ['x-gzip', gzipSync(plain)],
      ['deflate', deflateSync(plain)],
      ['deflate', deflateRawSync(plain)],
      ['br', brotliCompressSync(plain)],
      ['zstd', zstdCompressSync(plain)],
      [
        'zstd',
        Buffer.concat([zstdCompressSync(plain.subarray(0, 99)), zstdCompressSync(plain.subarray(99))]),
      ],
      ['gzip, br', brotliCompressSync(gzipSync(plain))],
      ['GZIP', gzipSync(plain)],
      ['identity', plain],
      ['utf-8', plain],
    ])('in %s is decoded', async (encoding, bytes) => {
      const api = await startApi((response) =>
        response.writeHead(200, { 'Content-Encoding': encoding }).end(bytes),
      );
      expect(Buffer.compare((await open()(get(api.url))).body, plain)).toBe(0);
    });

    test.each([
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
      ['zstd', zstdCompressSync],
    ])('of incompressible %s that is cut is a failure to retry', async (encoding, compress) => {
      for (const length of [5000, 200_000]) {
        let random = 7;
        const noise = (): number => ((random = (random * 48_271) % 2_147_483_647) >> 8) & 255;
        const bytes = compress(Buffer.from(Array.from({ length }, noise)));
        const api = await startApi((response) =>
          response.writeHead(200, { 'Content-Encoding': encoding }).end(bytes.subarray(0, bytes.length - 12)),
        );
        const error = await errorOf(open()(get(api.url)));
        expect(error).toMatchObject({ code: 'http.network', recovery: 'retry', details: { curl: 56 } });
      }
    });

    test.each([
      ['that are announced', 'Trailer: X-Sum, X-Rows\r\n', 'X-Sum: 5d41402a\r\nX-Rows: 1\r\n'],
      ['that are not announced', '', 'X-Sum: 5d41402a\r\n'],
      ['that are many', '', `X-Long: ${'x'.repeat(30_000)}\r\n`],
      ['that close the connection', 'Connection: close\r\n', 'X-Sum: 5d41402a\r\n'],
    ])('in chunks, with fields %s behind it, is whole', async (_what, fields, trailers) => {
      const api = await startRaw((socket) =>
        socket.once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${fields}\r\n`);
          socket.write('5;ext=1\r\nhello\r\n');
          socket.write(`0\r\n${trailers}`);
          setTimeout(() => socket.end('\r\n'), 20);
        }),
      );
      expect(textOf(await open()(get(api.url)))).toBe('hello');
    });

    test('in chunks that are none is not said to be cut off', async () => {
      const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
      const api = await startRaw((socket) =>
        socket.once('data', () => socket.end(`${head}5\r\nhello\r\n0\r\nX Sum: 1\r\n\r\n`)),
      );
      const error = await errorOf(open()(get(api.url)));
      expect(error).toMatchObject({ code: 'http.network', recovery: 'retry', details: { curl: 56 } });
      expect(error.message).toContain('What is no HTTP stands in the response');
    });

    test.each([1, 100_000])(
      'that lies about its encoding is a failure that stays, of %d bytes',
      async (size) => {
        const api = await startApi((response) =>
          response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(`{"a":"${'1'.repeat(size)}"}`),
        );
        expect(await errorOf(open()(get(api.url)))).toMatchObject({
          code: 'http.network',
          recovery: 'stop',
          details: { curl: 61 },
        });
      },
    );

    test('that is small, and large when decoded, comes whole', async () => {
      const text = Buffer.from('0123456789'.repeat(500_000));
      for (const [encoding, bytes] of [
        ['gzip', gzipSync(text)],
        ['br', brotliCompressSync(text, QUICK)],
        ['zstd', zstdCompressSync(text)],
        ['deflate', deflateRawSync(text)],
      ] as const) {
        const api = await startApi((response) =>
          response.writeHead(200, { 'Content-Encoding': encoding }).end(bytes),
        );
        expect(Buffer.compare((await open()(get(api.url))).body, text)).toBe(0);
      }
    });

    test('that is large and grows as data may comes whole', { tags: 'thorough' }, async () => {
      let random = 7;
      const noise = (): number => ((random = (random * 48_271) % 2_147_483_647) >> 8) & 255;
      const bytes = Buffer.concat([
        Buffer.from(Array.from({ length: 200_000 }, noise)),
        Buffer.alloc(68 * 2 ** 20),
      ]);
      const packed = zstdCompressSync(bytes);
      const api = await startApi((response) =>
        response.writeHead(200, { 'Content-Encoding': 'zstd' }).end(packed),
      );
      expect((await open()(get(api.url))).body.length).toBe(bytes.length);
    });

    test(
      'that is a trap ends while it is unpacked, and others go on meanwhile',
      { tags: 'thorough' },
      async () => {
        const zeros = Buffer.alloc(72 * 2 ** 20);
        const once = zstdCompressSync(zeros);
        for (const [encoding, bytes, options] of [
          ['zstd', once, {}],
          ['gzip, zstd', zstdCompressSync(gzipSync(zeros, { level: 1 })), {}],
          ['zstd', once, { maxBodyBytes: 2 ** 25 }],
        ] as const) {
          const api = await startApi((response) =>
            response.writeHead(200, { 'Content-Encoding': encoding }).end(bytes),
          );
          let turns = 0;
          const turn = setInterval(() => turns++, 1);
          const before = process.memoryUsage().arrayBuffers;
          const error = await errorOf(open(options)(get(api.url)));
          clearInterval(turn);
          expect(error).toMatchObject({ code: 'http.tooLarge', recovery: 'stop' });
          expect(error.message).toContain('maxBodyBytes' in options ? '33554432 bytes' : '1000 times');
          expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(200 * 2 ** 20);
          expect(turns).toBeGreaterThan(3);
        }
      },
    );

    test.each([
      [
        'by its announced length',
        (response: ServerResponse) => response.writeHead(200, { 'Content-Length': 5000 }).write('x'),
      ],
      ['as it comes', (response: ServerResponse) => response.end('x'.repeat(5000))],
      [
        'when decoded',
        (response: ServerResponse) =>
          response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('x'.repeat(5000))),
      ],
    ])('larger than allowed is refused %s', async (_how, answer) => {
      const api = await startApi((response) => void answer(response));
      const error = await errorOf(open({ maxBodyBytes: 1000, requestTimeoutMs: 2000 })(get(api.url)));
      expect(error).toMatchObject({ code: 'http.tooLarge', recovery: 'stop' });
      expect(error.message).toContain('1000 bytes');
    });
  });

  describe(`${name}: a large body that may go to a file`, () => {
    const SIZE = 40_000_000;

    test('goes there as it comes, in small parts', async () => {
      const api = await startApi((response) => void Readable.from(zeros(SIZE)).pipe(response));
      const { file, written } = fileRule();
      const { body, large } = await open({}, file)(get(api.url));
      expect(large?.bytes).toBe(SIZE);
      expect(body.length).toBe(65_536);
      expect(written.length).toBeGreaterThan(100);
    });

    test('that is cut is a failure to retry, and leaves no file', async () => {
      const api = await startApi((response) => {
        response.writeHead(200, { 'Content-Length': SIZE + 1 });
        Readable.from(zeros(SIZE))
          .on('end', () => response.socket?.destroySoon())
          .pipe(response, { end: false });
      });
      const { file, abandoned } = fileRule();
      const error = await errorOf(open({}, file)(get(api.url)));
      expect(error).toMatchObject({ code: 'http.network', recovery: 'retry', details: { curl: 56 } });
      expect(abandoned()).toBe(true);
    });

    test.each([undefined, 'gzip', 'zstd, gzip'])(
      'goes there if it is a page, encoded as %s',
      async (encoding) => {
        const page = Buffer.concat([...zeros(SIZE)]);
        const body =
          encoding === undefined
            ? page
            : gzipSync(encoding === 'gzip' ? page : zstdCompressSync(page), { level: 0 });
        const api = await startApi(
          (response) =>
            void response
              .writeHead(200, encoding === undefined ? {} : { 'Content-Encoding': encoding })
              .end(body),
        );
        const { file, written } = fileRule(false);
        const { body: beginning, large } = await open({}, file)(get(api.url));
        expect(large).toMatchObject({ bytes: SIZE, sha1: hash('sha1', page) });
        expect(beginning.length).toBe(65_536);
        expect(written.length).toBeGreaterThan(100);
      },
    );

    test.each(['cut', 'larger than the limit'])('leaves no file if it is a page that is %s', async (how) => {
      const api = await startApi((response) => {
        response.writeHead(200, { 'Content-Length': SIZE + 1 });
        Readable.from(zeros(SIZE))
          .on('end', () => response.socket?.destroySoon())
          .pipe(response, { end: false });
      });
      const { file, abandoned } = fileRule(false);
      const limits = how === 'cut' ? {} : { maxBodyBytes: 30_000_000 };
      const error = await errorOf(open(limits, file)(get(api.url)));
      expect(error).toMatchObject({ code: how === 'cut' ? 'http.network' : 'http.tooLarge' });
      if (how === 'cut') expect(abandoned()).toBe(true);
    });

    test('has only the limit that was configured', async () => {
      const api = await startApi((response) => void Readable.from(zeros(SIZE)).pipe(response));
      const limits = { maxBodyBytes: 30_000_000 };
      expect((await open(limits, fileRule().file)(get(api.url))).large?.bytes).toBe(SIZE);
      const error = await errorOf(open({ ...limits, isLimited: true }, fileRule().file)(get(api.url)));
      expect(error).toMatchObject({ code: 'http.tooLarge', recovery: 'stop' });
    });

    test('that pauses is not too late, one that stops is', { tags: 'thorough' }, async () => {
      const api = await startApi(async (response, _, count) => {
        for (let i = 0; i < 4; i++) {
          response.write('x');
          await setTimer(150);
        }
        if (count === 1) response.end();
      });
      const send = open({ requestTimeoutMs: 400 }, fileRule().file);
      expect(textOf(await send(get(api.url)))).toBe('xxxx');
      expect(await errorOf(send(get(api.url)))).toMatchObject({ details: { curl: 28 } });
    });
  });

  describe(`${name}: failures`, () => {
    test.each([
      ['a cut body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this', 56],
      ['a cut chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', 56],
      ['an empty reply', '', 52],
    ])('%s', async (_what, text, curl) => {
      const api = await startRaw((socket) => socket.once('data', () => socket.end(text)));
      const error = await errorOf(open()(get(api.url)));
      expect(error).toMatchObject({ code: 'http.network', recovery: 'retry', details: { curl } });
    });

    test('a connection that is reset', async () => {
      const api = await startRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
      expect(await errorOf(open()(get(api.url)))).toMatchObject({
        recovery: 'retry',
        details: { curl: resetCurl },
      });
    });

    // The far end tells these two in its own words (tunnel/*.test.ts).
    test.runIf(isDirect)('nobody listens', async () => {
      const error = await errorOf(open()(get(`http://127.0.0.1:${await freePort()}`)));
      expect(error).toMatchObject({
        code: 'http.network',
        recovery: 'retry',
        details: { curl: 7, system: 'ECONNREFUSED' },
      });
    });

    test.runIf(isDirect)('there is no such host', async () => {
      const error = await errorOf(open()(get('http://no-such-host.invalid/')));
      expect(error).toMatchObject({ code: 'http.network', recovery: 'retry', details: { curl: 6 } });
      expect(error.message).toContain('no-such-host.invalid');
    });

    test('an answer that never comes ends with the request timeout', async () => {
      const api = await startApi(() => undefined);
      const error = await errorOf(open({ requestTimeoutMs: 60 })(get(api.url)));
      expect(error).toMatchObject({ code: 'http.network', recovery: 'retry', details: { curl: 28 } });
      expect(error.hint).toContain('requestTimeout');
    });

    test('each request has the whole request timeout, also behind one that was too late', async () => {
      const api = await startApi((response) => response.writeHead(200, { 'Content-Length': 10 }).write('x'));
      const send = open({ requestTimeoutMs: 300 });
      for (let request = 1; request <= 3; request++) {
        const started = performance.now();
        expect(await errorOf(send(get(api.url)))).toMatchObject({ details: { curl: 28 } });
        expect(performance.now() - started).toBeGreaterThan(250);
      }
    });

    test('a body that stops coming ends with the request timeout too', async () => {
      const api = await startApi((response) => response.writeHead(200, { 'Content-Length': 10 }).write('x'));
      expect(await errorOf(open({ requestTimeoutMs: 60 })(get(api.url)))).toMatchObject({
        details: { curl: 28 },
      });
    });

    test('a TLS handshake that nobody answers ends with the connect timeout', async () => {
      const api = await startRaw(() => undefined);
      const url = api.url.replace('http:', 'https:');
      const error = await errorOf(open({ connectTimeoutMs: 60, requestTimeoutMs: 5000 })(get(url)));
      expect(error).toMatchObject({ details: { curl: 28 } });
      expect(error.hint).toContain('connectTimeout');
    });

    test('a slow answer has nothing to do with the connect timeout', { tags: 'thorough' }, async () => {
      const api = await startApi((response) => void setTimeout(() => response.end('late'), 1200));
      expect(textOf(await open({ connectTimeoutMs: 1000 })(get(api.url)))).toBe('late');
    });

    test('no message holds the password of an address', async () => {
      const error = await errorOf(open()(get(`http://me:hidden-pw@127.0.0.1:${await freePort()}/x`)));
      expect(error.message).not.toContain('hidden-pw');
    });
  });

  describe(`${name}: aborting`, () => {
    test('ends a request under way with the reason', async () => {
      const api = await startApi(() => undefined);
      const controller = new AbortController();
      const pending = open()(get(api.url), controller.signal);
      setTimeout(() => controller.abort(new Error('enough')), 30);
      await expect(pending).rejects.toThrow('enough');
    });

    test('before the start sends nothing', async () => {
      const api = await startApi();
      await expect(open()(get(api.url), AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
      expect(api.connections()).toBe(0);
    });
  });

  describe(`${name}: connections`, () => {
    test('are kept for the next request', async () => {
      const api = await startApi((response) => response.end('x'.repeat(100)));
      const send = open();
      for (let i = 0; i < 5; i++) await send({ method: 'POST', url: api.url, headers: {}, body: '[]' });
      expect(api.connections()).toBe(1);
    });

    test('that the server closed in the meantime are replaced without an error', async () => {
      // Answers once, and closes when it is asked a second time on the same connection.
      const api = await startRaw((socket) => {
        let asked = 0;
        socket.on('data', () => {
          if (++asked === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
          else socket.destroy();
        });
      });
      const send = open();
      for (let i = 0; i < 3; i++) expect(textOf(await send(get(api.url)))).toBe('ok');
    });
  });

  describe(`${name}: TLS`, () => {
    test.each([
      ['its authority', 'an authority', 'ca'],
      ['itself, which looks self-signed', 'localhost', 'cert'],
      ['itself, signed by an authority that is not given', 'an authority', 'cert'],
    ] as const)('a certificate with a CN only is trusted by %s', async (_what, caName, given) => {
      const made = makeCertificates('localhost', caName);
      const api = await startApi(undefined, { cert: made.cert, key: made.key });
      const send = open(secure({ caCertificate: made[given] }));
      for (let i = 0; i < 2; i++) expect((await send(get(local(api.url)))).status).toBe(200);
      expect(api.connections()).toBe(1);
    });

    test('an unknown authority is refused, and not retried', async () => {
      const { cert, key } = makeCertificates('localhost', 'an authority');
      const api = await startApi(undefined, { cert, key });
      const error = await errorOf(open()(get(local(api.url))));
      expect(error).toMatchObject({ code: 'http.tls', recovery: 'stop', details: { curl: 60 } });
      expect(error.hint).toContain('caCertificate');
    });

    test('a certificate of another host is refused', async () => {
      const { ca, cert, key } = makeCertificates('other.example', 'an authority');
      const api = await startApi(undefined, { cert, key });
      expect(await errorOf(open(secure({ caCertificate: ca }))(get(local(api.url))))).toMatchObject({
        details: { curl: 60 },
      });
    });

    test('a client certificate is shown', async () => {
      const { ca, cert, key, client } = makeCertificates('localhost', 'an authority');
      const api = await startApi(undefined, { cert, key, ca, requestCert: true, rejectUnauthorized: true });
      const send = open(secure({ caCertificate: ca, clientCertificate: client }));
      expect((await send(get(local(api.url)))).status).toBe(200);
      expect(await errorOf(open(secure({ caCertificate: ca }))(get(local(api.url))))).toBeDefined();
    });

    test('plain HTTP at the other end is a failure of TLS', async () => {
      const api = await startRaw((socket) =>
        socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
      );
      const error = await errorOf(open()(get(api.url.replace('http:', 'https:'))));
      expect(error).toMatchObject({ code: 'http.tls', details: { curl: 35 } });
    });
  });
}

function secure(settings: TlsSettings): Partial<TransportOptions> {
  return { secureContext: () => secureContextOf(settings) };
}

/** By the name that the certificates have. */
function local(url: string): string {
  return url.replace('127.0.0.1', 'localhost');
}

function* zeros(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(100_000);
  for (let at = 0; at < bytes; at += chunk.length)
    yield chunk.subarray(0, Math.min(chunk.length, bytes - at));
}

/** Takes every body as that of a file, or as that of a page, and keeps the sizes of the parts that would be written. */
function fileRule(isFile = true): { file: FileRule; written: number[]; abandoned: () => boolean } {
  const written: number[] = [];
  let isAbandoned = false;
  const file: FileRule = {
    takes: () => isFile,
    compression: 'none',
    member: () => true,
    open: () => ({
      write: (part) => void written.push(part.length),
      end: (sha1) => ({
        bytes: written.reduce((sum, bytes) => sum + bytes, 0),
        sha1,
        read: () => new Uint8Array(0),
      }),
      abandon: () => (isAbandoned = true),
    }),
  };
  return { file, written, abandoned: () => isAbandoned };
}
