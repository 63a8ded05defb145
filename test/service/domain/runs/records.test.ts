// @module-tag thorough
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { zstdDecompressSync } from 'node:zlib';
import { onTestFinished, expect, test } from 'vitest';
import { StorageClient } from '../../../../src/storage/client/index.ts';
import { gexHere, json, startApi, type Api } from '../../../cli/support.ts';
import { books, startWorld, type World } from './support.ts';

const PAGES = 7;

/** Pages of two books; one asks for each book's shelf, and every answer repeats the key that it was asked with. */
async function library(): Promise<Api> {
  return await startApi(({ url, headers }, response) => {
    const key = headers['x-key'] ?? '';
    if (url.pathname !== '/books') return json(response, [{ shelf: url.pathname, key }]);
    const page = Number(url.searchParams.get('page') ?? 1);
    const data = [{ id: 2 * page }, { id: 2 * page + 1 }];
    return json(response, { data, key, ...(page < PAGES ? { next: `${page + 1}` } : {}) });
  });
}

const JOBS = {
  jobs: [
    {
      endpoint: 'books',
      dataField: 'data',
      children: [{ endpoint: 'books/{id}/shelf', placeholders: { id: 'id' } }],
    },
  ],
};

const withKey = (url: string): object => {
  const { parameters } = books(url, { ...JOBS, '#key': 'opensesame' }) as { parameters: { api: object } };
  return {
    parameters: {
      ...parameters,
      api: {
        ...parameters.api,
        http: { headers: { 'X-Key': { attr: '#key' } } },
        pagination: { method: 'response.param', responseParam: 'next', queryParam: 'page' },
      },
    },
  };
};

function clientOf({ addresses, token }: World, given = token): StorageClient {
  const client = new StorageClient({ url: addresses.url, token: given });
  onTestFinished(() => client.close());
  return client;
}

test('a run that succeeded can be explained afterwards, in parts, as by the command', async () => {
  const api = await library();
  const world = await startWorld();
  await world.configure('a', withKey(api.url));
  const { id } = await world.start('a');
  expect(await world.ended(id)).toMatchObject({ status: 'success', error: null });
  const { runs } = clientOf(world);

  const whole = await runs.explanation(id, { limit: 1000 });
  expect(whole).toMatchObject({
    recordings: [
      {
        finished: true,
        jobs: [
          { job: 'books', level: 0, pages: PAGES, rows: 2 * PAGES, runs: 1, requests: PAGES },
          { job: 'books/{id}/shelf', level: 1, runs: 2 * PAGES, requests: 2 * PAGES },
        ],
      },
    ],
    next: 3 * PAGES,
    isEnded: true,
  });
  expect(whole.requests[1]).toMatchObject({
    job: 'books',
    level: 0,
    page: 2,
    fate: 'used',
    rows: 2,
    from: [{ how: 'value', to: 'page', value: '2', from: 'next' }],
  });
  expect(whole.requests[PAGES]).toMatchObject({
    run: { above: [{ job: 'books', page: 1 }], row: 1 },
    from: [{ how: 'row', to: 'id', value: '2' }],
  });

  const parts = [];
  for (let offset = 0, isEnded = false; !isEnded;) {
    const part = await runs.explanation(id, { offset, limit: 4 });
    parts.push(...part.requests);
    ({ next: offset, isEnded } = part);
  }
  expect(parts).toEqual(whole.requests);
  const children = await runs.explanation(id, { job: 'books/{id}/shelf', offset: 1, limit: 1 });
  expect(children).toMatchObject({
    recordings: [{ jobs: [{ job: 'books/{id}/shelf' }] }],
    requests: [whole.requests[PAGES + 1]],
    next: 2,
    isEnded: false,
  });
  expect(await runs.explanation(id, { row: 'none' })).toMatchObject({
    recordings: [],
    requests: [],
    next: 0,
  });

  // The recording tells the command the same, and neither has the key that the API repeated.
  const bytes = await buffer(await runs.recording(id));
  const file = path.join(world.dir, 'run.gexr');
  writeFileSync(file, bytes);
  const { stdout } = await gexHere('explain', '--recording', file, '--json');
  const [told] = JSON.parse(stdout) as { jobs: { runs: { pages: object[] }[] }[] }[];
  const pages = told?.jobs.flatMap((job) => job.runs.flatMap((run) => run.pages));
  expect(whole.requests.map(({ job: _job, level: _level, run: _run, ...page }) => page)).toEqual(pages);
  const plain = zstdDecompressSync(bytes).toString('latin1');
  expect(plain.match(/"key":"\*{10}"/g)).toHaveLength(3 * PAGES);
  expect(plain + JSON.stringify(whole)).not.toContain('opensesame');
});

test('a run that failed can be explained, one that has not ended cannot, and one of before is not taken for it', async () => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  let fails = true;
  const api = await startApi(({ url }, response) => {
    if (!url.searchParams.has('offset')) json(response, [{ id: 1 }]);
    else if (fails) json(response, { error: 'no' }, 404);
    else void gate.then(() => json(response, []));
  });
  const world = await startWorld();
  const pagination = { method: 'offset', limit: 1, firstPageParams: false };
  const { parameters } = books(api.url) as { parameters: { api: object } };
  await world.configure('a', { parameters: { ...parameters, api: { ...parameters.api, pagination } } });
  const failed = await world.start('a');
  expect(await world.ended(failed.id)).toMatchObject({ status: 'error' });
  fails = false;
  const { runs } = clientOf(world);
  expect(await runs.explanation(failed.id)).toMatchObject({
    recordings: [{ finished: false }],
    requests: [{ page: 1, status: 200 }],
  });

  const next = await world.start('a');
  await expect(runs.explanation(next.id)).rejects.toMatchObject({
    code: 'storage.notFound',
    message: expect.stringContaining('has not ended') as unknown,
  });
  await expect(runs.recording(next.id)).rejects.toMatchObject({ code: 'storage.notFound' });
  letGo();
  await world.ended(next.id);
  expect((await runs.explanation(next.id)).requests).toMatchObject([
    { page: 1, fate: 'used' },
    { page: 2, fate: 'used', end: { code: 'shortPage' } },
  ]);
});

test('the answers are for who asked for the run, what it asked for is for all who may use the component', async () => {
  const api = await library();
  const world = await startWorld();
  await world.configure('a', withKey(api.url));
  const tokenOf = async (body: object): Promise<string> =>
    ((await world.call('POST', 'tokens', body)).body as { token: string }).token;
  const component = { componentAccess: ['ex-generic-v2'] };
  const mine = clientOf(
    world,
    await tokenOf({ ...component, bucketPermissions: {}, canManageBuckets: true }),
  );
  const others = clientOf(world, await tokenOf(component));
  const none = clientOf(world, await tokenOf({ bucketPermissions: {} }));
  const { id } = await world.start('a');
  await world.ended(id);
  expect((await others.runs.explanation(id, { limit: 1 })).requests).toHaveLength(1);
  await expect(others.runs.recording(id)).rejects.toMatchObject({ details: { status: 403 } });
  await expect(none.runs.explanation(id)).rejects.toMatchObject({ details: { status: 403 } });
  expect((await buffer(await mine.runs.recording(id))).length).toBeGreaterThan(100);
});
