import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Request to a test API. */
export interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** JSON of the body; an empty object without one. */
  readonly body: Record<string, unknown>;
  /** Address of the API itself. */
  readonly origin: string;
  /** Requests so far, from 1. */
  readonly number: number;
}

export interface Answered {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  readonly body: unknown;
}

export type Api = (asked: Asked) => Answered;

/** Serves an API on loopback. */
export async function serve(api: Api): Promise<{ origin: string; asked: string[]; close: () => void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { port } = server.address() as AddressInfo;
      const origin = `http://127.0.0.1:${port}`;
      const url = new URL(request.url ?? '/', origin);
      const text = Buffer.concat(parts).toString('utf8');
      asked.push(`${request.method} ${request.url}${text === '' ? '' : ` ${text}`}`);
      const answer = api({
        path: url.pathname,
        query: url.searchParams,
        // headers of requests that are looked at come once
        headers: request.headers as Record<string, string | undefined>,
        body: /^[{[]/.test(text) ? (JSON.parse(text) as Record<string, unknown>) : {},
        origin,
        number: asked.length,
      });
      const isText = typeof answer.body === 'string';
      response.writeHead(answer.status ?? 200, {
        'content-type': isText ? 'text/html' : 'application/json',
        ...answer.headers,
      });
      response.end(isText ? answer.body : JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Rows of a list: ids, names and a time of change. */
export function rowsOf(
  count: number,
  prefix = '',
): { id: number | string; name: string; updated_at: string }[] {
  return Array.from({ length: count }, (_, i) => ({
    id: prefix === '' ? i + 1 : `${prefix}${i + 1}`,
    name: `Name ${String((i * 7919) % 1000)}`,
    updated_at: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
  }));
}

/** A style of pagination: the API, and what a configuration for it must bring. */
export interface Style {
  readonly name: string;
  readonly api: Api;
  /** Arguments of `gex init` behind the address; `ORIGIN` stands for that of the API. */
  readonly source?: string;
  readonly rows: number;
  readonly verdict: 'complete' | 'ended';
  /** A part of the pagination that is right. */
  readonly pagination: Readonly<Record<string, unknown>> | undefined;
}

const int = (asked: Asked, name: string, otherwise: number): number => {
  const text = asked.query.get(name);
  return text === null || !/^\d+$/.test(text) ? otherwise : Number(text);
};

const page = <T>(rows: readonly T[], from: number, size: number): T[] =>
  rows.slice(Math.max(0, from), Math.max(0, from) + size);

/** An API that knows these parameters, and answers others with 400. */
const strict =
  (known: readonly string[], api: Api): Api =>
  (asked) =>
    [...asked.query.keys()].every((name) => known.includes(name))
      ? api(asked)
      : { status: 400, body: { error: 'unknown parameter' } };

const ROWS = rowsOf(61);

const cursorOf = (index: number): string => Buffer.from(`c:${index}`).toString('base64url');
const indexOf = (cursor: unknown): number =>
  typeof cursor === 'string' && cursor !== ''
    ? Number(Buffer.from(cursor, 'base64url').toString().slice(2))
    : 0;

export const STYLES: readonly Style[] = [
  {
    name: 'link header',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'link' },
    api: (asked) => {
      const number = int(asked, 'page', 1);
      const link = (to: number, rel: string): string =>
        `<${asked.origin}${asked.path}?page=${to}>; rel="${rel}"`;
      const links = number * 20 < 61 ? [link(number + 1, 'next'), link(4, 'last')] : [link(1, 'first')];
      return { headers: { link: links.join(', ') }, body: page(ROWS, (number - 1) * 20, 20) };
    },
  },
  {
    name: 'next address in the body',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.url', urlKey: 'next' },
    api: (asked) => {
      const from = int(asked, 'offset', 0);
      const next = from + 20 < 61 ? `${asked.origin}${asked.path}?limit=20&offset=${from + 20}` : null;
      return { body: { count: 61, next, previous: null, results: page(ROWS, from, 20) } };
    },
  },
  {
    name: 'next path in links',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.url', urlKey: '_links.next.href' },
    api: (asked) => {
      const number = int(asked, 'page', 1);
      const next = number < 4 ? { next: { href: `${asked.path}?page=${number + 1}` } } : {};
      return {
        body: {
          _embedded: { users: page(ROWS, (number - 1) * 20, 20) },
          _links: { self: { href: asked.path }, ...next },
        },
      };
    },
  },
  {
    name: 'cursor in the body',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', responseParam: 'next_cursor', queryParam: 'cursor' },
    api: strict(['cursor'], (asked) => {
      const from = indexOf(asked.query.get('cursor'));
      return {
        body: { data: page(ROWS, from, 25), next_cursor: from + 25 < 61 ? cursorOf(from + 25) : null },
      };
    }),
  },
  {
    name: 'token in camel case',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', responseParam: 'nextPageToken', queryParam: 'pageToken' },
    api: strict(['pageToken', 'maxResults'], (asked) => {
      const from = indexOf(asked.query.get('pageToken'));
      const next = from + 20 < 61 ? { nextPageToken: cursorOf(from + 20) } : {};
      return { body: { kind: 'users', users: page(ROWS, from, 20), ...next } };
    }),
  },
  {
    name: 'page number from 1, with a total',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum' },
    api: (asked) => {
      const number = int(asked, 'page', 1);
      return { body: { users: page(ROWS, (number - 1) * 20, 20), page: number, per_page: 20, total: 61 } };
    },
  },
  {
    name: 'page number from 0, with a number of pages',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum', firstPage: 0 },
    api: (asked) => {
      const number = int(asked, 'page', 0);
      return {
        body: { content: page(ROWS, number * 20, 20), number, size: 20, totalPages: 4, last: number === 3 },
      };
    },
  },
  {
    name: 'page number from 1 that nothing speaks of',
    rows: 61,
    verdict: 'ended',
    pagination: { method: 'pagenum' },
    api: (asked) => ({ body: page(ROWS, (int(asked, 'page', 1) - 1) * 20, 20) }),
  },
  {
    name: 'page number from 0 that nothing speaks of',
    rows: 61,
    verdict: 'ended',
    pagination: { method: 'pagenum', firstPage: 0 },
    api: (asked) => ({ body: page(ROWS, int(asked, 'page', 0) * 20, 20) }),
  },
  {
    name: 'offset from 0, with a total',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'offset', limit: 100 },
    api: (asked) => {
      const [offset, limit] = [int(asked, 'offset', 0), int(asked, 'limit', 20)];
      return { body: { items: page(ROWS, offset, limit), offset, limit, total: 61 } };
    },
  },
  {
    name: 'offset that nothing speaks of',
    rows: 61,
    verdict: 'ended',
    pagination: { method: 'offset', limit: 20 },
    api: (asked) => ({ body: page(ROWS, int(asked, 'offset', 0), int(asked, 'limit', 20)) }),
  },
  {
    name: 'index from 1',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'offset', offsetParam: 'startIndex', firstOffset: 1 },
    api: (asked) => {
      const [start, size] = [int(asked, 'startIndex', 1), int(asked, 'count', 20)];
      return {
        body: {
          totalResults: 61,
          startIndex: start,
          itemsPerPage: size,
          Resources: page(ROWS, start - 1, size),
        },
      };
    },
  },
  {
    name: 'cap below what is asked',
    source: 'ORIGIN/v1/users?limit=1000',
    rows: 261,
    verdict: 'complete',
    pagination: { method: 'offset', limit: 50 },
    api: (asked) => {
      const [offset, limit] = [int(asked, 'offset', 0), Math.min(50, int(asked, 'limit', 50))];
      return { body: { users: page(rowsOf(261), offset, limit), offset, total: 261 } };
    },
  },
  {
    name: 'no pagination, which ignores what it does not know',
    rows: 61,
    verdict: 'ended',
    pagination: undefined,
    api: () => ({ body: { users: ROWS } }),
  },
  {
    name: 'no pagination, with a total',
    rows: 17,
    verdict: 'complete',
    pagination: undefined,
    api: () => ({ body: { users: rowsOf(17), total: 17 } }),
  },
  {
    name: 'the last page again beyond the end, with its number',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum' },
    api: (asked) => {
      const number = Math.min(4, int(asked, 'page', 1));
      return {
        body: { users: page(ROWS, (number - 1) * 20, 20), page: int(asked, 'page', 1), pages: 4 },
      };
    },
  },
  {
    name: 'an error beyond the end',
    rows: 61,
    verdict: 'ended',
    pagination: { method: 'pagenum' },
    api: (asked) => {
      const number = int(asked, 'page', 1);
      return number > 4
        ? { status: 404, body: { detail: 'Invalid page.' } }
        : { body: { results: page(ROWS, (number - 1) * 20, 20) } };
    },
  },
  {
    name: 'number of the next page',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', responseParam: 'next_page', queryParam: 'page' },
    api: (asked) => {
      const number = int(asked, 'page', 1);
      return {
        body: { users: page(ROWS, (number - 1) * 20, 20), next_page: number < 4 ? number + 1 : null },
      };
    },
  },
  {
    name: 'next address in a list of links',
    rows: 61,
    verdict: 'complete',
    pagination: {
      method: 'response.url',
      urlKey: { path: 'link', where: { relation: 'next' }, take: 'url' },
    },
    api: (asked) => {
      const from = int(asked, '_offset', 0);
      const to = (offset: number, relation: string): object[] =>
        offset < 0 || offset >= 61
          ? []
          : [{ relation, url: `${asked.origin}${asked.path}?_offset=${offset}` }];
      return {
        body: {
          type: 'searchset',
          link: [...to(0, 'self'), ...to(from - 20, 'previous'), ...to(from + 20, 'next')],
          entry: page(ROWS, from, 20),
        },
      };
    },
  },
  {
    name: 'cells with a header, and page numbers',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum' },
    api: (asked) => {
      const number = int(asked, 'page', 1);
      const rows = page(ROWS, (number - 1) * 20, 20).map(({ id, name }) => [id, name]);
      return { body: { columns: ['id', 'name'], rows, page: number, total: 61 } };
    },
  },
  {
    name: 'rows under keys',
    rows: 20,
    verdict: 'complete',
    pagination: undefined,
    api: () => ({
      body: {
        total: 20,
        users: Object.fromEntries(rowsOf(20).map(({ id, name }) => [`u${id}`, { name, size: id }])),
      },
    }),
  },
  {
    name: 'totals in headers, and an error beyond the end',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum', stopWhen: { than: { header: 'x-wp-totalpages' } } },
    api: (asked) => {
      const number = int(asked, 'page', 1);
      return number > 7
        ? { status: 400, body: { code: 'rest_post_invalid_page_number' } }
        : {
            headers: { 'X-WP-Total': '61', 'X-WP-TotalPages': '7' },
            body: page(ROWS, (number - 1) * 10, 10),
          };
    },
  },
  {
    name: 'size and skip under names of its own, with a cap',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'offset', limit: 30, offsetParam: 'skip' },
    api: (asked) => {
      const [skip, take] = [int(asked, 'skip', 0), Math.min(30, int(asked, 'take', 30))];
      return { body: { items: page(ROWS, skip, take), totalCount: 61 } };
    },
  },
  {
    name: 'parameters of JSON:API',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.url', urlKey: 'links.next' },
    api: (asked) => {
      const number = int(asked, 'page[number]', 1);
      const next = number < 4 ? `${asked.origin}${asked.path}?page[number]=${number + 1}` : null;
      return {
        body: {
          data: page(ROWS, (number - 1) * 20, 20).map(({ id, ...attributes }) => ({
            id: String(id),
            type: 'users',
            attributes,
          })),
          links: { next },
          included: [{ id: '1', type: 'teams', attributes: { name: 'A' } }],
        },
      };
    },
  },
  {
    name: 'nested cursor with a flag, which is there on the last page too',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', responseParam: 'meta.page.after' },
    api: (asked) => {
      const from = indexOf(asked.query.get('after'));
      return {
        body: {
          items: page(ROWS, from, 25),
          meta: { page: { after: cursorOf(from + 25), has_more: from + 25 < 61 } },
        },
      };
    },
  },
  {
    name: 'id of the last row',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', responseParam: { last: 'id' }, queryParam: 'starting_after' },
    api: strict(['starting_after', 'limit'], (asked) => {
      const rows = rowsOf(61, 'ch_');
      const after = asked.query.get('starting_after');
      const from = after === null ? 0 : rows.findIndex(({ id }) => id === after) + 1;
      return { body: { object: 'list', data: page(rows, from, 10), has_more: from + 10 < 61 } };
    }),
  },
  {
    name: 'page in the body of a POST',
    source: `curl ORIGIN/v1/search --json '{"filter":{"active":true},"paging":{"page":1,"size":20}}'`,
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum', pageParam: { body: 'paging.page' } },
    api: (asked) => {
      const paging = asked.body['paging'] as { page?: number } | undefined;
      const number = paging?.page ?? 1;
      return { body: { hits: page(ROWS, (number - 1) * 20, 20), totalHits: 61 } };
    },
  },
  {
    name: 'GraphQL',
    source: `curl ORIGIN/graphql --json '{"query":"query($after: String) { users(first: 20, after: $after) { pageInfo { hasNextPage endCursor } nodes { id name } } }","variables":{"after":null}}'`,
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', queryParam: { body: 'variables.after' } },
    api: (asked) => {
      const variables = asked.body['variables'] as { after?: string } | undefined;
      const from = indexOf(variables?.after);
      const end = Math.min(61, from + 20);
      return {
        body: {
          data: {
            users: {
              pageInfo: { hasNextPage: end < 61, endCursor: cursorOf(end) },
              nodes: page(ROWS, from, 20),
            },
          },
        },
      };
    },
  },
  {
    name: 'cursor in a header',
    rows: 61,
    verdict: 'complete',
    pagination: {
      method: 'response.param',
      responseParam: { header: 'x-next-cursor' },
      queryParam: 'cursor',
    },
    api: (asked) => {
      const from = indexOf(asked.query.get('cursor'));
      return {
        headers: from + 25 < 61 ? { 'x-next-cursor': cursorOf(from + 25) } : {},
        body: page(ROWS, from, 25),
      };
    },
  },
  {
    name: 'token beside a link that is broken',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param' },
    api: (asked) => {
      if (asked.path === '/internal') return { status: 404, body: {} };
      const from = indexOf(asked.query.get('token'));
      const next = from + 25 < 61 ? `${asked.origin}/internal?token=${cursorOf(from + 25)}` : null;
      return { body: { records: page(ROWS, from, 25), links: { next } } };
    },
  },
  {
    name: 'page in the body of a POST that had none',
    source: "curl -X POST ORIGIN/v1/list -H 'Content-Type: application/json' -d '{}'",
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum' },
    api: (asked) => {
      const number = Number(asked.body['page'] ?? 1);
      return { body: { page: number, total: 61, rows: page(ROWS, (number - 1) * 20, 20) } };
    },
  },
  {
    name: 'GraphQL with edges, and no variables yet',
    source: `curl ORIGIN/graphql --json '{"query":"query All($n: Int = 20, $cursor: String) { users(first: $n, after: $cursor) { edges { node { id name } } pageInfo { hasNextPage endCursor } } }"}'`,
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', queryParam: { body: 'variables.cursor' } },
    api: (asked) => {
      const variables = asked.body['variables'] as { cursor?: string } | undefined;
      const from = indexOf(variables?.cursor);
      const end = Math.min(61, from + 20);
      const edges = page(ROWS, from, 20).map((node) => ({ node }));
      return {
        body: { data: { users: { edges, pageInfo: { hasNextPage: end < 61, endCursor: cursorOf(end) } } } },
      };
    },
  },
  {
    name: 'GraphQL with an offset',
    source: `curl ORIGIN/graphql --json '{"query":"query($limit: Int, $offset: Int) { users(limit: $limit, offset: $offset) { id name } }","variables":{"limit":20,"offset":0}}'`,
    rows: 61,
    verdict: 'ended',
    pagination: { method: 'offset', offsetParam: { body: 'variables.offset' } },
    api: (asked) => {
      const { offset = 0, limit = 20 } = (asked.body['variables'] ?? {}) as {
        offset?: number;
        limit?: number;
      };
      return { body: { data: { users: page(ROWS, offset, limit) } } };
    },
  },
  {
    name: 'cursor from header to header',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', queryParam: { header: 'x-continuation' } },
    api: (asked) => {
      const from = indexOf(asked.headers['x-continuation']);
      return {
        headers: from + 25 < 61 ? { 'X-Continuation': cursorOf(from + 25) } : {},
        body: { documents: page(ROWS, from, 25) },
      };
    },
  },
  {
    name: 'an address that leads on to another',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum' },
    api: (asked) => {
      if (!asked.path.endsWith('/'))
        return {
          status: 301,
          headers: { location: `${asked.path}/${new URL(`http://h?${asked.query.toString()}`).search}` },
          body: '',
        };
      const number = int(asked, 'page', 1);
      return { body: { users: page(ROWS, (number - 1) * 20, 20), page: number, total: 61 } };
    },
  },
  {
    name: 'the last page again beyond the end, to the byte',
    rows: 61,
    verdict: 'ended',
    pagination: { method: 'pagenum' },
    api: (asked) => ({ body: page(ROWS, (Math.min(4, int(asked, 'page', 1)) - 1) * 20, 20) }),
  },
  {
    name: 'key of the last row, an object',
    source: `curl ORIGIN/ --json '{"TableName":"users"}'`,
    rows: 61,
    verdict: 'complete',
    pagination: {
      method: 'response.param',
      responseParam: 'LastEvaluatedKey',
      queryParam: 'ExclusiveStartKey',
    },
    api: (asked) => {
      const key = asked.body['ExclusiveStartKey'] as { id: { N: string } } | undefined;
      const from = key === undefined ? 0 : Number(key.id.N);
      const next = from + 20 < 61 ? { LastEvaluatedKey: { id: { N: String(from + 20) } } } : {};
      return { body: { Items: page(ROWS, from, 20), Count: page(ROWS, from, 20).length, ...next } };
    },
  },
  {
    name: 'page number with a flag alone',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'pagenum' },
    api: (asked) => {
      const number = int(asked, 'page', 1);
      return { body: { users: page(ROWS, (number - 1) * 20, 20), has_more: number < 4 } };
    },
  },
  {
    name: 'limits of use, now and then',
    rows: 61,
    verdict: 'complete',
    pagination: { method: 'response.param', responseParam: 'next', queryParam: 'cursor' },
    api: (asked) => {
      if (asked.number % 3 === 2) return { status: 429, headers: { 'retry-after': '0.05' }, body: {} };
      const from = indexOf(asked.query.get('cursor'));
      return { body: { users: page(ROWS, from, 20), next: from + 20 < 61 ? cursorOf(from + 20) : '' } };
    },
  },
];
