import { describe, expect, test } from 'vitest';
import { bytesBody, StorageClient, type Table } from '../../../../src/storage/client/index.ts';
import { forgetRuns } from '../../../../src/service/stores/metadata/retention.ts';
import { json, runHere, startApi, type Api } from '../../../cli/support.ts';
import { metaOf } from '../../database.ts';
import { books, startWorld, type World } from './support.ts';

const COMPONENT = 'ex-generic-v2';
const TABLE = 'in.c-library.books';

const twoBooks = async (): Promise<Api> =>
  await startApi((_request, response) => json(response, [{ id: 1 }, { id: 2 }]));

const clientOf = ({ addresses, token }: World): StorageClient =>
  new StorageClient({ url: addresses.url, token });

const gexAt =
  ({ addresses, token }: World) =>
  async (...args: readonly string[]) =>
    await runHere([...args, '--storage', addresses.url], { env: { KBC_TOKEN: token } });

async function limited(client: StorageClient, world: World, rights: object): Promise<StorageClient> {
  const { token } = await client.tokens.create({ description: 'limited', ...rights });
  return new StorageClient({ url: world.addresses.url, token: token ?? '' });
}

describe('where a table comes from', () => {
  test('is known both ways, with the last run, its rows and the next one', async () => {
    const world = await startWorld();
    const client = clientOf(world);
    await world.configure('a', books((await twoBooks()).url), { name: 'Library' });
    const configurations = client.configurations(COMPONENT);
    expect(await configurations.tables('a')).toEqual([]);
    const first = await world.ended((await world.start('a')).id);
    const second = await world.ended((await world.start('a')).id);
    expect([first.status, second.status]).toEqual(['success', 'success']);

    const { lastImportDate, dataSizeBytes } = await client.tables.detail(TABLE);
    const [filled, ...more] = await configurations.tables('a');
    expect(more).toEqual([]);
    expect(filled).toMatchObject({
      table: TABLE,
      output: 'library.books',
      runs: 2,
      lastRun: second.id,
      lastRows: 2,
      lastStatus: 'success',
      lastVerdict: 'ended',
      lastVersion: 1,
      rowsCount: 2,
      dataSizeBytes,
      lastImportDate,
      isThere: true,
    });
    expect(filled).not.toHaveProperty('row');

    const schedule = await configurations.schedules('a').create({ cron: '30 6 * * *' });
    const sources = await client.tables.sources(TABLE);
    expect(sources).toMatchObject({ table: TABLE, lastImportDate, hidden: 0 });
    expect(sources.sources).toEqual([
      expect.objectContaining({
        component: COMPONENT,
        configuration: 'a',
        name: 'Library',
        isDeleted: false,
        runs: 2,
        lastRun: second.id,
        schedules: 1,
        nextTime: schedule.nextTime,
      }),
    ]);

    const { id: dataFileId } = await client.files.upload(bytesBody('id\n7\n'), { name: 'by-hand.csv' });
    await client.tables.load(TABLE, { dataFileId, incremental: true });
    const loads = await client.tables.loads(TABLE);
    expect(loads.map(({ run, rows, totalRows }) => ({ run, rows, totalRows }))).toEqual([
      { run: null, rows: 1, totalRows: 3 },
      { run: second.id, rows: 2, totalRows: 2 },
      { run: first.id, rows: 2, totalRows: 2 },
    ]);
    expect(await client.tables.loads(TABLE, { limit: 1, offset: 1 })).toEqual([loads[1]]);

    const gex = gexAt(world);
    const { stdout: out } = await gex('storage', 'tables', 'show', TABLE);
    expect(out).toContain('Comes from:');
    expect(out).toMatch(
      new RegExp(
        `\n  ex-generic-v2/a\n    as library\\.books · run ${second.id}: success, verdict ended · 2 rows\n    ended 20\\S+Z · next run 20\\S+Z\n`,
      ),
    );
    expect(out).toContain('Rows after each load  2 to 3');
    expect(out).toContain(`Its requests: gex runs show ${second.id}`);
    const shown = JSON.parse((await gex('storage', 'tables', 'show', TABLE, '--json')).stdout) as object;
    expect(shown).toMatchObject({ id: TABLE, sources: [{ lastRun: second.id }], hidden: 0 });
  });

  test('is told of an alias as of the table that has its rows, and to a token only of what it may use', async () => {
    const world = await startWorld();
    const client = clientOf(world);
    await world.configure('a', books((await twoBooks()).url));
    const { id } = await world.ended((await world.start('a')).id);
    await client.buckets.create({ name: 'shown', stage: 'out' });
    const made = await world.call('POST', 'buckets/out.c-shown/table-aliases', {
      sourceTable: TABLE,
      name: 'shown',
    });
    const alias = made.body as Table;
    expect(await client.tables.sources(alias.id)).toEqual(await client.tables.sources(TABLE));

    const reader = await limited(client, world, { bucketPermissions: { 'in.c-library': 'read' } });
    expect(await reader.tables.sources(TABLE)).toMatchObject({ sources: [], hidden: 1 });
    await expect(reader.configurations(COMPONENT).tables('a')).rejects.toMatchObject({
      code: 'storage.forbidden',
    });
    await expect(reader.runs.days()).rejects.toMatchObject({ code: 'storage.forbidden' });
    await expect(reader.schedules.list()).rejects.toMatchObject({ code: 'storage.forbidden' });
    const user = await limited(client, world, { componentAccess: [COMPONENT] });
    expect(await user.configurations(COMPONENT).tables('a')).toEqual([
      expect.objectContaining({ lastRun: id, rowsCount: null, dataSizeBytes: null, isThere: true }),
    ]);
    await expect(user.tables.sources(TABLE)).rejects.toMatchObject({ code: 'storage.forbidden' });
  });

  test('is not told of what was held back, nor of a table that was made again', async () => {
    const world = await startWorld();
    const client = clientOf(world);
    const endless = await startApi((_request, response) => json(response, [{ id: 1 }, { id: 2 }]));
    await world.configure('doubtful', {
      parameters: {
        api: { baseUrl: endless.url, pagination: { method: 'pagenum', limit: 2 } },
        config: { outputBucket: 'held', jobs: [{ endpoint: 'books', dataType: 'books' }] },
      },
    });
    expect(await world.ended((await world.start('doubtful')).id)).toMatchObject({
      status: 'error',
      error: { code: 'run.doubtful' },
    });
    expect(await client.configurations(COMPONENT).tables('doubtful')).toEqual([]);

    await world.configure('a', books((await twoBooks()).url));
    await world.ended((await world.start('a')).id);
    await client.tables.delete(TABLE);
    expect(await client.configurations(COMPONENT).tables('a')).toEqual([
      expect.objectContaining({ table: TABLE, rowsCount: null, isThere: false }),
    ]);
    // Times are of milliseconds: a table of the same one would be its own.
    await new Promise((resolve) => setTimeout(resolve, 5));
    await client.tables.define('in.c-library', { name: 'books', columns: ['id'] });
    expect(await client.tables.sources(TABLE)).toMatchObject({ sources: [], hidden: 0 });
    expect(await client.tables.loads(TABLE)).toEqual([]);
  });

  test('stays known of the last run that is no longer kept', async () => {
    const world = await startWorld();
    const client = clientOf(world);
    await world.configure('a', books((await twoBooks()).url));
    await world.ended((await world.start('a')).id);
    const { id } = await world.ended((await world.start('a')).id);
    const meta = await metaOf(world.dir);
    await forgetRuns(meta, '9999-01-01', 100, async () => await Promise.resolve());
    expect(await meta.selectFrom('run_tables').select('run_id').execute()).toEqual([{ run_id: Number(id) }]);
    await meta.destroy();
    expect((await client.tables.sources(TABLE)).sources).toEqual([
      expect.objectContaining({ lastRun: id, runs: 1, lastStatus: null, lastRows: 2 }),
    ]);
    expect((await client.tables.loads(TABLE)).map(({ run }) => run)).toEqual([null, null]);
  });
});

test('runs are counted by day and how they ended', async () => {
  const world = await startWorld();
  const client = clientOf(world);
  const none = { success: 0, doubtful: 0, error: 0, cancelled: 0 };
  await world.configure('a', books((await twoBooks()).url));
  const refusing = await startApi((_request, response) => json(response, {}, 404));
  await world.configure('b', books(refusing.url));
  await world.ended((await world.start('a')).id);
  await world.ended((await world.start('b')).id);
  const days = await client.runs.days({ days: 3 });
  expect(days).toHaveLength(3);
  expect(days.at(-1)).toMatchObject({ ...none, success: 1, error: 1 });
  expect(days[0]).toMatchObject(none);
  expect((await client.runs.days({ component: COMPONENT, configuration: 'b' })).at(-1)).toMatchObject({
    ...none,
    error: 1,
  });
  const [first, , last] = days.map(({ day }) => day);
  const before = await client.runs.days({ days: 2, until: `${days[1]?.day}T10:00:00Z` });
  expect(before).toEqual([
    { day: first, ...none },
    { day: days[1]?.day, ...none },
  ]);
  await expect(client.runs.days({ until: 'no time' })).rejects.toThrow(/"no time" is no time/);

  // Each configuration by itself, those that fail first, page by page; one without a run is there, too.
  await world.configure('never', books('http://127.0.0.1:1'));
  const grid = await client.runs.sourceDays({ days: 3 });
  expect(grid.days).toEqual(days.map(({ day }) => day));
  expect(grid.total).toBe(3);
  expect(grid.sources.map(({ configuration, days: own }) => [configuration, own])).toEqual([
    ['b', [{ day: last, ...none, error: 1 }]],
    ['a', [{ day: last, ...none, success: 1 }]],
    ['never', []],
  ]);
  const part = await client.runs.sourceDays({ days: 2, until: first, limit: 1, offset: 1, search: 'NEVER' });
  expect(part).toMatchObject({ total: 1, sources: [] });
  expect(part.days.at(-1)).toBe(first);
  const { token = '' } = await client.tokens.create({ description: 'other', componentAccess: ['ex-other'] });
  const other = new StorageClient({ url: world.addresses.url, token });
  expect(await other.runs.sourceDays()).toMatchObject({ total: 0, sources: [] });

  // The runs behind a cell.
  const ofDay = { component: COMPONENT, configuration: 'b', since: last, until: 'tomorrow' };
  expect(await client.runs.list(ofDay)).toMatchObject([{ configuration: 'b', status: 'error' }]);
  expect(await client.runs.list({ ...ofDay, since: first, until: last })).toEqual([]);
});

test('a run that has ended tells what its time was spent on', async () => {
  const slow = await startApi((request, response) =>
    setTimeout(() => json(response, request.url.pathname === '/login' ? { token: 'x' } : [{ id: 1 }]), 400),
  );
  const world = await startWorld();
  await world.configure('a', {
    parameters: {
      api: {
        baseUrl: slow.url,
        authentication: {
          type: 'login',
          loginRequest: { endpoint: 'login', method: 'POST' },
          apiRequest: { headers: { 'X-Token': 'token' } },
        },
      },
      config: { outputBucket: 'library', jobs: [{ endpoint: 'books' }] },
    },
  });
  const { id } = await world.ended((await world.start('a')).id);
  const client = clientOf(world);
  const run = await client.runs.detail(id);
  expect(run.error).toBeNull();
  const { spent } = run;
  if (spent === undefined) throw new Error('It does not tell.');
  expect(spent.loginMs).toBeGreaterThanOrEqual(390);
  expect(spent.requestsMs).toBeGreaterThanOrEqual(390);
  expect(spent.startMs).toBeGreaterThan(0);
  expect(spent.importMs + spent.uploadMs).toBeGreaterThan(0);
  const tookMs = Date.parse(run.endTime ?? '') - Date.parse(run.startTime ?? '');
  const sumMs = Object.values(spent).reduce((sum, ms) => sum + ms, 0);
  // Times of runs are of whole seconds.
  expect(sumMs).toBeLessThanOrEqual(tookMs + 1000);
  const told = await gexAt(world)('runs', 'show', id);
  expect(told.stdout).toMatch(/^spent on +start \d+\.\d s, login \d+\.\d s, requests \d+\.\d s, .*import/m);
  const { requests } = await client.runs.requests(id);
  expect(requests.map(({ isLogin = false }) => isLogin)).toEqual([true, false]);
  expect((await client.runs.list())[0]).not.toHaveProperty('spent');
});

test('all schedules are listed with what they wait for, and paused and resumed together', async () => {
  const world = await startWorld();
  const client = clientOf(world);
  const configurations = client.configurations(COMPONENT);
  for (const id of ['a', 'b', 'c'])
    await world.configure(id, books('http://127.0.0.1:9'), { name: `Of ${id}` });
  await configurations.schedules('a').create({ cron: '0 * * * *' });
  await configurations.schedules('b').create({ cron: '*/5 * * * *', isEnabled: false });
  await configurations.schedules('c').create({ cron: '*/5 * * * *' });
  await configurations.update('c', { isDisabled: true });
  const listed = async () =>
    (await client.schedules.list())
      .map(({ name, waitsFor, times }) => `${name}: ${waitsFor}, ${times.length}`)
      .toSorted((a, b) => (a < b ? -1 : 1));
  expect(await listed()).toEqual(['Of a: time, 24', 'Of b: enabling, 0', 'Of c: configuration, 0']);
  await configurations.update('c', { isDisabled: false });
  const [often] = await client.schedules.list({ component: COMPONENT, configuration: 'c' });
  expect(often?.hasMoreTimes).toBe(true);
  expect(often?.times).toHaveLength(48);

  expect(await client.schedules.pause()).toBe(2);
  expect(await listed()).toEqual(['Of a: resume, 0', 'Of b: enabling, 0', 'Of c: resume, 0']);
  const { sources: states } = await client.runs.states();
  expect(states.map(({ isPaused }) => isPaused)).toEqual([true, true, true]);
  const [held] = await configurations.schedules('a').list();
  expect(held).toMatchObject({ isEnabled: true, isPaused: true, nextTime: null });
  // It stays paused while it is changed.
  const changed = await configurations.schedules('a').update(held?.id ?? '', { cron: '30 6 * * *' });
  expect(changed).toMatchObject({ isPaused: true, nextTime: null });
  expect(await client.schedules.resume({ component: COMPONENT, configuration: 'a' })).toBe(1);
  const [resumed] = await configurations.schedules('a').list();
  expect(resumed?.isPaused).toBe(false);
  expect(resumed?.nextTime).toMatch(/T06:30:00/);
  expect(await client.schedules.resume()).toBe(1);
  expect(await client.schedules.resume()).toBe(0);
  await expect(client.schedules.pause({ configuration: 'a' })).rejects.toMatchObject({
    status: 400,
  });
});
