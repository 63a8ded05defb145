import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StorageClient } from '../../../../src/storage/client/index.ts';
import { dataPart } from '../../../../src/service/start/data.ts';
import { workshopPart } from '../../../../src/service/start/workshop.ts';
import { sweepTrialFolders } from '../../../../src/service/domain/builder/trial-folders.ts';
import { COMPILE_CACHE, json, startApi, type Api } from '../../../cli/support.ts';
import { MAIN } from '../../../support/command.ts';
import { startService, type Running } from '../../harness.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

// Trials of other files have their folders elsewhere.
const BEFORE = process.env['TMPDIR'];
const TMPDIR = mkdtempSync(path.join(tmpdir(), 'workshop-'));
process.env['TMPDIR'] = TMPDIR;

const SECRET = 'reader-7-secret';

interface Found {
  readonly form: string;
  readonly configuration: string;
  readonly answer: string;
  readonly rows: { readonly path: string };
  readonly id: readonly string[];
  readonly verdict: string;
  readonly evidence: readonly string[];
  readonly sent: readonly { readonly method: string; readonly url: string }[];
  readonly lists: readonly { readonly path: string }[];
  readonly open: readonly { readonly code: string }[];
  readonly choices: readonly { readonly what: string; readonly rows: number; readonly isTaken: boolean }[];
}

interface TriedPage {
  readonly status: number;
  readonly answer?: string;
  readonly took?: {
    readonly at?: string;
    readonly count: number;
    readonly sample: string;
    readonly table?: { readonly name: string; readonly from: number };
  };
}

interface Tried {
  readonly tables: readonly {
    readonly name: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly string[])[];
    readonly rowsCount: number;
    readonly primaryKey: readonly string[];
  }[];
  readonly recordings: readonly {
    readonly jobs: readonly { readonly runs: readonly { readonly pages: readonly TriedPage[] }[] }[];
  }[];
  readonly warnings: readonly string[];
  readonly jobs: readonly { readonly verdict: string }[];
  readonly recording: string | null;
  readonly error?: { readonly code: string; readonly message: string };
}

interface Said {
  readonly step?: string;
  readonly found?: Found;
  readonly tried?: Tried;
  readonly error?: { readonly code: string; readonly message: string; readonly advice?: unknown };
}

/** Users on three pages behind a token. */
const usersApi = async (): Promise<Api> =>
  await startApi(({ url, headers }, response) => {
    if (headers.authorization !== `Bearer ${SECRET}`) {
      json(response, { error: 'who are you?' }, 401);
      return;
    }
    const page = Number(url.searchParams.get('cursor') ?? 0);
    const data = [1, 2].map((n) => ({ id: page * 2 + n, name: `user ${page * 2 + n}`, echo: SECRET }));
    json(response, { data, meta: { next: page < 2 ? String(page + 1) : null, total: 6 } });
  });

let running: Running;

beforeAll(async () => {
  running = await startService({
    parts: [dataPart, workshopPart({ command: [process.execPath, MAIN], concurrency: 2 })],
  });
});
afterAll(async () => {
  await running.stop();
  // other files of tests follow in the same process
  if (BEFORE === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = BEFORE;
  rmSync(TMPDIR, { recursive: true, force: true });
});

async function ask(what: string, body: object, headers: Record<string, string> = {}): Promise<Said[]> {
  const { status, text } = await running.call('POST', `workshop/${what}`, body, headers);
  expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Said);
}

const explored = async (body: object): Promise<{ found: Found; said: readonly Said[] }> => {
  const said = await ask('explore', body);
  const found = said.at(-1)?.found;
  expect(said.at(-1)?.error).toBeUndefined();
  if (found === undefined) throw new Error('nothing was found');
  return { found, said };
};

const tried = async (body: object): Promise<Tried> => {
  const last = (await ask('try', body)).at(-1);
  expect(last?.error).toBeUndefined();
  if (last?.tried === undefined) throw new Error('nothing was tried');
  return last.tried;
};

/** As the network tab of a browser saves it. */
function harOf(requests: readonly (readonly [url: string, answer: unknown])[]): string {
  const entries = requests.map(([url, answer]) => ({
    request: { method: 'GET', url, headers: [] },
    response: { status: 200, content: { mimeType: 'application/json', text: JSON.stringify(answer) } },
  }));
  return JSON.stringify({ log: { entries } });
}

const trialFolders = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('gex-trial-'));

/** Returns the folders of trials that were not there before; those of other processes come and go meanwhile. */
const since = (before: readonly string[]): string[] =>
  trialFolders().filter((name) => !before.includes(name));

const pagesOf = ({ recordings }: Tried): readonly TriedPage[] =>
  recordings.flatMap(({ jobs }) => jobs.flatMap(({ runs }) => runs.flatMap(({ pages }) => pages)));

const LIST = {
  'application/json': {
    schema: {
      type: 'object',
      properties: {
        items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
      },
    },
  },
};

describe('a source from a link', () => {
  test(
    'is found, tried, and tried again with another mapping without asking the API',
    { tags: 'thorough' },
    async () => {
      const api = await usersApi();
      const { found, said } = await explored({ source: `${api.url}users`, auth: `bearer:${SECRET}` });
      expect(found).toMatchObject({
        form: 'list',
        rows: { path: 'data' },
        id: ['id'],
        verdict: 'complete',
      });
      expect(found.sent[0]).toEqual({ method: 'GET', url: `${api.url}users` });
      expect(said.filter(({ step }) => step !== undefined).length).toBeGreaterThan(1);
      // The secret is encrypted in the configuration, and nowhere else.
      expect(JSON.stringify(said)).not.toContain(SECRET);
      expect(found.configuration).toContain('GEX::1::');
      expect(JSON.parse(found.answer)).toMatchObject({ meta: { total: 6 } });

      const document = JSON.parse(found.configuration) as { parameters: { config: object } };
      const asked = api.seen.length;
      const first = await tried({ document, pages: 2 });
      expect(first.error).toBeUndefined();
      expect(api.seen.length).toBe(asked + 2);
      expect(first.tables).toMatchObject([
        { name: 'users', columns: ['id', 'name', 'echo'], rowsCount: 4, primaryKey: [] },
      ]);
      expect(first.tables[0]?.rows[0]?.slice(0, 2)).toEqual(['1', 'user 1']);
      expect(first.recordings[0]?.jobs[0]?.runs[0]?.pages.length).toBe(2);
      expect(JSON.stringify(first)).not.toContain(SECRET);

      const mapped = structuredClone(document);
      Object.assign(mapped.parameters.config, {
        mappings: {
          users: {
            id: { type: 'column', mapping: { destination: 'user', primaryKey: true } },
          },
        },
      });
      const again = await tried({ document: mapped, pages: 2, recording: first.recording });
      expect(api.seen.length).toBe(asked + 2);
      expect(again.tables).toMatchObject([{ columns: ['user'], primaryKey: ['user'], rowsCount: 4 }]);
      expect(again.recording).toBe(first.recording);
    },
  );

  test('is found and tried by the client, with its steps, and ended by a signal', async () => {
    const api = await usersApi();
    const client = new StorageClient({ url: running.addresses.url, token: running.token });
    const steps: string[] = [];
    const onStep = (step: string): number => steps.push(step);
    const source = `${api.url}users`;
    const found = await client.workshop.explore({ source, auth: `bearer:${SECRET}` }, { onStep });
    expect(steps.length).toBeGreaterThan(1);
    expect(found).toMatchObject({ form: 'list', verdict: 'complete' });
    const document: unknown = JSON.parse(found.configuration);
    const { tables, recordings } = await client.workshop.try({ document, pages: 2 });
    expect(tables).toMatchObject([{ name: 'users', rowsCount: 4 }]);
    const urls = recordings[0]?.jobs[0]?.runs[0]?.pages.map(({ request }) => request.url);
    expect(urls).toEqual([source, `${source}?cursor=1`]);

    await expect(client.workshop.explore({ source })).rejects.toMatchObject({
      code: 'storage.refused',
      details: {
        apiStatus: 401,
        serviceCode: 'http.status',
        advice: { code: 'login', isRefused: false },
      },
    });
    const leaving = new AbortController();
    const left = client.workshop.explore(
      { source, auth: `bearer:${SECRET}` },
      { onStep: () => leaving.abort(new Error('gone')), signal: leaving.signal },
    );
    await expect(left).rejects.toThrow('gone');
    client.close();
  });

  test('an error of the API is told in words, with what had come by then', async () => {
    const api = await startApi(({ url }, response) => {
      if (url.searchParams.get('page') === '2') json(response, { error: 'broken' }, 400);
      else json(response, [{ id: 1 }]);
    });
    const [last] = (await ask('explore', { source: `${api.url}nothing`, auth: 'bearer:$API_TOKEN' })).slice(
      -1,
    );
    expect(last?.error).toMatchObject({
      code: 'command.invalid',
      message: expect.stringContaining('API_TOKEN') as string,
    });
    const document = {
      parameters: {
        api: { baseUrl: api.url, pagination: { method: 'pagenum' } },
        config: { jobs: [{ endpoint: 'things' }] },
      },
    };
    const failed = await tried({ document });
    expect(failed.error).toMatchObject({ code: 'http.status' });
    const pages = pagesOf(failed);
    expect(pages.map(({ took }) => took)).toEqual([{ at: '', count: 1, sample: '[{"id":1}]' }]);
  });

  test(
    'each request has its rows, and the lines that these are in the table',
    { tags: 'thorough' },
    async () => {
      const secret = '20260102';
      const api = await startApi(({ url }, response) => {
        const page = Number(url.searchParams.get('page') ?? 1);
        // The API repeats the password as a number.
        if (url.pathname === '/pins') json(response, [{ id: 1, pin: Number(secret) }]);
        else
          json(response, {
            users: page > 2 ? [] : [page * 2 - 1, page * 2].map((id) => ({ id, tags: ['a'] })),
          });
      });
      const documentFor = (job: object): object => ({
        parameters: {
          api: { baseUrl: api.url, authentication: { type: 'basic' }, pagination: { method: 'pagenum' } },
          config: { outputBucket: 'crm', username: 'me', '#password': secret, jobs: [job] },
        },
      });
      const job = { endpoint: 'v1/users', dataField: 'users' };
      const whole = await tried({ document: documentFor(job) });
      expect(whole.error).toBeUndefined();
      const [first, second, last] = pagesOf(whole);
      expect(first?.took).toEqual({
        at: 'users',
        count: 2,
        sample: '[{"id":1,"tags":["a"]},{"id":2,"tags":["a"]}]',
        table: { name: expect.stringMatching(/\.v1_users$/) as string, from: 0 },
      });
      expect(second?.took).toMatchObject({ count: 2, table: { from: 2 } });
      expect(last).toMatchObject({ answer: '{"users":[]}', took: { count: 0, sample: '[]' } });

      // Rows that are left out make it unknown which line a row is.
      const where = { value: 'id', is: 'equals', than: 3 };
      const some = await tried({ document: documentFor({ ...job, where }), recording: whole.recording });
      const told = { error: some.error, took: pagesOf(some).map(({ took }) => took?.table) };
      expect(told).toEqual({ error: undefined, took: [undefined, undefined, undefined] });
      expect(some.tables[0]?.rowsCount).toBe(1);

      // JSON with redacted values is still valid JSON.
      const pins = await tried({ document: documentFor({ endpoint: 'pins' }), pages: 1 });
      expect(pagesOf(pins)[0]?.took?.sample).toBe('[{"id":1,"pin":"***"}]');
      const { found } = await explored({ source: `${api.url}pins`, auth: `basic:me:${secret}` });
      expect(found.answer).toBe('[{"id":1,"pin":"***"}]');
      expect(JSON.stringify([pins, found])).not.toContain(secret);
      // a password that looks like the name of a variable
      const typed = await explored({ source: `${api.url}pins`, auth: 'basic:me:$ecret' });
      expect(typed.found.configuration).not.toContain('$env:');
    },
  );

  test('what a run would warn of is told', async () => {
    const api = await startApi((_request, response) => json(response, { nothing: 1 }));
    const { warnings } = await tried({
      document: { parameters: { api: { baseUrl: api.url }, config: { jobs: [{ endpoint: 'users' }] } } },
    });
    expect(warnings).toEqual([expect.stringContaining('No list found in the response of “users”')]);
  });

  test('a configuration that is none, and an address that is none, are told so', async () => {
    const none = await tried({ document: { parameters: { api: {}, config: { jobs: [] } } } });
    expect(none).toMatchObject({
      tables: [],
      error: {
        code: 'config.invalid',
        problems: [
          { path: 'parameters.api.baseUrl', severity: 'error' },
          { path: 'parameters.config.jobs', severity: 'error' },
        ],
      },
    });
    // The working folder of the service is not revealed.
    expect(JSON.stringify(none)).not.toContain(tmpdir());
    const [last] = (await ask('explore', { source: 'http://127.0.0.1:1/x' })).slice(-1);
    expect(last?.error?.code).toBe('http.network');
  });

  test('an OpenAPI document gives its lists', async () => {
    const source = JSON.stringify({
      openapi: '3.0.0',
      info: { title: 'Books', version: '1' },
      servers: [{ url: 'https://api.example.com' }],
      paths: {
        '/books': {
          get: {
            responses: {
              200: {
                description: 'all',
                content: {
                  'application/json': {
                    schema: {
                      type: 'array',
                      items: { type: 'object', properties: { id: { type: 'integer' } } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    });
    const { found } = await explored({ source });
    expect(found).toMatchObject({ form: 'document', lists: [{ path: '/books' }] });
  });

  test('each list of an OpenAPI document is asked for, with a login, and only what was proved is written', async () => {
    const api = await startApi(({ url, headers }, response) => {
      if (headers.authorization !== 'Bearer a-secret-0815') return json(response, {}, 401);
      const page = Number(url.searchParams.get('page') ?? 1);
      if (url.pathname !== '/books') return json(response, { message: 'not here' }, 404);
      json(response, { items: page > 3 ? [] : [{ id: page * 2 }, { id: page * 2 + 1 }], pages: 3, page });
    });
    const list = { get: { responses: { 200: { description: 'all', content: LIST } } } };
    const source = JSON.stringify({
      openapi: '3.0.0',
      info: { title: 'Books', version: '1' },
      servers: [{ url: api.url }],
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
      security: [{ token: [] }],
      paths: { '/books': list, '/authors': list },
    });
    const { found } = await explored({ source, tries: true, auth: 'bearer:a-secret-0815' });
    expect(found).toMatchObject({
      form: 'document',
      variables: [],
      lists: [
        { path: '/books', attempt: { verdict: 'complete', rows: 6, pages: 3, id: ['id'], isProved: true } },
        { path: '/authors', attempt: { verdict: 'failed', rows: 0, isProved: false } },
      ],
    });
    expect(JSON.stringify(found)).not.toContain('a-secret-0815');
    const [last] = (await ask('explore', { source, tries: true })).slice(-1);
    expect(last?.error?.message).toMatch(/^The value of \$\w+ is not known here/);
  });

  test('of a file with several lists another one is chosen by its name', async () => {
    const api = await startApi(({ url }, response) =>
      json(response, url.pathname === '/users' ? [{ id: 1 }] : [{ no: 1 }, { no: 2 }]),
    );
    const source = harOf([
      [`${api.url}users/orders?page=1`, [{ no: 1 }, { no: 2 }]],
      [`${api.url}users`, [{ id: 1 }]],
      [`${api.url}style`, { dark: true }],
    ]);
    const { found } = await explored({ source });
    const other = `GET ${api.url}users`;
    expect(found.choices).toEqual([
      { what: `GET ${api.url}users/orders`, rows: 2, isTaken: true },
      { what: other, rows: 1, isTaken: false },
    ]);
    const chosen = await explored({ source, select: other });
    expect(JSON.parse(chosen.found.answer)).toEqual([{ id: 1 }]);
    expect(chosen.found.choices.map(({ isTaken }) => isTaken)).toEqual([false, true]);
  });

  test(
    'what may be done is told as facts, and not in options of a command',
    { tags: 'thorough' },
    async () => {
      const api = await startApi(({ url }, response) => {
        const status = Number(url.searchParams.get('status') ?? 200);
        if (status === 401) response.setHeader('WWW-Authenticate', 'Basic realm="books"');
        if (url.pathname === '/page') response.setHeader('Content-Type', 'text/html').end('<html>hi</html>');
        else if (url.pathname === '/long') {
          const page = Number(url.searchParams.get('page') ?? 1);
          json(response, { rows: [{ id: page * 2 }, { id: page * 2 + 1 }], next_page: page + 1 });
        } else json(response, { error: 'no' }, status);
      });
      const advice = async (source: string, auth?: string): Promise<unknown> => {
        const [last] = (await ask('explore', { source: api.url + source, auth })).slice(-1);
        expect(JSON.stringify(last)).not.toMatch(/--[a-z]|gex /);
        return last?.error?.advice;
      };
      expect(await advice('?status=401')).toEqual({
        code: 'login',
        isRefused: false,
        kind: 'basic',
        challenge: 'Basic realm="books"',
      });
      expect(await advice('?status=401', 'basic:me:wrong-one')).toMatchObject({
        code: 'login',
        isRefused: true,
      });
      expect(await advice('?status=403', 'basic:me:wrong-one')).toEqual({ code: 'rights' });
      expect(await advice('?status=404')).toEqual({ code: 'address' });
      expect(await advice('?status=405')).toEqual({ code: 'method' });
      expect(await advice('page')).toEqual({ code: 'page' });
      expect(await advice('', 'basic:nothing')).toEqual({ code: 'loginForm', isEmpty: false });
      const { found } = await explored({ source: `${api.url}long`, maxRequests: 6 });
      expect(found.open).toContainEqual({ code: 'longer', isEndSeen: false });
      expect(JSON.stringify(found)).not.toMatch(/--[a-z]|gex /);
    },
  );

  test('needs the right to use the component, and a place at the bench', async () => {
    const { body } = await running.call('POST', 'tokens', { description: 'nothing' });
    const { token } = body as { token: string };
    const headers = { 'X-StorageApi-Token': token };
    expect((await running.call('POST', 'workshop/explore', { source: 'http://x' }, headers)).status).toBe(
      403,
    );
    expect((await running.call('POST', 'workshop/try', { document: {} }, headers)).status).toBe(403);

    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const api = await startApi((_request, response) => void gate.then(() => json(response, [{ id: 1 }])));
    const slow = [0, 1].map(() => ask('explore', { source: api.url, maxRequests: 1 }));
    await expect.poll(() => api.seen.length).toBe(2);
    const { status, body: refused } = await running.call('POST', 'workshop/explore', { source: api.url });
    expect({ status, refused }).toMatchObject({ status: 503, refused: { code: 'storage.workshop.busy' } });
    letGo();
    await Promise.all(slow);
    expect((await ask('explore', { source: api.url, maxRequests: 2 })).at(-1)?.found).toBeDefined();
  });

  test(
    'an earlier recording that unpacks to very much more is refused, and nothing of it is left',
    { tags: 'thorough' },
    async () => {
      const bomb = zstdCompressSync(Buffer.alloc(2 ** 29));
      expect(bomb.length).toBeLessThan(2 ** 17);
      const before = trialFolders();
      const document = {
        parameters: { api: { baseUrl: 'http://127.0.0.1:1/' }, config: { jobs: [{ endpoint: 'a' }] } },
      };
      const said = await ask('try', { document, recording: bomb.toString('base64') });
      expect(said.at(-1)?.error).toMatchObject({
        code: 'replay.invalid',
        message: expect.stringContaining('it unpacks to more than 268435456 bytes') as string,
      });
      await expect.poll(() => since(before)).toEqual([]);
    },
  );

  test('the folder of a trial is removed when its process is killed', async () => {
    const before = trialFolders();
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const api = await startApi((_request, response) => void gate.then(() => json(response, [])));
    const document = { parameters: { api: { baseUrl: api.url }, config: { jobs: [{ endpoint: 'a' }] } } };
    const leaving = new AbortController();
    const asked = fetch(`${running.addresses.url}/v2/storage/workshop/try`, {
      method: 'POST',
      headers: { 'X-StorageApi-Token': running.token, 'Content-Type': 'application/json' },
      body: JSON.stringify({ document }),
      signal: leaving.signal,
    }).then(async (response) => await response.text());
    await expect.poll(() => api.seen.length).toBe(1);
    expect(since(before)).not.toEqual([]);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => since(before)).toEqual([]);
    letGo();
  });

  test('folders that killed services left are swept', async () => {
    const left = mkdtempSync(path.join(tmpdir(), 'gex-trial-'));
    const used = mkdtempSync(path.join(tmpdir(), 'gex-trial-'));
    const now = Date.now();
    utimesSync(left, now / 1000 - 7 * 3600, now / 1000 - 7 * 3600);
    await sweepTrialFolders(now);
    expect([existsSync(left), existsSync(used)]).toEqual([false, true]);
    rmSync(used, { recursive: true });
  });

  test('who leaves ends what was asked for', async () => {
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const gone: Promise<void>[] = [];
    const api = await startApi((_request, response) => {
      gone.push(new Promise((resolve) => response.once('close', resolve)));
      void gate.then(() => json(response, []));
    });
    const leaving = new AbortController();
    const asked = fetch(`${running.addresses.url}/v2/storage/workshop/explore`, {
      method: 'POST',
      headers: { 'X-StorageApi-Token': running.token, 'Content-Type': 'application/json' },
      body: JSON.stringify({ source: api.url }),
      signal: leaving.signal,
    }).then(async (response) => await response.text());
    await expect.poll(() => gone.length).toBe(1);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    // The process that asked is gone, and its connection with it.
    await gone[0];
    letGo();
  });
});

async function problems(body: object): Promise<readonly { path: string; message: string; line?: number }[]> {
  const { status, text } = await running.call('POST', 'workshop/validate', body);
  expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
  return (JSON.parse(text) as { problems: { path: string; message: string }[] }).problems;
}

describe('what is wrong with a text', () => {
  test('is told with its place, and without secrets', async () => {
    const text = `{\n "parameters": {\n  "api": { "baseUrl": 7, "authentication": { "type": "bearer", "#token": "${SECRET}", "#token2": 5 } },\n  "config": { "jobs": [{ "endpont": "users" }] } } }`;
    const found = await problems({ text });
    expect(found).toContainEqual(
      expect.objectContaining({ path: 'parameters.api.baseUrl', line: 3, severity: 'error' }),
    );
    expect(found).toContainEqual(
      expect.objectContaining({ path: 'parameters.config.jobs[0].endpont', line: 4 }),
    );
    expect(JSON.stringify(found)).not.toContain(SECRET);
    expect(await problems({ text: '{ "a": ' })).toMatchObject([{ severity: 'error', line: 1 }]);
  });

  test('values that the service has encrypted are read, and may be used', async () => {
    const configs = 'components/ex-generic-v2/configs';
    const configuration = {
      parameters: {
        api: { baseUrl: 'https://api.example.com/', authentication: { type: 'bearer', '#token': SECRET } },
        config: { jobs: [{ endpoint: 'users' }] },
      },
    };
    const made = await running.call('POST', configs, { name: 'a', configurationId: 'sealed', configuration });
    const sealed = JSON.stringify((JSON.parse(made.text) as { configuration: object }).configuration);
    expect(sealed).toContain('GEX::');
    expect(await problems({ text: sealed, configuration: 'sealed' })).toEqual([]);
  });

  test(
    'a long text is looked at beside everything else, and the first 500 of its problems are told',
    { tags: 'thorough' },
    async () => {
      const jobs = Array.from({ length: 14_000 }, (_, i) => ({
        endpoint: `users/${i}`,
        dataTypo: `users-${i}`,
      }));
      const text = JSON.stringify({
        parameters: { api: { baseUrl: 'https://a.example/' }, config: { jobs } },
      });
      let isTold = false;
      const told = problems({ text }).finally(() => {
        isTold = true;
      });
      await Promise.all(Array.from({ length: 20 }, async () => await running.call('GET', 'tokens/verify')));
      expect(isTold).toBe(false);
      expect(await told).toHaveLength(500);
    },
  );

  test('needs the right to use the component', async () => {
    const made = await running.call('POST', 'tokens', { description: 'reader' });
    const { token } = JSON.parse(made.text) as { token: string };
    const refused = await running.call(
      'POST',
      'workshop/validate',
      { text: '{}' },
      { 'x-storageapi-token': token },
    );
    expect(refused.status).toBe(403);
  });
});
