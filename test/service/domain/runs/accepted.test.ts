import { readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunProblems } from '../../../../src/storage/protocol/problems.ts';
import { json, runHere, startApi } from '../../../cli/support.ts';
import { metaOf } from '../../database.ts';
import { books, startWorld, type ShownRun, type World } from './support.ts';

const BECAUSE = 'The total counts deleted books, too.';

/** An API that says it has more than it gives. */
const lossyApi = async () =>
  await startApi((_request, response) => json(response, { total: 7, data: [{ id: 1 }, { id: 2 }] }));

const jobs = (...endpoints: readonly string[]) => ({
  jobs: endpoints.map((endpoint) => ({ endpoint, dataField: 'data' })),
});

const accept = async (world: World, id: string, because = BECAUSE) =>
  await world.call('POST', `runs/${id}/accept`, { because });

const problemsOf = async (world: World): Promise<RunProblems> =>
  (await world.call('GET', 'runs/problems')).body as RunProblems;

describe('a doubt that is accepted', () => {
  test('loads what the run held back, and asks the API for nothing', async () => {
    const api = await lossyApi();
    const world = await startWorld();
    await world.configure('a', books(api.url, jobs('books')));
    const held = await world.ended((await world.start('a')).id);
    expect(held).toMatchObject({ status: 'error', error: { code: 'run.doubtful' } });
    expect(held).not.toHaveProperty('accepted');
    expect(await problemsOf(world)).toMatchObject({
      counts: { error: 1, accepted: 0 },
      problems: [{ sources: [{ isSolved: false }] }],
    });
    const asked = api.seen.length;

    const { status, body } = await accept(world, held.id, ` ${BECAUSE}\n`);
    expect(status).toBe(200);
    const loading = body as ShownRun & { accepts: unknown };
    expect(loading).toMatchObject({ accepts: { run: held.id, because: BECAUSE }, asked: {} });
    const loaded = await world.ended(loading.id);
    const by = { because: BECAUSE, creatorToken: { id: expect.any(String) as unknown } };
    expect(loaded).toMatchObject({
      status: 'success',
      verdict: 'doubtful',
      accepted: by,
      rows: [
        {
          jobs: [{ verdict: 'doubtful', accepted: BECAUSE }],
          tables: [{ name: 'library.books', rows: 2, destination: 'in.c-library.books' }],
        },
      ],
    });
    expect(await world.show(held.id)).toMatchObject({ status: 'error', accepted: { ...by, run: loaded.id } });
    expect(api.seen).toHaveLength(asked);
    expect(await world.rows('in.c-library.books')).toEqual(['"1"', '"2"']);

    expect(await problemsOf(world)).toMatchObject({
      counts: { success: 1, error: 0, doubtful: 0, accepted: 2 },
      problems: [],
    });
    expect((await world.call('GET', 'runs/sources')).body).toMatchObject({ counts: { fresh: 1, failed: 0 } });
    expect((await world.call('GET', 'runs?isBad=true')).body).toEqual([]);
    expect((await world.call('GET', 'runs/days?days=1')).body).toMatchObject([
      { success: 1, doubtful: 1, error: 0 },
    ]);
    expect(await accept(world, held.id)).toMatchObject({
      status: 409,
      body: { code: 'storage.runs.accepted' },
    });
  });

  test('is accepted in a terminal for all with its cause', async () => {
    const api = await lossyApi();
    const world = await startWorld();
    const held: ShownRun[] = [];
    for (const id of ['a', 'b']) {
      await world.configure(id, books(api.url, { outputBucket: id, ...jobs('books') }));
      held.push(await world.ended((await world.start(id)).id));
    }
    const [first = '', second = ''] = held.map(({ id }) => id);
    const runs = async (...args: readonly string[]) =>
      await runHere(['runs', ...args, '--storage', world.addresses.url], { env: { KBC_TOKEN: world.token } });
    const told = await runs('accept', '--cause', first, '--because', BECAUSE);
    expect(told).toMatchObject({ code: 0 });
    for (const id of ['a', 'b'])
      expect(told.stdout).toMatch(new RegExp(`ex-generic-v2/${id} +(waiting|processing)`));
    for (const id of [first, second])
      await expect
        .poll(async () => await world.show(id), { timeout: 100_000 })
        .toMatchObject({ accepted: { because: BECAUSE } });
    expect((await runs('show', first)).stdout).toMatch(
      new RegExp(`accepted +by .+: ${BECAUSE} \\(loaded by run \\d+\\)`),
    );
    expect((await runs('list', '--config', 'a')).stdout).toMatch(/error +doubtful, accepted/);
    expect((await runs('--failed')).stdout).toMatch(
      /0 failed, 0 cancelled, 4 in doubt and accepted.\nNothing went wrong./,
    );
    expect((await runs('accept', '--doubtful', '--because', 'all')).stdout).toBe(
      'There is nothing to accept.\n',
    );
    const refused = await runs('accept', first, second, '--because', 'again');
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain('2 runs were not accepted.');
    expect(refused.stderr).toContain('has been accepted already');
    expect((await runs('accept', first)).stderr).toContain('--because "');
  });

  test('loads the rows that were held back, by the version of then, and moves their states alone', async () => {
    const api = await startApi(({ url }, response) =>
      json(
        response,
        url.pathname === '/good' ? { total: 1, data: [{ id: 1 }] } : { total: 7, data: [{ id: 1 }] },
      ),
    );
    const world = await startWorld();
    await world.configure('a', { parameters: { api: { baseUrl: api.url }, config: { outputBucket: 'r' } } });
    for (const row of ['good', 'bad'])
      await world.call('POST', 'components/ex-generic-v2/configs/a/rows', {
        rowId: row,
        name: row,
        configuration: {
          parameters: {
            config: {
              incrementalOutput: true,
              jobs: [{ endpoint: row, dataField: 'data', params: { since: { time: 'previousStart' } } }],
            },
          },
        },
      });
    const held = await world.ended((await world.start('a')).id);
    expect(held.rows?.map((row) => [row.id, 'isHeld' in row])).toEqual([
      ['bad', true],
      ['good', false],
    ]);
    // what is held back is in no table
    expect((await world.call('GET', 'runs')).body).toMatchObject([{ id: held.id, rowCount: 1 }]);
    const stateOf = async (row: string) =>
      ((await world.call('GET', `components/ex-generic-v2/configs/a/rows/${row}`)).body as { state: object })
        .state;
    const before = await stateOf('good');
    expect(await stateOf('bad')).toEqual({});
    // what comes after that run is not what is loaded
    await world.call('PUT', 'components/ex-generic-v2/configs/a', {
      configuration: { parameters: { api: { baseUrl: api.url }, config: { outputBucket: 'other' } } },
    });
    const loaded = await world.ended(((await accept(world, held.id)).body as ShownRun).id);
    expect(loaded).toMatchObject({ status: 'success', rows: [{ id: 'bad' }] });
    expect(loaded.rows?.[0]?.tables).toMatchObject([{ destination: 'in.c-r.bad', rows: 1 }]);
    expect(await stateOf('bad')).not.toEqual({});
    expect(await stateOf('good')).toEqual(before);
    expect(await world.rows('in.c-r.good')).toEqual(['"1"']);
  });

  test('is refused where there is none, where a later run came, and without words', async () => {
    const api = await lossyApi();
    const world = await startWorld();
    await world.configure('a', books(api.url, jobs('books')));
    const held = await world.ended((await world.start('a')).id);
    for (const because of ['', ' \n'])
      expect(await accept(world, held.id, because)).toMatchObject({ status: 400 });
    const later = await world.ended((await world.start('a')).id);
    expect(await accept(world, held.id)).toMatchObject({
      status: 409,
      body: { code: 'storage.runs.superseded', params: { run: Number(later.id) } },
    });
    expect(await accept(world, '999999')).toMatchObject({ status: 404 });
    await world.configure(
      'required',
      books(api.url, { jobs: [{ endpoint: 'books', dataField: 'data', completeness: 'require' }] }),
    );
    const required = await world.ended((await world.start('required')).id);
    const { status, body } = await accept(world, required.id);
    expect({ status, body }).toMatchObject({ status: 409, body: { code: 'storage.runs.noDoubt' } });
    expect((body as { error: string }).error).toContain('"completeness": "require"');
  });

  test('that the configuration accepts is no failure either', async () => {
    const api = await lossyApi();
    const world = await startWorld();
    const completeness = { mode: 'accept', because: BECAUSE };
    await world.configure(
      'a',
      books(api.url, { jobs: [{ endpoint: 'books', dataField: 'data', completeness }] }),
    );
    const run = await world.ended((await world.start('a')).id);
    expect(run).toMatchObject({ status: 'success', verdict: 'doubtful', accepted: { because: BECAUSE } });
    expect((run as unknown as { accepted: object }).accepted).not.toHaveProperty('creatorToken');
    expect(await problemsOf(world)).toMatchObject({ counts: { success: 1, doubtful: 0 }, problems: [] });
  });

  test('of a run that has loaded is written down', async () => {
    const api = await lossyApi();
    const world = await startWorld();
    const completeness = { mode: 'accept', because: BECAUSE };
    await world.configure(
      'a',
      books(api.url, { jobs: [{ endpoint: 'books', dataField: 'data', completeness }] }),
    );
    const { id } = await world.ended((await world.start('a')).id);
    // as a version before this one wrote it
    const meta = await metaOf(world.dir);
    await meta.updateTable('runs').set({ accepted: null }).where('id', '=', Number(id)).execute();
    await meta.destroy();
    expect(await problemsOf(world)).toMatchObject({
      counts: { doubtful: 1 },
      problems: [{ kind: 'doubtful' }],
    });
    expect((await accept(world, id)).body).toMatchObject({ id, accepted: { because: BECAUSE } });
    expect(await problemsOf(world)).toMatchObject({ counts: { doubtful: 0 }, problems: [] });
  });

  test('is not loaded when its files are gone, and the run stays as it was', async () => {
    const api = await lossyApi();
    const world = await startWorld();
    await world.configure('a', books(api.url, jobs('books')));
    const held = await world.ended((await world.start('a')).id);
    const [folder = ''] = await readdir(path.join(world.dir, 'runs'));
    const ended = path.join(world.dir, 'runs', folder, '.gex', 'ended.json');
    const mark = readFileSync(ended, 'utf8');
    writeFileSync(ended, mark.replace('"stateDigest":"', '"stateDigest":"x'));
    const changed = await world.ended(((await accept(world, held.id)).body as ShownRun).id);
    expect(changed).toMatchObject({ status: 'error', exitCode: 1, error: { code: 'run.nothingHeld' } });
    expect(await world.show(held.id)).not.toHaveProperty('accepted');
    expect((await world.call('GET', 'buckets')).body).toEqual([]);
  });
});
