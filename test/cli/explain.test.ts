import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { zstdDecompressSync } from 'node:zlib';
import { runCommandLine } from '../../src/cli/cli.ts';
import { readStory } from '../../src/engine/explain/trace.ts';
import { storyLines } from '../../src/engine/explain/trace-json.ts';
import { withRecordings } from '../../src/runner/recordings.ts';
import { Secrets } from '../../src/lib/secrets.ts';
import { configOf, dataFolder, gexHere, json, startApi, type Api } from './support.ts';

const TOKEN = 'very-secret-token';

function rows(from: number, count: number, total: number): object[] {
  const length = Math.max(0, Math.min(count, total - from));
  return Array.from({ length }, (_, i) => ({ id: from + i + 1 }));
}

function nothing(): void {}

/** Lists of three kinds, shelves with books, an answer that echoes what it got, and one that fails. */
const library = (): Promise<Api> => {
  let failures = 0;
  return startApi(({ url, headers }, response) => {
    const number = (name: string): number => Number(url.searchParams.get(name) ?? 0);
    if (url.pathname === '/offset') {
      if (number('offset') === 2 && failures++ === 0) return json(response, {}, 503);
      return json(response, { data: rows(number('offset'), 2, 3), meta: { total: 3 } });
    }
    if (url.pathname === '/cursor') {
      const from = Number((url.searchParams.get('after') ?? 'c0').slice(1));
      const next = from < 4 ? `c${from + 2}` : null;
      return json(response, { data: rows(from, 2, 5), meta: { next }, echo: headers.authorization });
    }
    if (url.pathname === '/link') {
      if (number('page') < 2) response.setHeader('Link', `</link?page=${number('page') + 1}>; rel="next"`);
      return json(response, rows(number('page'), 1, 3));
    }
    if (url.pathname === '/wiki') {
      const from = Number((url.searchParams.get('gapcontinue') ?? 'Page_0').slice(5));
      const next = { gapcontinue: `Page_${from + 27}`, continue: 'gapcontinue||' };
      return json(response, { data: rows(from, 2, 99), ...(from < 50 ? { continue: next } : {}) });
    }
    if (url.pathname === '/steps') {
      const from = Number(url.searchParams.get('after[id]') ?? 0);
      const next = from < 4 ? { id: from + 2, kind: 'row' } : null;
      return json(response, { data: rows(from, 2, 6), meta: { next, left: 7 } });
    }
    if (url.pathname === '/evil') return json(response, [{ id: '\u001b[2J\nx' }]);
    if (url.pathname === '/many') return json(response, rows((number('page') - 1) * 2, 2, 60));
    if (url.pathname === '/shelves') return json(response, rows(0, 5, 5));
    if (url.pathname === '/broken') return json(response, {}, 404);
    return json(response, [{ isbn: url.pathname }]);
  });
};

const offset = { method: 'offset', limit: 2 };
const cursor = { method: 'response.param', responseParam: 'meta.next', queryParam: 'after' };

async function ran(jobs: readonly unknown[], api: object, more: readonly string[] = []): Promise<string> {
  const folder = dataFolder(configOf(await library(), jobs, { api }));
  await gexHere('run', '--storage', 'none', '--data', folder, ...more);
  return folder;
}

const explained = async (...args: readonly string[]): Promise<string> =>
  (await gexHere('explain', ...args)).stdout;

describe('gex explain', () => {
  test('shows requests, retries, what led to each, and the verdict', { tags: 'thorough' }, async () => {
    const folder = await ran([{ endpoint: 'offset', dataField: 'data' }], {
      pagination: offset,
      retryConfig: { maxRetries: 1 },
    });
    const text = await explained('--data', folder);
    expect(text).toContain('It ended after page 2: the page has fewer rows (1) than the page size (2)');
    expect(text).toContain('Complete: `meta.total: 3` is the number of rows');
    expect(text).toMatch(/1  GET \S*offset\?limit=2&offset=0 +2 +47 B +\d+ +0  the configuration/);
    expect(text).toMatch(
      /2  GET \S*offset\?limit=2&offset=2 +1 +38 B +[\d,]+ +1  offset=2, counted on from 0/,
    );
  });

  test('says where a value and a link were found', async () => {
    const byValue = await ran([{ endpoint: 'cursor', dataField: 'data' }], { pagination: cursor });
    expect(await explained('--data', byValue)).toContain('after=c2 from `meta.next`');
    const byLink = await ran([{ endpoint: 'link' }], { pagination: { method: 'link' } });
    expect(await explained('--data', byLink)).toContain('the link in the header link');
    const byId = await ran([{ endpoint: 'link' }], {
      pagination: { method: 'cursor', idKey: 'id', param: 'page', forceStop: { pages: 2 } },
    });
    expect(await explained('--data', byId)).toContain('page=1 by the highest `id`');
  });

  test('says what led to the keys of an object, also to the first of them', async () => {
    const wiki = { method: 'response.param', merge: { from: 'continue', to: { query: '*' } } };
    const merged = await explained(
      '--data',
      await ran([{ endpoint: 'wiki', dataField: 'data' }], { pagination: wiki }),
    );
    expect(merged).toContain('gapcontinue=Page_27 from `continue.gapcontinue`');
    expect(merged).toContain('gapcontinue=Page_54 from `continue.gapcontinue`');
    expect(merged).toContain('continue=gapcontinue|| from `continue.continue`');
    expect(merged).not.toContain('counted');
    const steps = { method: 'response.param', set: [{ from: 'meta.next', to: 'after' }] };
    const set = await explained(
      '--data',
      await ran([{ endpoint: 'steps', dataField: 'data' }], { pagination: steps }),
    );
    expect(set).toContain('after[id]=4 from `meta.next.id`');
    expect(set).toContain('after[kind]=row from `meta.next.kind`');
    expect(set).not.toContain('counted');
  });

  test('says nothing where it is not known', async () => {
    // the number of the next page is reckoned from a value, and is none that the answer has
    const sum = { function: 'add', args: [{ path: 'meta.next.id' }, 0.5] };
    const reckoned = { method: 'response.param', set: [{ from: sum, to: 'page' }], forceStop: { pages: 2 } };
    const steps = [{ endpoint: 'steps', dataField: 'data', params: { page: 1 } }];
    const byFunction = await explained('--data', await ran(steps, { pagination: reckoned }));
    expect(byFunction).toContain('page=2.5');
    expect(byFunction).not.toContain('counted');
    // a page that is counted on is not that of a number in the answer, which happens to be the same
    const counted = {
      method: 'offset',
      limit: 2,
      stopWhen: { path: 'meta.total', is: 2 },
      firstPageParams: false,
    };
    const byCount = await explained(
      '--data',
      await ran([{ endpoint: 'offset', dataField: 'data' }], { pagination: counted }),
    );
    expect(byCount).not.toContain('from `');
    expect(byCount).not.toContain('limit=2, counted');
  });

  test('says what led to a header, and to a part of a text or of the path', async () => {
    const token = { method: 'response.param', responseParam: 'meta.next' };
    const inHeader = { ...token, queryParam: { header: 'X-After' }, forceStop: { pages: 2 } };
    const byHeader = await ran([{ endpoint: 'cursor', dataField: 'data' }], { pagination: inHeader });
    expect(await explained('--data', byHeader)).toContain('header X-After=c2 from `meta.next`');
    const inText = { ...token, queryParam: { template: 'at' }, forceStop: { pages: 2 } };
    const job = { endpoint: 'cursor', dataField: 'data', params: { q: 'BEHIND {at} ALL' } };
    const byText = await ran([job], { pagination: inText });
    expect(await explained('--data', byText)).toContain('q=c2 from `meta.next`');
    const inPath = { method: 'pagenum', pageParam: { path: 'n' }, forceStop: { pages: 2 } };
    const byPath = await ran([{ endpoint: 'books/{n}', dataType: 'books' }], { pagination: inPath });
    expect(await explained('--data', byPath)).toContain('path=2, counted on from 1');
  });

  test('shows children under their jobs, in the order of their rows, and says how many are not shown', async () => {
    const books = { endpoint: 'books/{id}', placeholders: { id: 'id' } };
    const folder = await ran([{ endpoint: 'shelves', children: [books] }], { http: { concurrency: 3 } });
    const text = await explained('--data', folder);
    expect(text).toContain('  child “books/{id}”: 5 runs, 5 pages, 5 rows');
    expect(text).toMatch(
      /row 1 of page 1 of “shelves”\n.*\n.*GET \S*books\/1 .*\{id\}=1 from `id` of the row/,
    );
    expect(text).toContain('… 2 runs more; --all shows them');
    expect(await explained('--data', folder, '--all')).toContain('row 5 of page 1 of “shelves”');
  });

  test('shows the first and the last pages of a long job, and fits a terminal', async () => {
    const folder = await ran([{ endpoint: 'many' }], {
      pagination: { method: 'pagenum', firstPageParams: true },
    });
    expect(await explained('--data', folder)).toContain('… 22 pages more; --all shows them');
    let shown = '';
    await runCommandLine(['explain', '--data', folder], {
      secrets: new Secrets(),
      signal: new AbortController().signal,
      isTerminal: true,
      width: 70,
      print: (text) => void (shown += text),
      note: nothing,
      live: nothing,
      send: async () => {},
    });
    const table = shown.split('\n').filter((line) => /^ +\d+ {2}/.test(line));
    expect(Math.max(...table.map((line) => line.length))).toBeLessThan(70);
  });

  test('--page shows one exchange whole, without secrets, and --json all of it', async () => {
    const folder = await ran([{ endpoint: 'cursor', dataField: 'data' }], {
      pagination: cursor,
      authentication: { type: 'bearer', '#token': TOKEN },
    });
    const page = await explained('--data', folder, '--page', '2');
    expect(page).toMatch(/^GET http\S*cursor\?after=c2\n/);
    expect(page).toContain('It came about by: after=c2 from `meta.next`');
    expect(page).toContain('"echo": "Bearer ***"');
    const [told] = JSON.parse(await explained('--data', folder, '--json')) as {
      jobs: { runs: { pages: object[] }[] }[];
    }[];
    expect(told?.jobs[0]?.runs[0]?.pages).toMatchObject([
      { page: 1, rows: 2, from: [] },
      { page: 2, from: [{ how: 'value', to: 'after', value: 'c2', from: 'meta.next' }] },
      { page: 3, end: { code: 'endValue' }, judgement: { verdict: 'complete' } },
    ]);
    expect(`${page}${JSON.stringify(told)}`).not.toContain(TOKEN);
  });

  test('explains the recording of somebody else, and a run that was stopped', async () => {
    const file = path.join(dataFolder(), 'run.gexr');
    const jobs = [{ endpoint: 'cursor', dataField: 'data' }, { endpoint: 'broken' }];
    const folder = await ran(jobs, { pagination: cursor }, ['--record', file]);
    for (const text of [await explained('--recording', file), await explained('--data', folder)]) {
      expect(text).toContain('which was stopped before its end');
      expect(text).toContain('“cursor”: 3 pages, 5 rows');
      expect(text).toContain('A request that failed is not recorded: the message of the run names it.');
    }
  });

  test('what an API sent does not act on the terminal', async () => {
    const child = { endpoint: 'x/{id}', placeholders: { id: 'id' } };
    const text = await explained('--data', await ran([{ endpoint: 'evil', children: [child] }], {}));
    expect(text).toContain('{id}=\\u001b[2J\\nx from');
    expect(text).not.toContain('\u001b');
  });

  test('says when the configuration has changed since', async () => {
    const folder = await ran([{ endpoint: 'link' }], {});
    const file = path.join(folder, 'config.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"link"', '"links"'));
    const { stdout, stderr } = await gexHere('explain', '--data', folder);
    expect(stdout).toContain('“link”: 1 page');
    expect(stderr).toContain('has changed since that run, first at “parameters.config.jobs[0].endpoint”');
  });
});

test(
  'gex run --show-requests prints each request and answer, whatever the log level, without secrets',
  { tags: 'thorough' },
  async () => {
    const api = {
      pagination: offset,
      retryConfig: { maxRetries: 1 },
      authentication: { type: 'query', query: { token: { attr: '#token' } } },
    };
    const config = configOf(await library(), [{ endpoint: 'offset', dataField: 'data' }], {
      api,
      config: { '#token': TOKEN },
    });
    const folder = dataFolder(config);
    const args = ['run', '--storage', 'none', '--data', folder, '--show-requests', '--log-level', 'error'];
    const { code, stderr } = await gexHere(...args);
    const lines = stderr
      .replaceAll(/^\S+ INFO /gm, '')
      .replaceAll(/in \d+ ms/g, 'in N ms')
      .trim()
      .split('\n');
    expect(code).toBe(0);
    expect(lines.map((line) => line.replace(/http\S+\/offset/, 'URL'))).toEqual([
      '→ 1 GET URL?limit=2&offset=0&token=***',
      '← 1 200, 47 B in N ms',
      '→ 2 GET URL?limit=2&offset=2&token=***',
      '← 2 503, 2 B in N ms',
      '→ 3 GET URL?limit=2&offset=2&token=***',
      '← 3 200, 38 B in N ms',
    ]);
  },
);

describe('what gex explain cannot show', () => {
  test.for([
    [['--job', 'shelf'], 'The recording has no job “shelf”.', 'It has “link”.'],
    [['--page', '7'], '“link” has no such answer in the recording: a page 7.', 'It has page 1 alone.'],
    [['--parent', '2', '--page', '1'], 'a run 2', 'It has 1 run.'],
    [['--row', 'a'], 'There is no recording of the row “a”.', 'one without rows'],
    [['--page', 'x'], '--page is a whole number from 1', ''],
  ] as const)('%s', async ([args, message, hint]) => {
    const { code, stderr } = await gexHere(
      'explain',
      '--data',
      await ran([{ endpoint: 'link' }], {}),
      ...args,
    );
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });

  test('a folder without a run, a file that is none, and one that is damaged', async () => {
    const empty = await gexHere('explain', '--data', dataFolder({ parameters: {} }));
    expect(empty.stderr).toContain('There is no recording of a last run in this data folder.');
    const text = path.join(dataFolder('{}'), 'config.json');
    expect((await gexHere('explain', '--recording', text)).stderr).toContain('The recording cannot be read');
    expect((await gexHere('explain', '--recording', `${text}.no`)).stderr).toContain('There is no recording');
    const folder = await ran([{ endpoint: 'link' }], {});
    const file = path.join(folder, '.gex', 'last.recording');
    writeFileSync(file, readFileSync(file).subarray(0, -5));
    const { code, stdout, stderr } = await gexHere('explain', '--data', folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining('“link”: 1 page')]);
    expect(stderr).toContain('The end of the recording is damaged');
  });
});

describe('gex run --explanation', () => {
  test('writes a line for the jobs and one for each request', { tags: 'thorough' }, async () => {
    const file = path.join(dataFolder({}), 'told');
    await ran(
      [{ endpoint: 'offset', dataField: 'data' }],
      { pagination: offset, retryConfig: { maxRetries: 1 } },
      ['--explanation', file],
    );
    const lines = zstdDecompressSync(readFileSync(file)).toString().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { finished: true, jobs: [{ job: 'offset', verdict: 'complete', runs: 1, requests: 2 }] },
      { job: 'offset', page: 1, rows: 2, from: [] },
      { job: 'offset', page: 2, rows: 1, from: [{ how: 'count', to: 'offset' }] },
    ]);
  });

  test('of a long run has the beginning and the end, and says how much is left out', async () => {
    const dataFolder = await ran([{ endpoint: 'many' }], {
      pagination: { method: 'pagenum', firstPageParams: true },
    });
    await withRecordings({ dataFolder }, async ([recording]) => {
      if (recording === undefined) throw new Error('There is no recording.');
      const { file, scanned } = recording;
      const story = readStory(file, scanned, { requests: 3, bodyLength: 10 });
      const [jobs, ...requests] = [...storyLines({ ...recording, story })].map(
        (line) => JSON.parse(line) as { page: number; from: unknown[]; end?: object },
      );
      expect(jobs).toEqual({
        version: scanned.head.version,
        startedAt: new Date(scanned.head.startedAt).toISOString(),
        finished: true,
        leftOut: 25,
        jobs: [{ job: 'many', level: 0, runs: 1, requests: 6 }],
      });
      // The origin of the first request behind the gap is unknown.
      expect(requests.map(({ page, from }) => [page, from.length])).toEqual([
        [1, 0],
        [2, 1],
        [3, 1],
        [29, 0],
        [30, 1],
        [31, 1],
      ]);
      expect(requests.at(-1)?.end).toMatchObject({ code: 'noRows' });
    });
  });
});
