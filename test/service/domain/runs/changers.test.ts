import { describe, expect, test } from 'vitest';
import { json, startApi } from '../../../cli/support.ts';
import { metaOf } from '../../database.ts';
import { books, startWorld, type ShownRun, type World } from './support.ts';

interface ShownSchedule {
  readonly id: string;
  readonly approvedVersion: number | null;
  readonly refusal: { readonly run: string; readonly message: string; readonly hint?: string } | null;
}

const config = (id: string): string => `components/ex-generic-v2/configs/${id}`;

/** A service with a bucket that only the master token may use, and a schedule that the master has made. */
async function startScheduled(configuration?: object, more: object = {}) {
  const api = await startApi(({ url }, response) => json(response, [{ id: 1, path: url.pathname }]));
  const world = await startWorld();
  const call: World['call'] = async (...request) => await world.call(...request);
  await call('POST', 'buckets', { name: 'library', stage: 'in' });
  await call('POST', 'buckets', { name: 'secret', stage: 'in' });
  await call('POST', 'buckets', { name: 'ex-generic-v2-c', stage: 'in' });
  await world.configure('c', configuration ?? books(api.url), more);
  const { body } = await call('POST', `${config('c')}/schedules`, { cron: '0 0 1 1 *' });
  const { id } = body as ShownSchedule;
  return {
    ...world,
    api,
    /** A token that may use the component, and what is given besides. */
    token: async (description: string, bucketPermissions: object = {}) => {
      const rights = { description, componentAccess: ['ex-generic-v2'], bucketPermissions };
      const made = (await call('POST', 'tokens', rights)).body as { id: string; token: string };
      return { id: made.id, as: { 'x-storageapi-token': made.token } };
    },
    schedule: async (): Promise<ShownSchedule> =>
      (await call('GET', `${config('c')}/schedules/${id}`)).body as ShownSchedule,
    change: async (body: object, as?: Record<string, string>) =>
      await call('PUT', `${config('c')}/schedules/${id}`, body, as),
    /** Lets the time of the schedule come. @returns its run, when that has ended */
    due: async (): Promise<ShownRun> => {
      const meta = await metaOf(world.dir);
      const before = await lastRun(world);
      const next_occurrence = new Date(Date.now() - 60_000).toISOString();
      await meta.updateTable('schedules').set({ next_occurrence, last_occurrence: null }).execute();
      await meta.destroy();
      await expect.poll(async () => await lastRun(world)).not.toBe(before);
      return await world.ended((await lastRun(world)) ?? '');
    },
  };
}

async function lastRun(world: Pick<World, 'call'>): Promise<string | undefined> {
  return ((await world.call('GET', 'runs?limit=1')).body as { id: string }[])[0]?.id;
}

const job = (name: string): object => ({ parameters: { config: { jobs: [{ endpoint: name }] } } });

const refused = ({ status, error }: ShownRun): string =>
  `${status} ${error?.code ?? ''} ${error?.message ?? ''}`;

describe('what a weaker token has changed', () => {
  test(
    'does not run with the rights of the schedule, until somebody who has them approves it',
    { tags: 'thorough' },
    async () => {
      const world = await startScheduled();
      const { api } = world;
      const call: World['call'] = async (...request) => await world.call(...request);
      const clerk = await world.token('clerk');
      expect(refused(await world.due())).toBe('success  ');
      const changed = { configuration: books(api.url, { outputBucket: 'secret' }) };
      expect((await call('PUT', config('c'), changed, clerk.as)).status).toBe(200);

      const run = await world.due();
      const message =
        'The token “clerk”, which made version 2 of the configuration, may not write into the bucket in.c-secret.';
      expect(refused(run)).toBe(`error storage.forbidden ${message}`);
      expect(await call('GET', 'tables/in.c-secret.books')).toMatchObject({ status: 404 });
      expect(await world.schedule()).toMatchObject({
        approvedVersion: 1,
        refusal: { run: run.id, message, version: 2 },
      });
      // Nobody gives himself what he hasn't: the schedule is of the clerk then.
      expect((await world.change({ ifVersion: 2 }, clerk.as)).status).toBe(200);
      expect(refused(await world.due())).toContain('“clerk” that asked for the run may not write');
      // Nor does another one who takes it over, without a word on the version, answer for it.
      expect((await world.change({ timeZone: 'UTC' })).status).toBe(200);
      expect(refused(await world.due())).toContain('“clerk”, which made version 2');

      expect((await world.change({ ifVersion: 1 })).status).toBe(412);
      const approved = await world.change({ ifVersion: 2 });
      expect(approved).toMatchObject({ status: 200, body: { approvedVersion: 2, refusal: null } });
      expect(refused(await world.due())).toBe('success  ');
      expect(await world.rows('in.c-secret.books')).toHaveLength(1);
      // Later changes are not approved.
      await call('PUT', config('c'), { description: 'another' }, clerk.as);
      expect(refused(await world.due())).toContain('“clerk”, which made version 3');
    },
  );

  test('counts by what it might do in the end, when the token is gone', { tags: 'thorough' }, async () => {
    const world = await startScheduled();
    const call: World['call'] = async (...request) => await world.call(...request);
    const [equal, less, unknown] = [
      await world.token('equal', { 'in.c-library': 'write', 'in.c-ex-generic-v2-c': 'write' }),
      await world.token('less', { 'in.c-library': 'read' }),
      await world.token('unknown', { 'in.c-library': 'write' }),
    ];
    await call('PUT', config('c'), { description: 'by an equal' }, equal.as);
    expect(refused(await world.due())).toBe('success  ');
    await call('DELETE', `tokens/${equal.id}`);
    expect(refused(await world.due())).toBe('success  ');
    await call('PUT', config('c'), { description: 'by less' }, less.as);
    await call('DELETE', `tokens/${less.id}`);
    expect(refused(await world.due())).toContain(
      '“less”, which made version 3 of the configuration, may not write',
    );
    await call('PUT', config('c'), { description: 'by unknown' }, unknown.as);
    const meta = await metaOf(world.dir);
    await meta.deleteFrom('tokens').where('description', '=', 'unknown').execute();
    await meta.destroy();
    expect(refused(await world.due())).toContain('is gone, and nothing is known of what it was allowed');
    // An author with all permissions is responsible for the version, and the content was the master's from the start.
    await call('PUT', config('c'), { description: 'mine' });
    expect(refused(await world.due())).toBe('success  ');
  });

  test('is not made right by a change of another part', { tags: 'thorough' }, async () => {
    const world = await startScheduled(undefined, {});
    const { api } = world;
    const call: World['call'] = async (...request) => await world.call(...request);
    const clerk = await world.token('clerk');
    await call('PUT', config('c'), { configuration: books(api.url, { outputBucket: 'secret' }) }, clerk.as);
    await call('PUT', config('c'), { description: 'by the master' });
    expect(refused(await world.due())).toContain(
      '“clerk”, which gave the configuration its content, in version 2',
    );
    // A restored version counts as the content of its restorer.
    expect((await call('POST', `${config('c')}/versions/1/rollback`, {}, clerk.as)).status).toBe(201);
    await call('PUT', config('c'), { description: 'by the master again' });
    expect(refused(await world.due())).toContain(
      '“clerk”, which gave the configuration its content, in version 4',
    );
    expect((await call('POST', `${config('c')}/versions/3/rollback`)).status).toBe(201);
    expect(refused(await world.due())).toBe('success  ');
  });

  test('is a row of it, as well, if it runs', { tags: 'thorough' }, async () => {
    const world = await startScheduled();
    const call: World['call'] = async (...request) => await world.call(...request);
    const clerk = await world.token('clerk');
    const rows = `${config('c')}/rows`;
    await call('POST', rows, { rowId: 'a', name: 'a', configuration: job('a') });
    await call('POST', rows, { rowId: 'b', name: 'b', configuration: job('b') });
    await call('PUT', `${rows}/a`, { configuration: job('from-the-clerk') }, clerk.as);
    await call('PUT', `${rows}/b`, { configuration: job('from-the-master') });
    expect(refused(await world.due())).toContain(
      '“clerk”, which made version 2 of the row “a”, may not write',
    );
    await call('PUT', `${rows}/a`, { isDisabled: true }, clerk.as);
    await call('PUT', `${rows}/b`, { description: 'the last word' });
    expect(refused(await world.due())).toBe('success  ');
    expect(world.api.seen).toEqual([expect.stringContaining('/from-the-master')]);
  });

  test(
    'is a row whose name, or whether it runs, somebody else has changed since',
    { tags: 'thorough' },
    async () => {
      const world = await startScheduled();
      const call: World['call'] = async (...request) => await world.call(...request);
      const clerk = await world.token('clerk');
      const rows = `${config('c')}/rows`;
      await call('POST', rows, { rowId: 'a', name: 'a', configuration: job('a') });
      await call('PUT', `${rows}/a`, { configuration: job('stolen'), isDisabled: true }, clerk.as);
      const content = '“clerk”, which gave the row “a” its content, in version 2, may not write';
      for (const change of [{ name: 'renamed' }, { isDisabled: false }, { description: 'and described' }]) {
        expect((await call('PUT', `${rows}/a`, change)).status).toBe(200);
        if (!('name' in change)) expect(refused(await world.due())).toContain(content);
      }
      expect(world.api.seen).toEqual([]);
      // A row that the clerk made is the clerk's from its first version on, too.
      await call('POST', rows, { rowId: 'b', name: 'b', configuration: job('new') }, clerk.as);
      await call('PUT', `${rows}/b`, { name: 'renamed' });
      await call('PUT', `${rows}/a`, { isDisabled: true });
      expect(refused(await world.due())).toContain('gave the row “b” its content, in version 1');
      // Another author of its content answers for that content alone.
      await call('PUT', `${rows}/b`, { configuration: job('from-the-master') });
      await call('PUT', `${rows}/b`, { name: 'by the clerk' }, clerk.as);
      await call('PUT', `${rows}/b`, { name: 'by the master' });
      expect(refused(await world.due())).toBe('success  ');
      expect(world.api.seen).toEqual([expect.stringContaining('/from-the-master')]);
    },
  );

  test('is a state, too, but not an empty one, nor that of a run', { tags: 'thorough' }, async () => {
    const world = await startScheduled();
    const call: World['call'] = async (...request) => await world.call(...request);
    const clerk = await world.token('clerk');
    expect(refused(await world.due())).toBe('success  ');
    expect(refused(await world.due())).toBe('success  ');
    await call('PUT', `${config('c')}/state`, { state: {} }, clerk.as);
    expect(refused(await world.due())).toBe('success  ');
    await call('PUT', `${config('c')}/state`, { state: { component: { x: 1 } } }, clerk.as);
    expect(refused(await world.due())).toContain(
      '“clerk”, which set the state of the configuration, may not write',
    );
    expect((await world.change({ ifVersion: 1 })).status).toBe(200);
    expect(refused(await world.due())).toBe('success  ');
  });

  test('does not reach a run that was asked for before', { tags: 'thorough' }, async () => {
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const api = await startApi(
      ({ url }, response) => void gate.then(() => json(response, [{ path: url.pathname }])),
    );
    const world = await startScheduled(books(api.url));
    const call: World['call'] = async (...request) => await world.call(...request);
    const clerk = await world.token('clerk');
    const working = await world.start('c');
    await expect.poll(() => api.seen.length).toBe(1);
    const waiting = await world.start('c');
    const stolen = books(api.url, { outputBucket: 'secret', jobs: [{ endpoint: 'stolen' }] });
    await call('PUT', config('c'), { configuration: stolen }, clerk.as);
    const late = await world.start('c', {}, clerk.as);
    letGo();
    expect(refused(await world.ended(working.id))).toBe('success  ');
    expect(refused(await world.ended(waiting.id))).toBe('success  ');
    expect(await world.show(waiting.id)).toMatchObject({ configurationVersion: 1 });
    expect(refused(await world.ended(late.id))).toContain('“clerk” that asked for the run may not write');
    expect(await world.rows('in.c-library.books')).toEqual(['"/books"']);
    expect(await call('GET', 'tables/in.c-secret.stolen')).toMatchObject({ status: 404 });
    expect(
      (await call('POST', 'runs', { component: 'ex-generic-v2', configuration: 'c', ifVersion: 1 })).status,
    ).toBe(412);
  });
});

test(
  'a run that an older version of the service has asked for needs the rights of everybody',
  { tags: 'thorough' },
  async () => {
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const api = await startApi((_request, response) => void gate.then(() => json(response, [{ id: 1 }])));
    const world = await startScheduled(books(api.url));
    const clerk = await world.token('clerk');
    const working = await world.start('c');
    await expect.poll(() => api.seen.length).toBe(1);
    const old = await world.start('c');
    const meta = await metaOf(world.dir);
    const nothing = { version: null, version_identifier: null, approved_id: null };
    await meta.updateTable('runs').set(nothing).where('id', '=', Number(old.id)).execute();
    await meta.destroy();
    await world.call('PUT', config('c'), { description: 'by the clerk' }, clerk.as);
    letGo();
    expect(refused(await world.ended(working.id))).toBe('success  ');
    const { error } = await world.ended(old.id);
    expect(error?.message).toContain('“clerk”, which made version 2');
    expect(error?.hint).toBe('Start the run again: it then goes by what is there now.');
  },
);

test('a configuration that was purged and made again is not the one that was asked for', async () => {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const api = await startApi((_request, response) => void gate.then(() => json(response, [{ id: 1 }])));
  const world = await startScheduled(books(api.url));
  const working = await world.start('c');
  await expect.poll(() => api.seen.length).toBe(1);
  const waiting = await world.start('c');
  for (let i = 0; i < 2; i++) expect((await world.call('DELETE', config('c'))).status).toBe(204);
  await world.configure('c', books(api.url, { outputBucket: 'secret' }));
  letGo();
  await world.ended(working.id);
  expect(refused(await world.ended(waiting.id))).toContain('is another one by now');
});
