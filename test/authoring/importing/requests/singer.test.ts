import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ImportReport, StreamReport } from '../../../../src/authoring/importing/report.ts';
import { run, silentLog } from '../../../../src/index.ts';
import { dataFolder, filesOf, gexHere, type Api } from '../../../cli/support.ts';
import { startShop } from './shop.ts';

let api: Api;
beforeAll(async () => {
  api = await startShop();
});

const LOGIN = { auth_method: 'bearer_token', bearer_token: 't-1' };

interface Ran {
  readonly stream: StreamReport;
  readonly report: ImportReport;
  readonly ids: readonly string[];
  readonly asked: readonly string[];
}

/** Imports the configuration of a tap with one stream, and runs it. */
async function imported(tap: object, stream: object, file = 'tap.json'): Promise<Ran> {
  const folder = dataFolder();
  const config = { api_url: api.url.slice(0, -1), ...LOGIN, ...tap, streams: [{ name: 'rows', ...stream }] };
  writeFileSync(path.join(folder, file), JSON.stringify(config));
  const out = path.join(folder, 'data');
  const { stdout, stderr } = await gexHere(
    'import',
    'singer',
    path.join(folder, file),
    '--out',
    out,
    '--json',
  );
  if (stdout === '') throw new Error(stderr);
  const report = JSON.parse(stdout) as ImportReport;
  const [only] = report.streams;
  if (only === undefined) throw new Error('a stream is imported');
  if (only.outcome === 'not') return { stream: only, report, ids: [], asked: [] };
  const before = api.seen.length;
  await run({ dataFolder: out, log: silentLog });
  const table = Object.entries(filesOf(out)).find(([name]) => name.endsWith('tables/tap.rows'))?.[1] ?? '';
  const ids = table
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(',')[0]?.replaceAll('"', '') ?? '');
  return { stream: only, report, ids, asked: api.seen.slice(before) };
}

const ALL = ['1', '2', '3', '4', '5', '6', '7'];

describe('a configuration of tap-rest-api-msdk', () => {
  /** The requests are those that version 1.4.2 of the tap makes of the same server. */
  test.each([
    [
      'a token, as it is by default',
      {},
      { path: '/token', records_path: '$.items[*]' },
      ['GET /token', 'GET /token?page=2', 'GET /token?page=3'],
    ],
    [
      'page numbers',
      { pagination_request_style: 'page_number_paginator' },
      { path: '/pages', records_path: '$.items[*]', params: { all: true } },
      ['GET /pages?all=True&page=1', 'GET /pages?all=True&page=2', 'GET /pages?all=True&page=3'],
    ],
    [
      'an offset that ends by a short page',
      {
        pagination_request_style: 'simple_offset_paginator',
        pagination_response_style: 'offset',
        pagination_page_size: 3,
        pagination_initial_offset: 0,
      },
      { path: '/offset' },
      ['GET /offset?limit=3', 'GET /offset?limit=3&offset=3', 'GET /offset?limit=3&offset=6'],
    ],
    [
      'an offset that ends by a total',
      {
        pagination_request_style: 'offset_paginator',
        pagination_response_style: 'offset',
        pagination_page_size: 3,
        pagination_initial_offset: 0,
        pagination_total_limit_param: 'total',
      },
      { path: '/totals', records_path: '$.items[*]' },
      ['GET /totals?limit=3', 'GET /totals?limit=3&offset=3', 'GET /totals?limit=3&offset=6'],
    ],
    [
      'an offset by a total, whose size is a parameter of the stream',
      {
        pagination_request_style: 'offset_paginator',
        pagination_response_style: 'offset',
        pagination_initial_offset: 0,
      },
      { path: '/totals', records_path: '$.items.[*]', params: { limit: 3 } },
      ['GET /totals?limit=3', 'GET /totals?limit=3&offset=3', 'GET /totals?limit=3&offset=6'],
    ],
    [
      'a list that is the whole answer, with a dot before its brackets',
      {
        pagination_request_style: 'simple_offset_paginator',
        pagination_response_style: 'offset',
        pagination_page_size: 3,
        pagination_initial_offset: 0,
      },
      { path: '/offset', records_path: '$.[*]' },
      ['GET /offset?limit=3', 'GET /offset?limit=3&offset=3', 'GET /offset?limit=3&offset=6'],
    ],
    [
      'paths without a sign in front',
      { next_page_token_path: 'next_page' },
      { path: '/token', records_path: 'items[*]' },
      ['GET /token', 'GET /token?page=2', 'GET /token?page=3'],
    ],
    [
      'the Link header',
      {
        pagination_request_style: 'restapi_header_link_paginator',
        pagination_response_style: 'header_link',
        pagination_page_size: 3,
      },
      { path: '/links' },
      ['GET /links?per_page=3', 'GET /links?per_page=3&page=2', 'GET /links?per_page=3&page=3'],
    ],
    [
      'the header X-Next-Page',
      { pagination_request_style: 'simple_header_paginator' },
      { path: '/header' },
      ['GET /header', 'GET /header?page=2', 'GET /header?page=3'],
    ],
    [
      'an address in the body',
      {
        pagination_request_style: 'jsonpath_paginator',
        pagination_response_style: 'hateoas_body',
        next_page_token_path: '$.next',
      },
      { path: '/hateoas', records_path: '$.items[*]' },
      ['GET /hateoas', 'GET /hateoas?page=2', 'GET /hateoas?page=3'],
    ],
    [
      'a search from the state on',
      {
        pagination_request_style: 'single_page_paginator',
        replication_key: 'updated_at',
        start_date: '2026-01-01T00:00:00Z',
        source_search_field: 'since',
        source_search_query: 'gt$last_run_date',
      },
      { path: '/since' },
      ['GET /since?since=gt2026-01-01T00%3A00%3A00Z'],
    ],
  ])('asks as the tap does: %s', async (_what, tap, stream, requests) => {
    const { stream: report, ids, asked } = await imported(tap, stream);
    expect(report).toMatchObject({ outcome: 'equal rows, other columns', reasons: [] });
    expect(asked).toEqual(requests);
    expect(ids).toEqual(ALL);
  });

  test('is `not` where the tap does what has no counterpart, with the place', async () => {
    const { stream } = await imported(
      {
        pagination_request_style: 'hateoas_paginator',
        auth_method: 'aws',
        use_request_body_not_params: true,
      },
      { path: '/token', params: { tags: ['a'] } },
    );
    expect(stream.outcome).toBe('not');
    expect(stream.reasons.map(({ path: at }) => at).toSorted()).toEqual([
      'auth_method',
      'pagination_request_style',
      'streams[0].params.tags',
      'use_request_body_not_params',
    ]);
  });

  test('may stand in a Meltano project; secrets come from the environment', async () => {
    const folder = dataFolder();
    const file = path.join(folder, 'meltano.yml');
    writeFileSync(
      file,
      `version: 1
plugins:
  extractors:
    - name: tap-other
    - name: tap-shop
      inherit_from: tap-rest-api-msdk
      config:
        api_url: ${api.url}
        auth_method: bearer_token
        bearer_token: $SHOP_TOKEN
        streams:
          - name: rows
            path: offset
`,
    );
    const out = path.join(folder, 'data');
    const { stdout } = await gexHere('import', 'singer', file, '--out', out);
    expect(stdout).toContain('parameters.config.settings.#bearer_token');
    expect(filesOf(out)['config.json']).toContain('"#bearer_token": "$env:SHOP_TOKEN"');
    expect(filesOf(out)['config.json']).toContain('"endpoint": "offset"');
  });
});
