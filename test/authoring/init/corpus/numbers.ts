import { rowsOf, type Answered, type Asked } from '../apis.ts';
import { cut, int, json, link, marked, strict, text, type Server } from './servers.ts';

const R = marked(137);
/** Rows of others, without a mark. */
const OTHERS = rowsOf(100).map((row) => ({ ...row, id: Number(row.id) + 1000 }));
const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

/** APIs whose pages have a number, or rows to skip. */
export const NUMBERED: readonly Server[] = [
  {
    name: 'rows from a start to an end',
    ask: '/posts?_start=0&_end=20',
    rows: 137,
    says: ['the rows behind those that came, from `_start` to `_end`'],
    api: (asked) => json(R.slice(int(asked, '_start', 0), int(asked, '_end', R.length))),
  },
  {
    name: 'rows from a start to an end, from 1, and the end is among them',
    ask: '/posts?from=1&to=20',
    rows: 137,
    api: strict('from to', (asked) =>
      json({ posts: R.slice(int(asked, 'from', 1) - 1, int(asked, 'to', R.length)) }),
    ),
  },
  {
    name: 'rows from a start to an end, fewer than were asked for',
    ask: '/posts?startRow=0&endRow=100',
    rows: 137,
    api: strict('startRow endRow', (asked) => {
      const from = int(asked, 'startRow', 0);
      return json({ posts: R.slice(from, Math.min(from + 50, int(asked, 'endRow', from + 50))) });
    }),
  },
  {
    name: 'rows from a start to an end, as many as there are',
    ask: '/posts?_start=0&_end=137',
    rows: 137,
    says: ['verdict ended'],
    api: (asked) => json(R.slice(int(asked, '_start', 0), int(asked, '_end', R.length))),
  },
  { name: 'a skip that is sent as $skip', ask: '/users', rows: 137, api: services },
  { name: 'a skip that is sent as $skip, with $limit', ask: '/users?$limit=20', rows: 137, api: services },
  {
    name: 'a skip that is sent as $skip, and a $limit that is cut',
    ask: '/users?$limit=100',
    rows: 137,
    api: services,
  },
  {
    name: 'a page as long as its $limit, where names that are not known filter',
    ask: '/users?$limit=20',
    rows: 20,
    says: ['the number of rows to skip in `$skip`', 'verdict ended'],
    api: (asked) => {
      const filters = [...asked.query.keys()].filter((name) => name !== '$limit' && name !== '$skip');
      if (filters.some((name) => name.startsWith('$')))
        return { status: 400, body: { error: 'no such operator' } };
      return json(
        filters.length > 0 ? [] : cut(R.slice(0, 20), int(asked, '$skip', 0), int(asked, '$limit', 20)),
      );
    },
  },
  {
    name: 'a page in the path, with a dash',
    ask: '/v1/users/page-1',
    rows: 137,
    isOpen: true,
    says: ['the address may have a page in its path, `page-1`'],
    api: (asked) => json(cut(R, (Number(asked.path.split('-')[1]) - 1) * 33, 33)),
  },
  {
    name: 'a page that is a letter',
    ask: '/v1/users?page=A',
    rows: 137,
    isOpen: true,
    says: ['`page=A` of the address may be one page of several'],
    api: (asked) => json(cut(R, ((asked.query.get('page') ?? 'A').charCodeAt(0) - 65) * 33, 33)),
  },
  {
    name: 'parts by their letters',
    ask: '/v1/users?letter=a',
    rows: 137,
    isOpen: true,
    says: ['`letter=a` of the address may be one page of several'],
    api: (asked) => json(cut(R, ((asked.query.get('letter') ?? 'a').charCodeAt(0) - 97) * 33, 33)),
  },
  {
    name: 'a number at the end of the path',
    ask: '/v1/users/1',
    rows: 137,
    isOpen: true,
    says: ['the address may have a page in its path, `1`'],
    api: (asked) => json(cut(R, (Number(asked.path.split('/').at(-1)) - 1) * 33, 33)),
  },
  {
    name: 'batches from 0, of which nothing speaks',
    ask: '/v1/users?batch=0',
    rows: 137,
    api: (asked) => json({ note: 'see the manual', users: cut(R, int(asked, 'batch', 0) * 33, 33) }),
  },
  {
    name: 'batches from 1, where 0 is the first one, too',
    ask: '/v1/users?batch=0',
    rows: 137,
    api: strict('batch', (asked) => json(cut(R, (Math.max(1, int(asked, 'batch', 1)) - 1) * 33, 33))),
  },
  {
    name: 'a later batch',
    ask: '/v1/users?batch=2',
    rows: 137,
    isOpen: true,
    says: ['`batch=1` brings others than `batch=2`'],
    api: (asked) => json(cut(R, (int(asked, 'batch', 1) - 1) * 33, 33)),
  },
  {
    name: 'two batches, which may as well be two kinds of rows',
    ask: '/v1/users?batch=1',
    rows: 137,
    isOpen: true,
    says: ['`batch=2` brings others than `batch=1`'],
    api: (asked) => json(cut(R, (int(asked, 'batch', 1) - 1) * 90, 90)),
  },
  {
    name: 'rows to skip under a name that says nothing',
    ask: '/v1/users?von=0',
    rows: 137,
    api: strict('von', (asked) => json({ users: cut(R, int(asked, 'von', 0), 33) })),
  },
  {
    name: 'a number that chooses among rows, which are in them',
    ask: '/v1/users?team=1',
    rows: 33,
    says: ['verdict ended'],
    api: (asked) => {
      const team = int(asked, 'team', 1);
      const others = OTHERS.slice((team - 2) * 33, (team - 1) * 33);
      return json((team === 1 ? R.slice(0, 33) : others).map((row) => ({ ...row, team })));
    },
  },
  {
    name: 'a number that chooses among rows, and says so nowhere',
    ask: '/v1/users?shop=1',
    rows: 33,
    says: ['verdict unproved'],
    api: (asked) => {
      const shop = int(asked, 'shop', 1);
      return json(shop === 1 ? R.slice(0, 33) : OTHERS.slice((shop - 2) * 20, (shop - 1) * 20));
    },
  },
  {
    name: 'two pages from 0, where the second one is called 1',
    ask: '/v1/users',
    rows: 137,
    api: (asked) => {
      const page = int(asked, 'page', 0);
      return json({ users: cut(R, page * 100, 100), last_page: page > 0 });
    },
  },
  {
    name: 'documents of a database, whole',
    ask: '/db/_all_docs',
    rows: 137,
    api: (asked) => {
      const [skip, limit] = [int(asked, 'skip', 0), int(asked, 'limit', 1e6)];
      return json({ total_rows: 137, offset: skip, rows: docs(skip, limit) });
    },
  },
  {
    name: 'documents of a database, 40 of them',
    ask: '/db/_all_docs?limit=40',
    rows: 137,
    api: (asked) => {
      const [skip, limit] = [int(asked, 'skip', 0), int(asked, 'limit', 1e6)];
      return json({ total_rows: 137, offset: skip, rows: docs(skip, limit) });
    },
  },
  { name: 'a search engine', ask: '/logs/_search', rows: 61, api: search(61) },
  { name: 'a search engine, 200 hits', ask: '/logs/_search?size=200', rows: 837, api: search(837) },
  {
    name: 'a search engine with a POST',
    ask: `curl ORIGIN/logs/_search --json '{"query":{"match_all":{}},"size":40}'`,
    rows: 137,
    api: search(137),
  },
  { name: 'queues, whole without a page', ask: '/api/queues', rows: 137, api: queues },
  { name: 'queues, 50 for a page', ask: '/api/queues?page=1&page_size=50', rows: 137, api: queues },
  { name: 'a mock server, from a start', ask: '/posts?_start=0&_limit=50', rows: 137, api: mock },
  { name: 'a mock server, whole', ask: '/posts', rows: 137, api: mock },
  { name: 'a mock server, by pages', ask: '/posts?_page=1&_limit=20', rows: 137, api: mock },
  {
    name: 'a mock server of the second kind',
    ask: '/posts?_page=1&_per_page=50',
    rows: 137,
    api: (asked) => {
      if (!asked.query.has('_page')) return json(R);
      const [page, size] = [int(asked, '_page', 1), int(asked, '_per_page', 10)];
      const last = Math.ceil(137 / size);
      const at = Math.min(page, last);
      return json({
        first: 1,
        prev: at > 1 ? at - 1 : null,
        next: at < last ? at + 1 : null,
        last,
        pages: last,
        items: 137,
        data: cut(R, (at - 1) * size, size),
      });
    },
  },
  { name: 'a registry, as it is', ask: '/-/v1/search?text=a', rows: 63, api: registry(20) },
  { name: 'a registry, 10 for a page', ask: '/-/v1/search?text=a&size=10', rows: 63, api: registry(20) },
  { name: 'a registry with a cap', ask: '/-/v1/search?text=a&size=250', rows: 63, api: registry(20, 20) },
  {
    name: 'a total that counts the page, and page numbers',
    ask: '/v1/users',
    rows: 137,
    api: (asked) => {
      const data = cut(R, (int(asked, 'page', 1) - 1) * 20, 20);
      return json({ data, total: data.length });
    },
  },
  {
    name: 'a count that counts the page, and an offset',
    ask: '/v1/users?limit=40',
    rows: 137,
    api: (asked) => {
      const items = cut(R, int(asked, 'offset', 0), int(asked, 'limit', 40));
      return json({ count: items.length, items });
    },
  },
  {
    name: 'a total that counts the page, which no parameter changes',
    ask: '/v1/users?limit=40',
    rows: 137,
    isOpen: true,
    api: (asked) => {
      const data = cut(R, 0, int(asked, 'limit', 40));
      return json({ data, total: data.length });
    },
  },
  {
    name: 'the first 100, whatever is asked for',
    ask: '/v1/users',
    rows: 137,
    isOpen: true,
    api: () => json(cut(R, 0, 100)),
  },
  {
    name: 'the first 40 of 137, with a parameter',
    ask: '/v1/users?limit=40',
    rows: 137,
    isOpen: true,
    api: (asked) => json(cut(R, 0, int(asked, 'limit', 20))),
  },
  {
    name: 'per_page with a number of pages',
    ask: '/v1/users?per_page=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'per_page', 20)];
      return json({
        page,
        per_page: size,
        total_pages: Math.ceil(137 / size),
        users: cut(R, (page - 1) * size, size),
        support: { url: 'https://example.com/help', text: 'help' },
      });
    },
  },
  {
    name: 'per_page that nothing speaks of',
    ask: '/v1/users?per_page=40',
    rows: 137,
    api: (asked) => {
      const size = int(asked, 'per_page', 20);
      return json(cut(R, (int(asked, 'page', 1) - 1) * size, size));
    },
  },
  {
    name: 'a curl command with -G and a query',
    ask: "curl -G 'ORIGIN/v1/users?limit=40' -d shelf=a",
    rows: 137,
    api: (asked) =>
      json(asked.query.get('shelf') === 'a' ? cut(R, int(asked, 'offset', 0), int(asked, 'limit', 20)) : []),
  },
  {
    name: 'limit and offset that nothing speaks of',
    ask: '/v1/users?limit=40',
    rows: 137,
    api: (asked) => json(cut(R, int(asked, 'offset', 0), int(asked, 'limit', 20))),
  },
  {
    name: 'limit and offset, both in the address',
    ask: '/v1/users?limit=40&offset=0',
    rows: 137,
    api: strict('limit offset', (asked) =>
      json({ users: cut(R, int(asked, 'offset', 0), int(asked, 'limit', 20)) }),
    ),
  },
  {
    name: 'a cap that nothing speaks of',
    ask: '/v1/users?limit=1000',
    rows: 137,
    api: (asked) => json(cut(R, int(asked, 'offset', 0), Math.min(50, int(asked, 'limit', 50)))),
  },
  {
    name: 'a size that is taken for the offset, too, where it is left out',
    ask: '/v1/users?count=30&start=0',
    rows: 137,
    api: strict('count start', (asked) =>
      json({ list: cut(R, int(asked, 'start', 0), int(asked, 'count', 10)), total: 137 }),
    ),
  },
  {
    name: 'pages from 0, with a size',
    ask: '/v1/users?size=40',
    rows: 137,
    api: (asked) => {
      const [number, size] = [int(asked, 'page', 0), int(asked, 'size', 20)];
      const totalPages = Math.ceil(137 / size);
      const content = cut(R, number * size, size);
      return json({
        content,
        pageable: { pageNumber: number, pageSize: size, offset: number * size, paged: true },
        totalElements: 137,
        totalPages,
        last: number >= totalPages - 1,
        first: number === 0,
        number,
        size,
        numberOfElements: content.length,
        empty: content.length === 0,
      });
    },
  },
  {
    name: 'issues with a clamped size',
    ask: '/rest/api/2/search?maxResults=100',
    rows: 137,
    api: (asked) => {
      const [startAt, size] = [int(asked, 'startAt', 0), Math.min(50, int(asked, 'maxResults', 50))];
      return json({ expand: 'names', startAt, maxResults: size, total: 137, issues: cut(R, startAt, size) });
    },
  },
  {
    name: 'parameters in brackets',
    ask: '/api/posts?pagination[page]=1&pagination[pageSize]=40',
    rows: 137,
    api: (asked) => {
      const [page, pageSize] = [int(asked, 'pagination[page]', 1), int(asked, 'pagination[pageSize]', 25)];
      return json({
        data: cut(R, (page - 1) * pageSize, pageSize),
        meta: { pagination: { page, pageSize, pageCount: Math.ceil(137 / pageSize), total: 137 } },
      });
    },
  },
  {
    name: 'a search server with rows and start',
    ask: '/solr/users/select?q=*:*&rows=40',
    rows: 137,
    api: (asked) => {
      const [start, rows] = [int(asked, 'start', 0), int(asked, 'rows', 10)];
      return json({
        responseHeader: { status: 0, QTime: asked.number, params: Object.fromEntries(asked.query) },
        response: { numFound: 137, start, numFoundExact: true, docs: cut(R, start, rows) },
      });
    },
  },
  {
    name: 'tables by a range in a header',
    ask: '/users?limit=40',
    rows: 137,
    api: strict('limit offset', (asked) => {
      const [from, size] = [int(asked, 'offset', 0), int(asked, 'limit', 1e6)];
      const rows = cut(R, from, size);
      const range = rows.length === 0 ? '*' : `${from}-${from + rows.length - 1}`;
      return json(rows, { 'content-range': `${range}/*` });
    }),
  },
  {
    name: 'totals in headers, with a size',
    ask: '/wp/v2/posts?per_page=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'per_page', 10)];
      const pages = Math.ceil(137 / size);
      return page > pages
        ? { status: 400, body: { code: 'rest_post_invalid_page_number' } }
        : json(cut(R, (page - 1) * size, size), {
            'X-WP-Total': '137',
            'X-WP-TotalPages': String(pages),
          });
    },
  },
  {
    name: 'an index from 1, with a count',
    ask: '/scim/Users?count=40',
    rows: 137,
    api: (asked) => {
      const [start, size] = [int(asked, 'startIndex', 1), int(asked, 'count', 20)];
      const Resources = cut(R, start - 1, size);
      return json({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
        totalResults: 137,
        startIndex: start,
        itemsPerPage: Resources.length,
        Resources,
      });
    },
  },
  {
    name: 'values that change with every answer',
    ask: '/v1/users?limit=40',
    rows: 137,
    api: (asked) =>
      json({
        request_id: `q${asked.number}`,
        took: asked.number * 3,
        generated_at: new Date(1.75e12 + asked.number * 1000).toISOString(),
        items: cut(R, int(asked, 'offset', 0), int(asked, 'limit', 20)).map((row) => ({
          ...row,
          views: asked.number * 17 + row.id,
        })),
      }),
  },
  {
    name: 'the last page again, with a size',
    ask: '/v1/users?size=40',
    rows: 137,
    api: (asked) => {
      const size = int(asked, 'size', 20);
      const page = Math.min(Math.ceil(137 / size), int(asked, 'page', 1));
      return json({ users: cut(R, (page - 1) * size, size), page, total: 137 });
    },
  },
  {
    name: 'an error behind the end, with a size',
    ask: '/v1/users?page_size=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'page_size', 20)];
      const results = cut(R, (page - 1) * size, size);
      return results.length === 0 ? { status: 404, body: { detail: 'Invalid page.' } } : json({ results });
    },
  },
  {
    name: 'other lists beside the rows',
    ask: '/v1/search?limit=40',
    rows: 137,
    api: (asked) => {
      const offset = int(asked, 'offset', 0);
      return json({
        facets: { kind: cut(R, 0, 60).map(({ id }) => ({ value: `k${id}`, count: id })) },
        warnings: [],
        results: cut(R, offset, int(asked, 'limit', 20)),
        columns: [{ name: 'id' }, { name: 'name' }],
        offset,
        total: 137,
      });
    },
  },
  {
    name: 'a POST search by page',
    ask: `curl ORIGIN/v1/search --json '{"filter":{"active":true},"page":1,"pageSize":40}'`,
    rows: 137,
    api: ({ body }) => {
      const [page, size] = [Number(body['page'] ?? 1), Number(body['pageSize'] ?? 10)];
      return json({ results: cut(R, (page - 1) * size, size), totalResults: 137 });
    },
  },
  {
    name: 'a POST search by from, which the request has not',
    ask: `curl ORIGIN/v1/search --json '{"filter":{"active":true},"size":40}'`,
    rows: 137,
    api: ({ body }) => {
      const [from, size] = [Number(body['from'] ?? 0), Number(body['size'] ?? 10)];
      return json({ hits: cut(R, from, size), total: 137 });
    },
  },
  {
    name: 'CSV, by offset',
    ask: '/export/users.csv?limit=40&offset=0',
    rows: 137,
    api: (asked) =>
      text(
        'text/csv',
        [
          'id,name',
          ...cut(R, int(asked, 'offset', 0), int(asked, 'limit', 20)).map((r) => `${r.id},${r.name}`),
        ].join('\n'),
      ),
  },
  {
    name: 'CSV, whole',
    ask: '/export/users.csv',
    rows: 137,
    api: () => text('text/csv; charset=utf-8', ['id,name', ...R.map((r) => `${r.id},${r.name}`)].join('\n')),
  },
  {
    name: 'lines of JSON, whole',
    ask: '/export/users',
    rows: 137,
    api: () => text('application/x-ndjson', `${lines(R)}\n`),
  },
  {
    name: 'CSV that is called plain text',
    ask: '/export/users.csv',
    rows: 137,
    api: () =>
      text('text/plain; charset=utf-8', ['id,name', ...R.map((r) => `${r.id},${r.name}`)].join('\n')),
  },
  {
    name: 'lines of JSON that are called plain text',
    ask: '/export/users?limit=40',
    rows: 137,
    api: (asked) => text('text/plain', lines(cut(R, int(asked, 'offset', 0), int(asked, 'limit', 20)))),
  },
  {
    name: 'lines of JSON, by offset',
    ask: '/export/users?limit=40',
    rows: 137,
    api: (asked) =>
      text('application/x-ndjson', lines(cut(R, int(asked, 'offset', 0), int(asked, 'limit', 20)))),
  },
  {
    name: 'XML with page numbers and a total',
    ask: '/users.xml?per_page=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'per_page', 20)];
      const users = cut(R, (page - 1) * size, size).map(
        ({ id, name }) => `<user><id>${id}</id><name>${name}</name></user>`,
      );
      return text(
        'application/xml',
        `<?xml version="1.0"?><response><page>${page}</page><total>137</total><users>${users.join('')}</users></response>`,
      );
    },
  },
  {
    name: 'rows in a wrapper each, and a total beside',
    ask: '/runs?limit=40',
    rows: 137,
    says: ['id `info.run_id`, unique'],
    api: (asked) => {
      const offset = int(asked, 'offset', 0);
      const runs = cut(R, offset, int(asked, 'limit', 20)).map(({ id, name }) => ({
        info: { run_id: `r${id}`, name },
        data: { metrics: [] },
      }));
      return json({ runs, total: 137, offset });
    },
  },
  {
    name: 'a larger page is allowed',
    ask: '/v1/users',
    rows: 837,
    says: ['"per_page": 100', 'they begin with the 40 rows that came in 2 pages without it'],
    api: strict('page per_page', (asked) => {
      const [page, size] = [int(asked, 'page', 1), Math.min(100, int(asked, 'per_page', 20))];
      return json({
        users: cut(marked(837), (page - 1) * size, size),
        page,
        per_page: size,
        total: 837,
      });
    }),
  },
  {
    name: 'a larger page is cut',
    ask: '/v1/users',
    rows: 137,
    says: ['"limit": 50', 'the most that the API gives of 100'],
    api: (asked) => {
      const [offset, limit] = [int(asked, 'offset', 0), Math.min(50, int(asked, 'limit', 10))];
      return json({ users: cut(R, offset, limit), offset, total: 137 });
    },
  },
  {
    name: 'a larger page is another list',
    ask: '/v1/users',
    rows: 137,
    says: ['it does not begin with the rows that are known'],
    api: (asked) => {
      const [offset, limit] = [int(asked, 'offset', 0), int(asked, 'limit', 20)];
      const rows = limit > 20 ? R.toReversed() : R;
      return json({ users: cut(rows, offset, limit), offset, total: 137 });
    },
  },
  {
    name: 'a larger page is refused, and one that is not so large is taken',
    ask: '/v1/users',
    rows: 137,
    says: ['"per_page": 50', 'the API answers 422'],
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'per_page', 20)];
      return size > 50
        ? { status: 422, body: { error: 'too large' } }
        : json({ users: cut(R, (page - 1) * size, size), page, per_page: size, total: 137 });
    },
  },
  {
    name: 'a larger page of a list that says nothing of its length',
    ask: `curl ORIGIN/v1/users/search --json '{"query":"a"}'`,
    rows: 337,
    says: ['"limit": 100', '`limit` asks for 100 rows at once, in place of 20'],
    api: ({ body }) => {
      const [offset, limit] = [Number(body['offset'] ?? 0), Math.min(100, Number(body['limit'] ?? 20))];
      const users = cut(marked(337), offset, limit);
      return json({ users, offset, limit, more: offset + limit < 337 });
    },
  },
  {
    name: 'a fault for parameters that are not known',
    ask: '/v1/users?limit=40',
    rows: 137,
    api: (asked) =>
      [...asked.query.keys()].some((name) => name !== 'limit' && name !== 'offset')
        ? { status: 500, body: {} }
        : json({ data: cut(R, int(asked, 'offset', 0), int(asked, 'limit', 10)) }),
  },
  {
    name: 'rows to skip that skip too far',
    ask: '/v1/users?limit=40',
    rows: 137,
    isOpen: true,
    api: (asked) => {
      const offset = int(asked, 'offset', 0);
      return json({ data: cut(R, offset === 0 ? 0 : offset + 5, 40) });
    },
  },
  {
    name: 'a total of the first page, to which nothing leads on',
    ask: '/v1/users',
    rows: 63,
    isOpen: true,
    api: () => json({ items: cut(R, 0, 10), total: 10 }),
  },
  {
    name: 'a total of 40, which is the size of the page',
    ask: '/v1/users?page_size=40',
    rows: 137,
    api: (asked) => {
      const size = int(asked, 'page_size', 10);
      return json({ data: cut(R, (int(asked, 'page', 1) - 1) * size, size), page_size: size, total: 40 });
    },
  },
  {
    name: 'a part of a list, by an expression in a parameter',
    ask: '/api/json?tree=jobs[name,url]{0,40}',
    rows: 137,
    isOpen: true,
    api: ({ query }) => {
      const [, start, end] = /\{(\d+),(\d+)\}/.exec(query.get('tree') ?? '') ?? [];
      return json({ _class: 'jobs', jobs: R.slice(Number(start ?? 0), Number(end ?? 137)) });
    },
  },
  {
    name: 'a page in the path',
    ask: '/users/page/1',
    rows: 137,
    isOpen: true,
    api: ({ path }) => json({ items: cut(R, (Number(/page\/(\d+)/.exec(path)?.[1] ?? 1) - 1) * 33, 33) }),
  },
  {
    name: 'pages that are short in the middle',
    ask: '/v1/users?page=1&limit=40',
    rows: 137,
    api: (asked) => {
      const sizes = [40, 17, 40, 40];
      const page = int(asked, 'page', 1);
      const at = sizes.slice(0, page - 1).reduce((sum, size) => sum + size, 0);
      return json({ items: cut(R, at, sizes[page - 1] ?? 0) });
    },
  },
  {
    name: 'a place and a size with a prefix that has dashes',
    ask: '/library/all?X-Media-Container-Start=0&X-Media-Container-Size=40',
    rows: 137,
    api: (asked) => {
      const at = int(asked, 'X-Media-Container-Start', 0);
      const rows = cut(R, at, int(asked, 'X-Media-Container-Size', 1e6));
      return json({ MediaContainer: { size: rows.length, totalSize: 137, offset: at, Metadata: rows } });
    },
  },
  {
    name: 'an address of the next page, by offset',
    ask: '/api/users/?limit=40',
    rows: 137,
    api: (asked) => {
      const [from, size] = [int(asked, 'offset', 0), int(asked, 'limit', 20)];
      const next = from + size < 137 ? link(asked, { offset: from + size }) : null;
      return json({ count: 137, next, previous: null, results: cut(R, from, size) });
    },
  },
  {
    name: 'an offset over all rows, of which a page leaves some out',
    ask: '/v1/users?limit=40',
    rows: 137,
    isOpen: true,
    api: (asked) =>
      json({
        items: cut(R, int(asked, 'offset', 0), Math.min(50, int(asked, 'limit', 20))).filter(
          ({ id }) => id % 9 !== 4,
        ),
      }),
    says: ['the API knows some of them, but no way to all rows was found'],
  },
  {
    name: 'a refusal behind the most rows that a search gives',
    ask: '/v1/search?per_page=25',
    rows: 137,
    isOpen: true,
    api: (asked) => {
      const [size, page] = [int(asked, 'per_page', 25), int(asked, 'page', 1)];
      return page * size > 100
        ? { status: 422, body: { message: 'Only the first 100 results are available' } }
        : json({ items: cut(R, (page - 1) * size, size) });
    },
    says: ['behind page 4, which is as long as those before it'],
  },
];

function docs(skip: number, limit: number): object[] {
  return cut(R, skip, limit).map(({ id, name }) => ({
    id: `d${id}`,
    key: `d${id}`,
    value: { rev: `1-${name}` },
  }));
}

/** A framework whose answers have `skip` and `limit`, and whose parameters are `$skip` and `$limit`; others filter. */
function services(asked: Asked): Answered {
  const own = ['$limit', '$skip'];
  const filters = [...asked.query.keys()].filter((name) => !own.includes(name));
  if (filters.some((name) => name.startsWith('$')))
    return { status: 400, body: { error: 'no such operator' } };
  const rows = filters.length > 0 ? [] : R;
  const [skip, limit] = [int(asked, '$skip', 0), Math.min(50, int(asked, '$limit', 10))];
  return json({ total: rows.length, limit, skip, data: cut(rows, skip, limit) });
}

function search(count: number): Server['api'] {
  const all = marked(count);
  return strict('size from q sort', (asked) => {
    const from = Number(asked.body['from'] ?? int(asked, 'from', 0));
    const size = Number(asked.body['size'] ?? int(asked, 'size', 10));
    return json({
      took: asked.number,
      timed_out: false,
      _shards: { total: 5, successful: 5, skipped: 0, failed: 0 },
      hits: {
        total: { value: count, relation: 'eq' },
        max_score: 1,
        hits: cut(all, from, size).map((row) => ({
          _index: 'logs',
          _id: `e${row.id}`,
          _score: 1,
          _source: row,
        })),
      },
    });
  });
}

function queues(asked: Parameters<Server['api']>[0]): ReturnType<Server['api']> {
  if (!asked.query.has('page')) return json(R);
  const [page, size] = [int(asked, 'page', 1), int(asked, 'page_size', 100)];
  const page_count = Math.ceil(137 / size);
  if (page > page_count) return { status: 400, body: { error: 'page_out_of_range' } };
  const items = cut(R, (page - 1) * size, size);
  return json({
    filtered_count: 137,
    item_count: items.length,
    items,
    page,
    page_count,
    page_size: size,
    total_count: 137,
  });
}

function mock(asked: Parameters<Server['api']>[0]): ReturnType<Server['api']> {
  const { query } = asked;
  const total = { 'x-total-count': '137' };
  if (query.has('_page')) {
    const [page, size] = [int(asked, '_page', 1), int(asked, '_limit', 10)];
    const next = page * size < 137 ? `<${link(asked, { _page: page + 1 })}>; rel="next"` : '';
    return json(cut(R, (page - 1) * size, size), { ...total, link: next });
  }
  if (query.has('_start') || query.has('_limit'))
    return json(cut(R, int(asked, '_start', 0), int(asked, '_limit', 1e6)), total);
  // what is no parameter is a filter, and no row has it
  return json([...query.keys()].some((name) => !name.startsWith('_')) ? [] : R);
}

function registry(size: number, cap = 250): Server['api'] {
  const all = marked(63);
  return (asked) => {
    const objects = cut(all, int(asked, 'from', 0), Math.min(cap, int(asked, 'size', size))).map(
      ({ name, updated_at }) => ({
        package: { name: `p-${name}`, version: '1.0.0', date: updated_at },
        score: { final: 1 },
        searchScore: asked.number,
      }),
    );
    return json({ objects, total: objects.length, time: new Date(1.75e12 + asked.number).toUTCString() });
  };
}
