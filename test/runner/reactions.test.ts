import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { run } from '../../src/runner/run.ts';
import type { JobReport } from '../../src/engine/completeness/index.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../cli/support.ts';

/** Shelves with books: of every third nobody may see the books, and what the last one has is written otherwise. */
interface Library extends Api {
  isDown: boolean;
}
async function library(): Promise<Library> {
  const state = { isDown: false };
  const api = await startApi(({ url }, response) => {
    const shelf = Number(/^\/shelves\/(\d+)/.exec(url.pathname)?.[1] ?? 0);
    const page = Number(url.searchParams.get('page'));
    if (shelf === 0)
      return json(response, page > 2 ? [] : [1, 2, 3].map((n) => ({ id: (page - 1) * 3 + n })));
    if (state.isDown && shelf === 5) return response.writeHead(400).end('{}');
    if (shelf % 3 === 0) return response.writeHead(200, { 'X-Seen': 'no' }).end('<html>');
    if (page > 1) return response.writeHead(404).end('[{"id": "not a book"}]');
    return json(response, [{ id: shelf, ...(shelf === 5 ? { late: 'yes' } : {}) }]);
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

function folderFor(api: Api, concurrency = 1): string {
  const books = {
    endpoint: 'shelves/{id}/books',
    dataType: 'books',
    placeholders: { id: 'id' },
    reactions: [{ when: { value: { header: 'X-Seen' }, is: 'false' }, do: 'skip' }],
  };
  return dataFolder(
    configOf(api, [{ endpoint: 'shelves', dataType: 'shelves', children: [books] }], {
      api: {
        http: { concurrency },
        pagination: { method: 'pagenum' },
        reactions: [{ when: { status: 404 }, do: 'empty' }],
      },
    }),
  );
}

function booksOf(folder: string): JobReport | undefined {
  const text = readFileSync(path.join(folder, 'out', 'report.json'), 'utf8');
  const { jobs } = JSON.parse(text) as { jobs: readonly JobReport[] }; // as it was written
  return jobs.find(({ job }) => job === 'books');
}

describe('answers that a reaction takes otherwise', () => {
  test.each([1, 4])('are told in the report, with %i requests at once', async (concurrency) => {
    const api = await library();
    const folder = folderFor(api, concurrency);
    await run({ dataFolder: folder, log: silentLog });
    expect(filesOf(folder)['out/tables/library.books']).toBe(
      '"id","late","parent_id"\n"1","","1"\n"2","","2"\n"4","","4"\n"5","yes","5"\n',
    );
    expect(booksOf(folder)).toMatchObject({
      verdict: 'ended',
      runs: 6,
      rows: 4,
      reactions: [
        {
          do: 'empty',
          answers: 4,
          at: 'parameters.api.reactions[0]',
          why: 'the status is 404',
          request: `GET ${api.url}shelves/1/books?page=2`,
        },
        { do: 'skip', answers: 2, request: `GET ${api.url}shelves/3/books?page=1` },
      ],
    });
  });

  test('are the same when a run goes on, and when it is played again', async () => {
    const api = await library();
    const whole = folderFor(api);
    await run({ dataFolder: whole, log: silentLog });
    const stopped = folderFor(api);
    api.isDown = true;
    await expect(run({ dataFolder: stopped, log: silentLog })).rejects.toThrow('400');
    api.isDown = false;
    const asked = api.seen.length;
    await run({ dataFolder: stopped, log: silentLog });
    // shelves 5 and 6, and the end of the shelves
    expect(api.seen.length - asked).toBe(4);
    expect(filesOf(stopped)['out/tables/library.books']).toBe(filesOf(whole)['out/tables/library.books']);
    expect(booksOf(stopped)).toEqual(booksOf(whole));
    await run({ dataFolder: stopped, log: silentLog, replay: 'last' });
    expect(filesOf(stopped)['out/tables/library.books']).toBe(filesOf(whole)['out/tables/library.books']);
    expect(booksOf(stopped)).toEqual(booksOf(whole));
  });
});

test('several requests that find the login ended make one new login', async () => {
  let logins = 0;
  const served = new Map<string, number>();
  const api = await startApi(({ url, headers }, response) => {
    if (url.pathname === '/login') return json(response, { token: `t${++logins}` });
    const page = url.searchParams.get('page') ?? '';
    served.set(page, (served.get(page) ?? 0) + 1);
    if (Number(page) > 6) return json(response, []);
    if (Number(page) > 1 && headers['x-token'] === 't1') return json(response, { error: 'expired' });
    return json(response, [{ id: page }]);
  });
  const folder = dataFolder(
    configOf(api, [{ endpoint: 'books', dataType: 'books' }], {
      api: {
        http: { concurrency: 4 },
        pagination: { method: 'pagenum' },
        authentication: {
          type: 'login',
          loginRequest: { endpoint: '/login', method: 'POST' },
          apiRequest: { headers: { 'X-Token': { response: 'token' } } },
        },
        reactions: [{ when: { value: 'error', is: 'equals', than: 'expired' }, do: 'login', wait: 0 }],
      },
    }),
  );
  await run({ dataFolder: folder, log: silentLog });
  expect(filesOf(folder)['out/tables/library.books']).toBe('"id"\n"1"\n"2"\n"3"\n"4"\n"5"\n"6"\n');
  expect(logins).toBe(2);
});
