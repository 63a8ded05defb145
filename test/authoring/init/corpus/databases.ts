import type { Answered, Asked } from '../apis.ts';
import { cut, int, json, link, marked, placeOf, strict, text, token, type Server } from './servers.ts';

const R = marked(137);

/** Rows from a place, and the place of the next page. */
const from = (at: number, size: number): { rows: typeof R; next: number | undefined } => ({
  rows: cut(R, at, size),
  next: at + size < R.length ? at + size : undefined,
});

/** APIs of databases, of search engines, of registries and of what else runs on servers of one's own. */
export const DATABASES: readonly Server[] = [
  {
    name: 'documents that are searched, with a bookmark behind the end, too',
    ask: `curl ORIGIN/db/_find --json '{"selector":{"name":{"$gt":null}},"limit":40}'`,
    rows: 137,
    api: ({ body }) => {
      const at = placeOf(body['bookmark'] === 'nil' ? '' : body['bookmark']);
      const docs = cut(R, at, Number(body['limit'] ?? 25));
      return json({
        docs: docs.map(({ id, name }) => ({ _id: `d${id}`, _rev: '1-a', name })),
        bookmark: docs.length === 0 ? 'nil' : token(at + docs.length),
        warning: 'No matching index found, create an index to optimize query time.',
      });
    },
  },
  {
    name: 'hits with a scroll, which goes on at another address',
    ask: '/logs/_search?scroll=1m&size=40',
    rows: 137,
    isOpen: true,
    api: (asked) =>
      asked.query.has('from')
        ? { status: 400, body: { error: { type: 'action_request_validation_exception' }, status: 400 } }
        : json({
            _scroll_id: 'FGluY2x1ZGVfY29udGV4dF91dWlkDXF1ZXJ5',
            took: asked.number,
            timed_out: false,
            _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
            hits: {
              total: { value: 137, relation: 'eq' },
              max_score: 1,
              hits: cut(R, 0, 40).map((row) => ({ _index: 'logs', _id: `e${row.id}`, _source: row })),
            },
          }),
  },
  {
    name: 'hits of a POST that are sorted',
    ask: `curl ORIGIN/logs/_search --json '{"size":40,"sort":[{"id":"asc"}]}'`,
    rows: 137,
    api: ({ body, number }) => {
      const at = Number(body['from'] ?? 0);
      return json({
        took: number,
        timed_out: false,
        _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
        hits: {
          total: { value: 100, relation: 'gte' },
          max_score: null,
          hits: cut(R, at, Number(body['size'] ?? 10)).map((row) => ({
            _index: 'logs',
            _id: `e${row.id}`,
            _source: row,
            sort: [row.id],
          })),
        },
      });
    },
  },
  {
    name: 'keys of a store, from a prefix',
    ask: `curl ORIGIN/v3/kv/range --json '{"key":"aw==","range_end":"bA==","limit":40}'`,
    rows: 137,
    api: store,
  },
  {
    name: 'keys of a store, all keys by pages',
    ask: `curl ORIGIN/v3/kv/range --json '{"key":"AA==","range_end":"AA==","limit":"40"}'`,
    rows: 137,
    api: store,
  },
  {
    name: 'a bucket without a marker for the next page',
    ask: '/bucket?max-keys=40',
    rows: 137,
    api: (asked) => {
      const marker = asked.query.get('marker');
      const at = marker === null ? 0 : R.findIndex(({ name }) => name === marker) + 1;
      const { rows, next } = from(at, int(asked, 'max-keys', 1000));
      const contents = rows.map(
        ({ name, id }) => `<Contents><Key>${name}</Key><ETag>"e${id}"</ETag><Size>${id}</Size></Contents>`,
      );
      return text(
        'application/xml',
        `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><Prefix/><Marker>${marker ?? ''}</Marker><MaxKeys>40</MaxKeys><IsTruncated>${next !== undefined}</IsTruncated>${contents.join('')}</ListBucketResult>`,
      );
    },
  },
  {
    name: 'versions in a bucket, by two markers',
    ask: '/bucket?versions&max-keys=40',
    rows: 137,
    api: (asked) => {
      const marker = asked.query.get('key-marker');
      if (marker !== null && !asked.query.has('version-id-marker'))
        return text(
          'application/xml',
          '<ListVersionsResult><IsTruncated>false</IsTruncated></ListVersionsResult>',
        );
      const at = marker === null ? 0 : R.findIndex(({ name }) => name === marker) + 1;
      const { rows, next } = from(at, int(asked, 'max-keys', 1000));
      const last = rows.at(-1);
      return text(
        'application/xml',
        `<?xml version="1.0"?><ListVersionsResult><Name>bucket</Name><MaxKeys>40</MaxKeys><IsTruncated>${next !== undefined}</IsTruncated>${
          next === undefined || last === undefined
            ? ''
            : `<NextKeyMarker>${last.name}</NextKeyMarker><NextVersionIdMarker>v${last.id}</NextVersionIdMarker>`
        }${rows.map(({ name, id }) => `<Version><Key>${name}</Key><VersionId>v${id}</VersionId></Version>`).join('')}</ListVersionsResult>`,
      );
    },
  },
  {
    name: 'users of a login server, by first and max',
    ask: '/admin/realms/demo/users?first=0&max=40',
    rows: 137,
    api: strict('first max', (asked) => json(cut(R, int(asked, 'first', 0), int(asked, 'max', 100)))),
  },
  {
    name: 'users of a login server, by max alone',
    ask: '/admin/realms/demo/users?max=40',
    rows: 137,
    api: (asked) => json(cut(R, int(asked, 'first', 0), int(asked, 'max', 100))),
  },
  {
    name: 'tables with a count in a header, and a refusal behind the end',
    ask: `curl 'ORIGIN/users?limit=40' -H 'Prefer: count=exact'`,
    rows: 137,
    api: (asked) => {
      const [at, size] = [int(asked, 'offset', 0), Math.min(50, int(asked, 'limit', 50))];
      if ([...asked.query.keys()].some((name) => !/^(?:limit|offset|order)$/.test(name)))
        return { status: 400, body: { code: 'PGRST100', message: 'failed to parse filter' } };
      if (at >= 137)
        return { status: 416, body: { code: 'PGRST103', message: 'Requested range not satisfiable' } };
      const rows = cut(R, at, size);
      return {
        status: 206,
        headers: { 'content-range': `${at}-${at + rows.length - 1}/137` },
        body: rows,
      };
    },
  },
  {
    name: 'tables that are cut at a hundred, and do not say so',
    ask: '/users',
    rows: 137,
    api: (asked) => {
      if ([...asked.query.keys()].some((name) => !/^(?:limit|offset|order)$/.test(name)))
        return { status: 400, body: { code: 'PGRST100', message: 'failed to parse filter' } };
      const at = int(asked, 'offset', 0);
      const rows = cut(R, at, Math.min(100, int(asked, 'limit', 100)));
      return json(rows, { 'content-range': rows.length === 0 ? '*/*' : `${at}-${at + rows.length - 1}/*` });
    },
  },
  {
    name: 'GraphQL with limit and offset',
    ask: `curl ORIGIN/v1/graphql --json '{"query":"query($limit: Int, $offset: Int) { users(limit: $limit, offset: $offset) { id name } }","variables":{"limit":40,"offset":0}}'`,
    rows: 137,
    api: ({ body }) => {
      const { limit = 1e6, offset = 0 } = (body['variables'] ?? {}) as { limit?: number; offset?: number };
      return json({ data: { users: cut(R, offset, limit) } });
    },
  },
  {
    name: 'a search server with a cursor that stays the same at the end',
    ask: '/solr/users/select?q=*:*&sort=id+asc&cursorMark=*&rows=40',
    rows: 137,
    api: (asked) => {
      const mark = asked.query.get('cursorMark');
      const at = mark === null || mark === '*' ? 0 : placeOf(mark);
      const docs = cut(R, at, int(asked, 'rows', 10));
      // without a mark there is no next one
      if (mark === null) return json({ response: { numFound: 137, start: 0, docs } });
      return json({
        responseHeader: { status: 0, QTime: asked.number },
        response: { numFound: 137, start: 0, numFoundExact: true, docs },
        nextCursorMark: docs.length === 0 ? mark : token(at + docs.length),
      });
    },
  },
  {
    name: 'an index that is searched by a POST, pages from 0',
    ask: `curl ORIGIN/1/indexes/users/query --json '{"query":"","hitsPerPage":40}'`,
    rows: 137,
    api: ({ body, number }) => {
      const [page, hitsPerPage] = [Number(body['page'] ?? 0), Number(body['hitsPerPage'] ?? 20)];
      return json({
        hits: cut(R, page * hitsPerPage, hitsPerPage).map(({ id, name }) => ({ objectID: `o${id}`, name })),
        nbHits: 137,
        page,
        nbPages: Math.ceil(137 / hitsPerPage),
        hitsPerPage,
        exhaustiveNbHits: true,
        query: '',
        params: `query=&hitsPerPage=${hitsPerPage}`,
        processingTimeMS: number,
      });
    },
  },
  {
    name: 'an index that is browsed by a cursor',
    ask: '/1/indexes/users/browse?hitsPerPage=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('cursor')), int(asked, 'hitsPerPage', 1000));
      return json({
        ...(next === undefined ? {} : { cursor: token(next) }),
        hits: rows.map(({ id, name }) => ({ objectID: `o${id}`, name })),
        nbHits: 137,
        page: 0,
        nbPages: 4,
        hitsPerPage: 40,
        processingTimeMS: asked.number,
      });
    },
  },
  {
    name: 'rules with groupNextToken',
    ask: '/api/v1/rules?group_limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(
        placeOf(asked.query.get('group_next_token')),
        int(asked, 'group_limit', 1e6),
      );
      return json({
        status: 'success',
        data: {
          groups: rows.map(({ name }) => ({ name, file: 'r.yml', rules: [], interval: 60 })),
          ...(next === undefined ? {} : { groupNextToken: token(next) }),
        },
      });
    },
  },
  {
    name: 'lines of a log, as many as were asked for',
    ask: '/loki/api/v1/query_range?query={app="a"}&limit=40&direction=forward',
    rows: 137,
    isOpen: true,
    api: (asked) =>
      json({
        status: 'success',
        data: {
          resultType: 'streams',
          result: [
            {
              stream: { app: 'a' },
              values: cut(R, 0, int(asked, 'limit', 100)).map(({ id, name }) => [
                `17000000000000000${id}`,
                name,
              ]),
            },
          ],
          stats: { summary: { execTime: asked.number / 1000 } },
        },
      }),
  },
  {
    name: 'users of dashboards, with perpage in one word',
    ask: '/api/users/search?perpage=40',
    rows: 137,
    api: (asked) => {
      const [page, perPage] = [int(asked, 'page', 1), int(asked, 'perpage', 1000)];
      return json({ totalCount: 137, users: cut(R, (page - 1) * perPage, perPage), page, perPage });
    },
  },
  {
    name: 'answers of a database with columns, as many as it was asked for',
    ask: '/?query=SELECT+*+FROM+users+LIMIT+40+FORMAT+JSON',
    rows: 137,
    isOpen: true,
    api: (asked) =>
      json({
        meta: [
          { name: 'id', type: 'UInt64' },
          { name: 'name', type: 'String' },
        ],
        data: cut(R, 0, 40),
        rows: 40,
        rows_before_limit_at_least: 137,
        statistics: { elapsed: asked.number / 1000, rows_read: 137, bytes_read: 2740 },
      }),
  },
  {
    name: 'values that are separated by tabs',
    ask: '/?query=SELECT+*+FROM+users+FORMAT+TabSeparatedWithNames',
    rows: 137,
    api: () =>
      text(
        'text/tab-separated-values; charset=UTF-8; header=present',
        `id\tname\n${R.map(({ id, name }) => `${id}\t${name}\n`).join('')}`,
      ),
  },
  {
    name: 'points that are scrolled',
    ask: `curl ORIGIN/collections/c/points/scroll --json '{"limit":40,"with_payload":true}'`,
    rows: 137,
    api: ({ body, number }) => {
      const { rows, next } = from(Number(body['offset'] ?? 1) - 1, Number(body['limit'] ?? 10));
      return json({
        result: {
          points: rows.map(({ id, name }) => ({ id, payload: { name }, vector: null })),
          next_page_offset: next === undefined ? null : next + 1,
        },
        status: 'ok',
        time: number / 1000,
      });
    },
  },
  {
    name: 'points that are scrolled, as many as it gives',
    ask: `curl -X POST ORIGIN/collections/c/points/scroll --json '{}'`,
    rows: 137,
    api: ({ body, number }) => {
      const { rows, next } = from(Number(body['offset'] ?? 1) - 1, Number(body['limit'] ?? 10));
      return json({
        result: {
          points: rows.map(({ id, name }) => ({ id, payload: { name } })),
          next_page_offset: next === undefined ? null : next + 1,
        },
        status: 'ok',
        time: number / 1000,
      });
    },
  },
  {
    name: 'documents with offset, limit and a total',
    ask: '/indexes/users/documents?limit=40',
    rows: 137,
    api: strict('limit offset fields', (asked) => {
      const [offset, limit] = [int(asked, 'offset', 0), int(asked, 'limit', 20)];
      return json({ results: cut(R, offset, limit), offset, limit, total: 137 });
    }),
  },
  {
    name: 'hits with a total that is an estimate, and stops at a hundred',
    ask: `curl ORIGIN/indexes/users/search --json '{"q":"","limit":40}'`,
    rows: 100,
    api: ({ body, number }) => {
      const [offset, limit] = [Number(body['offset'] ?? 0), Number(body['limit'] ?? 20)];
      return json({
        hits: cut(R.slice(0, 100), offset, limit),
        query: '',
        processingTimeMs: number,
        limit,
        offset,
        estimatedTotalHits: 100,
      });
    },
  },
  {
    name: 'tasks from new to old, by the id of the next one',
    ask: '/tasks?limit=40',
    rows: 137,
    api: strict('limit from', (asked) => {
      const at = int(asked, 'from', 137);
      const limit = int(asked, 'limit', 20);
      const rows = R.filter(({ id }) => id <= at)
        .toReversed()
        .slice(0, limit);
      const next = at - limit;
      return json({
        results: rows.map(({ id, name }) => ({ uid: id, indexUid: name, status: 'succeeded' })),
        total: 137,
        limit,
        from: rows[0]?.id ?? null,
        next: next > 0 ? next : null,
      });
    }),
  },
  {
    name: 'found documents with per_page',
    ask: '/collections/users/documents/search?q=*&query_by=name&per_page=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'per_page', 10)];
      if (size > 250)
        return { status: 422, body: { message: 'Only upto 250 hits can be fetched per page.' } };
      return json({
        facet_counts: [],
        found: 137,
        hits: cut(R, (page - 1) * size, size).map(({ id, name }) => ({
          document: { id: String(id), name },
          highlight: {},
          highlights: [],
          text_match: 100,
        })),
        out_of: 137,
        page,
        request_params: { collection_name: 'users', per_page: size, q: '*' },
        search_cutoff: false,
        search_time_ms: asked.number,
      });
    },
  },
  {
    name: 'found documents, as many as it gives',
    ask: '/collections/users/documents/search?q=*&query_by=name',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'per_page', 10)];
      if (size > 250)
        return { status: 422, body: { message: 'Only upto 250 hits can be fetched per page.' } };
      return json({
        found: 137,
        hits: cut(R, (page - 1) * size, size).map(({ id, name }) => ({ document: { id: String(id), name } })),
        out_of: 137,
        page,
        request_params: { collection_name: 'users', per_page: size, q: '*' },
        search_time_ms: asked.number,
      });
    },
  },
  {
    name: 'objects with a total that is the number on the page',
    ask: '/v1/objects?limit=40',
    rows: 137,
    api: (asked) => {
      const after = asked.query.get('after');
      const at = after === null ? int(asked, 'offset', 0) : Number(after.slice(5));
      const { rows } = from(at, int(asked, 'limit', 25));
      return json({
        deprecations: [],
        objects: rows.map(({ id, name }) => ({
          class: 'User',
          creationTimeUnix: 1_700_000_000_000 + id,
          id: `uuid-${id}`,
          properties: { name },
          vectorWeights: null,
        })),
        totalResults: rows.length,
      });
    },
  },
  {
    name: 'names of repositories, with a link that is only a path',
    ask: '/v2/_catalog?n=40',
    rows: 137,
    api: (asked) => {
      const last = asked.query.get('last');
      const at = last === null ? 0 : R.findIndex(({ name }) => name === last) + 1;
      const size = int(asked, 'n', 100);
      const { rows, next } = from(at, size);
      return json(
        { repositories: rows.map(({ name }) => name) },
        next === undefined
          ? {}
          : { link: `</v2/_catalog?last=${rows.at(-1)?.name ?? ''}&n=${size}>; rel="next"` },
      );
    },
  },
  {
    name: 'JSON behind four characters that are none',
    ask: '/changes/?n=40',
    rows: 137,
    isOpen: true,
    api: (asked) => {
      const { rows, next } = from(int(asked, 'S', 0), int(asked, 'n', 25));
      const all = rows.map(({ id, name }, i) => ({
        id: `p~${id}`,
        subject: name,
        ...(i === rows.length - 1 && next !== undefined ? { _more_changes: true } : {}),
      }));
      return text('application/json; charset=UTF-8', `)]}'\n${JSON.stringify(all)}`);
    },
  },
  {
    name: 'components by p and ps',
    ask: '/api/components/search?qualifiers=TRK&ps=40',
    rows: 137,
    api: (asked) => {
      const [pageIndex, pageSize] = [int(asked, 'p', 1), int(asked, 'ps', 100)];
      return json({
        paging: { pageIndex, pageSize, total: 137 },
        components: cut(R, (pageIndex - 1) * pageSize, pageSize).map(({ id, name }) => ({
          key: `k${id}`,
          name,
        })),
      });
    },
  },
  {
    name: 'artifacts with a continuationToken',
    ask: '/service/rest/v1/components?repository=maven',
    rows: 137,
    api: strict('repository continuationToken', (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('continuationToken')), 50);
      return json({ items: rows, continuationToken: next === undefined ? null : token(next) });
    }),
  },
  {
    name: 'jobs with X-Nomad-Nexttoken',
    ask: '/v1/jobs?per_page=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('next_token')), int(asked, 'per_page', 1e6));
      return json(
        rows.map(({ id, name }) => ({ ID: `j${id}`, Name: name, Status: 'running' })),
        { 'X-Nomad-Index': '7', ...(next === undefined ? {} : { 'X-Nomad-Nexttoken': token(next) }) },
      );
    },
  },
  {
    name: 'pods with metadata.continue',
    ask: '/api/v1/pods?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('continue')), int(asked, 'limit', 1e6));
      return json({
        kind: 'PodList',
        apiVersion: 'v1',
        metadata: {
          resourceVersion: String(1000 + asked.number),
          ...(next === undefined ? {} : { continue: token(next), remainingItemCount: 137 - next }),
        },
        items: rows.map(({ id, name }) => ({
          metadata: { name, uid: `u${id}` },
          status: { phase: 'Running' },
        })),
      });
    },
  },
  {
    name: 'a cluster with metadata.next',
    ask: '/kafka/v3/clusters?page_size=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('page_token')), int(asked, 'page_size', 10));
      return json({
        kind: 'KafkaClusterList',
        metadata: {
          self: link(asked, {}),
          next: next === undefined ? null : link(asked, { page_token: token(next) }),
        },
        data: rows,
      });
    },
  },
  {
    name: 'entities by two headers',
    ask: '/Users()?$top=40',
    rows: 137,
    isOpen: true,
    api: (asked) => {
      const partition = asked.query.get('NextPartitionKey');
      if (partition !== null && !asked.query.has('NextRowKey')) return json({ value: [] });
      const { rows, next } = from(placeOf(partition), int(asked, '$top', 1000));
      return json(
        { value: rows.map(({ id, name }) => ({ PartitionKey: 'p', RowKey: `r${id}`, Name: name })) },
        next === undefined
          ? {}
          : {
              'x-ms-continuation-NextPartitionKey': token(next),
              'x-ms-continuation-NextRowKey': token(next),
            },
      );
    },
  },
  {
    name: 'events with a token forward and one backward, always',
    ask: `curl ORIGIN/ -H 'Content-Type: application/x-amz-json-1.1' -H 'X-Amz-Target: Logs_20140328.GetLogEvents' -d '{"logGroupName":"g","logStreamName":"s","startFromHead":true,"limit":40}'`,
    rows: 137,
    api: ({ body }) => {
      const given = body['nextToken'];
      const at = typeof given === 'string' ? placeOf(given.slice(2)) : 0;
      const events = cut(R, at, Number(body['limit'] ?? 1000));
      return {
        headers: { 'content-type': 'application/x-amz-json-1.1' },
        body: {
          events: events.map(({ id, name }) => ({
            timestamp: 1_700_000_000_000 + id,
            message: name,
            ingestionTime: 1_700_000_001_000 + id,
          })),
          nextForwardToken: `f/${token(at + events.length)}`,
          nextBackwardToken: `b/${token(at)}`,
        },
      };
    },
  },
  {
    name: 'users in XML with a Marker beside a wrapper',
    ask: '/?Action=ListUsers&Version=2010-05-08&MaxItems=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('Marker')), int(asked, 'MaxItems', 100));
      return text(
        'text/xml',
        `<ListUsersResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><ListUsersResult><IsTruncated>${next !== undefined}</IsTruncated>${
          next === undefined ? '' : `<Marker>${token(next)}</Marker>`
        }<Users>${rows
          .map(({ id, name }) => `<member><UserId>AID${id}</UserId><UserName>${name}</UserName></member>`)
          .join(
            '',
          )}</Users></ListUsersResult><ResponseMetadata><RequestId>q-${asked.number}</RequestId></ResponseMetadata></ListUsersResponse>`,
      );
    },
  },
  {
    name: 'rows of cells with a total that is a text',
    ask: '/bigquery/v2/projects/p/queries/q?maxResults=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('pageToken')), int(asked, 'maxResults', 100));
      return json({
        kind: 'bigquery#getQueryResultsResponse',
        etag: `e${asked.number}`,
        schema: {
          fields: [
            { name: 'id', type: 'INTEGER' },
            { name: 'name', type: 'STRING' },
          ],
        },
        jobReference: { projectId: 'p', jobId: 'q' },
        totalRows: '137',
        ...(next === undefined ? {} : { pageToken: token(next) }),
        rows: rows.map(({ id, name }) => ({ f: [{ v: String(id) }, { v: name }] })),
        jobComplete: true,
      });
    },
  },
  {
    name: 'objects under their keys, as many as were asked for',
    ask: '/users.json?orderBy="$key"&limitToFirst=40',
    rows: 137,
    isOpen: true,
    api: (asked) =>
      json(
        Object.fromEntries(
          cut(R, 0, int(asked, 'limitToFirst', 1e6)).map(({ id, name }) => [
            `-N${id}`,
            { name, active: true },
          ]),
        ),
      ),
  },
  {
    name: 'records with totalItems',
    ask: '/api/collections/users/records?perPage=40',
    rows: 137,
    api: (asked) => {
      const [page, perPage] = [int(asked, 'page', 1), int(asked, 'perPage', 30)];
      return json({
        page,
        perPage,
        totalItems: 137,
        totalPages: Math.ceil(137 / perPage),
        items: cut(R, (page - 1) * perPage, perPage),
      });
    },
  },
  {
    name: 'records without a total, for speed',
    ask: '/api/collections/users/records?perPage=40&skipTotal=1',
    rows: 137,
    api: (asked) => {
      const [page, perPage] = [int(asked, 'page', 1), int(asked, 'perPage', 30)];
      return json({
        page,
        perPage,
        totalItems: -1,
        totalPages: -1,
        items: cut(R, (page - 1) * perPage, perPage),
      });
    },
  },
  {
    name: 'results of a class, a hundred and no word of more',
    ask: '/parse/classes/User',
    rows: 137,
    api: (asked) => {
      const unknown = [...asked.query.keys()].some((name) => !/^(?:limit|skip|order|where)$/.test(name));
      return unknown
        ? { status: 400, body: { code: 102, error: 'Invalid parameter for query' } }
        : json({
            results: cut(R, int(asked, 'skip', 0), int(asked, 'limit', 100)).map(({ id, name }) => ({
              objectId: `o${id}`,
              name,
            })),
          });
    },
  },
  {
    name: 'events of a list in parts, with count',
    ask: '/services/search/jobs/1/results?output_mode=json&count=40',
    rows: 137,
    api: (asked) =>
      json({
        preview: false,
        init_offset: int(asked, 'offset', 0),
        messages: [],
        fields: [{ name: 'id' }, { name: 'name' }],
        results: cut(R, int(asked, 'offset', 0), int(asked, 'count', 100)),
        highlighted: {},
      }),
  },
  {
    name: 'a search that is scrolled',
    ask: '/users/_search?scroll=1m&size=40',
    rows: 137,
    api: (asked) => {
      const isScroll = asked.path === '/_search/scroll';
      const id = asked.body['scroll_id'];
      if (isScroll !== (id !== undefined)) return { status: 400, body: { error: 'scroll_id' } };
      const at = placeOf(id);
      return json({
        _scroll_id: token(at + 40),
        took: asked.number,
        hits: {
          total: { value: 137, relation: 'eq' },
          hits: cut(R, at, 40).map(({ id, name }) => ({ _id: `u${id}`, _source: { name } })),
        },
      });
    },
  },
  ...['/heroes', `curl ORIGIN/heroes -H 'Range: items=0-39'`].map((ask) => ({
    name: `a part by Range and Content-Range, ${ask.slice(0, 4)}`,
    ask,
    rows: 137,
    api: (asked: Asked): Answered => {
      const [, from = '0', last = '24'] = /^items=(\d+)-(\d+)$/.exec(asked.headers['range'] ?? '') ?? [];
      const rows = cut(R, Number(from), Math.min(50, Number(last) - Number(from) + 1));
      if (rows.length === 0) return { status: 416, body: { error: 'range' } };
      const range = `items ${from}-${Number(from) + rows.length - 1}/137`;
      return { status: 206, headers: { 'content-range': range }, body: rows };
    },
  })),
];

const bytes = (value: unknown): string =>
  typeof value === 'string' ? Buffer.from(value, 'base64').toString('latin1') : '';

/** Keys in their order, from one and below another. */
function store({ body }: Asked): Answered {
  const [start, end, limit] = [bytes(body['key']), bytes(body['range_end']), Number(body['limit'] ?? 0)];
  const all = R.map((row) => ({ ...row, key: `k${String(row.id).padStart(4, '0')}` })).filter(
    ({ key }) => key >= start && (end === '\0' || key < end),
  );
  const rows = limit === 0 ? all : all.slice(0, limit);
  return json({
    header: { cluster_id: '14841639068965178418', revision: '138', raft_term: '2' },
    kvs: rows.map(({ key, id, name }) => ({
      key: Buffer.from(key).toString('base64'),
      create_revision: String(id),
      mod_revision: String(id),
      version: '1',
      value: name,
    })),
    ...(rows.length < all.length ? { more: true } : {}),
    count: String(all.length),
  });
}
