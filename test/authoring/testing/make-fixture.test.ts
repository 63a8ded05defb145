import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  configOf,
  dataFolder,
  filesOf,
  gexHere,
  json,
  startApi,
  type Api,
  type Ended,
} from '../../cli/support.ts';

const TOKEN = 'very-secret-token';

/** People in pages of 5, 12 in all, each with pets; and a login. */
const people = (): Promise<Api> =>
  startApi(({ url, headers }, response) => {
    if (url.pathname === '/login') return json(response, { access_token: 'session-token' });
    const limit = Number(url.searchParams.get('limit') ?? 5);
    const offset = Number(url.searchParams.get('offset') ?? url.searchParams.get('after') ?? 0);
    const id = /^\/people\/(.*)\/pets$/.exec(decodeURIComponent(url.pathname))?.[1];
    if (id !== undefined) return json(response, [{ pet: `cat ${id.length}` }]);
    const length = Math.max(0, Math.min(limit, 12 - offset));
    const data = Array.from({ length }, (_, i) => ({
      id: offset + i + 1,
      big: 0,
      email: `p${offset + i + 1}@example.com`,
      contact: { name: `Name ${offset + i + 1}` },
    }));
    const next = offset + limit < 12 ? offset + limit : null;
    const text = JSON.stringify({ data, next, echo: headers.authorization }).replaceAll(
      '"big":0',
      '"big":12345678901234567890.10',
    );
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-Person': 'p@example.com' }).end(text);
  });

const cursor = { method: 'response.param', responseParam: 'next', queryParam: 'after' };
const offset = { method: 'offset', limit: 5 };
const list = { endpoint: 'people', dataType: 'people', dataField: 'data' };
const withPets = {
  ...list,
  children: [{ endpoint: 'people/{who}/pets', dataType: 'pets', placeholders: { who: 'email' } }],
};

async function ran(jobs: readonly unknown[], api: object, more: readonly string[] = []): Promise<string> {
  const folder = dataFolder(configOf(await people(), jobs, { api }));
  const { code, stderr } = await gexHere('run', '--storage', 'none', '--data', folder, ...more);
  expect(stderr, stderr).not.toContain('error:');
  expect(code).toBe(0);
  return folder;
}

interface Made extends Ended {
  readonly folder: string;
  readonly files: Readonly<Record<string, string>>;
}

async function made(data: string, ...more: readonly string[]): Promise<Made> {
  const folder = path.join(dataFolder(), 'fixture');
  const ended = await gexHere('fixture', folder, '--data', data, ...more);
  return { ...ended, folder, files: filesOf(folder) };
}

function row(id: string): object {
  return { id, configuration: { parameters: { config: { jobs: [{ ...list, dataType: id }] } } } };
}

describe('gex fixture', () => {
  test('makes a folder that passes, with the tables of the run', async () => {
    const data = await ran([list], { pagination: offset });
    const { stdout, folder, files } = await made(data);
    expect(stdout).toContain('3 exchanges, 1 table, 12 rows. It passes');
    expect(files['expected/requests']).toBe(
      [0, 5, 10].map((from) => `GET /people?limit=5&offset=${from}\n`).join(''),
    );
    expect(files['expected/tables/library.people']).toBe(
      readFileSync(path.join(data, 'out/tables/library.people'), 'utf8'),
    );
    expect(files['api/0001.response']).toContain('12345678901234567890.10');
    expect(JSON.stringify(files)).not.toContain('X-Person');
    const again = await gexHere('test', folder);
    expect(again.stderr).toContain('1 example passed, 0 failed');
  });

  test('replaces credentials, in the configuration and where the API echoed them', async () => {
    const api = { pagination: cursor, authentication: { type: 'bearer', '#token': TOKEN } };
    const job = { ...list, params: { api_key: 'plain-key-of-mine' } };
    const { code, stderr, files } = await made(await ran([job], api));
    expect(stderr).not.toContain('error');
    expect(code).toBe(0);
    expect(files['api/0001.response']).toContain('Bearer ***');
    expect(JSON.stringify(files)).not.toContain(TOKEN);
    expect(JSON.stringify(files)).not.toContain('plain-key-of-mine');
    expect(files['config.json']).toMatch(/"#token": "secret-\d"/);
  });

  test('--mask replaces personal data, also where it is part of a request, and equal values stay equal', async () => {
    const data = await ran([withPets], { pagination: cursor });
    const { stdout, files } = await made(data, '--mask', 'email', '--mask', 'contact.name', '--pages', '1');
    expect(stdout).toContain('It passes');
    expect(JSON.stringify(files)).not.toMatch(/p\d+@example|Name \d/);
    expect(files['expected/tables/library.people']).toContain('"masked-1@example.com"');
    expect(files['expected/requests']).toContain('GET /people/masked-1@example.com/pets');
  });

  test.for([
    ['a cursor', cursor, 6],
    ['an offset', offset, 5],
  ] as const)(
    '--rows shortens each page of %s, and the run has all of its pages',
    async ([, pagination, rows]) => {
      const { stdout, stderr, files } = await made(await ran([list], { pagination }), '--rows', '2');
      expect(stderr).not.toContain('error');
      expect(stdout).toContain(`3 exchanges, 1 table, ${rows} rows`);
      expect((JSON.parse(files['api/0001.response'] ?? '') as { data: unknown[] }).data).toHaveLength(2);
    },
  );

  test('runs one at a time what was run with several requests at once', async () => {
    const { stdout } = await made(await ran([withPets], { pagination: offset, http: { concurrency: 4 } }));
    expect(stdout).toMatch(/\d+ exchanges, 2 tables, 24 rows. It passes/);
  });

  test('leaves out an authentication that logs in, and says so', async () => {
    const login = {
      type: 'login',
      loginRequest: { endpoint: 'login', method: 'POST', params: { '#secret': TOKEN } },
      apiRequest: { headers: { Authorization: 'access_token' } },
    };
    const { stdout, stderr, files } = await made(
      await ran([list], { pagination: cursor, authentication: login }),
    );
    expect(stderr).toContain('The authentication is left out: it logs in');
    expect(stdout).toContain('It passes');
    expect(JSON.stringify(files)).not.toContain(TOKEN);
  });

  test('takes rows of a configuration, and a recording that was sent', async () => {
    const { parameters } = configOf(await people(), []) as { parameters: object };
    const data = dataFolder({ configuration: { parameters }, rows: [row('a'), row('b')] });
    const file = path.join(data, 'run.gexr');
    await gexHere('run', '--storage', 'none', '--data', data, '--record', file);
    const both = await made(data, '--recording', file);
    expect(Object.keys(both.files)).toEqual(
      expect.arrayContaining(['expected/rows/a/tables/library.a', 'expected/rows/b/tables/library.b']),
    );
    const one = await made(data, '--row', 'b');
    expect(Object.keys(one.files).filter((name) => name.includes('rows/'))).toEqual(
      expect.arrayContaining(['expected/rows/b/tables/library.b']),
    );
    expect(one.files['config.json']).not.toContain('"a"');
  });

  test('of a trial it takes the pages that there are', async () => {
    const { files, stdout } = await made(await ran([list], { pagination: cursor }, ['--limit', '2']));
    expect(stdout).toContain('2 exchanges');
    expect(JSON.parse(files['fixture.json'] ?? '')).toMatchObject({ limit: 2 });
  });
});

describe('what cannot be made', () => {
  test('a folder that is there, a mask of nothing, a configuration that has changed', async () => {
    const data = await ran([list], { pagination: cursor });
    const there = await gexHere('fixture', data, '--data', data);
    expect([there.code, there.stderr]).toEqual([1, expect.stringContaining('is there, and it is not empty')]);
    const masked = await made(data, '--mask', 'emial');
    expect([masked.code, masked.stderr]).toEqual([
      1,
      expect.stringContaining('No answer has anything at “emial”'),
    ]);
    const file = path.join(data, 'config.json');
    const child = { endpoint: 'x/{id}', placeholders: { id: 'id' } };
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"dataType"', `"children": [${JSON.stringify(child)}], "dataType"`),
    );
    const changed = await made(data);
    expect(changed.code).toBe(1);
    expect(changed.stderr).toContain('The recording has no answer for page 1 of “x/{id}”.');
    expect(existsSync(changed.folder)).toBe(false);
    expect(readdirSync(path.dirname(changed.folder))).toEqual([]);
  });
});
