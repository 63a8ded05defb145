import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { importAirbyte } from '../../../../src/authoring/importing/airbyte/index.ts';
import { checked } from '../../../../src/authoring/importing/check.ts';
import { run, silentLog } from '../../../../src/index.ts';
import { systemEnv } from '../../../../src/lib/env.ts';

export type Part = Readonly<Record<string, unknown>>;
/** Answers a request; an object with the key `headers` is an answer with headers, its `status` and its `body`. */
export type MockAnswer = (url: URL, body: string, method: string) => unknown;

/** A stream, the API that it reads, and the requests of two runs, the second of which has the state of the first. */
export interface TwoRuns {
  readonly name: string;
  readonly stream: Part;
  /** The file `components.py` beside the manifest. */
  readonly code?: string;
  /** Other keys of the manifest, such as `dynamic_streams`. */
  readonly more?: Part;
  readonly api: MockAnswer;
  readonly settings?: Part;
  /** Outcome of each stream, where it is not `exact`. */
  readonly outcome?: string;
  /** In the order of the text: method, address, type and body, and what authenticates. */
  readonly asks: readonly [readonly string[], readonly string[]];
  /** Values of the column `id` of each of the runs, in the order of the text. */
  readonly ids?: readonly [readonly string[], readonly string[]];
}

/** Stands for the address of the server. */
export const API = 'https://api.example';
const NOW = Date.parse('2024-07-01T12:30:00Z');

export function manifestOf(
  { stream, more = {}, settings = {} }: Pick<TwoRuns, 'stream' | 'more' | 'settings'>,
  base: string,
): string {
  const properties = Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      key,
      { type: Array.isArray(value) ? 'array' : 'string' },
    ]),
  );
  const manifest = {
    version: '6.0.0',
    type: 'DeclarativeSource',
    check: { type: 'CheckStream', stream_names: [] },
    ...(Object.keys(stream).length === 0 ? {} : { streams: [stream] }),
    spec: { type: 'Spec', connection_specification: { type: 'object', properties } },
    ...more,
  };
  return JSON.stringify(manifest).replaceAll(API, base);
}

/** Starts a server that answers as the API of a case, and notes what it was asked. */
export async function serve(): Promise<{
  readonly url: string;
  answer(api: MockAnswer): void;
  /** Returns what was asked since the last call. */
  asked(): readonly string[];
  close(): void;
}> {
  const mock: { api: MockAnswer; lines: string[] } = { api: () => [], lines: [] };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { authorization = '', 'content-type': type = '' } = request.headers;
      const line = [request.method, sortedQuery(request.url ?? ''), type, compact(type, body), authorization];
      mock.lines.push(line.filter((part) => part !== '').join(' '));
      const { port } = server.address() as AddressInfo;
      const answer = mock.api(
        new URL(request.url ?? '/', `http://127.0.0.1:${port}`),
        body,
        request.method ?? 'GET',
      );
      const isWhole = typeof answer === 'object' && answer !== null && 'headers' in answer;
      const whole = (isWhole ? answer : { headers: {}, body: answer }) as {
        readonly status?: number;
        readonly headers: Record<string, string>;
        readonly body: unknown;
      };
      const { status = 200, headers, body: inner } = whole;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(inner));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (api) => void Object.assign(mock, { api }),
    asked() {
      const sorted = mock.lines.toSorted();
      mock.lines = [];
      return sorted;
    },
    close: () => void server.close(),
  };
}

/** Returns a body in one form: JSON without blanks, the parts of a form sorted and decoded, signed tokens by what they say. */
function compact(type: string, body: string): string {
  const isJson = type === 'application/json' && body !== '';
  // some logins are forms whatever their header tells
  const isForm = type.includes('urlencoded') || (isJson && !/^[[{]/.test(body));
  if (isJson && !isForm) return JSON.stringify(JSON.parse(body));
  if (!isForm) return body;
  const parts = [...new URLSearchParams(body)].map(([key, value]) => `${key}=${claimsOf(value) ?? value}`);
  return parts.toSorted().join('&');
}

function claimsOf(token: string): string | undefined {
  const [, claims] = /^eyJ[\w-]+\.([\w-]+)\.[\w-]+$/.exec(token) ?? [];
  if (claims === undefined) return undefined;
  const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Part;
  return JSON.stringify(Object.fromEntries(Object.entries(said).toSorted(([x], [y]) => (x < y ? -1 : 1))));
}

/** Returns an address with its parameters in the order of the text, decoded. */
function sortedQuery(address: string): string {
  const [route = '', query] = address.split('?');
  const rest = query === undefined ? '' : `?${query.split('&').toSorted().join('&')}`;
  return decodeURIComponent(route + rest);
}

interface Outcome {
  readonly outcomes: readonly { readonly outcome: string; readonly reasons: readonly unknown[] }[];
  readonly asks: readonly (readonly string[])[];
  readonly ids: readonly (readonly string[])[];
}

/** Imports the manifest of a case, and runs its configuration twice. */
export async function runTwice(item: TwoRuns, server: Awaited<ReturnType<typeof serve>>): Promise<Outcome> {
  const { configuration, report } = await checked(
    importAirbyte(manifestOf(item, server.url), {
      readBeside: (file) => (file === 'components.py' ? item.code?.replaceAll(API, server.url) : undefined),
      file: 'shop.yaml',
      settings: JSON.parse(JSON.stringify(item.settings ?? {}).replaceAll(API, server.url)) as {},
    }),
  );
  server.answer(item.api);
  const dataFolder = mkdtempSync(path.join(os.tmpdir(), 'gex-two-runs-'));
  writeFileSync(path.join(dataFolder, 'config.json'), JSON.stringify(configuration));
  const env = { ...systemEnv, now: () => NOW, sleep: async () => {} };
  const asks: (readonly string[])[] = [];
  const ids: (readonly string[])[] = [];
  for (let count = 0; count < 2; count++) {
    server.asked();
    await run({ dataFolder, log: silentLog, env });
    asks.push(server.asked());
    ids.push(idsIn(dataFolder));
    for (const { row = '' } of report.streams) {
      const folder = path.join(dataFolder, 'rows', row);
      mkdirSync(path.join(folder, 'in'), { recursive: true });
      const state = path.join(folder, 'out', 'state.json');
      if (existsSync(state)) copyFileSync(state, path.join(folder, 'in', 'state.json'));
    }
  }
  return {
    outcomes: report.streams.map(({ outcome, reasons }) => ({ outcome, reasons })),
    asks,
    ids,
  };
}

function idsIn(dataFolder: string): readonly string[] {
  return globSync(path.join(dataFolder, 'rows/*/out/tables/*'))
    .filter((file) => !file.endsWith('.manifest'))
    .flatMap((file) => {
      const [head = '', ...rows] = readFileSync(file, 'utf8').trim().split('\n');
      const at = head.split(',').indexOf('"id"');
      return at === -1 ? [] : rows.map((row) => (row.split(',')[at] ?? '').replaceAll('"', ''));
    })
    .toSorted();
}

/** Returns a stream; `requester`, `retriever` and `selector` add to its parts. */
export function stream(name: string, route: string, parts: Part = {}): Part {
  const { requester = {}, retriever = {}, selector = {}, ...more } = parts;
  return {
    type: 'DeclarativeStream',
    name,
    primary_key: ['id'],
    schema_loader: { type: 'InlineSchemaLoader', schema: { type: 'object', properties: {} } },
    retriever: {
      type: 'SimpleRetriever',
      requester: {
        type: 'HttpRequester',
        url_base: API,
        path: route,
        http_method: 'GET',
        ...(requester as Part),
      },
      record_selector: {
        type: 'RecordSelector',
        extractor: { type: 'DpathExtractor', field_path: [] },
        ...(selector as Part),
      },
      ...(retriever as Part),
    },
    ...more,
  };
}

/** Returns the key of a retriever that reads once for each row of the parent. */
export function below(parent: Part, field: string, more: Part = {}): Part {
  return { partition_router: rowsOf(parent, field, more) };
}

function rowsOf(parent: Part, field: string, more: Part = {}): Part {
  return {
    type: 'SubstreamPartitionRouter',
    parent_stream_configs: [
      { type: 'ParentStreamConfig', parent_key: 'id', partition_field: field, stream: parent, ...more },
    ],
  };
}

export function inQuery(name: string): Part {
  return { type: 'RequestOption', inject_into: 'request_parameter', field_name: name };
}

/** Returns the key of a stream that reads by the time `at`. */
export function times(more: Part = {}): Part {
  return {
    incremental_sync: {
      type: 'DatetimeBasedCursor',
      cursor_field: 'at',
      datetime_format: '%Y-%m-%d',
      start_datetime: '2024-01-01',
      start_time_option: inQuery('since'),
      ...more,
    },
  };
}

/** Returns the key of a retriever that reads pages. */
export function pages(strategy: Part, token: Part | undefined, more: Part = {}): Part {
  return {
    paginator: {
      type: 'DefaultPaginator',
      pagination_strategy: strategy,
      ...(token === undefined ? {} : { page_token_option: token }),
      ...more,
    },
  };
}
