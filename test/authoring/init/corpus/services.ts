import { cut, int, json, link, marked, placeOf, strict, text, token, type Server } from './servers.ts';

const R = marked(137);

/** Rows from a place, and the place of the next page. */
const from = (at: number, size: number): { rows: typeof R; next: number | undefined } => ({
  rows: cut(R, at, size),
  next: at + size < R.length ? at + size : undefined,
});

/** APIs of services on the web: shops, desks, archives, open data. */
export const SERVICES: readonly Server[] = [
  {
    name: 'a board with a page of items inside',
    ask: `curl ORIGIN/v2 --json '{"query":"{ boards(ids: 1) { name items_page(limit: 25) { cursor items { id name } } } }"}'`,
    rows: 137,
    isOpen: true,
    says: ['`items_page.items` goes on, as `items_page.cursor` says'],
    api: () => json({ data: { boards: [{ name: 'a', items_page: { cursor: 'c25', items: marked(25) } }] } }),
  },
  {
    name: 'contacts that are searched by a POST, with a nested after',
    ask: `curl ORIGIN/crm/v3/objects/contacts/search --json '{"filterGroups":[],"limit":40}'`,
    rows: 137,
    api: ({ body }) => {
      const { rows, next } = from(Number(body['after'] ?? 0), Number(body['limit'] ?? 10));
      return json({
        total: 137,
        results: rows.map(({ id, name }) => ({ id: String(id), properties: { name }, archived: false })),
        ...(next === undefined ? {} : { paging: { next: { after: String(next) } } }),
      });
    },
  },
  {
    name: 'tickets with after_cursor and has_more',
    ask: '/api/v2/tickets?page[size]=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('page[after]')), int(asked, 'page[size]', 100));
      return json({
        tickets: rows.map(({ id, name }) => ({ id, url: `https://h/${id}`, subject: name })),
        meta: { has_more: next !== undefined, after_cursor: token(next ?? 137), before_cursor: token(0) },
        links: {
          prev: null,
          next: next === undefined ? null : link(asked, { 'page[after]': token(next) }),
        },
      });
    },
  },
  {
    name: 'tickets with an end_of_stream, and after_url always',
    ask: '/api/v2/incremental/tickets/cursor?start_time=1&per_page=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('cursor')), int(asked, 'per_page', 1000));
      const after = token(next ?? 137);
      return json({
        tickets: rows,
        after_url: `${asked.origin}${asked.path}?cursor=${after}&per_page=40`,
        before_url: null,
        after_cursor: after,
        before_cursor: null,
        end_of_stream: next === undefined,
      });
    },
  },
  {
    name: 'issues with isLast and nextPageToken',
    ask: '/rest/api/3/search/jql?jql=project=A&maxResults=40',
    rows: 137,
    api: strict('jql maxResults nextPageToken fields', (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('nextPageToken')), int(asked, 'maxResults', 50));
      return json({
        issues: rows.map(({ id, name }) => ({ id: String(id), key: `A-${id}`, fields: { summary: name } })),
        ...(next === undefined ? {} : { nextPageToken: token(next) }),
        isLast: next === undefined,
      });
    }),
  },
  {
    name: 'boards with isLast and no total',
    ask: '/rest/agile/1.0/board',
    rows: 137,
    api: strict('startAt maxResults', (asked) => {
      const [startAt, size] = [int(asked, 'startAt', 0), Math.min(50, int(asked, 'maxResults', 50))];
      const { rows, next } = from(startAt, size);
      return json({ maxResults: size, startAt, isLast: next === undefined, values: rows });
    }),
  },
  {
    name: 'products with a Link, whose cursor allows no other parameter',
    ask: '/admin/api/2024-01/products.json?limit=40&status=active',
    rows: 137,
    api: (asked) => {
      if (asked.query.has('page_info') && asked.query.has('status'))
        return {
          status: 400,
          body: { errors: { status: 'status cannot be passed when page_info is present' } },
        };
      if (asked.query.has('page'))
        return { status: 400, body: { errors: { page: 'page cannot be passed' } } };
      const size = int(asked, 'limit', 50);
      const { rows, next } = from(placeOf(asked.query.get('page_info')), size);
      const url = (at: number): string => `${asked.origin}${asked.path}?limit=${size}&page_info=${token(at)}`;
      const previous = asked.query.has('page_info') ? [`<${url(0)}>; rel="previous"`] : [];
      const links = [...previous, ...(next === undefined ? [] : [`<${url(next)}>; rel="next"`])];
      return json({ products: rows }, links.length === 0 ? {} : { link: links.join(', ') });
    },
  },
  {
    name: 'records with an offset that is a token, and a size',
    ask: '/v0/app1/Users?pageSize=40',
    rows: 137,
    api: (asked) => {
      const given = asked.query.get('offset');
      if (given !== null && !given.startsWith('itr'))
        return { status: 422, body: { error: 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE' } };
      const { rows, next } = from(
        given === null ? 0 : Number(given.split('/rec')[1]),
        int(asked, 'pageSize', 100),
      );
      return json({
        records: rows.map(({ id, name }) => ({
          id: `rec${id}`,
          createdTime: '2026-01-01T00:00:00.000Z',
          fields: { Name: name },
        })),
        ...(next === undefined ? {} : { offset: `itrA/rec${next}` }),
      });
    },
  },
  {
    name: 'topics with more_topics_url, pages from 0',
    ask: '/latest.json',
    rows: 137,
    api: (asked) => {
      const page = int(asked, 'page', 0);
      const { rows, next } = from(page * 30, 30);
      return json({
        users: rows.slice(0, 9).map(({ id }) => ({ id, username: `u${id}`, avatar_template: '/a' })),
        primary_groups: [],
        topic_list: {
          can_create_topic: false,
          per_page: 30,
          ...(next === undefined ? {} : { more_topics_url: `/latest?page=${page + 1}` }),
          topics: rows.map(({ id, name }) => ({ id, title: name, posts_count: 3, tags: [] })),
        },
      });
    },
  },
  {
    name: 'videos with a total that is far too high',
    ask: '/youtube/v3/search?part=snippet&maxResults=40',
    rows: 137,
    isOpen: true,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('pageToken')), int(asked, 'maxResults', 5));
      return json({
        kind: 'youtube#searchListResponse',
        etag: `e${asked.number}`,
        ...(next === undefined ? {} : { nextPageToken: token(next) }),
        regionCode: 'CZ',
        pageInfo: { totalResults: 1_000_000, resultsPerPage: rows.length },
        items: rows.map(({ id, name }) => ({
          id: { kind: 'youtube#video', videoId: `v${id}` },
          snippet: { title: name },
        })),
      });
    },
  },
  {
    name: 'followers, where 0 is the end',
    ask: '/1.1/followers/list.json?count=40',
    rows: 137,
    api: (asked) => {
      const given = asked.query.get('cursor') ?? '-1';
      const at = given === '-1' ? 0 : Number(BigInt(given) - 1_374_004_777_531_007_833n);
      const { rows, next } = from(at, int(asked, 'count', 20));
      const cursor = next === undefined ? 0n : 1_374_004_777_531_007_833n + BigInt(next);
      return text(
        'application/json',
        `{"users":${JSON.stringify(rows)},"next_cursor":${cursor},"next_cursor_str":"${cursor}","previous_cursor":0,"previous_cursor_str":"0","total_count":null}`,
      );
    },
  },
  {
    name: 'members after the last id, a bare list',
    ask: '/api/v10/guilds/1/members?limit=40',
    rows: 137,
    api: (asked) => {
      const after = asked.query.get('after');
      const { rows } = from(after === null ? 0 : Number(after) - 1000, int(asked, 'limit', 1));
      return json(
        rows.map(({ id, name }) => ({ id: String(1000 + id), nick: name, roles: [], pending: false })),
      );
    },
  },
  {
    name: 'messages before the last id, new ones first',
    ask: '/api/v10/channels/1/messages?limit=40',
    rows: 137,
    api: (asked) => {
      const before = asked.query.get('before');
      const all = R.toReversed().map(({ id, name }) => ({
        id: String(1000 + id),
        content: name,
        pinned: false,
      }));
      const left = before === null ? all : all.filter(({ id }) => Number(id) < Number(before));
      return json(left.slice(0, int(asked, 'limit', 50)));
    },
  },
  {
    name: 'packages of open data, by rows and start',
    ask: '/api/3/action/package_search?rows=40',
    rows: 137,
    api: (asked) =>
      json({
        help: `${asked.origin}/api/3/action/help_show?name=package_search`,
        success: true,
        result: {
          count: 137,
          facets: {},
          results: cut(R, int(asked, 'start', 0), int(asked, 'rows', 10)).map(({ id, name }) => ({
            id: `p-${id}`,
            name,
            resources: [{ id: `r-${id}`, format: 'CSV' }],
          })),
          sort: 'score desc',
          search_facets: {},
        },
      }),
  },
  {
    name: 'records of open data, with a link to a path',
    ask: '/api/3/action/datastore_search?resource_id=r',
    rows: 237,
    api: (asked) => {
      const rows = marked(237);
      const [offset, limit] = [int(asked, 'offset', 0), int(asked, 'limit', 100)];
      return json({
        help: 'x',
        success: true,
        result: {
          include_total: true,
          limit,
          offset,
          resource_id: 'r',
          fields: [
            { id: '_id', type: 'int' },
            { id: 'name', type: 'text' },
          ],
          records: cut(rows, offset, limit).map(({ id, name }) => ({ _id: id, name })),
          _links: {
            start: '/api/3/action/datastore_search?resource_id=r',
            next: `/api/3/action/datastore_search?resource_id=r&offset=${offset + limit}`,
          },
          total: 237,
        },
      });
    },
  },
  {
    name: 'a bare list with $limit and $offset',
    ask: '/resource/abcd-1234.json?$limit=40',
    rows: 137,
    api: (asked) =>
      [...asked.query.keys()].some((name) => !name.startsWith('$'))
        ? { status: 400, body: { message: 'Unrecognized arguments', errorCode: 'query.compiler.malformed' } }
        : json(
            cut(R, int(asked, '$offset', 0), int(asked, '$limit', 1000)).map(({ id, name }) => ({
              number: String(id),
              name,
            })),
          ),
  },
  {
    name: 'features with exceededTransferLimit',
    ask: '/arcgis/rest/services/a/FeatureServer/0/query?where=1=1&outFields=*&f=json&resultRecordCount=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(int(asked, 'resultOffset', 0), int(asked, 'resultRecordCount', 1000));
      return json({
        objectIdFieldName: 'OBJECTID',
        globalIdFieldName: '',
        fields: [
          { name: 'OBJECTID', type: 'esriFieldTypeOID' },
          { name: 'NAME', type: 'esriFieldTypeString' },
        ],
        ...(next === undefined ? {} : { exceededTransferLimit: true }),
        features: rows.map(({ id, name }) => ({ attributes: { OBJECTID: id, NAME: name } })),
      });
    },
  },
  {
    name: 'features with a list of links, and a time in each answer',
    ask: '/collections/lakes/items?limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(int(asked, 'offset', 0), int(asked, 'limit', 10));
      return json({
        type: 'FeatureCollection',
        features: rows.map(({ id, name }) => ({
          type: 'Feature',
          id: String(id),
          properties: { name },
          geometry: null,
        })),
        numberMatched: 137,
        numberReturned: rows.length,
        links: [
          { type: 'application/geo+json', rel: 'self', title: 'This document', href: link(asked, {}) },
          ...(next === undefined
            ? []
            : [
                {
                  type: 'application/geo+json',
                  rel: 'next',
                  title: 'Next',
                  href: link(asked, { offset: next }),
                },
              ]),
        ],
        timeStamp: new Date(1.75e12 + asked.number).toISOString(),
      });
    },
  },
  {
    name: 'earthquakes, an offset from 1',
    ask: '/fdsnws/event/1/query?format=geojson&limit=40',
    rows: 137,
    api: (asked) => {
      const offset = int(asked, 'offset', 1);
      if (offset < 1 || [...asked.query.keys()].some((name) => !/^(?:format|limit|offset)$/.test(name)))
        return { status: 400, headers: { 'content-type': 'text/plain' }, body: 'Error 400: Bad Request' };
      const features = cut(R, offset - 1, int(asked, 'limit', 20_000));
      return json({
        type: 'FeatureCollection',
        metadata: {
          generated: 1.75e12 + asked.number,
          url: 'x',
          status: 200,
          api: '1',
          limit: 40,
          offset,
          count: features.length,
        },
        features: features.map(({ id, name }) => ({
          type: 'Feature',
          properties: { place: name, time: 1.7e12 + id },
          id: `us${id}`,
        })),
      });
    },
  },
  {
    name: 'records of an archive, with a resumptionToken that wants to be alone',
    ask: '/oai?verb=ListRecords&metadataPrefix=oai_dc',
    rows: 137,
    api: (asked) => {
      const given = asked.query.get('resumptionToken');
      const head =
        '<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">';
      if (given !== null && asked.query.has('metadataPrefix'))
        return text(
          'text/xml',
          `${head}<error code="badArgument">resumptionToken is exclusive</error></OAI-PMH>`,
        );
      const at = given === null ? 0 : placeOf(given);
      const { rows, next } = from(at, 40);
      return text(
        'text/xml',
        `${head}<responseDate>2026-01-01T00:00:${String(asked.number).padStart(2, '0')}Z</responseDate><request verb="ListRecords">x</request><ListRecords>${rows
          .map(
            ({ id, name }) =>
              `<record><header><identifier>oai:${id}</identifier></header><metadata><title>${name}</title></metadata></record>`,
          )
          .join(
            '',
          )}<resumptionToken completeListSize="137" cursor="${at}">${next === undefined ? '' : token(next)}</resumptionToken></ListRecords></OAI-PMH>`,
      );
    },
  },
  {
    name: 'a feed in XML with totals of its own name space',
    ask: '/api/query?search_query=all:a&max_results=40',
    rows: 137,
    api: (asked) => {
      const [start, size] = [int(asked, 'start', 0), int(asked, 'max_results', 10)];
      return text(
        'application/atom+xml; charset=utf-8',
        `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><id>q${asked.number}</id><title>Q</title><updated>2026-01-01T00:00:00Z</updated><link href="https://h/api?${asked.number}" rel="self"/><opensearch:itemsPerPage>${size}</opensearch:itemsPerPage><opensearch:totalResults>137</opensearch:totalResults><opensearch:startIndex>${start}</opensearch:startIndex>${cut(
          R,
          start,
          size,
        )
          .map(({ id, name }) => `<entry><id>http://h/abs/${id}</id><title>${name}</title></entry>`)
          .join('')}</feed>`,
      );
    },
  },
  {
    name: 'ids of articles, numbers that are texts',
    ask: '/entrez/eutils/esearch.fcgi?db=pubmed&term=a&retmode=json&retmax=40',
    rows: 137,
    api: (asked) => {
      const [retstart, retmax] = [int(asked, 'retstart', 0), int(asked, 'retmax', 20)];
      const idlist = cut(R, retstart, retmax).map(({ name }) => name);
      return json({
        header: { type: 'esearch', version: '0.3' },
        esearchresult: {
          count: '137',
          retmax: String(idlist.length),
          retstart: String(retstart),
          idlist,
          translationset: [],
          querytranslation: 'a',
        },
      });
    },
  },
  {
    name: 'works in a message, with numbers in names with a dash',
    ask: '/works?rows=40',
    rows: 137,
    api: (asked) => {
      const [offset, rows] = [int(asked, 'offset', 0), int(asked, 'rows', 20)];
      if ([...asked.query.keys()].some((name) => !/^(?:rows|offset|cursor)$/.test(name)))
        return { status: 400, body: { status: 'failed', 'message-type': 'validation-failure' } };
      return json({
        status: 'ok',
        'message-type': 'work-list',
        'message-version': '1.0.0',
        message: {
          facets: {},
          'total-results': 137,
          items: cut(R, offset, rows).map(({ id, name }) => ({ DOI: `10.1/${id}`, title: [name] })),
          'items-per-page': rows,
          query: { 'start-index': offset, 'search-terms': null },
        },
      });
    },
  },
  {
    name: 'drugs with results and meta.results',
    ask: '/drug/event.json?limit=40',
    rows: 137,
    api: (asked) => {
      const [skip, limit] = [int(asked, 'skip', 0), int(asked, 'limit', 1)];
      if (skip >= 137)
        return { status: 404, body: { error: { code: 'NOT_FOUND', message: 'No matches found!' } } };
      return json({
        meta: { disclaimer: 'x', last_updated: '2026-01-01', results: { skip, limit, total: 137 } },
        results: cut(R, skip, limit).map(({ id, name }) => ({ safetyreportid: String(id), name })),
      });
    },
  },
  {
    name: 'places with startRow',
    ask: '/searchJSON?q=a&maxRows=40',
    rows: 137,
    api: (asked) =>
      json({
        totalResultsCount: 137,
        geonames: cut(R, int(asked, 'startRow', 0), int(asked, 'maxRows', 100)).map(({ id, name }) => ({
          geonameId: id,
          toponymName: name,
          lat: '50',
        })),
      }),
  },
  {
    name: 'films by page, a total that is a text',
    ask: '/?s=a',
    rows: 137,
    api: (asked) => {
      const page = int(asked, 'page', 1);
      const rows = cut(R, (page - 1) * 10, 10);
      return rows.length === 0
        ? json({ Response: 'False', Error: 'Movie not found!' })
        : json({
            Search: rows.map(({ id, name }) => ({ Title: name, imdbID: `tt${id}`, Type: 'movie' })),
            totalResults: '137',
            Response: 'True',
          });
    },
  },
  {
    name: 'transactions, where the offset is the size of the page',
    ask: '/api?module=account&action=txlist&page=1&offset=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), int(asked, 'offset', 10_000)];
      const result = cut(R, (page - 1) * size, size).map(({ id, name }) => ({
        hash: `0x${id}`,
        input: name,
      }));
      return result.length === 0
        ? json({ status: '0', message: 'No transactions found', result: [] })
        : json({ status: '1', message: 'OK', result });
    },
  },
  {
    name: 'messages with next_page_uri',
    ask: '/2010-04-01/Accounts/A/Messages.json?PageSize=40',
    rows: 137,
    api: (asked) => {
      const page = int(asked, 'Page', 0);
      if (page > 0 && !asked.query.has('PageToken'))
        return { status: 400, body: { code: 20006, message: 'Page token required' } };
      const size = int(asked, 'PageSize', 50);
      const { rows, next } = from(page * size, size);
      const uri = (at: number): string =>
        `${asked.path}?PageSize=${size}&Page=${at}${at > 0 ? `&PageToken=PA${at}` : ''}`;
      return json({
        first_page_uri: uri(0),
        end: page * size + rows.length - 1,
        previous_page_uri: null,
        messages: rows.map(({ id, name }) => ({
          sid: `SM${id}`,
          body: name,
          date_created: 'Thu, 24 Aug 2023 05:01:45 +0000',
        })),
        uri: uri(page),
        page_size: size,
        start: page * size,
        next_page_uri: next === undefined ? null : uri(page + 1),
        page,
      });
    },
  },
  {
    name: 'companies with pages.next.starting_after',
    ask: '/contacts?per_page=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('starting_after')), int(asked, 'per_page', 50));
      return json({
        type: 'list',
        data: rows,
        total_count: 137,
        pages: {
          type: 'pages',
          ...(next === undefined ? {} : { next: { page: 2, starting_after: token(next) } }),
          page: 1,
          per_page: 40,
          total_pages: 4,
        },
      });
    },
  },
  {
    name: 'deals with more_items_in_collection',
    ask: '/v1/deals?limit=40',
    rows: 137,
    api: (asked) => {
      const [start, limit] = [int(asked, 'start', 0), int(asked, 'limit', 100)];
      const { rows, next } = from(start, limit);
      return json({
        success: true,
        data: rows.length === 0 ? null : rows,
        related_objects: { user: { 1: { id: 1, name: 'A' }, 2: { id: 2, name: 'B' } } },
        additional_data: {
          pagination: {
            start,
            limit,
            more_items_in_collection: next !== undefined,
            ...(next === undefined ? {} : { next_start: next }),
          },
        },
      });
    },
  },
  {
    name: 'leads with _skip and _limit',
    ask: '/api/v1/lead/?_limit=40',
    rows: 137,
    api: (asked) => {
      if ([...asked.query.keys()].some((name) => !name.startsWith('_')))
        return { status: 400, body: { error: 'bad' } };
      const { rows, next } = from(int(asked, '_skip', 0), int(asked, '_limit', 100));
      return json({ has_more: next !== undefined, total_results: 137, data: rows });
    },
  },
  {
    name: 'members of a list, with total_items and links',
    ask: '/3.0/lists/a/members?count=40',
    rows: 137,
    api: (asked) =>
      json({
        members: cut(R, int(asked, 'offset', 0), int(asked, 'count', 10)).map(({ id, name }) => ({
          id: `md5-${id}`,
          full_name: name,
          stats: { avg_open_rate: 0 },
          _links: [{ rel: 'self', href: `https://h/${id}`, method: 'GET' }],
        })),
        list_id: 'a',
        total_items: 137,
        _links: [{ rel: 'self', href: `${asked.origin}${asked.path}`, method: 'GET' }],
      }),
  },
  {
    name: 'tasks with next_page.offset, path and uri',
    ask: '/api/1.0/tasks?project=1&limit=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('offset')), int(asked, 'limit', 100));
      return json({
        data: rows.map(({ id, name }) => ({ gid: String(id), name, resource_type: 'task' })),
        next_page:
          next === undefined
            ? null
            : {
                offset: token(next),
                path: `/tasks?project=1&limit=40&offset=${token(next)}`,
                uri: link(asked, { offset: token(next) }),
              },
      });
    },
  },
  {
    name: 'time entries with total_entries and links',
    ask: '/v2/time_entries',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), Math.min(2000, int(asked, 'per_page', 50))];
      const { rows, next } = from((page - 1) * size, size);
      const pages = Math.ceil(137 / size);
      return json({
        time_entries: rows,
        per_page: size,
        total_pages: pages,
        total_entries: 137,
        next_page: next === undefined ? null : page + 1,
        previous_page: null,
        page,
        links: {
          first: link(asked, { page: 1, per_page: size }),
          next: next === undefined ? null : link(asked, { page: page + 1, per_page: size }),
          previous: null,
          last: link(asked, { page: pages, per_page: size }),
        },
      });
    },
  },
  {
    name: 'time entries of a report, with a number in a header for the body',
    ask: `curl ORIGIN/reports/api/v3/workspace/1/search/time_entries --json '{"start_date":"2026-01-01","page_size":40}'`,
    rows: 137,
    api: ({ body }) => {
      const { rows, next } = from(Number(body['first_row_number'] ?? 1) - 1, Number(body['page_size'] ?? 50));
      return json(
        rows.map(({ id, name }) => ({ row_number: id, description: name })),
        next === undefined ? {} : { 'X-Next-Row-Number': String(next + 1), 'X-Next-ID': String(5000 + next) },
      );
    },
  },
  {
    name: 'logs with meta.page.after, sent in an object of the body',
    ask: `curl ORIGIN/api/v2/logs/events/search --json '{"filter":{"query":"*"},"page":{"limit":40}}'`,
    rows: 137,
    api: ({ body }) => {
      const { cursor, limit = 10 } = (body['page'] ?? {}) as { cursor?: string; limit?: number };
      const { rows, next } = from(placeOf(cursor), limit);
      return json({
        data: rows.map(({ id, name }) => ({ id: `AQ${id}`, type: 'log', attributes: { message: name } })),
        meta: {
          elapsed: 12,
          request_id: `r${rows.length}`,
          status: 'done',
          ...(next === undefined ? {} : { page: { after: token(next) } }),
        },
      });
    },
  },
  {
    name: 'incidents with more and no total',
    ask: '/incidents?limit=40',
    rows: 137,
    api: (asked) => {
      const [offset, limit] = [int(asked, 'offset', 0), int(asked, 'limit', 25)];
      const { rows, next } = from(offset, limit);
      return json({ incidents: rows, limit, offset, total: null, more: next !== undefined });
    },
  },
  {
    name: 'users by pages from 0, without totals',
    ask: '/api/v2/users?per_page=40',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 0), int(asked, 'per_page', 50)];
      return json(
        cut(R, page * size, size).map(({ id, name }) => ({ user_id: `auth0|${id}`, name, logins_count: id })),
      );
    },
  },
  {
    name: 'users by pages from 0, with totals',
    ask: '/api/v2/users?per_page=40&include_totals=true',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 0), int(asked, 'per_page', 50)];
      const users = cut(R, page * size, size);
      return json({ start: page * size, limit: size, length: users.length, users, total: 137 });
    },
  },
  {
    name: 'meetings with a next_page_token that is empty at the end',
    ask: '/v2/users?page_size=40',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(placeOf(asked.query.get('next_page_token')), int(asked, 'page_size', 30));
      return json({
        page_count: 4,
        page_number: 1,
        page_size: 40,
        total_records: 137,
        next_page_token: next === undefined ? '' : token(next),
        users: rows,
      });
    },
  },
  {
    name: 'tracks in a wrapper each, with href, next and previous',
    ask: '/v1/playlists/a/tracks?limit=40',
    rows: 137,
    api: (asked) => {
      const [offset, limit] = [int(asked, 'offset', 0), int(asked, 'limit', 20)];
      const { rows, next } = from(offset, limit);
      return json({
        href: link(asked, {}),
        items: rows.map(({ id, name }) => ({
          added_at: '2026-01-01T00:00:00Z',
          track: { id: `t${id}`, name, artists: [{ name: 'x' }] },
        })),
        limit,
        next: next === undefined ? null : link(asked, { offset: next }),
        offset,
        previous: null,
        total: 137,
      });
    },
  },
  {
    name: 'films, where pages are allowed up to a number',
    ask: '/3/discover/movie',
    rows: 100,
    api: (asked) => {
      const page = int(asked, 'page', 1);
      if (page > 5) return { status: 422, body: { errors: ['page must be less than or equal to 5'] } };
      return json({ page, results: cut(R, (page - 1) * 20, 20), total_pages: 5, total_results: 100 });
    },
  },
  {
    name: 'books with the number found twice, and an offset that is null',
    ask: '/search.json?q=a&limit=40',
    rows: 137,
    api: (asked) => {
      const limit = int(asked, 'limit', 100);
      const at = asked.query.has('offset') ? int(asked, 'offset', 0) : (int(asked, 'page', 1) - 1) * limit;
      return json({
        numFound: 137,
        start: at,
        numFoundExact: true,
        num_found: 137,
        documentation_url: 'https://example.com/dev/docs/api/search',
        q: 'a',
        offset: asked.query.has('offset') ? at : null,
        docs: cut(R, at, limit).map(({ id, name }) => ({ key: `/works/OL${id}W`, title: name })),
      });
    },
  },
  {
    name: 'products by searchCriteria, the last page comes again behind the end',
    ask: '/rest/V1/products?searchCriteria[pageSize]=40',
    rows: 137,
    api: (asked) => {
      const size = int(asked, 'searchCriteria[pageSize]', 1e6);
      const page = Math.min(int(asked, 'searchCriteria[currentPage]', 1), Math.ceil(137 / size));
      return json({
        items: cut(R, (page - 1) * size, size).map(({ id, name }) => ({ id, sku: `s${id}`, name })),
        search_criteria: {
          filter_groups: [],
          page_size: size,
          ...(asked.query.has('searchCriteria[currentPage]') ? { current_page: page } : {}),
        },
        total_count: 137,
      });
    },
  },
  {
    name: 'a call with arguments in an object inside of an object',
    ask: `curl ORIGIN/jsonrpc --json '{"jsonrpc":"2.0","method":"call","params":{"model":"res.partner","method":"search_read","args":[[]],"kwargs":{"limit":40}}}'`,
    rows: 137,
    api: ({ body }) => {
      const { kwargs = {} } = (body['params'] ?? {}) as { kwargs?: { limit?: number; offset?: number } };
      return json({ jsonrpc: '2.0', id: null, result: cut(R, kwargs.offset ?? 0, kwargs.limit ?? 1e6) });
    },
  },
  {
    name: 'records by sysparm_limit',
    ask: '/api/now/table/incident?sysparm_limit=40',
    rows: 137,
    api: (asked) => {
      const rows = cut(R, int(asked, 'sysparm_offset', 0), int(asked, 'sysparm_limit', 10_000));
      return json(
        {
          result: rows.map(({ id, name }) => ({
            sys_id: `s${id}`,
            number: `INC${id}`,
            short_description: name,
          })),
        },
        { 'x-total-count': '137' },
      );
    },
  },
  {
    name: 'entities in d.results with __next',
    ask: '/sap/opu/odata/sap/API/Users?$format=json',
    rows: 137,
    api: (asked) => {
      const { rows, next } = from(int(asked, '$skiptoken', 0), 40);
      return json({
        d: {
          results: rows.map(({ id, name }) => ({
            __metadata: { uri: `https://h/Users('${id}')`, type: 'U' },
            UserID: String(id),
            Name: name,
          })),
          ...(next === undefined
            ? {}
            : { __next: `${asked.origin}${asked.path}?$format=json&$skiptoken=${next}` }),
        },
      });
    },
  },
  {
    name: 'entities in d.results with a count',
    ask: '/sap/opu/odata/sap/API/Users?$format=json&$top=40&$inlinecount=allpages',
    rows: 137,
    api: strict('$format $top $skip $inlinecount', (asked) =>
      json({
        d: {
          __count: '137',
          results: cut(R, int(asked, '$skip', 0), int(asked, '$top', 1000)).map(({ id, name }) => ({
            __metadata: { uri: `https://h/Users('${id}')`, type: 'U' },
            UserID: String(id),
            Name: name,
          })),
        },
      }),
    ),
  },
  {
    name: 'a query in a POST, with limit and offset in the address',
    ask: `curl 'ORIGIN/services/rest/query/v1/suiteql?limit=40' --json '{"q":"SELECT id, name FROM users"}'`,
    rows: 137,
    api: (asked) => {
      const [offset, limit] = [int(asked, 'offset', 0), int(asked, 'limit', 1000)];
      const { rows, next } = from(offset, limit);
      const at = (place: number): string => `${asked.origin}${asked.path}?limit=${limit}&offset=${place}`;
      return json({
        links: [
          ...(next === undefined ? [] : [{ rel: 'next', href: at(next) }]),
          { rel: 'self', href: at(offset) },
        ],
        count: rows.length,
        hasMore: next !== undefined,
        items: rows.map(({ id, name }) => ({ links: [], id: String(id), name })),
        offset,
        totalResults: 137,
      });
    },
  },
  {
    name: 'invoices in an answer that has an id and a status of its own',
    ask: '/api.xro/2.0/Invoices?page=1',
    rows: 137,
    api: (asked) => {
      const rows = cut(R, (int(asked, 'page', 1) - 1) * 40, 40);
      return json({
        Id: `e997d6d7-${asked.number}`,
        Status: 'OK',
        ProviderName: 'A',
        DateTimeUTC: `/Date(${1.75e12 + asked.number})/`,
        Invoices: rows.map(({ id, name }) => ({ InvoiceID: `i${id}`, InvoiceNumber: name, LineItems: [] })),
      });
    },
  },
  {
    name: 'entries with sys.id, skip and limit',
    ask: '/spaces/s/environments/master/entries?limit=40',
    rows: 137,
    says: ['id `sys.id`, unique'],
    api: (asked) => {
      const [skip, limit] = [int(asked, 'skip', 0), int(asked, 'limit', 100)];
      if ([...asked.query.keys()].some((name) => !/^(?:skip|limit|order)$/.test(name)))
        return { status: 400, body: { sys: { type: 'Error', id: 'InvalidQuery' } } };
      return json({
        sys: { type: 'Array' },
        total: 137,
        skip,
        limit,
        items: cut(R, skip, limit).map(({ id, name }) => ({
          sys: { id: `c${id}`, type: 'Entry', space: { sys: { id: 's' } } },
          fields: { title: name },
        })),
        includes: { Asset: [{ sys: { id: 'a1', type: 'Asset' }, fields: { title: 'x' } }] },
      });
    },
  },
  {
    name: 'entries with more parameters than the default brings',
    ask: '/api/articles',
    rows: 137,
    api: (asked) => {
      const [page, pageSize] = [
        int(asked, 'pagination[page]', 1),
        Math.min(100, int(asked, 'pagination[pageSize]', 25)),
      ];
      if ([...asked.query.keys()].some((name) => !name.startsWith('pagination[')))
        return {
          status: 400,
          body: { data: null, error: { status: 400, name: 'ValidationError', message: 'Invalid parameter' } },
        };
      return json({
        data: cut(R, (page - 1) * pageSize, pageSize),
        meta: { pagination: { page, pageSize, pageCount: Math.ceil(137 / pageSize), total: 137 } },
      });
    },
  },
  {
    name: 'items by limit, where one may not ask for more than a hundred',
    ask: '/items/articles',
    rows: 237,
    api: (asked) => {
      const rows = marked(237);
      const limit = int(asked, 'limit', 100);
      if (limit > 100)
        return { status: 403, body: { errors: [{ message: '"limit" must be less than 100' }] } };
      const at = asked.query.has('offset') ? int(asked, 'offset', 0) : (int(asked, 'page', 1) - 1) * limit;
      return json({ data: cut(rows, at, limit) });
    },
  },
  {
    name: 'repositories with a total in a header, and a page that is clamped',
    ask: '/api/v1/repos/search?limit=100',
    rows: 137,
    api: (asked) => {
      const [page, size] = [int(asked, 'page', 1), Math.min(50, int(asked, 'limit', 30))];
      return json({ ok: true, data: cut(R, (page - 1) * size, size) }, { 'x-total-count': '137' });
    },
  },
  {
    name: 'transactions by a cursor that is always there, and a flag',
    ask: `curl ORIGIN/transactions/sync --json '{"client_id":"c","count":40}'`,
    rows: 137,
    api: ({ body, number }) => {
      const { rows, next } = from(placeOf(body['cursor']), Number(body['count'] ?? 100));
      return json({
        added: rows.map(({ id, name }) => ({ transaction_id: `t${id}`, name, amount: id })),
        modified: [],
        removed: [],
        next_cursor: token(next ?? 137),
        has_more: next !== undefined,
        request_id: `r${number}`,
      });
    },
  },
  {
    name: 'profiles with a cursor in brackets',
    ask: '/api/profiles?page[size]=40',
    rows: 137,
    api: (asked) => {
      const cursor = asked.query.get('page[cursor]');
      if ([...asked.query.keys()].some((name) => !/^page\[(?:size|cursor)\]$/.test(name)))
        return { status: 400, body: { errors: [{ code: 'invalid', detail: 'not a valid field' }] } };
      const { rows, next } = from(placeOf(cursor), int(asked, 'page[size]', 20));
      return json({
        data: rows.map(({ id, name }) => ({ type: 'profile', id: `p${id}`, attributes: { name } })),
        links: {
          self: link(asked, {}),
          next: next === undefined ? null : link(asked, { 'page[cursor]': token(next) }),
          prev: null,
        },
      });
    },
  },
  {
    name: 'bindings of a query that says how many it wants',
    ask: '/sparql?query=SELECT+*+WHERE+{?s+?p+?o}+LIMIT+40&format=json',
    rows: 137,
    isOpen: true,
    api: () =>
      json({
        head: { vars: ['s', 'o'] },
        results: {
          bindings: cut(R, 0, 40).map(({ id, name }) => ({
            s: { type: 'uri', value: `http://h/${id}` },
            o: { type: 'literal', value: name },
          })),
        },
      }),
  },
  {
    name: 'candles, lists of cells that nothing names, as many as it gives',
    ask: '/api/v3/klines?symbol=A&interval=1h&limit=40',
    rows: 137,
    isOpen: true,
    api: (asked) =>
      json(
        cut(R, 0, int(asked, 'limit', 500)).map(({ id, name }) => [
          1_700_000_000_000 + id * 3_600_000,
          name,
          '2',
          '3',
        ]),
      ),
  },
  {
    name: 'a list whose rows change their order with each answer',
    ask: '/v1/users?limit=40',
    rows: 137,
    api: (asked) => {
      const offset = int(asked, 'offset', 0);
      const rows = cut(R, offset, int(asked, 'limit', 20));
      return json({
        items: asked.number % 2 === 0 ? rows.toReversed() : rows,
        total: 137,
        served_by: `n${asked.number}`,
      });
    },
  },
];
