import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An API whose answers are remembered by the configuration that asked: the first part of the path. */
export interface Sources {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** How long an answer takes. */
  latencyMs: number;
  /** How many different requests were answered of those configurations whose names end so. */
  answered(end: string): number;
  stop(): Promise<void>;
}

interface Asked {
  readonly by: string;
  /** Request without its sender. */
  readonly what: string;
  /** When it was answered, in milliseconds of the performance clock. */
  readonly at: number;
}

/** One kind of run: what it asks, and how. */
export interface Kind {
  readonly name: string;
  /** Besides `baseUrl`. */
  readonly api: object;
  readonly config: object;
  /** `parameters` of rows. */
  readonly rows?: readonly object[];
}

const pages = { pagination: { method: 'pagenum' } };

export const KINDS: readonly Kind[] = [
  { name: 'plain', api: pages, config: { jobs: [{ endpoint: 'rows', dataType: 'rows' }] } },
  // A column that the last tenth of the pages has alone, lists that become tables, and objects that become columns.
  { name: 'late', api: pages, config: { jobs: [{ endpoint: 'late', dataType: 'rows' }] } },
  {
    name: 'scrolled',
    api: { pagination: { method: 'response.param', responseParam: 'next', queryParam: 'cursor' } },
    config: {
      jobs: [
        {
          endpoint: 'scroll',
          dataType: 'rows',
          dataField: 'data',
          params: { since: { time: 'previousStart' } },
        },
      ],
    },
  },
  {
    name: 'children',
    api: pages,
    config: {
      jobs: [
        {
          endpoint: 'parents',
          dataType: 'parents',
          children: [{ endpoint: 'parents/{id}/rows', placeholders: { id: 'id' }, dataType: 'rows' }],
        },
      ],
    },
  },
  {
    name: 'rows',
    api: pages,
    config: {},
    rows: ['first', 'second', 'third'].map((each) => ({
      config: { jobs: [{ endpoint: `third/${each}`, dataType: each }] },
    })),
  },
];

const ROWS = 20;

/** @param count pages that each run asks for, about */
export async function startSources(count: number): Promise<Sources> {
  const asked: Asked[] = [];
  const known = new Set<string>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    const [, by = '', ...rest] = url.pathname.split('/');
    const body = answer(rest.join('/'), url.searchParams, count);
    void sleep(sources.latencyMs).then(() => {
      const what = `${rest.join('/')}${url.search}`;
      asked.push({ by, what, at: performance.now() });
      known.add(`${what} ${by}`);
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  const sources: Sources = {
    url: `http://127.0.0.1:${port}/`,
    asked,
    latencyMs: 0,
    answered: (end) => [...known].filter((each) => each.endsWith(end)).length,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return sources;
}

function answer(path: string, query: URLSearchParams, count: number): unknown {
  const page = Number(query.get('page') ?? query.get('cursor') ?? 1);
  if (path === 'rows') return page > count ? [] : rowsOf(page);
  if (path === 'late') return page > count ? [] : rowsOf(page).map((row) => nested(row, page > count * 0.9));
  if (path === 'scroll') return { data: rowsOf(page), next: page < count ? page + 1 : null };
  // One request for each parent, and one for the page of ten that it is on.
  if (path === 'parents')
    return page > count / 20 ? [] : Array.from({ length: 10 }, (_, i) => ({ id: (page - 1) * 10 + i + 1 }));
  if (path.startsWith('parents/')) return page > 1 ? [] : rowsOf(Number(path.split('/')[1]));
  if (path.startsWith('third/')) return page > count / 3 ? [] : rowsOf(page);
  return [];
}

function rowsOf(page: number): { id: number; name: string }[] {
  return Array.from({ length: ROWS }, (_, i) => ({ id: page * ROWS + i, name: `row ${page * ROWS + i}` }));
}

function nested(row: { id: number; name: string }, isLate: boolean): object {
  return {
    ...row,
    place: { town: `t${row.id % 7}` },
    tags: [{ tag: `a${row.id % 5}` }, { tag: `b${row.id % 3}` }],
    ...(isLate ? { late: row.id } : {}),
  };
}
