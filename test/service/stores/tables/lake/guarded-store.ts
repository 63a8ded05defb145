import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An address of an object store whose keys have no right to what is refused there. */
export interface GuardedStore {
  readonly url: string;
  /** Answers requests with `METHOD /path` like this by a status and a code of S3; undefined: none any more. */
  refuse(what: RegExp | undefined, answer?: StoreAnswer): void;
  /** Requests that were refused since then. */
  readonly refused: number;
  stop(): Promise<void>;
}

interface StoreAnswer {
  readonly status: number;
  readonly code: string;
}

export const FORBIDDEN: StoreAnswer = { status: 403, code: 'AccessDenied' };
/** MinIO's answer of a store whose disks are full. */
export const FULL: StoreAnswer = { status: 507, code: 'XMinioStorageFull' };

export const SLOW_DOWN: StoreAnswer = { status: 503, code: 'SlowDown' };

/** @param endpoint of a store without TLS */
export async function guardStore(endpoint: string): Promise<GuardedStore> {
  const { hostname, port } = new URL(endpoint);
  let rule: { readonly what: RegExp; readonly answer: StoreAnswer } | undefined;
  let refused = 0;
  const server = createServer((asked, answer) => {
    const { method = '', url = '', headers } = asked;
    if (rule?.what.test(`${method} ${url}`) === true) {
      refused++;
      const { status, code } = rule.answer;
      asked.resume().once('end', () => {
        answer.writeHead(status, { 'content-type': 'application/xml' });
        answer.end(
          method === 'HEAD' ? '' : `<Error><Code>${code}</Code><Message>Not this time.</Message></Error>`,
        );
      });
      return;
    }
    // The name that the client has signed stays.
    const passed = request({ hostname, port, method, path: url, headers }, (given) => {
      answer.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(answer);
    });
    passed.once('error', () => answer.destroy());
    asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    refuse(what, given = FORBIDDEN) {
      refused = 0;
      rule = what && { what, answer: given };
    },
    get refused() {
      return refused;
    },
    async stop() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
