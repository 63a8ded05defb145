// @module-tag thorough
import { expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi, type Api } from '../../cli/support.ts';

const LATENCY_MS = 40;
const PAGES = 24;

/** Pages with a row each, and a child for each row; answers take a while. It counts what is under way at once. */
async function slow(): Promise<Api & { most: () => number }> {
  let underWay = 0;
  let most = 0;
  const api = await startApi(({ url }, response) => {
    most = Math.max(most, ++underWay);
    response.once('close', () => underWay--); // answered, or nobody waits for it any more
    setTimeout(() => {
      const page = Number(url.searchParams.get('page'));
      if (url.pathname !== '/shelves') return json(response, [{ of: url.pathname }]);
      return json(response, page > PAGES ? [] : [{ id: page }]);
    }, LATENCY_MS);
  });
  return Object.assign(api, { most: () => most });
}

const books = { endpoint: 'shelves/{id}', dataType: 'books', placeholders: { id: 'id' }, scroller: 'none' };
const pagination = {
  method: 'multiple',
  default: 'pages',
  scrollers: { pages: { method: 'pagenum' }, none: {} },
};

test.for([
  ['without children', []],
  ['with children', [books]],
] as const)('%s, pages are asked for ahead and written in order', async ([, children]) => {
  const api = await slow();
  const folderOf = (concurrency: number): string =>
    dataFolder(
      configOf(api, [{ endpoint: 'shelves', children }], { api: { pagination, http: { concurrency } } }),
    );
  const [one, eight] = [folderOf(1), folderOf(8)];
  await run({ dataFolder: one, log: silentLog });
  const inOrder = [...api.seen];
  await run({ dataFolder: eight, log: silentLog });
  expect(filesOf(`${eight}/out/tables`)).toEqual(filesOf(`${one}/out/tables`));
  expect(api.most()).toBe(8);
  if (children.length > 0)
    expect(inOrder.slice(0, 3)).toEqual(['GET /shelves?page=1', 'GET /shelves/1', 'GET /shelves?page=2']);
});
