import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ImportReport } from '../../../../src/authoring/importing/report.ts';
import { gexHere, startApi, type Api, type Ended } from '../../../cli/support.ts';

const FOLDER = mkdtempSync(path.join(os.tmpdir(), 'gex-import-check-'));
const DAYS = Array.from({ length: 60 }, (_, i) =>
  new Date(Date.UTC(2026, 0, 1 + i)).toISOString().slice(0, 10),
);

let api: Api;
beforeAll(async () => {
  api = await startApi(({ url, headers }, response) => {
    const { pathname, searchParams } = url;
    if (headers.authorization !== 'Bearer t-1') {
      response.writeHead(401).end('{"message": "Who are you?"}');
      return;
    }
    const rows = answerTo(pathname, searchParams);
    response.setHeader('Content-Type', 'application/json');
    if (rows === undefined) response.writeHead(404).end('{"message": "There is nothing here"}');
    else response.end(JSON.stringify(rows));
  });
});

function answerTo(pathname: string, query: URLSearchParams): unknown {
  const page = Number(query.get('page') ?? 1);
  if (pathname === '/users') {
    const all = [1, 2, 3, 4, 5, 6].map((id) => ({ id, name: `User ${id}` }));
    return { data: all.slice((page - 1) * 2, page * 2) };
  }
  if (pathname === '/same') return { data: [{ id: 1 }, { id: 2 }] };
  if (pathname === '/none') return { data: [] };
  const pets = /^\/users\/(\d+)\/pets$/.exec(pathname)?.[1];
  if (pets !== undefined) return { data: [{ id: `${pets}-1` }] };
  if (pathname !== '/days') return undefined;
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? '9'];
  return { data: DAYS.filter((day) => day >= from && day <= to).map((day) => ({ day })) };
}

const PAGES = `
      paginator:
        type: DefaultPaginator
        page_token_option: { type: RequestOption, inject_into: request_parameter, field_name: page }
        pagination_strategy: { type: PageIncrement, start_from_page: 1, page_size: 2 }`;

function stream(name: string, at: string, field = 'data', more = '', beside = ''): string {
  return `
  - type: DeclarativeStream
    name: ${name}
    primary_key: id${beside}
    retriever:
      type: SimpleRetriever
      requester:
        type: HttpRequester
        url_base: ${api.url}
        path: ${at}
        http_method: GET
        authenticator: { type: BearerAuthenticator, api_token: "{{ config['token'] }}" }
      record_selector:
        type: RecordSelector
        extractor: { type: DpathExtractor, field_path: [${field}] }${more}`;
}

function windows(cursor: string): string {
  return `
    incremental_sync:
      type: DatetimeBasedCursor
      cursor_field: ${cursor}
      datetime_format: '%Y-%m-%d'
      cursor_granularity: P1D
      step: P10D
      start_datetime: '2026-01-05'
      end_datetime: '2026-02-20'
      start_time_option: { type: RequestOption, inject_into: request_parameter, field_name: from }
      end_time_option: { type: RequestOption, inject_into: request_parameter, field_name: to }`;
}

async function check(
  name: string,
  streams: readonly string[],
  options: readonly string[] = [],
  token = 't-1',
): Promise<Ended & { readonly report: ImportReport; readonly out: string }> {
  const file = path.join(FOLDER, `${name}.yaml`);
  const settings = path.join(FOLDER, `${name}.settings.json`);
  const out = path.join(FOLDER, name);
  writeFileSync(
    file,
    `version: 5.0.0
type: DeclarativeSource
check: { type: CheckStream, stream_names: [users] }
streams:${streams.join('')}
spec:
  type: Spec
  connection_specification:
    type: object
    required: [token]
    properties: { token: { type: string, airbyte_secret: true } }
`,
  );
  writeFileSync(settings, JSON.stringify(token === '' ? {} : { token }));
  const ended = await gexHere(
    'import',
    'airbyte',
    file,
    '--settings',
    settings,
    '--out',
    out,
    '--check',
    '--json',
    ...options,
  );
  return { ...ended, report: JSON.parse(ended.stdout) as ImportReport, out };
}

function trialOf(
  { streams }: ImportReport,
  name: string,
): NonNullable<ImportReport['streams'][number]['trial']> {
  const trial = streams.find(({ stream: each }) => each === name)?.trial;
  if (trial === undefined) throw new Error(`${name} was not tried`);
  return trial;
}

function entry(url: string, body: unknown): unknown {
  return {
    startedDateTime: '2026-03-01T10:00:00Z',
    request: { method: 'GET', url, headers: [] },
    response: {
      status: 200,
      headers: [{ name: 'Content-Type', value: 'application/json' }],
      content: { text: JSON.stringify(body) },
    },
  };
}

describe('an import that is checked', () => {
  test('is proved for pages, children and windows by few requests, and pushes nothing', async () => {
    const child = `
      partition_router:
        type: SubstreamPartitionRouter
        parent_stream_configs:
          - { type: ParentStreamConfig, parent_key: id, partition_field: user, stream: { $ref: '#/streams/0' } }`;
    const before = api.seen.length;
    const { code, report, out } = await check('right', [
      stream('users', '/users', 'data', PAGES),
      stream('pets', '/users/{{ stream_partition.user }}/pets', 'data', child),
      stream('days', '/days', 'data', '', windows('day')),
    ]);
    expect(report.streams.map(({ outcome, trial }) => [outcome, trial?.result])).toEqual([
      ['exact', 'proved'],
      ['exact', 'proved'],
      ['exact', 'proved'],
    ]);
    expect(code).toBe(0);
    expect(trialOf(report, 'users').seen).toContain('one page follows another');
    expect(trialOf(report, 'days').seen).toEqual(
      expect.arrayContaining([
        'the second window begins where the first ended',
        'the state moves',
        'a later run asks from the state on',
      ]),
    );
    // two pages of the users, twice, with three pets of each page, and two of five windows
    expect(api.seen.slice(before)).toHaveLength(2 + 2 + 4 + 2);
    expect(existsSync(path.join(out, 'rows'))).toBe(false);
  });

  test('loses its level where it differs, with exit code 1 and a disabled row', async () => {
    const { code, report, out } = await check('wrong', [
      stream('users', '/users', 'items', PAGES),
      stream('same', '/same', 'data', PAGES),
      stream('gone', '/gone'),
      stream('days', '/days', 'data', '', windows('date')),
      stream('none', '/none'),
    ]);
    expect(code).toBe(1);
    expect(report.streams.map(({ outcome, trial }) => [outcome, trial?.result])).toEqual([
      ['not', 'differs'],
      ['not', 'differs'],
      ['not', 'differs'],
      ['not', 'differs'],
      ['exact', 'not tried'],
    ]);
    const how = report.streams.map(({ reasons }) => reasons.map(({ message }) => message).join('\n'));
    expect(how[0]).toContain('No rows come at “items”, and the answer has 2 rows at “data”');
    expect(how[1]).toMatch(/page 1|same/i);
    expect(how[2]).toContain('404');
    expect(how[3]).toContain('No row has a “date”, so that the state never moves; the rows have day');
    expect(trialOf(report, 'none').reasons).toEqual(['The API was asked, and gave no rows to compare.']);
    const { rows } = JSON.parse(readFileSync(path.join(out, 'config.json'), 'utf8')) as {
      rows: { id: string; isDisabled?: boolean }[];
    };
    expect(rows.filter(({ isDisabled }) => isDisabled === true).map(({ id }) => id)).toEqual([
      'users',
      'same',
      'gone',
      'days',
    ]);
  });

  test('says what a refused login and an empty setting keep from being tried', async () => {
    const refused = await check('refused', [stream('users', '/users')], [], 'wrong-one');
    expect(refused.code).toBe(0);
    expect(trialOf(refused.report, 'users')).toMatchObject({ result: 'not tried' });
    expect(trialOf(refused.report, 'users').reasons[0]).toContain('The login was refused');
    expect(refused.stdout).not.toContain('wrong-one');
    const empty = await check('empty', [stream('users', '/users')], [], '');
    expect(trialOf(empty.report, 'users').reasons).toEqual([
      'Settings have no value yet: parameters.config.settings.#token.',
    ]);
  });

  test('is compared with a HAR file in place of the API, whatever the order of its parameters', async () => {
    const har = path.join(FOLDER, 'recorded.har');
    const days = (from: string, to: string): unknown =>
      entry(`${api.url}days?to=${to}&from=${from}`, answerTo('/days', new URLSearchParams({ from, to })));
    const entries = [
      entry(`${api.url}users`, answerTo('/users', new URLSearchParams())),
      entry(`${api.url}users?page=3`, answerTo('/users', new URLSearchParams('page=3'))),
      days('2026-01-05', '2026-01-14'),
      days('2026-01-15', '2026-01-24'),
    ];
    writeFileSync(har, JSON.stringify({ log: { entries } }));
    const before = api.seen.length;
    const { code, report } = await check(
      'recorded',
      [
        stream('users', '/users', 'data', PAGES),
        stream('days', '/days', 'data', '', windows('day')),
        stream('same', '/same'),
      ],
      ['--recording', har],
    );
    expect(code).toBe(1);
    expect(api.seen).toHaveLength(before);
    expect(trialOf(report, 'days').result).toBe('proved');
    expect(trialOf(report, 'users')).toMatchObject({ result: 'differs' });
    expect(trialOf(report, 'users').reasons[0]).toContain('page is 3 there, and not 2');
    expect(trialOf(report, 'same')).toMatchObject({ result: 'not tried' });
  });
});
