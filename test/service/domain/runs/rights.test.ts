// @module-tag thorough
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { startWorld, type World } from './support.ts';

/** In the place of `gex run`: gives its token away, and waits to be ended. */
const STUB = `
process.once('message', ({ token }) => {
  require('node:fs').writeFileSync(process.env.TMPDIR + '/token', token);
  process.once('SIGTERM', () => { console.log('{"rows":[]}'); process.exit(0); });
  setInterval(() => {}, 1000);
});
`;

/** The configuration that runs: it reads in.c-source, and writes into in.c-target, which there is not yet. */
const CONFIGURATION = {
  storage: {
    input: {
      tables: [{ source: 'in.c-source.users' }],
      files: [{ tags: ['wanted'], processed_tags: ['done'] }],
    },
    output: { default_bucket: 'in.c-plain' },
  },
  parameters: { config: { outputBucket: 'target' } },
};

const config = (id: string): string => `components/ex-generic-v2/configs/${id}`;
const bucket = (name: string): object => ({ name, stage: 'in' });

/**
 * A run that is at work, and its token.
 *
 * @param branch whether it runs in a branch that was made of the default one
 */
async function startRun(
  configuration: object = CONFIGURATION,
  { branch = false }: { readonly branch?: boolean } = {},
): Promise<{
  /** Begins the addresses of the branch. */
  at: string;
  world: World;
  as: Record<string, string>;
  run: string;
  end: () => Promise<void>;
}> {
  const world = await startWorld({ runner: { command: [process.execPath, '-e', STUB, '--'] } });
  const file = path.join(world.dir, 'token');
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = world.dir;
  try {
    for (const name of ['source', 'other']) await world.call('POST', 'buckets', { name, stage: 'in' });
    for (const bucket of ['in.c-source', 'in.c-other'])
      await world.call('POST', `buckets/${bucket}/tables-definition`, {
        name: 'users',
        columns: [{ name: 'id' }],
        primaryKeysNames: [],
      });
    await expect.poll(async () => (await world.call('GET', 'tables')).body).toHaveLength(2);
    await world.configure('a', configuration);
    await world.configure('b', {});
    const at = branch ? `branch/${await makeBranch(world)}/` : '';
    const { body } = await world.call('POST', `${at}runs`, {
      component: 'ex-generic-v2',
      configuration: 'a',
    });
    const { id } = body as { id: string };
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8') !== '').toBe(true);
    return {
      world,
      at,
      run: id,
      as: { 'x-storageapi-token': readFileSync(file, 'utf8') },
      end: async () => {
        await world.call('POST', `${at}runs/${id}/cancel`);
        const status = async (): Promise<string> =>
          ((await world.call('GET', `${at}runs/${id}`)).body as { status: string }).status;
        await expect.poll(status).toMatch(/success|cancelled/);
      },
    };
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

async function makeBranch(world: World): Promise<number> {
  await world.call('POST', 'dev-branches', { name: 'trial' });
  const find = async (): Promise<number | undefined> =>
    ((await world.call('GET', 'dev-branches')).body as { id: number; name: string }[]).find(
      ({ name }) => name === 'trial',
    )?.id;
  await expect.poll(find).toBeDefined();
  return (await find()) ?? 0;
}

describe('the token of a run', () => {
  test('does what the mapping says, and nothing else, for as long as the run', async () => {
    const { world, as, run, end } = await startRun();
    const call: World['call'] = async (...request) => await world.call(...request);
    const status = async (method: string, at: string, body?: object): Promise<number> =>
      (await call(method, at, body, as)).status;
    const columns = [{ name: 'id' }];

    // its own configuration, to read and to keep the state
    expect(await status('GET', config('a'))).toBe(200);
    expect(await status('PUT', `${config('a')}/state`, { state: { component: { at: 1 } } })).toBe(200);
    expect(await status('PUT', config('a'), { name: 'mine now' })).toBe(403);
    expect(await status('DELETE', config('a'))).toBe(403);
    expect(await status('GET', `${config('a')}/versions`)).toBe(403);
    expect(await status('POST', `${config('a')}/schedules`, { cron: '@daily' })).toBe(403);
    expect(await status('GET', config('b'))).toBe(403);
    expect(await status('PUT', `${config('b')}/state`, { state: {} })).toBe(403);
    expect(await status('GET', 'components/ex-generic-v2/configs')).toBe(403);
    expect(await status('POST', 'components/ex-generic-v2/configs', { name: 'new' })).toBe(403);

    // its inputs
    expect(await status('GET', 'tables/in.c-source.users')).toBe(200);
    expect(await status('POST', 'tables/in.c-source.users/export-async', {})).toBe(202);
    expect(await status('POST', 'tables/in.c-source.users/import-async', { dataString: 'id\n1' })).toBe(403);
    expect(await status('GET', 'tables/in.c-other.users')).toBe(403);
    expect(await status('POST', 'tables/in.c-other.users/export-async', {})).toBe(403);
    const visible = (await call('GET', 'tables', undefined, as)).body as { id: string }[];
    expect(visible.map(({ id }) => id)).toEqual(['in.c-source.users']);

    // its outputs: buckets that it names, and no others
    expect(await status('POST', 'buckets', bucket('target'))).toBe(201);
    expect(await status('POST', 'buckets', bucket('plain'))).toBe(201);
    expect(await status('POST', 'buckets', bucket('another'))).toBe(403);
    expect(await status('DELETE', 'buckets/in.c-target')).toBe(403);
    const table = { name: 't', columns, primaryKeysNames: [] };
    expect(await status('POST', 'buckets/in.c-target/tables-definition', table)).toBe(202);
    expect(await status('POST', 'buckets/in.c-other/tables-definition', table)).toBe(403);
    const pairs = { provider: 'system', metadata: [{ key: 'k', value: 'v' }] };
    expect(await status('POST', 'buckets/in.c-target/metadata', pairs)).toBe(201);
    expect(await status('POST', 'buckets/in.c-other/metadata', pairs)).toBe(403);
    expect(await status('DELETE', 'tables/in.c-source.users')).toBe(403);

    // files: all to read, as it takes some as inputs; its tag to add; its own to change
    const made = (await call('POST', 'files/prepare', { name: 'x', tags: ['wanted'] })).body as {
      id: number;
    };
    expect(await status('GET', `files/${made.id}`)).toBe(200);
    expect(await status('POST', `files/${made.id}/tags`, { tag: 'done' })).toBe(204);
    expect(await status('POST', `files/${made.id}/tags`, { tag: 'mine' })).toBe(403);
    expect(await status('DELETE', `files/${made.id}`)).toBe(403);
    expect(await status('POST', 'files/prepare', { name: 'y' })).toBe(201);

    // nothing of the project
    for (const at of [
      'tokens',
      'runs',
      `runs/${run}`,
      'events',
      'triggers',
      'dev-branches',
      'global-search?query=a',
    ])
      expect({ at, status: await status('GET', at) }).toEqual({ at, status: 403 });
    expect(await status('POST', 'tokens', { description: 'more' })).toBe(403);
    expect(await status('POST', `runs/${run}/cancel`)).toBe(403);
    expect(await status('POST', 'runs', { component: 'ex-generic-v2', configuration: 'a' })).toBe(403);
    const own = (await call('GET', 'tokens/verify', undefined, as)).body as {
      id: string;
      expires: string | null;
    };
    expect(own.expires).not.toBeNull();
    expect(await status('POST', `tokens/${own.id}/refresh`)).toBe(403);

    // It is no token of a person.
    const listed = (await call('GET', 'tokens')).body as { id: string }[];
    expect(listed.map(({ id }) => id)).not.toContain(own.id);
    expect((await call('GET', `tokens/${own.id}`)).status).toBe(200);

    await end();
    expect(await status('GET', 'tokens/verify')).toBe(401);
  });

  test('writes into the bucket of each iteration, and of each table of the output mapping', async () => {
    const { world, as, end } = await startRun({
      storage: { output: { tables: [{ source: 'a.csv', destination: 'in.c-mapped.a' }] } },
      parameters: { config: { outputBucket: 'root' }, iterations: [{ outputBucket: 'first' }, {}] },
    });
    for (const [name, status] of [
      ['mapped', 201],
      ['first', 201],
      ['root', 201],
      ['second', 403],
    ] as const)
      expect({ name, status: (await world.call('POST', 'buckets', bucket(name), as)).status }).toEqual({
        name,
        status,
      });
    await end();
  });

  test(
    'of a run in a branch writes there, and does nothing in production but read its inputs',
    { tags: 'thorough' },
    async () => {
      const { world, at, as, end } = await startRun(CONFIGURATION, { branch: true });
      await world.call('POST', 'buckets', bucket('target'));
      const status = async (method: string, path: string, body?: object): Promise<number> =>
        (await world.call(method, path, body, as)).status;
      expect(await status('GET', 'branch/default/tables/in.c-source.users')).toBe(200);
      expect(await status('GET', 'branch/default/tables/in.c-other.users')).toBe(403);
      const rows = { dataString: 'id\n1' };
      const table = { name: 't', columns: [{ name: 'id' }], primaryKeysNames: [] };
      for (const production of ['branch/default/', '']) {
        expect(await status('POST', `${production}tables/in.c-source.users/import-async`, rows)).toBe(403);
        expect(await status('DELETE', `${production}tables/in.c-source.users`)).toBe(403);
        for (const id of ['in.c-source', 'in.c-target'])
          expect(await status('POST', `${production}buckets/${id}/tables-definition`, table)).toBe(403);
        expect(await status('POST', `${production}buckets`, bucket('plain'))).toBe(403);
        expect(await status('PUT', `${production}${config('a')}/state`, { state: { a: 1 } })).toBe(403);
      }
      expect(await status('POST', `${at}buckets`, bucket('target'))).toBe(201);
      expect(await status('POST', `${at}buckets/in.c-target/tables-definition`, table)).toBe(202);
      expect(await status('POST', `${at}buckets`, bucket('source'))).toBe(403);
      await end();
    },
  );

  test('of a run without input files reads no files of others', async () => {
    const { world, as, end } = await startRun({ parameters: { config: { outputBucket: 'target' } } });
    const made = (await world.call('POST', 'files/prepare', { name: 'x' })).body as { id: number };
    expect((await world.call('GET', `files/${made.id}`, undefined, as)).status).toBe(403);
    expect((await world.call('GET', 'files', undefined, as)).body).toEqual([]);
    await end();
  });
});

describe('who asks for a run', () => {
  test('gets no rights by it', async () => {
    const { world, end } = await startRun({});
    await end();
    writeFileSync(path.join(world.dir, 'token'), '');
    await world.call('POST', 'buckets', { name: 'target', stage: 'in' });
    const tokenFor = async (rights: object): Promise<{ id: string; as: Record<string, string> }> => {
      const { body } = await world.call('POST', 'tokens', {
        description: 'clerk',
        componentAccess: ['ex-generic-v2'],
        ...rights,
      });
      const { id, token } = body as { id: string; token: string };
      return { id, as: { 'x-storageapi-token': token } };
    };
    await world.configure('c', {
      ...CONFIGURATION,
      storage: { ...CONFIGURATION.storage, output: { default_bucket: 'in.c-target' } },
    });
    const refusal = async ({ as }: { readonly as: Record<string, string> }): Promise<string> => {
      const { error } = await world.ended((await world.start('c', {}, as)).id);
      return `${error?.code} ${error?.message}`;
    };
    const read = { 'in.c-source': 'read' };
    expect(await refusal(await tokenFor({}))).toBe(
      'storage.forbidden The token “clerk” that asked for the run may not read the bucket in.c-source.',
    );
    expect(await refusal(await tokenFor({ bucketPermissions: read }))).toContain(
      'may not write into the bucket in.c-target',
    );
    const both = { bucketPermissions: { ...read, 'in.c-target': 'write' } };
    expect(await refusal(await tokenFor(both))).toContain('may not read the files of others');
    const all = await tokenFor({ ...both, canReadAllFileUploads: true });
    const { id } = await world.start('c', {}, all.as);
    await expect.poll(async () => (await world.show(id)).status).toBe('processing');
    await world.call('POST', `runs/${id}/cancel`);
    await world.ended(id);
    // in a branch, where a bucket of the same name is another one
    const branch = `branch/${await makeBranch(world)}/`;
    const asked = { component: 'ex-generic-v2', configuration: 'c' };
    const there = (await world.call('POST', `${branch}runs`, asked, all.as)).body as { id: string };
    const shown = async (): Promise<string> => (await world.call('GET', `${branch}runs/${there.id}`)).text;
    await expect.poll(shown).toContain('may not write into the bucket in.c-target');
    // nor is one of the branch read by who may read that of production
    await world.call('POST', `${branch}buckets`, bucket('source'));
    const reader = (await world.call('POST', `${branch}runs`, asked, all.as)).body as { id: string };
    const refusedThere = async (): Promise<string> =>
      (await world.call('GET', `${branch}runs/${reader.id}`)).text;
    await expect.poll(refusedThere).toContain('may not read the bucket in.c-source');
    // one that is gone before the run begins
    await world.configure('d', {});
    const waiting = await world.start('c', {}, all.as);
    const late = await world.start('c', {}, all.as);
    await world.call('DELETE', `tokens/${all.id}`);
    await expect.poll(async () => (await world.show(waiting.id)).status).not.toBe('waiting');
    await world.call('POST', `runs/${waiting.id}/cancel`);
    expect((await world.ended(late.id)).error?.message).toContain('that asked for the run has been deleted.');
  });
});
