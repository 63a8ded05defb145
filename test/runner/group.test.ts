import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { run } from '../../src/runner/run.ts';
import type { JobReport } from '../../src/engine/completeness/index.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../cli/support.ts';

/** Seven authors in pages of four, and their books by ids; it may not know the parameter, and may be down for some. */
interface Library extends Api {
  isDown: boolean;
  isDeaf: boolean;
  readonly groups: string[];
}
async function library(): Promise<Library> {
  const state = { isDown: false, isDeaf: false, groups: [] as string[] };
  const api = await startApi(({ url }, response) => {
    const page = Number(url.searchParams.get('page'));
    if (url.pathname === '/authors') {
      const ids = [1, 2, 3, 4, 5, 6, 7].slice((page - 1) * 4, page * 4);
      return json(
        response,
        ids.map((id) => ({ id })),
      );
    }
    const ids = url.searchParams.get('ids') ?? '';
    if (state.isDown && ids.startsWith('4')) return response.writeHead(400).end();
    state.groups.push(ids);
    if (page > 1) return json(response, []);
    const of = state.isDeaf ? ['1', '2'] : ids.split(',');
    return json(
      response,
      of.map((id) => ({ title: `book of ${id}`, by: Number(id) })),
    );
  });
  return Object.assign(state, { url: api.url, seen: api.seen });
}

function folderFor(api: Api, concurrency = 1): string {
  const books = {
    endpoint: 'books',
    dataType: 'books',
    params: { ids: '{id}' },
    placeholders: { id: 'id' },
    group: { size: 3, by: 'by' },
  };
  return dataFolder(
    configOf(api, [{ endpoint: 'authors', dataType: 'authors', children: [books] }], {
      api: { http: { concurrency }, pagination: { method: 'pagenum' } },
    }),
  );
}

function booksOf(folder: string): JobReport | undefined {
  const text = readFileSync(path.join(folder, 'out', 'report.json'), 'utf8');
  const { jobs } = JSON.parse(text) as { jobs: readonly JobReport[] }; // as it was written
  return jobs.find(({ job }) => job === 'books');
}

test.each([1, 3])(
  'groups of rows are those of a page, and go on where they were stopped: %i at once',
  async (concurrency) => {
    const api = await library();
    const folder = folderFor(api, concurrency);
    api.isDown = true;
    await expect(run({ dataFolder: folder, log: silentLog })).rejects.toThrow('400');
    api.isDown = false;
    await run({ dataFolder: folder, log: silentLog });
    expect([...new Set(api.groups)].toSorted()).toEqual(['1,2,3', '4', '5,6,7']);
    // ahead of their turn, pages are asked for that are not there
    if (concurrency === 1) expect(api.groups.filter((ids) => ids === '1,2,3')).toHaveLength(2);
    expect(filesOf(folder)['out/tables/library.books']).toBe(
      `"title","by","parent_id"\n${[1, 2, 3, 4, 5, 6, 7].map((id) => `"book of ${id}","${id}","${id}"\n`).join('')}`,
    );
    expect(booksOf(folder)).toMatchObject({ verdict: 'ended', runs: 3, rows: 7 });
  },
);

test('rows that nobody asked for are a doubt', async () => {
  const api = await library();
  api.isDeaf = true;
  const folder = folderFor(api);
  await run({ dataFolder: folder, log: silentLog });
  expect(booksOf(folder)).toMatchObject({
    verdict: 'doubtful',
    verdicts: { ended: 1, doubtful: 2 },
    doubtful: [{ doubts: [{ code: 'strangers', rows: 2, path: 'by' }] }, { doubts: [{ code: 'strangers' }] }],
  });
});
