// A paginated API on loopback for measuring extractors. The bodies are made before the first request where they fit
// into memory, so that the server is not what is measured.
//
//   node bench/mock-api.ts [--pages 200] [--size 1000] [--shape flat|nested|children|parents|late] [--style response.param]
//                          [--latency 0] [--port 0] [--config DIR]
//
//   --shape    flat: 10 fields. nested: and an object of 4 fields (one an object), and a list of 3 objects.
//              children: flat; every 500th record has a child request, of parents each. late: the last record has a
//              field more.
//   --style    response.param, response.url, offset, pagenum or cursor
//   --latency  milliseconds before each answer
//   --config   writes DIR/config.json, the configuration for this API
//
// The records are under “data”; /requests says how many requests were answered. It prints LISTENING and the address when it is ready, and ends with SIGTERM.
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fieldsOf, SHAPES, type Shape } from './support/records.ts';

const STYLES = ['response.param', 'response.url', 'offset', 'pagenum', 'cursor'] as const;
type Style = (typeof STYLES)[number];

/** Bytes of bodies that are kept; the rest is made when it is asked for. */
const KEPT_BYTES = 1 << 29;

/** Records repeat after so many, but for their id: making one is then a matter of joining texts. */
const RING = 5000;

const { values: given } = parseArgs({
  options: {
    pages: { type: 'string', default: '200' },
    size: { type: 'string', default: '1000' },
    shape: { type: 'string', default: 'flat' },
    style: { type: 'string', default: 'response.param' },
    latency: { type: 'string', default: '0' },
    port: { type: 'string', default: '0' },
    config: { type: 'string' },
  },
});
const pages = countOf('pages', given.pages);
const size = countOf('size', given.size);
const shape = oneOf<Shape>('shape', given.shape, SHAPES);
const style = oneOf<Style>('style', given.style, STYLES);
const latency = Number(given.latency);

const ring = Array.from({ length: Math.min(RING, pages * size) }, (_, i) =>
  JSON.stringify(fieldsOf(i, shape)).slice(1),
);
const kept: Buffer[] = [];
const nothing = Buffer.from('{"data":[]}');
let base = '';
let answered = 0;

const server = http.createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
  request.resume();
  const url = new URL(request.url ?? '/', base);
  if (url.pathname === '/requests') {
    response.end(String(answered));
    return;
  }
  answered++;
  const child = /^\/orders\/(\d+)\/parcels$/.exec(url.pathname);
  const body =
    child !== null
      ? parcels(Number(child[1]))
      : url.pathname === '/orders'
        ? bodyFor(url.searchParams)
        : undefined;
  const answer = (): void => {
    const bytes = body ?? Buffer.from('{"error":"there is no such page"}');
    response.writeHead(body === undefined ? 404 : 200, {
      'content-type': 'application/json',
      'content-length': bytes.length,
    });
    response.end(bytes);
  };
  if (latency > 0) setTimeout(answer, latency);
  else answer();
});

server.listen(Number(given.port), '127.0.0.1', () => {
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has an address of this kind
  for (let page = 0, bytes = 0; page < pages && bytes < KEPT_BYTES; page++) {
    const body = makePage(page);
    bytes += body.length;
    kept.push(body);
  }
  if (given.config !== undefined) {
    mkdirSync(given.config, { recursive: true });
    writeFileSync(path.join(given.config, 'config.json'), JSON.stringify(configuration(), null, 2));
  }
  console.log(`LISTENING ${base}/orders`);
});
process.on('SIGTERM', () => process.exit(0));

/** The body for a query; undefined for a query that no page of this style has. */
function bodyFor(query: URLSearchParams): Buffer | undefined {
  const page = pageOf(query);
  if (!Number.isInteger(page) || page < 0) return undefined;
  if (page >= pages) return style === 'response.param' || style === 'response.url' ? undefined : nothing;
  return kept[page] ?? makePage(page);
}

function pageOf(query: URLSearchParams): number {
  const number = (name: string, otherwise: number): number => Number(query.get(name) ?? otherwise);
  if (style === 'offset') return number('offset', 0) / size;
  if (style === 'pagenum') return number('page', 1) - 1;
  if (style === 'cursor') return (number('from_id', 1) - 1) / size;
  const token = query.get('after');
  return token === null ? 0 : Number(token.replace(/^page-/, ''));
}

function makePage(page: number): Buffer {
  const records: string[] = [];
  for (let id = page * size + 1; id <= (page + 1) * size; id++)
    records.push(`{"id":${id},${ring[id % ring.length] ?? ''}`);
  const isLast = page === pages - 1;
  if (shape === 'late' && isLast) records.push(`${records.pop()?.slice(0, -1) ?? ''},"late":"here at last"}`);
  const next =
    style === 'response.param'
      ? `"page-${page + 1}"`
      : style === 'response.url'
        ? `"${base}/orders?after=page-${page + 1}"`
        : undefined;
  return Buffer.from(
    `{"data":[${records.join(',')}]${next === undefined || isLast ? '' : `,"paging":{"next":${next}}`}}`,
  );
}

function parcels(order: number): Buffer {
  return Buffer.from(
    JSON.stringify(
      [1, 2, 3].map((n) => ({
        parcel: order * 10 + n,
        weight: (order % 40) + n / 4,
        carrier: `carrier ${n}`,
      })),
    ),
  );
}

function configuration(): object {
  const pagination = {
    'response.param': { method: 'response.param', responseParam: 'paging.next', queryParam: 'after' },
    'response.url': { method: 'response.url', urlKey: 'paging.next' },
    offset: { method: 'offset', limit: size },
    pagenum: { method: 'pagenum' },
    cursor: { method: 'cursor', idKey: 'id', param: 'from_id', increment: 1 },
  }[style];
  const child = {
    endpoint: 'orders/{order}/parcels',
    dataType: 'parcels',
    placeholders: { order: 'id' },
    recursionFilter: 'has_parcels==1',
  };
  const job = {
    endpoint: 'orders',
    dataType: 'orders',
    dataField: 'data',
    ...(shape === 'children' || shape === 'parents' ? { children: [child] } : {}),
  };
  return {
    parameters: { api: { baseUrl: `${base}/`, pagination }, config: { outputBucket: 'bench', jobs: [job] } },
  };
}

function countOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${name} is a number from 1 on, not “${text}”`);
}

function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new Error(`--${name} is one of ${choices.join(', ')}, not “${text}”`);
}
