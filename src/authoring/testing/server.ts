import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { headerOf, type Send } from '../../engine/shared/message.ts';
import { createTransport } from '../../engine/http/send/transport.ts';
import { splitUrl } from './split-url.ts';
import type { ExampleExchange } from './exchanges.ts';
import type { WireRequest } from './tape.ts';

/** A server on loopback that answers for every host. */
export interface FixtureServer {
  /**
   * Sends a request over real HTTP to this server, whatever host and scheme it names. Address and `Host` stay what
   * they were, so signatures, links and credentials are those of the real host.
   */
  readonly send: Send;
  close(): Promise<void>;
}

export interface FixtureServerOptions {
  /** The exchange that answers, or undefined for a request that is not known. */
  readonly answer: (asked: WireRequest) => ExampleExchange | undefined;
  /** Told after each answer. */
  readonly onAnswered: () => void;
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startServer({ answer, onAnswered }: FixtureServerOptions): Promise<FixtureServer> {
  const server = createServer((request, response) => {
    response.sendDate = false; // a fixture has a clock of its own
    void readBody(request).then((body) => {
      const asked = askedOf(request, body);
      reply(response, answer(asked), asked);
      onAnswered();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  const network = createTransport();
  return {
    async send(request, options) {
      const { host, target } = splitUrl(request.url);
      const headers =
        headerOf(request.headers, 'Host') === undefined
          ? { ...request.headers, Host: host }
          : request.headers;
      const response = await network.send(
        { ...request, url: `http://127.0.0.1:${port}${target}`, headers },
        options,
      );
      return { ...response, url: request.url };
    },
    async close() {
      await network.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // a request without an encoding gives buffers
  return Buffer.concat(chunks).toString('latin1');
}

function askedOf({ method = '', url = '', headers }: IncomingMessage, body: string): WireRequest {
  return { method, target: url, host: (headers.host ?? '').replace(/:(?:80|443)$/, ''), headers, body };
}

function reply(response: ServerResponse, exchange: ExampleExchange | undefined, asked: WireRequest): void {
  if (exchange === undefined) {
    response.writeHead(404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ message: `No recorded exchange answers ${asked.method} ${asked.target}` }));
    return;
  }
  response.statusCode = exchange.status;
  for (const [name, value] of exchange.headers) response.appendHeader(name, value);
  response.end(exchange.response);
}
