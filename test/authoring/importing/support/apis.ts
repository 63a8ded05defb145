import { gzipSync } from 'node:zlib';
import type { Answer, Api } from './exchange.ts';

const NOT_FOUND: Answer = { status: 404, body: { message: 'There is nothing here' } };
const DENIED: Answer = { status: 401, body: { message: 'Who are you?' } };

function numbered<T>(count: number, make: (id: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}

/** A slice of rows by page number and size. */
function pageOf<T>(rows: readonly T[], page: number, size: number): readonly T[] {
  return rows.slice((page - 1) * size, page * size);
}

function day(number: number): string {
  return new Date(Date.UTC(2026, 0, number)).toISOString().slice(0, 10);
}

const BOOKS = numbered(5, (id) => ({
  id,
  title: `Book ${id}`,
  internal: 'x',
  price: { amount: id * 10, currency: 'EUR' },
}));

const bookshop: Api = ({ path, query, headers }) => {
  if (headers['authorization'] !== 'Bearer key-1') return DENIED;
  if (path === '/v2/books') {
    const rows = BOOKS.map((book) => ({ ...book, language: query.get('language') }));
    return {
      body: { data: pageOf(rows, Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 100)) },
    };
  }
  const book = /^\/v2\/books\/(\d+)\/reviews$/.exec(path)?.[1];
  if (book === undefined) return NOT_FOUND;
  return { body: numbered(Number(book) % 3, (id) => ({ id: `${book}-${id}`, stars: id })) };
};

const TICKETS = numbered(7, (id) => ({ id, subject: `Ticket ${id}`, updated_at: `${day(id)}T10:00:00Z` }));

const tickets: Api = ({ path, query, headers }) => {
  const login = Buffer.from('me@tickets.example/token:secret-1').toString('base64');
  if (headers['authorization'] !== `Basic ${login}`) return DENIED;
  if (path === '/api/tickets.json') {
    const since = query.get('since') ?? '';
    const rows = TICKETS.filter((row) => row.updated_at >= since);
    const after = Number(query.get('page[after]') ?? 0);
    const page = rows.slice(after, after + 3);
    return {
      body: { tickets: page, meta: { has_more: after + 3 < rows.length, after_cursor: after + 3 } },
    };
  }
  const ticket = Number(/^\/api\/tickets\/(\d+)\/comments\.json$/.exec(path)?.[1]);
  if (ticket === 3) return NOT_FOUND;
  const comments = numbered(3, (id) => ({
    id: ticket * 100 + id,
    public: id !== 2,
    type: id === 3 && ticket === 1 ? 'Voice' : 'Comment',
    created_at: `${day(ticket)}T11:00:00Z`,
  }));
  return { body: { comments, meta: { has_more: false, after_cursor: null } } };
};

/** A graph whose pages are asked for by a variable deep inside of the body. */
const graph: Api = ({ method, path, body }) => {
  if (method !== 'POST' || path !== '/graphql') return NOT_FOUND;
  const { query, variables } = JSON.parse(body) as {
    query: string;
    variables?: { page?: { after?: string } };
  };
  if (!query.includes('issues')) return { status: 400, body: { errors: [{ message: 'What?' }] } };
  const inText = /after: "(\w+)"/.exec(query)?.[1];
  const after = Number(variables?.page?.after ?? inText ?? 0);
  const nodes = numbered(5, (id) => ({ id: `I${id}`, number: id, labels: { nodes: [] } })).slice(
    after,
    after + 2,
  );
  const endCursor = String(after + 2);
  return { body: { data: { issues: { nodes, pageInfo: { endCursor, hasNextPage: after + 2 < 5 } } } } };
};

const ENTRIES = numbered(90, (id) => ({ id, day: day(id), amount: id / 4, updated: `${day(id)}T00:00:00Z` }));

/** Entries of a time, from and to inclusive; without, all of them. */
const ledger: Api = ({ path, query }) => {
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? '9999'];
  const rows = ENTRIES.filter((row) => row.day >= from && row.day <= to);
  const skip = Number(query.get('skip') ?? 0);
  if (path === '/entries') return { body: { result: { items: rows.slice(skip, skip + 10) } } };
  if (path === '/accounts')
    return { body: numbered(3, (id) => ({ id, updated_at: `${day(id * 10)}T00:00:00Z` })) };
  return path === '/all' ? { body: { result: { items: ENTRIES.slice(skip, skip + 40) } } } : NOT_FOUND;
};

const links: Api = ({ path, query, base }) => {
  const page = Number(query.get('page') ?? 1);
  const rows = pageOf(
    numbered(5, (id) => ({ id, kind: query.get('kind') ?? 'none' })),
    page,
    2,
  );
  const next = `${base}${path}?kind=${query.get('kind') ?? 'none'}&page=${page + 1}`;
  const isLast = page === 3;
  if (path === '/body') return { body: { value: rows, '@odata.nextLink': isLast ? undefined : next } };
  if (path === '/header')
    return { headers: isLast ? {} : { link: `<${next}>; rel="next", <${base}>; rel="first"` }, body: rows };
  if (path === '/token') return { body: { rows, links: { next: isLast ? null : next } } };
  return NOT_FOUND;
};

const EVENTS = numbered(9, (id) => ({
  id: 10 - id,
  at: `${day(10 - id)}T12:00:00Z`,
  kind: id % 2 === 0 ? 'a' : 'b',
}));

/** Newest first. */
const feed: Api = ({ path, query }) => {
  if (path === '/events') {
    const before = Number(query.get('before') ?? 100);
    return { body: { events: EVENTS.filter((row) => row.id < before).slice(0, 2) } };
  }
  if (path === '/pages') {
    const page = Number(query.get('p') ?? 0);
    return { body: { page, pages: 3, items: EVENTS.slice(page * 3, page * 3 + 3) } };
  }
  return NOT_FOUND;
};

const regions: Api = ({ path, query }) => {
  const [region, kind] = [query.get('region'), query.get('kind')];
  if (path === '/shops') return { body: { shops: numbered(2, (id) => ({ id: `${region}-${id}`, kind })) } };
  const inPath = /^\/regions\/(\w+)\/totals$/.exec(path)?.[1];
  return inPath === undefined
    ? NOT_FOUND
    : { body: { totals: { [day(1)]: { n: 1 }, [day(2)]: { n: 2 } }, region: inPath } };
};

/** Lists of two kinds, and details of many at once. */
const members: Api = ({ path, query }) => {
  if (path === '/people')
    return { body: { people: numbered(5, (id) => ({ uuid: `p${id}`, team: { id: id % 2 } })) } };
  if (path === '/pets') return { body: [{ tag: 'x1' }, { tag: null }, { tag: 'x2' }] };
  if (path === '/details') {
    const ids = (query.get('ids') ?? '').split(';').filter((id) => id !== '');
    return { body: { details: ids.map((id) => ({ id, name: `Name of ${id}` })) } };
  }
  const owner = /^\/owners\/(\w+)$/.exec(path)?.[1];
  if (owner !== undefined) return { body: { owner, notes: [{ text: `of ${owner}` }, { text: 'more' }] } };
  if (path === '/log') {
    const after = query.get('after');
    const page = after === null ? 0 : Number(after);
    const isFirst = query.get('since') !== null;
    return { body: { rows: [{ id: page, first: isFirst }], after: page < 2 ? page + 1 : null } };
  }
  return NOT_FOUND;
};

const oauth: Api = ({ path, body, headers }) => {
  if (path === '/token') {
    const form = new URLSearchParams(body);
    const isKnown = form.get('client_id') === 'me' && form.get('client_secret') === 'hush';
    const token = form.get('grant_type') === 'refresh_token' ? `r-${form.get('refresh_token')}` : 'cc';
    return isKnown ? { body: { access_token: token, expires_in: 3600 } } : DENIED;
  }
  if (path === '/login')
    return body.includes('"user":"me"') || body.includes('"user": "me"')
      ? { body: { session: { id: 's-1' } } }
      : DENIED;
  if (path === '/me')
    return ['Bearer r-refresh-1', 'Bearer cc'].includes(String(headers['authorization']))
      ? { body: { id: 1 } }
      : DENIED;
  if (path === '/session') return headers['x-session'] === 's-1' ? { body: [{ id: 2 }] } : DENIED;
  return NOT_FOUND;
};

const files: Api = ({ path }) => {
  if (path === '/rows.csv')
    return { headers: { 'content-type': 'text/csv' }, body: 'id;name\n1;"a;b"\n2;c\n' };
  if (path === '/rows.jsonl') return { body: '{"id": 1}\n{"id": 2}\n' };
  if (path === '/rows.json.gz')
    return { headers: { 'content-type': 'application/gzip' }, body: gzipSync('{"id": 1}\n{"id": 3}\n') };
  return NOT_FOUND;
};

let reports = 0;

/** A report is made, asked for, and fetched. */
const reporting: Api = ({ method, path, base }) => {
  if (method === 'POST' && path === '/reports') return { body: { report: { id: `r${++reports}` } } };
  const id = /^\/reports\/(r\d+)$/.exec(path)?.[1];
  if (id !== undefined) return { body: { status: 'DONE', url: `${base}/files/${id}` } };
  return path.startsWith('/files/')
    ? { headers: { 'content-type': 'text/csv' }, body: 'id,clicks\n1,5\n2,7\n' }
    : NOT_FOUND;
};

/** By the end of the host. */
export const APIS: Readonly<Record<string, Api>> = {
  'bookshop.example': bookshop,
  'tickets.example': tickets,
  'graph.example': graph,
  'ledger.example': ledger,
  'links.example': links,
  'feed.example': feed,
  'regions.example': regions,
  'members.example': members,
  'oauth.example': oauth,
  'files.example': files,
  'reporting.example': reporting,
};
