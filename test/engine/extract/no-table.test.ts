import { expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi } from '../../cli/support.ts';

test('rows of a job without a table start its children alone', async () => {
  const api = await startApi(({ url }, response) =>
    json(response, url.pathname.endsWith('/shops') ? [{ id: 1 }, { id: 2 }] : [{ of: url.pathname }]),
  );
  const child = { endpoint: 'shops/{shop}/books', placeholders: { shop: 'id' }, dataType: 'books' };
  const shops = { endpoint: 'shops', dataType: 'shops', table: false, children: [child] };
  const folder = dataFolder(configOf(api, [shops]));
  await run({ dataFolder: folder, log: silentLog, env: { ...systemEnv, sleep: async () => {} } });
  const tables = Object.keys(filesOf(folder)).filter((file) => /tables\/[^/]*$/.test(file));
  expect(tables.filter((file) => file.includes('shops'))).toEqual([]);
  expect(filesOf(folder)['out/tables/library.books']).toMatch(/shops\/1\/books[^]*shops\/2\/books/);
});

test('“table” is a switch, and no name', async () => {
  const api = await startApi((_, response) => json(response, []));
  const folder = dataFolder(configOf(api, [{ endpoint: 'shops', table: 'shops' }]));
  await expect(run({ dataFolder: folder, log: silentLog })).rejects.toThrow(/table/);
});
