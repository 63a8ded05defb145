// @module-tag thorough
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { atEndOfFile } from '../support/cleanup.ts';
import { BUILT } from '../support/command.ts';
import { configOf, dataFolder, gexHere, json, put, startApi, type Api } from './support.ts';

const TOKEN = 'very-secret-token-4711';

/** An API with three pages of two rows each, an echo of the login, and a way to another host. */
async function library(): Promise<Api> {
  return await startApi(({ url, headers }, response) => {
    if (url.pathname === '/echo') return json(response, [{ id: 1, login: headers.authorization ?? null }]);
    if (url.pathname === '/away')
      return void response.writeHead(302, { location: 'http://127.0.0.2:9/books' }).end();
    if (url.pathname === '/slow') return;
    const page = Number(url.searchParams.get('page') ?? 1);
    json(response, {
      items: (page > 3 ? [] : [1, 2]).map((i) => ({ id: `${page}-${i}`, title: `Book ${page}${i}` })),
      next: page < 3 ? page + 1 : null,
    });
  });
}

/** Answer of a tool, as far as it is looked at. */
interface Answered {
  readonly configuration?: { readonly parameters: { readonly config: object } };
  readonly parameters?: { readonly config: object };
  readonly error?: { readonly code: string; readonly message: string };
  readonly requests?: readonly object[];
  readonly rows?: readonly (readonly string[])[];
  readonly found?: readonly { readonly page: string }[];
  readonly report?: { readonly streams: readonly object[] };
}

// the tests look at what came
const read = (text: string): Answered => JSON.parse(text) as Answered;

interface Assistant {
  readonly client: Client;
  readonly folder: string;
  /** Calls a tool, and returns its text. */
  readonly ask: (name: string, given?: Record<string, unknown>) => Promise<string>;
  /** Calls a tool that refuses, and returns why. */
  readonly refused: (name: string, given?: Record<string, unknown>) => Promise<string>;
  readonly log: () => string;
}

/** Starts the built command as an assistant does, and connects with it. */
async function assistant(args: readonly string[], config?: unknown): Promise<Assistant> {
  const folder = dataFolder(config);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUILT, 'mcp', '--data', folder, ...args],
    env: { ...environment(), LIBRARY_TOKEN: TOKEN, OTHER_VARIABLE: 'another-value-0815' },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  atEndOfFile(async () => await client.close());
  const call = async (name: string, given: Record<string, unknown>): Promise<[boolean, string]> => {
    const { content, isError = false } = await client.callTool({ name, arguments: given });
    const [first] = content;
    return [isError, first?.type === 'text' ? first.text : ''];
  };
  return {
    client,
    folder,
    async ask(name, given = {}) {
      const [isError, text] = await call(name, given);
      expect(isError, text).toBe(false);
      return text;
    },
    async refused(name, given = {}) {
      const [isError, text] = await call(name, given);
      expect(isError, text).toBe(true);
      return text;
    },
    log: () => readFileSync(path.join(folder, '.gex/mcp.log'), 'utf8'),
  };
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const LOGIN = { authentication: { type: 'bearer', token: { attr: '#token' } } };

test('an answer that would be too long stays JSON, and says what is left out', async () => {
  const columns = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`c${i}`, 'x'.repeat(90)]));
  const api = await startApi((_, response) =>
    json(
      response,
      Array.from({ length: 50 }, (__, id) => ({ id, ...columns })),
    ),
  );
  const { client, ask } = await assistant(['--host', '127.0.0.1']);
  await ask('try_configuration', { configuration: configOf(api.url, [{ endpoint: 'wide' }]) });
  const { content } = await client.callTool({ name: 'show_rows', arguments: { count: 50 } });
  const [first, second] = content.map((each) => (each.type === 'text' ? each.text : ''));
  const { rows = [] } = read(first ?? '');
  expect([rows[0]?.length, rows[1]?.[0], rows.at(-1)]).toEqual([21, '1', '… 30 more']);
  expect(second).toContain('ask for less at once');
  const few = await client.callTool({ name: 'show_rows', arguments: { count: 2 } });
  expect(few.content).toHaveLength(1);
});

test('an assistant looks at an API, tries what is proposed, sees rows and why they came', async () => {
  const api = await library();
  const { client, ask, log } = await assistant(['--host', '127.0.0.1']);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    'look_at_api',
    'read_configuration',
    'validate_configuration',
    'try_configuration',
    'show_rows',
    'explain',
    'import_configuration',
    'search_docs',
    'read_docs',
  ]);
  const found = read(await ask('look_at_api', { source: `${api.url}books` }));
  expect(found).toMatchObject({ verdict: 'complete', rowsRead: 6 });
  const { configuration } = found;
  expect(read(await ask('validate_configuration', { configuration }))).toEqual({
    valid: true,
    problems: [],
  });
  const before = api.seen.length;
  const tried = read(await ask('try_configuration', { configuration, pages: 2 }));
  expect(tried).toMatchObject({
    trial: 'trial-1',
    jobs: [{ job: 'books', verdict: 'cut', pages: 2 }],
    tables: [{ columns: ['id', 'title'], rowsCount: 4 }],
  });
  expect(api.seen.slice(before)).toEqual(['GET /books?page=1', 'GET /books?page=2']);
  const rows = read(await ask('show_rows', { from: 3, count: 5 }));
  expect(rows.rows).toEqual([['2-2', 'Book 22']]);
  expect(await ask('explain')).toContain('page=2, counted on from 1');
  expect(await ask('explain', { page: 2 })).toContain('Book 21');
  expect(await ask('explain', { value: '2-1' })).toBe('books, page 2: in the answer at items.0.id');
  const again = read(await ask('try_configuration', { configuration, replay: 'trial-1' }));
  expect(again).toMatchObject({ trial: 'trial-2', tables: [{ rowsCount: 4 }] });
  expect(api.seen).toHaveLength(before + 2);
  const calls = log()
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line) as Record<string, unknown>); // one object each
  expect(calls.filter(({ tool }) => tool === 'try_configuration')).toMatchObject([
    { outcome: 'done', requests: 2 },
    { outcome: 'done', requests: 0, arguments: { replay: 'trial-1' } },
  ]);
});

test('secrets are named and never shown, and only variables that were named are taken', async () => {
  const api = await library();
  const { ask, refused, log } = await assistant(['--host', '127.0.0.1', '--variable', 'LIBRARY_TOKEN']);
  const configuration = configOf(api, [{ endpoint: 'echo' }], {
    api: LOGIN,
    config: { '#token': '$env:LIBRARY_TOKEN' },
  });
  const tried = await ask('try_configuration', { configuration });
  expect(tried).toContain('"Bearer ***"');
  const shown = [
    tried,
    await ask('show_rows'),
    await ask('explain', { page: 1 }),
    await ask('explain', { value: `Bearer ${TOKEN}` }),
    await ask('look_at_api', { source: `${api.url}echo`, auth: 'bearer:$env:LIBRARY_TOKEN' }),
  ];
  const plain = 'plain-secret-value-1';
  const inPlain = configOf(api, [{ endpoint: 'echo' }], { api: LOGIN, config: { '#token': plain } });
  for (const given of [inPlain, JSON.stringify(inPlain)])
    expect(await refused('try_configuration', { configuration: given })).toContain(
      'Write "$env:TOKEN" there',
    );
  const other = configOf(api, [{ endpoint: 'echo' }], {
    api: LOGIN,
    config: { '#token': '$env:OTHER_VARIABLE' },
  });
  expect(await refused('try_configuration', { configuration: other })).toContain('--variable OTHER_VARIABLE');
  expect(await refused('look_at_api', { source: `${api.url}echo?api_key=${plain}` })).toContain(
    'A secret is given in plain',
  );
  expect(
    await refused('look_at_api', { source: `curl -H 'Authorization: Bearer ${plain}' ${api.url}echo` }),
  ).toContain('A secret is given in plain');
  expect(
    await refused('look_at_api', { source: `${api.url}echo`, auth: 'bearer:$env:OTHER_VARIABLE' }),
  ).toContain('OTHER_VARIABLE');
  for (const text of [...shown, log()]) expect(text).not.toMatch(/very-secret|another-value|plain-secret/);
});

test('a host that was not named is not asked, nor one that a redirect leads to', async () => {
  const api = await library();
  const named = await assistant(['--host', '127.0.0.1']);
  expect(await named.refused('look_at_api', { source: 'http://localhost:9/books' })).toContain(
    'http.forbiddenHost',
  );
  expect(await named.refused('look_at_api', { source: `${api.url}away` })).toContain('“127.0.0.2”');
  const away = await named.ask('try_configuration', { configuration: configOf(api, [{ endpoint: 'away' }]) });
  expect(read(away).error).toMatchObject({ code: 'http.forbiddenHost' });

  const none = await assistant([]);
  expect(await none.refused('look_at_api', { source: `${api.url}books` })).toContain('--host');

  // a configuration may name a host, but not let an assistant into this machine or its network
  const own = await assistant([], configOf(api, [{ endpoint: 'books' }]));
  const tried = read(await own.ask('try_configuration'));
  expect(tried.error?.message).toContain('loopback addresses are denied');
  const seen = api.seen.length;
  const name = await assistant([], configOf('http://localhost:9/', [{ endpoint: 'books' }]));
  expect(await name.ask('try_configuration')).toContain('http.forbiddenHost');
  expect(api.seen).toHaveLength(seen);
});

test('the configuration of the data folder is read without its secrets, and grants its variables', async () => {
  const api = await library();
  const { ask, refused, folder } = await assistant(
    ['--host', '127.0.0.1'],
    configOf(api, [{ endpoint: 'echo' }], {
      api: LOGIN,
      config: { '#token': '$env:LIBRARY_TOKEN', '#other': 'in-the-file-123' },
    }),
  );
  const shown = read(await ask('read_configuration'));
  expect(shown.parameters?.config).toMatchObject({ '#token': '$env:LIBRARY_TOKEN', '#other': '***' });
  expect(read(await ask('try_configuration'))).toMatchObject({
    tables: [{ rows: [['1', 'Bearer ***']] }],
  });
  put(folder, 'openapi.json', '{"openapi":"3.0.0","info":{"title":"T","version":"1"},"paths":{}}');
  expect(await refused('look_at_api', { file: 'config.json' })).toContain('it may hold secrets');
  expect(await refused('look_at_api', { file: '../../etc/passwd' })).toContain('There is no file');
  symlinkSync('/etc/hosts', path.join(folder, 'hosts.json'));
  expect(await refused('import_configuration', { tool: 'dlt', file: 'hosts.json' })).toContain(
    'There is no file',
  );
  expect(existsSync(path.join(folder, 'out'))).toBe(false);
});

test('documentation is found and read, an import has its report, and wrong arguments are answered', async () => {
  const { client, ask, refused } = await assistant([]);
  const { found } = read(await ask('search_docs', { text: 'requestsPerSecond' }));
  expect(found?.map(({ page }) => page)).toContain('docs/http.md');
  expect(await ask('read_docs', { page: 'jobs', heading: 'Children' })).toMatch(/^## Children/);
  expect(await refused('read_docs', { page: 'docs/../package.json' })).toContain('There is no page');
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain('gex://schemas/config.schema.json');
  const { contents } = await client.readResource({ uri: 'gex://docs/jobs.md' });
  expect(JSON.stringify(contents[0])).toContain('"# Jobs');
  const source =
    "s = rest_api_source({'client': {'base_url': 'https://api.example.com/'}, 'resources': ['books']})";
  const imported = read(await ask('import_configuration', { tool: 'dlt', text: source, name: 'shop' }));
  expect(imported.report?.streams).toMatchObject([{ stream: 'books' }]);
  expect(await refused('import_configuration', { tool: 'airbyte', text: 'x: [1' })).toContain('no YAML');
  expect(await refused('show_rows', { tables: 'a' })).toContain(
    '“tables” is no argument of it. Did you mean “table”?',
  );
  expect(await refused('read_docs', { page: 5 })).toContain('page must be string');
  expect(await refused('show_rows')).toContain('Nothing was tried yet');
  expect(await refused('try_configuration', { configuration: '{"parameters": ' })).toBeTruthy();
});

test('an import of a manifest in the data folder reads the classes of Python beside it', async () => {
  const { ask, folder } = await assistant([]);
  const stream = {
    type: 'DeclarativeStream',
    name: 'items',
    retriever: {
      type: 'SimpleRetriever',
      requester: {
        type: 'HttpRequester',
        url_base: 'https://a.example',
        path: '/items',
        authenticator: { class_name: 'source_shop.components.Key' },
      },
      record_selector: { extractor: { type: 'DpathExtractor', field_path: [] } },
    },
  };
  const text = JSON.stringify({ version: '6.0.0', type: 'DeclarativeSource', streams: [stream] });
  mkdirSync(path.join(folder, 'source_shop'));
  writeFileSync(path.join(folder, 'source_shop', 'manifest.yaml'), text);
  writeFileSync(
    path.join(folder, 'source_shop', 'components.py'),
    [
      'from airbyte_cdk.sources.declarative.auth.declarative_authenticator import NoAuth',
      'class Key(NoAuth):',
      '    @property',
      '    def auth_header(self):',
      '        return "X-Key"',
      '    @property',
      '    def token(self):',
      '        return "k"',
    ].join('\n'),
  );
  const reasons = async (given: object): Promise<string> =>
    JSON.stringify(read(await ask('import_configuration', { tool: 'airbyte', ...given })).report);
  expect(await reasons({ text })).toContain('only the manifest was given');
  const found = await reasons({ file: 'source_shop/manifest.yaml' });
  expect(found).not.toContain('only the manifest was given');
  expect(found).not.toContain('no file beside the manifest');
});

test('requests are bounded for the session, and a trial that needs more ends with what came', async () => {
  const api = await library();
  const { client, ask, refused, log } = await assistant(['--host', '127.0.0.1', '--max-requests', '3']);
  const configuration = configOf(api, [{ endpoint: 'books', dataField: 'items' }], {
    api: { pagination: { method: 'pagenum' } },
  });
  // what a call may send is no other one's, until it has ended without
  const cancel = cancellable(client, configOf(api, [{ endpoint: 'slow' }]));
  await expect.poll(() => api.seen).toHaveLength(1);
  expect(await refused('try_configuration', { configuration })).toContain('a call at work');
  await cancel();
  await expect.poll(log).toContain('"call":1,"tool":"try_configuration"');
  const tried = read(await ask('try_configuration', { configuration, pages: 10 }));
  expect(tried.error?.message).toBe('The trial was ended after 2 requests: no more are allowed.');
  expect(tried.requests).toHaveLength(2);
  expect(await refused('try_configuration', { configuration })).toContain('--max-requests');
  expect(api.seen).toHaveLength(3);
});

test('calls that wait and are cancelled take nobody’s turn, and the log knows whose requests were sent', async () => {
  const api = await library();
  const { client, ask, log } = await assistant(['--host', '127.0.0.1']);
  const slow = configOf(api, [{ endpoint: 'slow' }]);
  const echo = configOf(api, [{ endpoint: 'echo' }]);
  const atWork = [cancellable(client, slow), cancellable(client, slow)];
  await expect.poll(() => api.seen).toHaveLength(2);
  const waiting = [cancellable(client, echo), cancellable(client, echo)];
  const last = ask('try_configuration', { configuration: echo });
  // what was sent before this is waiting by then
  await client.listTools();
  for (const cancel of [...waiting, ...atWork]) await cancel();
  expect(read(await last)).toMatchObject({ tables: [{ rowsCount: 1 }] });
  const lines = log()
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as { readonly call?: number; readonly request?: string; readonly outcome?: string },
    );
  const of = (end: string): readonly (number | undefined)[] =>
    lines.flatMap(({ call, request }) => (request?.endsWith(end) === true ? [call] : []));
  expect(new Set(of('/slow'))).toEqual(new Set([1, 2]));
  const done = lines.filter(({ outcome }) => outcome === 'done').map(({ call }) => call);
  expect(done).toHaveLength(1);
  expect(of('/echo')).toEqual(done);
});

test('documentation and earlier trials are there while calls wait for an API', async () => {
  const api = await library();
  const { client, ask } = await assistant(['--host', '127.0.0.1']);
  const slow = configOf(api, [{ endpoint: 'slow' }]);
  const atWork = [cancellable(client, slow), cancellable(client, slow)];
  await expect.poll(() => api.seen).toHaveLength(2);
  expect(await ask('search_docs', { text: 'pagination' })).toContain('docs/pagination');
  expect(await ask('read_docs', { page: 'jobs', heading: 'Children' })).toContain('Children');
  for (const cancel of atWork) await cancel();
});

test('requests that change data are not sent', async () => {
  const api = await library();
  const { client, ask, refused } = await assistant(['--host', '127.0.0.1']);
  const look = `curl -X DELETE ${api.url}books`;
  expect(await refused('look_at_api', { source: look })).toContain('A DELETE request changes data');
  const configuration = configOf(api, [
    { endpoint: 'books', dataField: 'items' },
    { endpoint: 'books', method: 'PUT' },
  ]);
  const tried = read(await ask('try_configuration', { configuration }));
  expect(tried.error?.message).toContain('ended before a PUT request');
  expect(api.seen).toEqual(['GET /books']);
  const { tools } = await client.listTools();
  const asking = tools.filter(({ annotations }) => annotations?.openWorldHint === true);
  expect(asking.map(({ name }) => name)).toEqual(['look_at_api', 'try_configuration']);
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual(asking);
});

/** Starts a trial, and returns what cancels it. */
function cancellable(client: Client, configuration: unknown): () => Promise<void> {
  const control = new AbortController();
  const call = client.callTool(
    { name: 'try_configuration', arguments: { configuration } },
    { signal: control.signal, timeout: 300_000 },
  );
  const refusal = call.then(
    () => 'answered',
    (error: unknown) => String(error),
  );
  return async () => {
    control.abort('not wanted any more');
    expect(await refusal).toContain('not wanted any more');
  };
}

test('garbage is passed over, and the end of the client ends the process, its work and its folders', async () => {
  const api = await library();
  const folder = dataFolder();
  // Tests of other files make such folders, too.
  const own = dataFolder();
  const child = spawn(process.execPath, [BUILT, 'mcp', '--data', folder, '--host', '127.0.0.1'], {
    env: { ...process.env, TMPDIR: own },
  });
  let out = '';
  child.stdout.on('data', (part: Buffer) => (out += part.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const send = (value: unknown): void => void child.stdin.write(`${JSON.stringify(value)}\n`);
  child.stdin.write('garbage\n{"a":\n[1,2]\n"text"\n\u0000\uffff\n');
  send({ jsonrpc: '2.0', id: 1, method: 'no/such', params: 1 });
  const client = { name: 'raw', version: '1' };
  send({
    jsonrpc: '2.0',
    id: 2,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: client },
  });
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const configuration = configOf(api, [{ endpoint: 'slow' }]);
  send({
    jsonrpc: '2.0',
    id: 3,
    method: 'tools/call',
    params: { name: 'try_configuration', arguments: { configuration } },
  });
  await expect.poll(() => api.seen).toEqual(['GET /slow']);
  for (const line of out.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  expect(out).toContain('"serverInfo"');
  expect(trialFolders(own)).toHaveLength(1);
  child.stdin.end();
  expect(await ended).toBe(0);
  await expect.poll(() => trialFolders(own)).toEqual([]);
});

test('a variable that is not set and a host that is none are refused at the start', async () => {
  const unset = await gexHere('mcp', '--variable', 'NOT_SET_AT_ALL');
  expect(unset.code).toBe(1);
  expect(unset.stderr).toContain('$NOT_SET_AT_ALL is not set');
  expect((await gexHere('mcp', '--host', 'http://x/y')).stderr).toContain('is no rule for hosts');
});

function trialFolders(within: string): readonly string[] {
  return readdirSync(within).filter((name) => name.startsWith('gex-trial-'));
}
