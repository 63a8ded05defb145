import path from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, startApi } from '../../cli/support.ts';

test('rows whose page is read a second time, for a column that came later, go through the filter again', async () => {
  const pages = [
    [
      { id: 1, tags: ['a', 'b'], born: { year: 1990 } },
      { id: 2, tags: { c: 1 } },
    ],
    [{ id: 3, tags: 'd', born: 'unknown', late: 'yes' }],
  ];
  const api = await startApi(({ url }, response) =>
    json(response, { items: pages[Number(url.searchParams.get('page')) - 1] ?? [] }),
  );
  const folder = dataFolder(
    configOf(
      api,
      [{ endpoint: 'users', dataType: 'users', dataField: 'items', responseFilter: ['tags', 'born'] }],
      { api: { pagination: { method: 'pagenum' } } },
    ),
  );
  await run({ dataFolder: folder, log: silentLog });
  const tables = filesOf(path.join(folder, 'out/tables'));
  expect(Object.keys(tables)).toEqual(['library.users', 'library.users.manifest']);
  expect(tables['library.users']).toBe(
    '"id","tags","born","late"\n' +
      '"1","[""a"",""b""]","{""year"":1990}",""\n' +
      '"2","{""c"":1}","",""\n' +
      '"3","""d""","""unknown""","yes"\n',
  );
});
