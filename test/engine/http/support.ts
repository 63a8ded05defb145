import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Env } from '../../../src/lib/env.ts';
import { HttpError } from '../../../src/lib/errors.ts';
import type { ApiRequest, ApiResponse, Send } from '../../../src/engine/shared/message.ts';
import type { Log, LogFields } from '../../../src/lib/log.ts';

export interface Seen {
  readonly method: string;
  /** The request target, byte for byte. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Api {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly Seen[];
  /** Connections that were opened. */
  readonly connections: () => number;
  readonly server: Server;
}

export type Answer = (response: ServerResponse, seen: Seen, count: number) => void;

/** An API on loopback that ends with the test. */
export function startApi(
  answer: Answer = (response) => response.end('{}'),
  tls?: ServerOptions,
): Promise<Api> {
  const seen: Seen[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: target = '', headers, rawHeaders } = request;
      const one = { method, target, headers, rawHeaders, body: Buffer.concat(chunks).toString() };
      answer(response, one, seen.push(one));
    });
  };
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  let connections = 0;
  server.on('connection', () => connections++);
  server.on('tlsClientError', () => undefined);
  return listen(server, () => server.closeAllConnections()).then((port) => ({
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    seen,
    connections: () => connections,
    server,
  }));
}

/** A server that is handed its sockets, for answers that are no HTTP. */
export async function startRaw(onSocket: (socket: Socket) => void): Promise<{ url: string; port: number }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  const port = await listen(server, () => sockets.forEach((socket) => socket.destroy()));
  return { url: `http://127.0.0.1:${port}`, port };
}

async function listen(server: ReturnType<typeof createTcpServer>, end: () => void): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    end();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A port where nobody listens. */
export async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gex-http-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Certificate and key of a client, signed by the same authority. */
  readonly client: string;
}

/**
 * An authority and a server's certificate signed by it, made with openssl: names in CN only, no SAN.
 *
 * @param caName the subject of the authority; the same as the server's makes the server's look self-signed
 */
export function makeCertificates(serverName: string, caName: string): Certificates {
  const folder = temporaryFolder();
  const run = (...args: string[]): unknown => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const request = (name: string, subject: string): void => {
    run(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-subj',
      `/CN=${subject}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    );
  };
  request('ca', caName);
  request('server', serverName);
  request('client', 'client');
  // No extensions at all: as certificates of old tools have none.
  run('x509', '-req', '-in', 'ca.csr', '-signkey', 'ca.key', '-days', '2', '-out', 'ca.pem');
  for (const name of ['server', 'client']) {
    run(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-set_serial',
      '7',
      '-days',
      '2',
      '-out',
      `${name}.pem`,
    );
  }
  const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return {
    ca: text('ca.pem'),
    cert: text('server.pem'),
    key: text('server.key'),
    client: text('client.pem') + text('client.key'),
  };
}

/** A clock that only sleeping moves. */
export function fakeEnv(startMs = 1_700_000_000_000): Env & { readonly sleeps: number[] } {
  let now = startMs;
  const sleeps: number[] = [];
  let byte = 0;
  return {
    sleeps,
    now: () => now,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => byte++ % 256),
    sleep: async (waitMs, signal) => {
      signal?.throwIfAborted();
      sleeps.push(waitMs);
      now += waitMs;
    },
  };
}

export interface LogLine {
  readonly level: keyof Log;
  readonly message: string;
  readonly fields: LogFields | undefined;
}

export function recordingLog(): Log & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: keyof Log) => (message: string, fields?: LogFields) => {
    lines.push({ level, message, fields });
  };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export const never = new AbortController().signal;

export function get(url: string, headers: Record<string, string> = {}): ApiRequest {
  return { method: 'GET', url, headers };
}

export function textOf({ body }: ApiResponse): string {
  return new TextDecoder().decode(body);
}

/** The error of a request that must fail. */
export async function errorOf(pending: Promise<unknown>): Promise<HttpError> {
  const outcome = await pending.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof HttpError) return outcome;
  throw new Error(`An HttpError was expected, and this came: ${String(outcome)}`);
}

/** A bottom that answers from a list, without a network. */
export function scripted(
  ...answers: ((Partial<Omit<ApiResponse, 'body'>> & { readonly body?: string }) | Error)[]
): Send & {
  readonly sent: ApiRequest[];
} {
  const sent: ApiRequest[] = [];
  const send: Send = async (request) => {
    const answer = answers[Math.min(sent.push(request), answers.length) - 1] ?? {};
    if (answer instanceof Error) throw answer;
    const { status = 200, headers = {}, body = '{}' } = answer;
    return { status, headers, url: request.url, body: Buffer.from(body) };
  };
  return Object.assign(send, { sent });
}
