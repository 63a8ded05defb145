import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import type { HttpError } from '../../../../src/lib/errors.ts';
import { createTransport, type Transport } from '../../../../src/engine/http/send/transport.ts';
import { secureContextOf } from '../../../../src/engine/http/send/tls.ts';
import { get, makeCertificates, never, startApi, startRaw } from '../support.ts';
import { createTakenOver } from './taken-over.ts';

/** Returns how many requests the runtime's client has made since. */
function countRequests(): () => number {
  let count = 0;
  const add = (): void => void count++;
  subscribe('http.client.request.start', add);
  onTestFinished(() => void unsubscribe('http.client.request.start', add));
  return () => count;
}

function closing(transport: Transport): Transport {
  onTestFinished(async () => transport.close());
  return transport;
}

test.each(['http', 'https'])(
  'requests on a connection that was taken over are as those before, by %s',
  async (scheme) => {
    const { ca, cert, key } = makeCertificates('localhost', 'an authority');
    const api = await startApi(
      (response, { target }) => {
        response.setHeader('Content-Length', target.length);
        response.end(target);
      },
      scheme === 'https' ? { cert, key } : undefined,
    );
    const transport = closing(
      createTransport({ secureContext: () => secureContextOf({ caCertificate: ca }) }),
    );
    const count = countRequests();
    const answers = [];
    for (let i = 10; i < 60; i++) {
      const url = `${api.url.replace('127.0.0.1', 'localhost')}/?page=${i}`;
      const headers = { 'X-My-HEADER': 'a', Accept: '*/*', empty: '' };
      const { body, headers: received, status } = await transport.send(get(url, headers), { signal: never });
      answers.push([status, Object.keys(received), Buffer.from(body).toString()]);
    }
    expect(answers).toEqual(answers.map(([status, names], i) => [status, names, `/?page=${i + 10}`]));
    expect(new Set(answers.map(([, names]) => String(names))).size).toBe(1);
    expect(new Set(api.seen.map(({ rawHeaders }) => String(rawHeaders))).size).toBe(1);
    expect(api.connections()).toBe(1);
    expect(count()).toBe(10);
  },
);

test.each([
  ['a field twice', { 'Set-Cookie': ['a=1', 'b=2'], 'Content-Length': 2 }, '{}'],
  ['chunks', {}, '{}'],
  ['a body that is not short', { 'Content-Length': 100_000 }, 'x'.repeat(100_000)],
])('no connection is lost to answers that have all %s', async (_what, fields, body) => {
  const api = await startApi((response) => {
    response.writeHead(200, fields);
    response.write(body);
    response.end();
  });
  const transport = closing(createTransport());
  const count = countRequests();
  for (let i = 0; i < 15; i++)
    expect((await transport.send(get(api.url), { signal: never })).body).toHaveLength(body.length);
  expect(api.connections()).toBe(1);
  expect(count()).toBe(15);
});

test('a host whose answers change their form is asked by the runtime’s client from then on', async () => {
  const api = await startApi((response, _seen, count) => {
    if (count === 15) response.write('{}');
    response.end(count === 15 ? '' : '{}');
  });
  const transport = closing(createTransport());
  const count = countRequests();
  for (let i = 0; i < 30; i++)
    expect((await transport.send(get(api.url), { signal: never })).body).toHaveLength(2);
  expect(api.connections()).toBe(2);
  expect(count()).toBe(26);
});

const OK = 'HTTP/1.1 200 OK\r\n';
const ANSWERS: Readonly<Record<string, string>> = {
  'the plain form': `${OK}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
  'no reason': 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}',
  'an empty body': `${OK}Content-Length: 0\r\n\r\n`,
  'an error': 'HTTP/1.1 503 Not now\r\nRetry-After: 3\r\nContent-Length: 2\r\n\r\nno',
  'a connection that is closed': `${OK}Connection: close\r\nContent-Length: 2\r\n\r\n{}`,
  'a connection that is closed by an option among others': `${OK}Connection: x, close\r\nContent-Length: 2\r\n\r\n{}`,
  'answers ahead of it': `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 2\r\n\r\n{}`,
  'fields that are repeated': `${OK}Link: <a>\r\nlink: <b>\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nETag: 1\r\nETag: 2\r\nContent-Length: 2\r\n\r\n{}`,
  'UTF-8 in a field': `${OK}X-Name: č\r\nContent-Length: 2\r\n\r\n{}`,
  'a field that goes on in the next line': `${OK}X-Name: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`,
  'fields with spaces around them, and none in them': `${OK}A:   b \t\r\nB:\r\nC:\t\r\nContent-Length: 2\r\n\r\n{}`,
  'a field that objects have': `${OK}constructor: a\r\n__proto__: b\r\nContent-Length: 2\r\n\r\n{}`,
  'control characters in a field': `${OK}X-Name: a\u0001b\u0000\r\nContent-Length: 2\r\n\r\n{}`,
  'a space before the colon': `${OK}X-Name : a\r\nContent-Length: 2\r\n\r\n{}`,
  'lines that end without a carriage return': 'HTTP/1.1 200 OK\nContent-Length: 2\n\n{}',
  'lengths that differ': `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  'a length with zeros': `${OK}Content-Length: 002\r\n\r\n{}`,
  'a length that is none': `${OK}Content-Length: -2\r\n\r\n{}`,
  'no length': `${OK}\r\n{}`,
  chunks: `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  'chunks and a length': `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  'no body by its status': 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
  'a status that is none': 'HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\n{}',
  'another version': 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}',
  'another protocol': 'SSH-2.0-OpenSSH_9.6\r\n\r\n',
  'more than the length': `${OK}Content-Length: 2\r\n\r\n{}more`,
  'two answers': `${OK}Content-Length: 2\r\n\r\n{}${OK}Content-Length: 2\r\n\r\n[]`,
  'a cut body': `${OK}Content-Length: 20\r\n\r\n{}`,
  'a cut head': `${OK}Content-Len`,
  'a long head': `${OK}X-Long: ${'x'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\n{}`,
  'a head that is too long': `${OK}X-Long: ${'x'.repeat(140_000)}\r\nContent-Length: 2\r\n\r\n{}`,
  'many fields': `${OK}${Array.from({ length: 1200 }, (_, i) => `X-${i}: a\r\n`).join('')}Content-Length: 2\r\n\r\n{}`,
  'a long body': `${OK}Content-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`,
  'a body that is no gzip': `${OK}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`,
};

test.each(Object.entries(ANSWERS))('an answer with %s is as on a new connection', async (_what, text) => {
  for (const pieces of [1, 3]) {
    const asked: string[] = [];
    const api = await startRaw((socket) =>
      socket.on('data', (request) => {
        asked.push(request.toString('latin1'));
        const bytes = Buffer.from(text);
        const size = Math.ceil(bytes.length / pieces);
        const write = (at: number): void => {
          if (at + size < bytes.length)
            socket.write(bytes.subarray(at, at + size), () => setTimeout(write, 5, at + size));
          else socket.end(bytes.subarray(at));
        };
        write(0);
      }),
    );
    const outcome = async (transport: Transport): Promise<unknown> => {
      const request = get(`${api.url}/x?a=1`, { Accept: '*/*' });
      return await transport.send(request, { signal: never }).then(
        ({ status, headers, body }) => ({ status, headers, body: Buffer.from(body).toString('latin1') }),
        ({ code, message, hint, recovery, details }: HttpError) => ({
          code,
          message,
          hint,
          recovery,
          details,
        }),
      );
    };
    const direct = await outcome(closing(createTransport()));
    const count = countRequests();
    expect(await outcome(closing(createTakenOver({})))).toEqual(direct);
    expect(count()).toBeGreaterThanOrEqual(10);
    expect(new Set(asked).size).toBe(1);
  }
});
