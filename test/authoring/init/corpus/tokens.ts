import type { Answered, Asked } from '../apis.ts';
import { cut, int, json, link, marked, placeOf, strict, text, token, type Server } from './servers.ts';

const R = marked(137);

/** Rows from a place on, and where the next page begins; undefined on the last one. */
function from(at: number, size: number): { readonly rows: typeof R; readonly next: number | undefined } {
  return { rows: cut(R, at, size), next: at + size < R.length ? at + size : undefined };
}

/** APIs whose answers say what to send for the next page. */
export const POINTED: readonly Server[] = [
  {
    name: 'an address of the next page under a name of its own',
    ask: '/v1/users',
    rows: 137,
    api: (asked) => {
      const at = placeOf(asked.query.get('at'));
      const moreResultsUrl = at + 33 < 137 ? link(asked, { at: token(at + 33) }) : null;
      return json({ items: cut(R, at, 33), moreResultsUrl });
    },
  },
  {
    name: 'a token under a name that is often another thing',
    ask: '/v1/users',
    rows: 137,
    api: (asked) => {
      const at = placeOf(asked.query.get('anchor'));
      return json({ items: cut(R, at, 33), anchor: at + 33 < 137 ? token(at + 33) : null });
    },
  },
  {
    name: 'such a token that is sent as something else',
    ask: '/v1/users',
    rows: 137,
    isOpen: true,
    says: ['`checkpoint` of the answer may be the place of the next page'],
    api: (asked) => {
      const at = placeOf(asked.query.get('goOnAt'));
      return json({ items: cut(R, at, 33), checkpoint: at + 33 < 137 ? token(at + 33) : null });
    },
  },
  {
    name: 'records with the address in a header',
    ask: '/v1/buckets/b/collections/c/records?_limit=20',
    rows: 137,
    api: records,
  },
  {
    name: 'records, whole, where other parameters filter',
    ask: '/v1/buckets/b/collections/c/records',
    rows: 137,
    api: records,
  },
  {
    name: 'a hundred records, where other parameters filter',
    ask: '/v1/records',
    rows: 137,
    isOpen: true,
    api: ({ query }) => json({ data: [...query.keys()].length > 0 ? [] : cut(R, 0, 100) }),
  },
  {
    name: 'tables with a next that has an underscore',
    ask: '/db/users.json?_size=20',
    rows: 137,
    api: strict('_size _next', (asked) => {
      const { rows, next } = from(int(asked, '_next', 0), int(asked, '_size', 100));
      return json({ ok: true, next: next === undefined ? null : String(next), rows, truncated: false });
    }),
  },
  {
    name: 'tables with an address of the next page',
    ask: '/db/users.json?_size=40&_shape=objects',
    rows: 137,
    api: strict('_size _next _shape', (asked) => {
      const { rows, next } = from(int(asked, '_next', 0), int(asked, '_size', 100));
      return json({
        database: 'db',
        table: 'users',
        filtered_table_rows_count: 137,
        truncated: false,
        rows,
        next: next === undefined ? null : String(next),
        next_url: next === undefined ? null : link(asked, { _next: next }),
        query_ms: asked.number / 7,
      });
    }),
  },
  {
    name: 'rooms, next_batch → since',
    ask: '/client/v3/publicRooms?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('since')), int(asked, 'limit', 100));
      return json({
        chunk: rows.map(({ id, name }) => ({ room_id: `!${id}:h`, name, num_joined_members: id })),
        ...(next === undefined ? {} : { next_batch: token(next) }),
        total_room_count_estimate: 137,
      });
    },
  },
  {
    name: 'users, next_token → from',
    ask: '/admin/v2/users?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(int(asked, 'from', 0), int(asked, 'limit', 100));
      return json({
        users: rows.map(({ name }) => ({ name: `@${name}:h`, admin: false })),
        total: 137,
        ...(next === undefined ? {} : { next_token: String(next) }),
      });
    },
  },
  {
    name: 'messages, end → from',
    ask: '/client/v3/rooms/r/messages?dir=b&limit=40',
    rows: 137,
    api: (asked) => {
      const at = placeOf(asked.query.get('from')?.slice(2));
      const { rows, next } = from(at, int(asked, 'limit', 10));
      return json({
        chunk: rows.map(({ id, name }) => ({ event_id: `$${id}`, type: 'm', content: { body: name } })),
        start: `t-${token(at)}`,
        ...(next === undefined ? {} : { end: `t-${token(next)}` }),
      });
    },
  },
  {
    name: 'changes, last_seq → since',
    ask: '/db/_changes?limit=40',
    rows: 137,
    api: (asked) => {
      const at = Number(/^\d+/.exec(asked.query.get('since') ?? '0')?.[0] ?? 0);
      const rows = cut(R, at, int(asked, 'limit', 1e6));
      return json({
        results: rows.map(({ id, name }) => ({ seq: `${id}-g1AAA`, id: name, changes: [{ rev: '1-a' }] })),
        last_seq: `${at + rows.length}-g1AAA`,
        pending: 137 - at - rows.length,
      });
    },
  },
  {
    name: 'changes without a number that is left',
    ask: '/db/_changes?limit=40',
    rows: 137,
    api: (asked) => {
      const at = int(asked, 'since', 0);
      const rows = cut(R, at, int(asked, 'limit', 1e6));
      return json({
        results: rows.map(({ id, name }) => ({ seq: id, id: name, changes: [{ rev: '1-a' }] })),
        last_seq: at + rows.length,
      });
    },
  },
  {
    name: 'a wiki, an object that is merged',
    ask: '/w/api.php?action=query&list=allpages&aplimit=40&format=json',
    rows: 137,
    says: ['id `pageid`, unique'],
    api: (asked) => {
      // what is sent alone is not understood
      const given = asked.query.get('apcontinue');
      if (given !== null && asked.query.get('continue') !== '-||')
        return json({ error: { code: 'badcontinue', info: 'Invalid continue param' } });
      const { rows, next } = from(given === null ? 0 : Number(given.slice(5)), int(asked, 'aplimit', 10));
      return json({
        batchcomplete: '',
        ...(next === undefined ? {} : { continue: { apcontinue: `Page_${next}`, continue: '-||' } }),
        limits: { allpages: 500 },
        query: { allpages: rows.map(({ id, name }) => ({ pageid: 1000 + id, ns: 0, title: name })) },
      });
    },
  },
  {
    name: 'a POST search with a page token',
    ask: `curl ORIGIN/api/2.0/runs/search --json '{"experiment_ids":["1"],"max_results":40}'`,
    rows: 137,
    api: ({ body }) => {
      const { rows, next } = from(placeOf(body['page_token']), Number(body['max_results'] ?? 1000));
      return json({
        runs: rows.map(({ id, name }) => ({
          info: { run_uuid: `r${id}`, run_id: `r${id}`, status: 'FINISHED', start_time: 1.75e12 + id },
          data: { tags: [{ key: 'name', value: name }] },
        })),
        ...(next === undefined ? {} : { next_page_token: token(next) }),
      });
    },
  },
  {
    name: 'a page token in the query',
    ask: '/api/2.0/models/search?max_results=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('page_token')), int(asked, 'max_results', 100));
      return json({ models: rows, next_page_token: next === undefined ? '' : token(next) });
    },
  },
  {
    name: 'keys of a store, all',
    ask: `curl ORIGIN/v3/kv/range --json '{"key":"AA==","range_end":"AA=="}'`,
    rows: 137,
    api: () =>
      json({
        header: { cluster_id: '14841639068965178418', revision: '138' },
        kvs: R.map(({ id, name }) => ({ key: Buffer.from(`k${id}`).toString('base64'), value: name })),
        count: '137',
      }),
  },
  { name: 'objects in a bucket, XML', ask: '/bucket?list-type=2&max-keys=40', rows: 137, api: bucket },
  { name: 'objects in a bucket, XML with a marker', ask: '/bucket?max-keys=40', rows: 137, api: bucket },
  {
    name: 'a feed in XML',
    ask: '/feed.atom?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(int(asked, 'start', 0), int(asked, 'limit', 20));
      const more = next === undefined ? '' : `<link rel="next" href="${xml(link(asked, { start: next }))}"/>`;
      return text(
        'application/atom+xml',
        `<feed><title>T</title><link rel="self" href="${xml(link(asked, {}))}"/>${more}${rows
          .map(({ id, name }) => `<entry><id>urn:${id}</id><title>${name}</title></entry>`)
          .join('')}</feed>`,
      );
    },
  },
  {
    name: 'a table of a database in a cloud',
    says: ['id `id.N`, unique'],
    ask: `curl ORIGIN/ -H 'Content-Type: application/x-amz-json-1.0' -H 'X-Amz-Target: DynamoDB_20120810.Scan' -d '{"TableName":"users","Limit":40}'`,
    rows: 137,
    api: ({ body, headers }) => {
      if (headers['x-amz-target'] === undefined || !/x-amz-json-1\.0/.test(headers['content-type'] ?? ''))
        return { status: 400, body: { __type: 'UnknownOperationException' } };
      const start = body['ExclusiveStartKey'] as { id: { N: string } } | undefined;
      const at = start === undefined ? 0 : Number(start.id.N);
      const { rows, next } = from(at, Number(body['Limit'] ?? 1000));
      return {
        headers: { 'content-type': 'application/x-amz-json-1.0' },
        body: {
          Items: rows.map(({ id, name }) => ({ id: { N: String(id) }, name: { S: name } })),
          Count: rows.length,
          ScannedCount: rows.length,
          ...(next === undefined ? {} : { LastEvaluatedKey: { id: { N: String(next) } } }),
        },
      };
    },
  },
  {
    name: 'names of tables in a cloud',
    ask: `curl ORIGIN/ -H 'Content-Type: application/x-amz-json-1.0' -H 'X-Amz-Target: DynamoDB_20120810.ListTables' -d '{"Limit":40}'`,
    rows: 137,
    api: ({ body, headers }) => {
      if (headers['x-amz-target'] === undefined)
        return { status: 400, body: { __type: 'UnknownOperationException' } };
      const start = body['ExclusiveStartTableName'];
      const at = typeof start === 'string' ? R.findIndex(({ name }) => name === start) + 1 : 0;
      const { rows, next } = from(at, Number(body['Limit'] ?? 100));
      return json({
        TableNames: rows.map(({ name }) => name),
        ...(next === undefined ? {} : { LastEvaluatedTableName: rows.at(-1)?.name }),
      });
    },
  },
  {
    name: 'NextToken in a body, which is an empty object at first',
    ask: `curl ORIGIN/ -H 'Content-Type: application/x-amz-json-1.1' -H 'X-Amz-Target: Logs.Describe' -d '{}'`,
    rows: 137,
    api: ({ body }) => {
      if (Array.isArray(body)) return { status: 400, body: { __type: 'SerializationException' } };
      const { rows, next } = from(placeOf(body['NextToken']), 50);
      return json({ Groups: rows, ...(next === undefined ? {} : { NextToken: token(next) }) });
    },
  },
  {
    name: 'NextToken in a body',
    ask: `curl ORIGIN/ -H 'Content-Type: application/x-amz-json-1.1' -H 'X-Amz-Target: Logs.Describe' -d '{"MaxResults":40}'`,
    rows: 137,
    api: ({ body }) => {
      const { rows, next } = from(placeOf(body['NextToken']), Number(body['MaxResults'] ?? 50));
      return json({ Groups: rows, ...(next === undefined ? {} : { NextToken: token(next) }) });
    },
  },
  {
    name: 'a number of the next page in a header',
    ask: '/api/v4/projects?per_page=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'per_page', 20)];
      const { rows, next } = from((page - 1) * size, size);
      return json(rows, {
        'x-page': String(page),
        'x-per-page': String(size),
        'x-next-page': next === undefined ? '' : String(page + 1),
      });
    },
  },
  {
    name: 'a number in Next-Page',
    ask: '/api/projects?limit=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'limit', 20)];
      const { rows, next } = from((page - 1) * size, size);
      return json({ items: rows }, next === undefined ? {} : { 'next-page': String(page + 1) });
    },
  },
  {
    name: 'a cursor in X-Next-Cursor',
    ask: '/v2/events?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('cursor')), int(asked, 'limit', 20));
      return json(rows, next === undefined ? {} : { 'x-next-cursor': token(next) });
    },
  },
  {
    name: 'GraphQL with variables of its own',
    ask: `curl ORIGIN/graphql --json '{"query":"query Q($howMany: Int!, $endCursor: String) { org { members(first: $howMany, after: $endCursor) { totalCount nodes { id name } pageInfo { hasNextPage endCursor } } } }","variables":{"howMany":40}}'`,
    rows: 137,
    api: ({ body }) => {
      const { howMany = 10, endCursor } = (body['variables'] ?? {}) as {
        howMany?: number;
        endCursor?: string;
      };
      const { rows, next } = from(placeOf(endCursor), howMany);
      return json({
        data: {
          org: {
            members: {
              totalCount: 137,
              nodes: rows,
              pageInfo: { hasNextPage: next !== undefined, endCursor: token(next ?? 137) },
            },
          },
        },
      });
    },
  },
  {
    name: 'GraphQL that cannot go on',
    ask: `curl ORIGIN/graphql --json '{"query":"{ members(first: 40) { nodes { id name } pageInfo { hasNextPage endCursor } } }"}'`,
    rows: 137,
    isOpen: true,
    api: () =>
      json({
        data: { members: { nodes: cut(R, 0, 40), pageInfo: { hasNextPage: true, endCursor: token(40) } } },
      }),
  },
  {
    name: 'an address of the next page under a key with a dot',
    ask: '/odata/Users?$top=40',
    rows: 137,
    api: (asked) => {
      const size = Math.min(30, int(asked, '$top', 30));
      const { rows, next } = from(int(asked, '$skip', 0), size);
      return json({
        '@odata.context': `${asked.origin}/odata/$metadata#Users`,
        value: rows,
        ...(next === undefined ? {} : { '@odata.nextLink': link(asked, { $skip: next }) }),
      });
    },
  },
  {
    name: 'a number of rows that holds for all pages',
    ask: '/odata/Users?$top=40',
    rows: 40,
    isOpen: true,
    says: ['as many came on 2 pages as `$top` asks for', 'not known: 40 rows on 2 pages'],
    api: (asked) => {
      const at = placeOf(asked.query.get('$skiptoken'));
      const end = int(asked, '$top', 137);
      return json({
        value: cut(R, at, Math.min(25, end - at)),
        ...(at + 25 < end ? { '@odata.nextLink': link(asked, { $skiptoken: token(at + 25) }) } : {}),
      });
    },
  },
  {
    name: 'OData without a link, with a count',
    ask: '/odata/Users?$top=40&$count=true',
    rows: 137,
    api: strict('$top $skip $count', (asked) =>
      json({
        '@odata.context': 'x',
        '@odata.count': 137,
        value: cut(R, int(asked, '$skip', 0), int(asked, '$top', 50)),
      }),
    ),
  },
  {
    name: 'JSON:API with a page size',
    ask: '/api/users?page[size]=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page[number]', 1), int(asked, 'page[size]', 10)];
      const { rows, next } = from((page - 1) * size, size);
      return json({
        data: rows.map(({ id, ...attributes }) => ({ type: 'users', id: String(id), attributes })),
        links: {
          self: link(asked, {}),
          first: link(asked, { 'page[number]': 1 }),
          next: next === undefined ? null : link(asked, { 'page[number]': page + 1 }),
        },
        meta: { count: 137 },
      });
    },
  },
  {
    name: 'JSON:API with an offset, and no links',
    ask: '/api/users?page[limit]=40',
    rows: 137,
    api: strict('page[limit] page[offset]', (asked) =>
      json({
        jsonapi: { version: '1.0' },
        data: cut(R, int(asked, 'page[offset]', 0), int(asked, 'page[limit]', 10)).map(
          ({ id, ...attributes }) => ({ type: 'users', id: String(id), attributes }),
        ),
        meta: { total: 137 },
      }),
    ),
  },
  {
    name: 'charges by the last id, with a limit',
    ask: '/v1/charges?limit=40',
    rows: 137,
    api: strict('limit starting_after', (asked) => {
      const after = asked.query.get('starting_after');
      const { rows, next } = from(after === null ? 0 : Number(after.slice(3)), int(asked, 'limit', 10));
      return json({
        object: 'list',
        url: '/v1/charges',
        data: rows.map(({ id, name }) => ({ id: `ch_${id}`, name })),
        has_more: next !== undefined,
      });
    }),
  },
  {
    name: 'a cursor in the body of a POST',
    ask: `curl ORIGIN/v1/databases/d1/query --json '{"page_size":40}'`,
    rows: 137,
    api: ({ body }) => {
      const { rows, next } = from(placeOf(body['start_cursor']), Number(body['page_size'] ?? 100));
      return json({
        object: 'list',
        results: rows,
        has_more: next !== undefined,
        next_cursor: next === undefined ? null : token(next),
      });
    },
  },
  {
    name: 'contacts with a nested after',
    ask: '/crm/v3/objects/contacts?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(int(asked, 'after', 0), int(asked, 'limit', 10));
      const paging =
        next === undefined
          ? {}
          : { paging: { next: { after: String(next), link: link(asked, { after: next }) } } };
      return json({ results: rows, ...paging });
    },
  },
  {
    name: 'channels, where an empty text is the end',
    ask: '/api/conversations.list?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('cursor')), int(asked, 'limit', 100));
      return json({
        ok: true,
        channels: rows,
        response_metadata: { next_cursor: next === undefined ? '' : token(next) },
      });
    },
  },
  {
    name: 'a path to the next records',
    ask: '/services/data/v60.0/query?q=SELECT+Id+FROM+Account',
    rows: 137,
    api: (asked) => {
      const at = /query\/01g-(\d+)/.exec(asked.path)?.[1];
      const { rows, next } = from(Number(at ?? 0), 40);
      return json({
        totalSize: 137,
        done: next === undefined,
        ...(next === undefined ? {} : { nextRecordsUrl: `/services/data/v60.0/query/01g-${next}` }),
        records: rows.map(({ id, name }) => ({
          attributes: { type: 'Account' },
          Id: `001${id}`,
          Name: name,
        })),
      });
    },
  },
  {
    name: 'tweets, meta.next_token → pagination_token',
    ask: '/2/users/1/tweets?max_results=40',
    rows: 137,
    api: strict('max_results pagination_token', (asked) => {
      const { rows, next } = from(
        placeOf(asked.query.get('pagination_token')),
        int(asked, 'max_results', 10),
      );
      return json({
        data: rows,
        meta: {
          result_count: rows.length,
          newest_id: '1',
          ...(next === undefined ? {} : { next_token: token(next) }),
        },
      });
    }),
  },
  {
    name: 'files with nextPageToken and a kind',
    ask: '/drive/v3/files?pageSize=40',
    rows: 137,
    api: strict('pageSize pageToken', (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('pageToken')), int(asked, 'pageSize', 100));
      return json({
        kind: 'drive#fileList',
        incompleteSearch: false,
        files: rows,
        ...(next === undefined ? {} : { nextPageToken: token(next) }),
      });
    }),
  },
  {
    name: 'a link that is always there, with results',
    ask: '/api/0/projects/acme/web/events/?per_page=40',
    rows: 137,
    api: (asked) => {
      const at = Number((asked.query.get('cursor') ?? '0:0:0').split(':')[1]);
      const size = int(asked, 'per_page', 100);
      const { rows, next } = from(at, size);
      return json(rows, {
        link: `<${link(asked, { cursor: `0:${at + size}:0` })}>; rel="next"; results="${next !== undefined}"; cursor="0:${at + size}:0"`,
      });
    },
  },
  {
    name: 'resources with a number of rows on the page, and a path',
    ask: '/wiki/rest/api/content?limit=40',
    rows: 137,
    api: (asked) => {
      const [start, limit] = [int(asked, 'start', 0), int(asked, 'limit', 25)];
      const { rows, next } = from(start, limit);
      return json({
        results: rows,
        start,
        limit,
        size: rows.length,
        _links: {
          base: `${asked.origin}/wiki`,
          ...(next === undefined ? {} : { next: `/wiki/rest/api/content?limit=${limit}&start=${next}` }),
        },
      });
    },
  },
  {
    name: 'repositories with the start of the next page',
    ask: '/rest/api/1.0/repos?limit=40',
    rows: 137,
    api: strict('limit start', (asked) => {
      const [start, limit] = [int(asked, 'start', 0), int(asked, 'limit', 25)];
      const { rows, next } = from(start, limit);
      return json({
        size: rows.length,
        limit,
        isLastPage: next === undefined,
        values: rows,
        start,
        ...(next === undefined ? {} : { nextPageStart: next }),
      });
    }),
  },
  {
    name: 'a listing of things in wrappers',
    ask: '/r/all/new.json?limit=40',
    rows: 137,
    api: (asked) => {
      const after = asked.query.get('after');
      const { rows, next } = from(after === null ? 0 : Number(after.slice(3)), int(asked, 'limit', 25));
      return json({
        kind: 'Listing',
        data: {
          after: next === undefined ? null : `t3_${next}`,
          before: null,
          dist: rows.length,
          modhash: '',
          children: rows.map(({ id, name }) => ({ kind: 't3', data: { id: `x${id}`, title: name } })),
        },
      });
    },
  },
  {
    name: 'an address of the next page behind the end, too',
    ask: '/v3/events?limit=40',
    rows: 137,
    api: (asked) => {
      const at = int(asked, 'at', 0);
      const size = int(asked, 'limit', 100);
      return json({
        items: cut(R, at, size),
        paging: { next: link(asked, { at: Math.min(137, at + size) }), previous: link(asked, { at: 0 }) },
      });
    },
  },
  {
    name: 'cursors before and after, and an address',
    ask: '/v19.0/page/posts?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('after')), int(asked, 'limit', 25));
      return json({
        data: rows,
        paging: {
          cursors: { before: token(0), after: token(next ?? 137) },
          ...(next === undefined ? {} : { next: link(asked, { after: token(next) }) }),
        },
      });
    },
  },
  {
    name: 'a cursor that begins with a star',
    ask: '/works?cursor=*&per-page=40',
    rows: 137,
    api: (asked) => {
      const cursor = asked.query.get('cursor');
      const size = int(asked, 'per-page', 25);
      if (cursor === null)
        return json({
          meta: { count: 137, page: int(asked, 'page', 1), per_page: size, next_cursor: null },
          results: cut(R, (int(asked, 'page', 1) - 1) * size, size),
        });
      const { rows, next } = from(cursor === '*' ? 0 : placeOf(cursor), size);
      return json({
        meta: {
          count: 137,
          page: null,
          per_page: size,
          next_cursor: next === undefined ? null : token(next),
        },
        results: rows,
      });
    },
  },
  {
    name: 'a continuation in headers, both ways',
    ask: '/dbs/d/colls/c/docs',
    rows: 137,
    api: ({ headers }) => {
      const { rows, next } = from(placeOf(headers['x-ms-continuation']), 40);
      return json(
        { _rid: 'x', Documents: rows, _count: rows.length },
        next === undefined ? {} : { 'x-ms-continuation': token(next) },
      );
    },
  },
  {
    name: 'a JSON-RPC call with a cursor',
    ask: `curl ORIGIN/rpc --json '{"jsonrpc":"2.0","id":1,"method":"list","params":{"limit":40}}'`,
    rows: 137,
    api: ({ body }) => {
      const { cursor, limit = 10 } = (body['params'] ?? {}) as { cursor?: string; limit?: number };
      const { rows, next } = from(placeOf(cursor), limit);
      return json({
        jsonrpc: '2.0',
        id: 1,
        result: { items: rows, nextCursor: next === undefined ? null : token(next) },
      });
    },
  },
  {
    name: 'statuses from new to old, with a link to newer ones on the first page',
    ask: '/api/v1/accounts/1/statuses?limit=40',
    rows: 137,
    api: (asked) => {
      const max = asked.query.get('max_id');
      const at = max === null ? 0 : R.findIndex(({ id }) => String(5000 - id) === max) + 1;
      const rows = cut(R, at, int(asked, 'limit', 20));
      const [first, last] = [rows[0], rows.at(-1)];
      return json(
        rows.map(({ id, name }) => ({ id: String(5000 - id), content: name })),
        first === undefined || last === undefined
          ? {}
          : {
              link: `<${link(asked, { max_id: 5000 - last.id })}>; rel="next", <${link(asked, { min_id: 5000 - first.id })}>; rel="prev"`,
            },
      );
    },
  },
  {
    name: 'builds with x-ms-continuationtoken, sent as continuationToken',
    ask: '/p/_apis/build/builds?api-version=7.0&$top=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('continuationToken')), int(asked, '$top', 100));
      return json(
        { count: rows.length, value: rows },
        next === undefined ? {} : { 'x-ms-continuationtoken': token(next) },
      );
    },
  },
  {
    name: 'pipelines with next_page_token, sent as page-token',
    ask: '/api/v2/project/p/pipeline',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('page-token')), 20);
      return json({ next_page_token: next === undefined ? null : token(next), items: rows });
    },
  },
  {
    name: 'apps after last_appid',
    ask: '/store/apps?max_results=40',
    rows: 137,
    api: (asked) => {
      const last = int(asked, 'last_appid', 0);
      const rows = R.filter(({ id }) => id * 10 > last).slice(0, int(asked, 'max_results', 100));
      const end = rows.at(-1)?.id ?? 137;
      return json({
        response: {
          apps: rows.map(({ id, name }) => ({ appid: id * 10, name })),
          ...(end < 137 ? { have_more_results: true, last_appid: end * 10 } : {}),
        },
      });
    },
  },
  {
    name: 'models after last_id, which must be called after_id',
    ask: '/v1/models?limit=40',
    rows: 137,
    api: strict('limit after_id before_id', (asked) => {
      const after = asked.query.get('after_id');
      const at = after === null ? 0 : R.findIndex(({ id }) => `m-${id}` === after) + 1;
      const rows = cut(R, at, int(asked, 'limit', 20));
      return json({
        data: rows.map(({ id, name }) => ({ id: `m-${id}`, display_name: name })),
        has_more: at + rows.length < 137,
        first_id: `m-${rows[0]?.id}`,
        last_id: `m-${rows.at(-1)?.id}`,
      });
    }),
  },
  {
    name: 'a range in a header, with Next-Range',
    ask: `curl ORIGIN/apps -H 'Range: id ..; max=40'`,
    rows: 137,
    api: (asked) => {
      const [, after, max] = /^id (?:\](\d+))?\.\.; ?max=(\d+)/.exec(asked.headers['range'] ?? '') ?? [];
      const { rows, next } = from(Number(after ?? 0), Number(max ?? 200));
      return {
        status: next === undefined ? 200 : 206,
        headers: next === undefined ? {} : { 'next-range': `id ]${next}..; max=${max}` },
        body: rows,
      };
    },
  },
  {
    name: 'a POST search whose link to the next page has a body',
    ask: `curl ORIGIN/search --json '{"limit":40,"collections":["c"]}'`,
    rows: 137,
    api: ({ body, origin }) => {
      const { rows, next } = from(placeOf(body['token']), Number(body['limit'] ?? 10));
      const self = { rel: 'self', href: `${origin}/search` };
      return json({
        type: 'FeatureCollection',
        features: rows.map(({ id, name }) => ({ id: `i${id}`, properties: { title: name }, links: [self] })),
        links:
          next === undefined
            ? [self]
            : [
                self,
                {
                  rel: 'next',
                  href: `${origin}/search`,
                  method: 'POST',
                  body: { ...body, token: token(next) },
                },
              ],
      });
    },
  },
  {
    name: 'routers with X-Next-Page, which is 1 at the end',
    ask: '/api/http/routers?per_page=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'per_page', 100)];
      const { rows, next } = from((page - 1) * size, size);
      if (rows.length === 0) return { status: 400, body: { message: 'invalid request: page' } };
      return json(
        rows.map(({ name }) => ({ name, status: 'enabled' })),
        { 'x-next-page': next === undefined ? '1' : String(page + 1) },
      );
    },
  },
  {
    name: 'articles with nextCursorMark, which stays the same on the last page',
    ask: '/search?query=a&pageSize=40',
    rows: 137,
    api: (asked) => {
      const mark = asked.query.get('cursorMark') ?? '*';
      const { rows, next } = from(mark === '*' ? 0 : placeOf(mark), int(asked, 'pageSize', 25));
      return json({
        hitCount: 137,
        nextCursorMark: next === undefined ? mark : token(next),
        request: { cursorMark: mark },
        resultList: { result: rows },
      });
    },
  },
  {
    name: 'records in XML, by a position of the next one',
    ask: '/sru?operation=searchRetrieve&query=a&maximumRecords=40',
    rows: 137,
    api: (asked) => {
      const start = int(asked, 'startRecord', 1);
      const { rows, next } = from(start - 1, int(asked, 'maximumRecords', 10));
      const more = next === undefined ? '' : `<s:nextRecordPosition>${next + 1}</s:nextRecordPosition>`;
      return text(
        'text/xml',
        `<s:response xmlns:s="urn:s"><s:numberOfRecords>137</s:numberOfRecords><s:records>${rows
          .map(({ id, name }) => `<s:record><s:id>${id}</s:id><s:data><t>${name}</t></s:data></s:record>`)
          .join('')}</s:records>${more}</s:response>`,
      );
    },
  },
  {
    name: 'a link that leads to another host name inside',
    ask: '/v1/items?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('cursor')), int(asked, 'limit', 20));
      return json({
        items: rows,
        next: next === undefined ? null : `http://127.0.0.1:9/v1/items?limit=40&cursor=${token(next)}`,
      });
    },
  },
  {
    name: 'pages that a filter leaves empty, before the last ones',
    ask: '/v1/events?limit=40',
    rows: 137,
    api: gapped,
    says: ['complete'],
  },
  {
    name: 'more empty pages than are looked behind, each with another cursor',
    ask: '/v1/events',
    rows: 137,
    isOpen: true,
    api: gapped,
    says: ['3 pages behind them are empty, each with another `next_cursor`'],
  },
  {
    name: 'a listing without ids, with a score in a wrapper that changes',
    ask: '/r/new.json?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('after')), int(asked, 'limit', 25));
      return json({
        data: {
          after: next === undefined ? null : token(next),
          children: rows.map(({ name }, i) => ({
            kind: 't3',
            data: { name: `t3_${name}`, score: (asked.number * 7 + i) % 50, created: 1.7e9 - i },
          })),
        },
      });
    },
  },
  {
    name: 'a cursor that is an object, as JSON',
    ask: '/v1/items?limit=40',
    rows: 137,
    api: (asked) => {
      const cursor = asked.query.get('cursor');
      if (cursor !== null && !cursor.startsWith('{')) return { status: 400, body: { error: 'no JSON' } };
      const { at = 0 } = JSON.parse(cursor ?? '{}') as { at?: number };
      const { rows, next } = from(at, int(asked, 'limit', 20));
      return json({ items: rows, cursor: next === undefined ? null : { time: 5, at: next } });
    },
  },
  {
    name: 'a part of a body that is an object',
    ask: `curl ORIGIN/v1/items --json '{"limit":40}'`,
    rows: 137,
    api: ({ body }) => {
      const { at = 0 } = (body['startAfter'] ?? {}) as { at?: number };
      const { rows, next } = from(at, Number(body['limit'] ?? 20));
      return json({ items: rows, nextStartAfter: next === undefined ? null : { time: 5, at: next } });
    },
  },
  {
    name: 'an Atom feed, its links with attributes',
    ask: '/feed.atom?max-results=40',
    rows: 137,
    api: (asked) => {
      const start = int(asked, 'start-index', 1);
      const { rows, next } = from(start - 1, int(asked, 'max-results', 25));
      const address = next === undefined ? '' : xml(link(asked, { 'start-index': next + 1 }));
      const more = next === undefined ? '' : `<link rel="next" href="${address}"/>`;
      const entries = rows.map(({ id, name }) => `<entry><id>e${id}</id><title>${name}</title></entry>`);
      return text(
        'application/atom+xml',
        `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/feed.atom"/>${more}${entries.join('')}</feed>`,
      );
    },
  },
];

const SPECIAL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' };
const xml = (value: string): string => value.replace(/[&<"]/g, (char) => SPECIAL[char] ?? char);

/** A page is cut from all events, and those that nobody may see are left out of it: 103 in a row. */
function gapped(asked: Asked): Answered {
  const size = Math.min(50, int(asked, 'limit', 20));
  const at = placeOf(asked.query.get('cursor'));
  const rows = Array.from({ length: size }, (_, i) => at + i).flatMap((i) =>
    i < 60 || i >= 163 ? R.slice(i < 60 ? i : i - 103, (i < 60 ? i : i - 103) + 1) : [],
  );
  return json({ items: rows, next_cursor: at + size < 240 ? token(at + size) : null });
}

/** A hundred and more objects; other parameters filter them, and none is left. */
function records(asked: Asked): Answered {
  const { query } = asked;
  if ([...query.keys()].some((name) => !name.startsWith('_'))) return json({ data: [] });
  const { rows, next } = from(placeOf(query.get('_token')), int(asked, '_limit', 1e6));
  return json(
    {
      data: rows.map(({ id, name, updated_at }) => ({
        id: `u-${id}`,
        title: name,
        last_modified: Date.parse(updated_at),
      })),
    },
    { etag: '"1"', ...(next === undefined ? {} : { 'next-page': link(asked, { _token: token(next) }) }) },
  );
}

function bucket(asked: Asked): Answered {
  const isSecond = asked.query.get('list-type') === '2';
  const size = int(asked, 'max-keys', 1000);
  const marker = asked.query.get('marker');
  const at = isSecond
    ? placeOf(asked.query.get('continuation-token'))
    : marker === null
      ? 0
      : R.findIndex(({ name }) => name === marker) + 1;
  const { rows, next } = from(at, size);
  const more =
    next === undefined
      ? ''
      : isSecond
        ? `<NextContinuationToken>${token(next)}</NextContinuationToken>`
        : `<NextMarker>${rows.at(-1)?.name ?? ''}</NextMarker>`;
  const contents = rows.map(
    ({ name, id }) =>
      `<Contents><Key>${name}</Key><Size>${id}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
  );
  return text(
    'application/xml',
    `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix></Prefix><MaxKeys>${size}</MaxKeys>${isSecond ? `<KeyCount>${rows.length}</KeyCount>` : ''}<IsTruncated>${next !== undefined}</IsTruncated>${more}${contents.join('')}</ListBucketResult>`,
  );
}
