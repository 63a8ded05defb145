import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { APIS } from './apis.ts';
import type { Answer } from './exchange.ts';

/** Serves all example APIs: `https://api.shop.example/v1` is `http://127.0.0.1:port/api.shop.example/v1`. */
export async function serveApis(): Promise<{ readonly url: string; readonly log: string[]; close(): void }> {
  const log: string[] = [];
  const server = createServer((request, response) => {
    void answer(request, url(), log).then(({ status = 200, headers = {}, body }) => {
      const isRaw = typeof body === 'string' || Buffer.isBuffer(body);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(isRaw ? body : JSON.stringify(body));
    });
  });
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await new Promise<void>((resolve) =>
    server.listen(Number(process.env['API_PORT'] ?? 0), '127.0.0.1', resolve),
  );
  return { url: url(), log, close: () => void server.close() };
}

async function answer(request: IncomingMessage, url: string, log: string[]): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const target = new URL(request.url ?? '/', url);
  const [, host = '', ...rest] = target.pathname.split('/');
  log.push(`${request.method} ${target.pathname}${target.search}${body === '' ? '' : ` ${body}`}`);
  const api = APIS[Object.keys(APIS).find((name) => host.endsWith(name)) ?? ''];
  if (api === undefined) return { status: 404, body: { error: `no API ${host}` } };
  return api({
    method: request.method ?? 'GET',
    path: `/${rest.join('/')}`,
    query: target.searchParams,
    headers: request.headers,
    body,
    base: `${url}${host}`,
  });
}
