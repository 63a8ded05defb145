import { expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, json, startApi } from '../../cli/support.ts';

test.each([
  ['parameters of the job', { includeParams: true }, { params: { size: 2 } }, {}],
  ['nested parameters of the job', { includeParams: true }, { params: { page: { size: 2 } } }, {}],
  ['default options', {}, {}, { http: { defaultOptions: { params: { key: 'a' } } } }],
])('a link with encoded names is followed to the end with %s', async (_name, more, job, api) => {
  const server = await startApi(({ url }, response) => {
    const after = Number(url.searchParams.get('page[after]') ?? 0);
    const data = [1, 2].map((n) => ({ id: after + n }));
    const next = after < 6 ? `/users?page%5Bafter%5D=${after + 2}` : null;
    return json(response, { data, links: { next } });
  });
  const folder = dataFolder(
    configOf(server, [{ endpoint: 'users', dataField: 'data', ...job }], {
      api: { ...api, pagination: { method: 'response.url', urlKey: 'links.next', ...more } },
    }),
  );
  const { rows } = await run({ dataFolder: folder, log: silentLog });
  expect(rows[0]?.rows).toBe(8);
  expect(server.seen).toHaveLength(4);
});
