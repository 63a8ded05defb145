import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../../src/lib/log.ts';
import { appendLog } from '../../../../src/service/stores/metadata/run-log.ts';
import { findRun } from '../../../../src/service/stores/metadata/runs.ts';
import { finishRun, requeueRun, takeRun } from '../../../../src/service/stores/metadata/run-leases.ts';
import { json, startApi, type Answer, type Api } from '../../../cli/support.ts';
import { metaOf } from '../../database.ts';
import { books, startWorld } from './support.ts';

const twoBooks = async (): Promise<Api> =>
  await startApi((_request, response) => json(response, [{ id: 1 }, { id: 2 }]));

/** Answers only when it is let go. */
async function slowBooks(): Promise<Api & { letGo(): void }> {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const answer: Answer = (_request, response) => void gate.then(() => json(response, [{ id: 1 }]));
  const api = await startApi(answer);
  return { url: api.url, seen: api.seen, letGo };
}

/** Tokens of runs: those that people see are without them. */
async function runTokens({ dir }: { readonly dir: string }): Promise<unknown> {
  const meta = await metaOf(dir);
  const tokens = await meta.selectFrom('tokens').select('id').where('run_limits', 'is not', null).execute();
  await meta.destroy();
  return tokens;
}

describe('a run of a configuration in the service', () => {
  test('loads its tables, and tells of rows, verdict and log', async () => {
    const api = await twoBooks();
    const world = await startWorld();
    await world.configure('a', books(api.url));
    const { id } = await world.start('a');
    const run = await world.ended(id);
    expect({ status: run.status, error: run.error }).toEqual({ status: 'success', error: null });
    const tables = [{ name: 'library.books', rows: 2, destination: 'in.c-library.books' }];
    expect(run).toMatchObject({
      attempt: 1,
      exitCode: 0,
      verdict: 'ended',
      rows: [{ rows: 2, verdict: 'ended', tables }],
    });
    expect(await world.rows('in.c-library.books')).toEqual(['"1"', '"2"']);
    const log = await world.log(id);
    expect(log.map(({ message }) => message)).toContain('Made the bucket in.c-library');
    expect(run.log.lines).toBe(log.length);
    expect(log.filter(({ level }) => level !== 'info')).toEqual([]);
    expect((await world.call('GET', `runs/${id}/log?offset=1&limit=1`)).body).toEqual({
      lines: [log[1]],
      next: 2,
      isEnded: false,
    });
    // Nothing is left of it but its result.
    expect(await runTokens(world)).toEqual([]);
    expect(readdirSync(path.join(world.dir, 'runs'))).toEqual([]);
  });

  test('runs the rows that are named, and the state of each goes on', { tags: 'thorough' }, async () => {
    const api = await startApi(({ url }, response) =>
      json(response, [{ id: url.searchParams.get('since') ?? 0 }]),
    );
    const world = await startWorld();
    await world.configure('rows', {
      parameters: { api: { baseUrl: api.url }, config: { outputBucket: 'r' } },
    });
    for (const row of ['one', 'two'])
      await world.call('POST', 'components/ex-generic-v2/configs/rows/rows', {
        rowId: row,
        name: row,
        configuration: {
          parameters: {
            config: {
              jobs: [
                {
                  endpoint: row,
                  params: { since: { function: 'concat', args: ['s', { time: 'previousStart' }] } },
                },
              ],
            },
          },
        },
      });
    for (let i = 0; i < 2; i++) {
      const run = await world.ended((await world.start('rows', { rows: ['two'] })).id);
      expect({ status: run.status, error: run.error }).toEqual({ status: 'success', error: null });
      expect(run.rows?.map(({ id }) => id)).toEqual(['two']);
    }
    expect(api.seen[0]).toBe('GET /two?since=s0');
    expect(api.seen[1]).toMatch(/^GET \/two\?since=s\d{10}$/);
  });

  test('that fails says why, with the code of the command', async () => {
    const api = await startApi((_request, response) => json(response, { error: 'no' }, 404));
    const world = await startWorld();
    await world.configure('a', books(api.url));
    const run = await world.ended((await world.start('a')).id);
    expect(run).toMatchObject({ status: 'error', exitCode: 1, error: { code: 'http.status' } });
    expect(run.error?.message).toContain('404');
    expect(JSON.stringify(run)).not.toContain(world.dir);
    // Nobody has anything to go on with.
    expect(await runTokens(world)).toEqual([]);
  });

  test('that may not have everything pushes nothing, and says what to do', async () => {
    const api = await startApi((_request, response) => json(response, { total: 7, data: [{ id: 1 }] }));
    const world = await startWorld();
    await world.configure('a', books(api.url, { jobs: [{ endpoint: 'books', dataField: 'data' }] }));
    const run = await world.ended((await world.start('a')).id);
    expect(run).toMatchObject({
      status: 'error',
      verdict: 'doubtful',
      error: {
        code: 'run.doubtful',
        message: '“books” may not have everything, so nothing of it was pushed.',
        hint: expect.stringContaining('completeness') as unknown,
      },
      rows: [{ isHeld: true, verdict: 'doubtful' }],
    });
    expect((await world.call('GET', 'buckets')).body).toEqual([]);
  });

  test(
    'reads encrypted values; the environment of the service is none of its business',
    { tags: 'thorough' },
    async () => {
      const api = await startApi(({ headers }, response) =>
        json(response, [{ auth: headers['x-key'] ?? '' }]),
      );
      const world = await startWorld();
      const withKey = (value: string) => {
        const { parameters } = books(api.url) as { parameters: { api: object } };
        const headers = { 'X-Key': { attr: '#key' } };
        return {
          parameters: {
            ...parameters,
            api: { ...parameters.api, http: { headers } },
            config: { outputBucket: 'library', '#key': value, jobs: [{ endpoint: 'books' }] },
          },
        };
      };
      await world.configure('sealed', withKey('opensesame'));
      expect((await world.call('GET', 'components/ex-generic-v2/configs/sealed')).text).not.toContain(
        'opensesame',
      );
      const { id } = await world.start('sealed');
      expect(await world.ended(id)).toMatchObject({ status: 'success' });
      expect(await world.rows('in.c-library.books')).toEqual(['"opensesame"']);
      expect(JSON.stringify(await world.log(id))).not.toContain('opensesame');

      for (const name of ['KBC_TOKEN', 'GEX_ENCRYPTION_KEY', 'USER']) {
        await world.configure(`env-${name}`, withKey(`$env:${name}`));
        const run = await world.ended((await world.start(`env-${name}`)).id);
        expect(run).toMatchObject({ status: 'error', exitCode: 1 });
        expect(run.error?.message).toContain(`${name} is not set`);
      }
    },
  );
});

test(
  'a run begins when it is asked for, and not only when the runner looks again',
  { tags: 'thorough' },
  async () => {
    const api = await twoBooks();
    const world = await startWorld({ runner: { pollMs: 3_600_000 } });
    for (const id of ['a', 'b']) await world.configure(id, books(api.url));
    const runs = await Promise.all([world.start('a'), world.start('b')]);
    for (const { id } of runs) expect(await world.ended(id)).toMatchObject({ status: 'success' });
  },
);

test('a run of another runner is not taken for lost when many are asked for', async () => {
  const api = await twoBooks();
  const world = await startWorld({ runner: { concurrency: 0, pollMs: 3_600_000, checkMs: 3_600_000 } });
  await world.configure('a', books(api.url));
  const { id } = await world.start('a');
  const meta = await metaOf(world.dir);
  await takeRun(meta, { runner: 'elsewhere', now: Date.now() });
  await meta.destroy();
  for (let i = 0; i < 15; i++) await world.start('a');
  expect(await world.show(id)).toMatchObject({ status: 'processing', attempt: 1 });
});

describe('runs of one configuration', () => {
  test('are done one after another, those of two at the same time', { tags: 'thorough' }, async () => {
    const [first, other] = [await slowBooks(), await twoBooks()];
    const world = await startWorld();
    await world.configure('a', books(first.url));
    await world.configure('b', books(other.url, { outputBucket: 'other' }));
    const runs = [await world.start('a'), await world.start('a')];
    await expect.poll(() => first.seen.length).toBe(1);
    const refused = await world.call('POST', 'runs', {
      component: 'ex-generic-v2',
      configuration: 'a',
      ifRunning: 'refuse',
    });
    expect(refused.status).toBe(409);
    // The one of the other configuration came later, and is done before.
    expect(await world.ended((await world.start('b')).id)).toMatchObject({ status: 'success' });
    expect(await world.show(runs[1]?.id ?? '')).toMatchObject({ status: 'waiting', attempt: 0 });
    first.letGo();
    for (const { id } of runs) expect(await world.ended(id)).toMatchObject({ status: 'success' });
    expect(first.seen).toHaveLength(2);
  });
});

test('runs of one token that hang leave a runner to the runs of others', { tags: 'thorough' }, async () => {
  const [hanging, other] = [await slowBooks(), await twoBooks()];
  const world = await startWorld({ runner: { concurrency: 2 } });
  for (const id of ['a', 'b']) await world.configure(id, books(hanging.url));
  await world.configure('c', books(other.url, { outputBucket: 'other' }));
  const [first, second] = [await world.start('a'), await world.start('b')];
  await expect.poll(() => hanging.seen.length).toBe(1);
  const rights = { description: 'other', canManageBuckets: true, componentAccess: ['ex-generic-v2'] };
  const { token } = (await world.call('POST', 'tokens', rights)).body as { token: string };
  const { id } = await world.start('c', {}, { 'x-storageapi-token': token });
  expect(await world.ended(id)).toMatchObject({ status: 'success' });
  expect(await world.show(second.id)).toMatchObject({ status: 'waiting' });
  hanging.letGo();
  for (const run of [first, second]) expect(await world.ended(run.id)).toMatchObject({ status: 'success' });
});

describe('a run that is cancelled', () => {
  test('ends, and a later one goes on where it was unless it restarts', { tags: 'thorough' }, async () => {
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const api = await startApi(({ url }, response) => {
      const page = Number(url.searchParams.get('page') ?? 1);
      const rows = page < 4 ? [{ id: page }] : [];
      if (page === 3) void gate.then(() => json(response, rows));
      else json(response, rows);
    });
    const world = await startWorld();
    const paged = books(api.url) as { parameters: { api: object } };
    Object.assign(paged.parameters.api, { pagination: { method: 'pagenum', firstPage: 1 } });
    await world.configure('a', paged);
    const { id } = await world.start('a');
    await expect.poll(() => api.seen.length).toBe(3);
    expect((await world.call('POST', `runs/${id}/cancel`)).body).toMatchObject({ status: 'processing' });
    expect(await world.ended(id)).toMatchObject({ status: 'cancelled', error: null });
    expect((await world.call('POST', `runs/${id}/cancel`)).status).toBe(200);
    letGo();
    expect(await world.ended((await world.start('a')).id)).toMatchObject({ status: 'success' });
    expect(api.seen.slice(3)).toEqual(['GET /books?page=3', 'GET /books?page=4']);
    expect(await world.rows('in.c-library.books')).toEqual(['"1"', '"2"', '"3"']);
  });
});

describe('a run whose runner loses it', () => {
  test('leaves its token to the run behind it when it has not succeeded', { tags: 'thorough' }, async () => {
    const api = await slowBooks();
    const world = await startWorld();
    await world.configure('a', books(api.url));
    const meta = await metaOf(world.dir);
    const tokenOf = async (id: string): Promise<number | null | undefined> =>
      (await findRun(meta, Number(id)))?.token_id;
    const first = await world.start('a');
    await expect.poll(() => api.seen.length).toBe(1);
    const token = await tokenOf(first.id);
    expect(token).toEqual(expect.any(Number));
    // As one that has pushed already: by the token the service knows what was asked for.
    const key = { token_id: token ?? 0, key: 'pushed', digest: '', job_id: null, file_id: null, made: null };
    const created = new Date().toISOString();
    await meta
      .insertInto('request_keys')
      .values({ ...key, status: null, answer: null, created })
      .execute();
    await world.call('POST', `runs/${first.id}/cancel`);
    expect(await world.ended(first.id)).toMatchObject({ status: 'cancelled' });
    const second = await world.start('a');
    await expect.poll(() => api.seen.length).toBe(2);
    expect([await tokenOf(first.id), await tokenOf(second.id)]).toEqual([null, token]);
    api.letGo();
    expect(await world.ended(second.id)).toMatchObject({ status: 'success' });
    expect(await tokenOf(second.id)).toBe(null);
    await meta.destroy();
    expect(await runTokens(world)).toEqual([]);
  });

  test(
    'is refused when who asked for it is gone by then, and the next one goes on where it was',
    { tags: 'thorough' },
    async () => {
      const [opened, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let thirds = 0;
      const api = await startApi(({ url }, response) => {
        const page = Number(url.searchParams.get('page') ?? 1);
        const answer = (): void => json(response, page < 4 ? [{ id: page }] : []);
        if (page === 3) thirds++;
        if (page === 3 && thirds === 1) void opened.promise.then(answer);
        // The second run never has an answer to it: its process goes first.
        else if (page === 3 && thirds === 2) response.once('close', gone.resolve);
        else answer();
      });
      const world = await startWorld();
      const paged = books(api.url) as { parameters: { api: object } };
      Object.assign(paged.parameters.api, { pagination: { method: 'pagenum', firstPage: 1 } });
      await world.configure('a', paged);
      /** Starts a run, and deletes the token that asked for it while its third request is on its way. */
      const orphaned = async (requests: number): Promise<string> => {
        const { body } = await world.call('POST', 'tokens', { description: 'short', canManageBuckets: true });
        const { id, token } = body as { id: string; token: string };
        const run = await world.start('a', {}, { 'x-storageapi-token': token });
        await expect.poll(() => api.seen.length).toBe(requests);
        expect((await world.call('DELETE', `tokens/${id}`)).status).toBe(204);
        return run.id;
      };
      // It has a token of its own.
      const first = await orphaned(3);
      opened.resolve();
      expect(await world.ended(first)).toMatchObject({ status: 'success', error: null });

      const lost = await orphaned(7);
      const meta = await metaOf(world.dir);
      const run = await findRun(meta, Number(lost));
      expect(run !== undefined && (await requeueRun(meta, run))).toBe(true);
      await meta.destroy();
      expect(await world.ended(lost)).toMatchObject({
        status: 'error',
        attempt: 2,
        error: {
          code: 'storage.forbidden',
          message: 'The token “short” that asked for the run has been deleted.',
          hint: 'Start the run with another token. The next run goes on where the earlier attempts of this one were.',
        },
      });
      await gone.promise;
      expect(await world.ended((await world.start('a')).id)).toMatchObject({ status: 'success' });
      expect(api.seen.slice(7)).toEqual(['GET /books?page=3', 'GET /books?page=4']);
    },
  );

  test(
    'is ended there, and done by the next attempt with the same token under another secret',
    { tags: 'thorough' },
    async () => {
      const api = await slowBooks();
      const world = await startWorld();
      await world.configure('a', books(api.url));
      const { id } = await world.start('a');
      await expect.poll(() => api.seen.length).toBe(1);
      const meta = await metaOf(world.dir);
      const before = await findRun(meta, Number(id));
      if (before === undefined) throw new Error('The run is gone.');
      // Another runner does this when it takes this one for dead.
      expect(await requeueRun(meta, before)).toBe(true);
      await expect.poll(async () => (await world.show(id)).attempt).toBe(2);
      api.letGo();
      expect(await world.ended(id)).toMatchObject({ status: 'success', attempt: 2 });
      expect(await requeueRun(meta, before)).toBe(false);
      await meta.destroy();
      expect(await world.rows('in.c-library.books')).toEqual(['"1"']);
      expect((await world.log(id)).some(({ message }) => message.startsWith('Attempt 2'))).toBe(true);
    },
  );

  test('is taken over when its runner gives no sign of life any more', { tags: 'thorough' }, async () => {
    const api = await twoBooks();
    // The one that dies: it takes the run, and is not heard of again.
    const idle = await startWorld({ runner: { concurrency: 0 } });
    await idle.configure('a', books(api.url));
    const { id } = await idle.start('a');
    const meta = await metaOf(idle.dir);
    const held = await takeRun(meta, { runner: 'dead', now: Date.now() });
    expect(held?.id).toBe(Number(id));
    // Another one looks on for a while, and gives it back into the queue.
    await expect.poll(async () => (await idle.show(id)).status).toBe('waiting');
    await idle.service.stop();
    const world = await startWorld({ dir: idle.dir });
    expect(await world.ended(id)).toMatchObject({ status: 'success', attempt: 2 });
    // It comes back, and may not say how the run ended.
    const end = { status: 'error', exitCode: 2, verdict: null, error: null, report: null } as const;
    expect(held === undefined || (await finishRun(meta, held, end, Date.now()))).toBe(false);
    expect(held === undefined ? 0 : await appendLog(meta, held, held, ['{}'])).toBeUndefined();
    await meta.destroy();
    expect(await world.show(id)).toMatchObject({ status: 'success' });
  });

  test(
    'again and again is given up; people are told, and a new run goes on',
    { tags: 'thorough' },
    async () => {
      const api = await twoBooks();
      const idle = await startWorld({ runner: { concurrency: 0 } });
      await idle.configure('a', books(api.url));
      const { id } = await idle.start('a');
      await idle.service.stop();
      const meta = await metaOf(idle.dir);
      await meta.updateTable('runs').set({ attempt: 9 }).where('id', '=', Number(id)).execute();
      await takeRun(meta, { runner: 'dead', now: Date.now() });
      await meta.destroy();
      const lines: [string, unknown][] = [];
      const log = { ...silentLog, error: (text: string, facts?: unknown) => void lines.push([text, facts]) };
      const world = await startWorld({ dir: idle.dir, log, healthPort: 0 });
      expect(await world.ended(id)).toMatchObject({ status: 'error', error: { code: 'run.interrupted' } });
      await expect
        .poll(() => lines)
        .toMatchObject([['Run given up', { run: Number(id), interruptions: 10 }]]);
      const metrics = await (await fetch(`${world.addresses.parts['health']}/metrics`)).text();
      expect(metrics).toContain('gex_runs_given_up_total 1');
      expect(await world.ended((await world.start('a')).id)).toMatchObject({ status: 'success' });
    },
  );

  test('that was to be cancelled is cancelled with its runner', async () => {
    // It looks at nothing: a late machine would see the run as lost before it is shown.
    const idle = await startWorld({ runner: { concurrency: 0, checkMs: 3_600_000 } });
    await idle.configure('a', books('http://127.0.0.1:9/'));
    const { id } = await idle.start('a');
    const meta = await metaOf(idle.dir);
    await takeRun(meta, { runner: 'dead', now: Date.now() });
    await meta.destroy();
    await idle.call('POST', `runs/${id}/cancel`);
    expect(await idle.show(id)).toMatchObject({ status: 'processing' });
    await idle.service.stop();
    const world = await startWorld({ dir: idle.dir });
    expect(await world.ended(id)).toMatchObject({ status: 'cancelled', attempt: 1 });
  });

  test('goes on when a service that was stopped is started again', { tags: 'thorough' }, async () => {
    const api = await slowBooks();
    const world = await startWorld();
    await world.configure('a', books(api.url));
    const { id } = await world.start('a');
    await expect.poll(() => api.seen.length).toBe(1);
    await world.service.stop();
    api.letGo();
    const again = await startWorld({ dir: world.dir });
    expect(await again.ended(id)).toMatchObject({ status: 'success', attempt: 2 });
  });
});
