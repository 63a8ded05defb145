import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RunError } from '../../lib/errors.ts';

/** A place on this machine that a provider sends the browser back to (RFC 8252 7.3). */
export interface RedirectTarget {
  readonly redirectUri: string;
  /** The address that the browser came back with; it has the code, and is secret. */
  readonly arrived: Promise<URL>;
  /** Says in the browser how it went, and ends. Call it once. */
  end(page: ResultPage): Promise<void>;
}

export interface ResultPage {
  readonly title: string;
  readonly text: string;
}

/**
 * Listens on loopback for one redirect: on a free port of 127.0.0.1, or where `redirectUri` says.
 *
 * @throws {RunError} `run.locked` when the port is taken
 */
export async function listenForRedirect(redirectUri: string | undefined): Promise<RedirectTarget> {
  const wanted = new URL(redirectUri ?? 'http://127.0.0.1:0/callback');
  const server = createServer();
  const page = Promise.withResolvers<ResultPage>();
  const arrived = Promise.withResolvers<URL>();
  const answered: Promise<unknown>[] = [];
  server.on('request', (request, response) => {
    const url = new URL(request.url ?? '/', wanted);
    // browsers ask for an icon, too
    if (url.pathname !== wanted.pathname || !/[?&](?:code|error)=/.test(url.search)) {
      response.writeHead(404, { connection: 'close' }).end();
      return;
    }
    arrived.resolve(url);
    const done = Promise.withResolvers<undefined>();
    answered.push(done.promise);
    response.on('close', () => done.resolve(undefined));
    void page.promise.then((result) =>
      response
        .writeHead(200, {
          'content-type': 'text/html; charset=utf-8',
          'referrer-policy': 'no-referrer',
          'cache-control': 'no-store',
          connection: 'close',
        })
        .end(htmlOf(result)),
    );
  });
  const port = await listen(server, wanted);
  const bound = new URL(wanted);
  bound.port = String(port);
  return {
    redirectUri: redirectUri ?? bound.href,
    arrived: arrived.promise,
    async end(result) {
      page.resolve(result);
      await Promise.all(answered);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Tells whether a provider can send a browser there, and this program sees it. */
export function isLoopback(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

async function listen(server: Server, { hostname, port }: URL): Promise<number> {
  const host = hostname.replace(/^\[|\]$/g, '');
  return await new Promise((resolve, reject) => {
    server.once('error', (error) => reject(taken(error, port)));
    server.listen(Number(port || 80), host, () => resolve((server.address() as AddressInfo).port));
  });
}

function taken(cause: Error, port: string): RunError {
  return new RunError('run.locked', `Port ${port} of this machine cannot be listened on: ${cause.message}.`, {
    hint: 'End what uses it. The port is that of “redirectUri”: it can be another one only when the provider knows that address, too.',
    cause,
  });
}

function htmlOf({ title, text }: ResultPage): string {
  return `<!doctype html><meta charset="utf-8"><title>${escaped(title)}</title><style>body{font:1.1em system-ui;max-width:36em;margin:15vh auto;padding:0 1em}</style><h1>${escaped(title)}</h1><p>${escaped(text)}</p>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
