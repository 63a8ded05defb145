import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const PER_SECOND = 40;
const PER_PAGE = 50;

export interface EventsApi {
  /** With a slash at its end. */
  readonly url: string;
  /** Ids of all events of a kind from the beginning until a second. */
  idsUntil(kind: string, second: number): Set<string>;
  stop(): Promise<void>;
}

/**
 * An API whose events come by the clock: every second has the same ones, whoever asks and how often. Asked with `since`
 * and `until` (seconds), it gives those between, page by page. So rows that are lost or doubled can be told for certain.
 */
export async function startEventsApi(beginning: number): Promise<EventsApi> {
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const kind = pathname.slice(1);
    const since = Math.max(Number(searchParams.get('since') ?? 0), beginning);
    const until = Number(searchParams.get('until'));
    const at = Number(searchParams.get('cursor') ?? 0);
    const ids = idsBetween(kind, since, until);
    const next = at + PER_PAGE < ids.length ? at + PER_PAGE : null;
    const events = ids.slice(at, at + PER_PAGE).map((id) => ({ id, kind, text: `event ${id}` }));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ events, next }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    idsUntil: (kind, second) => new Set(idsBetween(kind, beginning, second)),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function idsBetween(kind: string, since: number, until: number): string[] {
  const ids: string[] = [];
  for (let second = since; second < until; second++)
    for (let i = 0; i < PER_SECOND; i++) ids.push(`${kind}-${second}-${i}`);
  return ids;
}
