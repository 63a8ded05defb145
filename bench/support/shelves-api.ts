import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const PAGES = 40;
const SHELVES = 15;

export interface ShelvesApi {
  /** With a slash at its end. */
  readonly url: string;
  /** Requests since the last time, by their line, that got an answer of data. */
  take(): Map<string, number>;
  /** From now on it fails for good, after so many requests. */
  failAfter(requests: number): void;
  recover(): void;
  stop(): Promise<void>;
}

/** An API of shelves by page number, each with books in two pages that a cursor leads through; a little slow. */
export async function startShelvesApi(latencyMs: () => number): Promise<ShelvesApi> {
  let seen = new Map<string, number>();
  let left = Infinity;
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const body = pathname === '/shelves' ? shelves(searchParams) : books(pathname, searchParams);
    const isDown = left-- <= 0;
    if (!isDown) seen.set(url, (seen.get(url) ?? 0) + 1);
    setTimeout(() => {
      response.writeHead(isDown ? 500 : 200, { 'Content-Type': 'application/json' });
      response.end(isDown ? '{"error":"down"}' : JSON.stringify(body));
    }, latencyMs());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    take() {
      const taken = seen;
      seen = new Map();
      return taken;
    },
    failAfter: (requests) => void (left = requests),
    recover: () => void (left = Infinity),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function shelves(query: URLSearchParams): object {
  const page = Number(query.get('page'));
  if (page > PAGES) return { data: [] };
  const data = Array.from({ length: SHELVES }, (_, i) => {
    const id = (page - 1) * SHELVES + i + 1;
    // a column that comes late, and one that becomes a list
    return {
      id,
      name: `shelf “${id}”`,
      ...(page === PAGES - 1 ? { late: page } : {}),
      tags: page % 7 === 0 ? ['a', 'b'] : 'a',
    };
  });
  return { data };
}

function books(path: string, query: URLSearchParams): object {
  const shelf = Number(path.split('/')[2]);
  const isSecond = query.get('after') !== null;
  const data = [1, 2, 3].map((n) => ({
    id: `${shelf}-${isSecond ? n + 3 : n}`,
    pages: (shelf * n) % 300,
    ...(shelf === 500 ? { late: true } : {}),
  }));
  return { data, ...(isSecond ? {} : { next: `after-${shelf}` }) };
}
