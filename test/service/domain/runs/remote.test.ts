import { describe, expect, test } from 'vitest';
import { followRun } from '../../../../src/cli/follow-run.ts';
import { systemEnv } from '../../../../src/lib/env.ts';
import { StorageError } from '../../../../src/lib/errors.ts';
import { silentLog } from '../../../../src/lib/log.ts';
import type { Run, RunLogPart } from '../../../../src/storage/client/index.ts';
import { gexHere, json, startApi, startGex, type Answer, type Running } from '../../../cli/support.ts';
import { books, startWorld, type World } from './support.ts';

function remote(world: World, ...args: readonly string[]): Running {
  return startGex(['run', '--remote', '--storage', world.addresses.url, ...args], {
    env: { ...process.env, KBC_TOKEN: world.token },
  });
}

const stored = (id: string): string[] => ['--component', 'ex-generic-v2', '--config', id];

/** Answers only when it is let go. */
async function slowBooks(): Promise<{ url: string; seen: readonly string[]; letGo: () => void }> {
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
  const answer: Answer = (_request, response) => void gate.then(() => json(response, [{ id: 1 }]));
  const { url, seen } = await startApi(answer);
  return { url, seen, letGo };
}

const line = (message: string) => ({ level: 'info', time: '2026-01-01T00:00:00.000Z', message });

const newest = async (world: World): Promise<string> => {
  const [run] = (await world.call('GET', 'runs?limit=1')).body as { id: string }[];
  return run?.id ?? '';
};

describe('gex run --remote', () => {
  test('starts a run, shows its log and its tables, and ends as it does', async () => {
    const api = await startApi((_request, response) => json(response, [{ id: 1 }, { id: 2 }]));
    const world = await startWorld();
    await world.configure('a', books(api.url));
    const { code, stdout, stderr } = await remote(world, ...stored('a')).ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/^table +rows +pushed to\nlibrary\.books +2 +in\.c-library\.books\n$/);
    expect(stderr).toContain('INFO Made the bucket in.c-library');
    expect(stderr).toMatch(/INFO “books” ended after 1 page, 2 rows/);

    const id = await newest(world);
    const again = await remote(world, '--follow', id, '--json').ended;
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      status: 'success',
      run: id,
      rows: [{ tables: [{ name: 'library.books', rows: 2, destination: 'in.c-library.books' }] }],
    });
  });

  test('that fails has the message and the code of a run here', { tags: 'thorough' }, async () => {
    const api = await startApi((_request, response) => json(response, { error: 'no' }, 404));
    const world = await startWorld();
    await world.configure('a', books(api.url));
    const { code, stderr } = await remote(world, ...stored('a')).ended;
    expect(code).toBe(1);
    expect(stderr.match(/^error: .*404/gm)).toHaveLength(1);
  });

  test(
    'is left running by Ctrl-C, and says how to follow and how to end it',
    { tags: 'thorough' },
    async () => {
      const api = await slowBooks();
      const world = await startWorld();
      await world.configure('a', books(api.url));
      const following = remote(world, ...stored('a'));
      await expect.poll(() => api.seen.length).toBe(1);
      following.kill('SIGINT');
      const { code, stderr } = await following.ended;
      const id = await newest(world);
      expect(code).toBe(130);
      const { url } = world.addresses;
      expect(stderr).toContain(`error: The run ${id} goes on in the service.`);
      expect(stderr).toContain(`gex run --remote --follow ${id} --storage ${url}`);
      expect(stderr).toContain(`gex run --remote --cancel ${id} --storage ${url}`);
      expect(await world.show(id)).toMatchObject({ status: 'processing' });
      const cancelled = await remote(world, '--cancel', id).ended;
      expect(cancelled.code).toBe(1);
      expect(cancelled.stderr).toContain(`The run ${id} was cancelled.`);
      expect(await world.show(id)).toMatchObject({ status: 'cancelled' });
      api.letGo();
    },
  );

  test('goes on where the log was when the service was away', { tags: 'thorough' }, async () => {
    const api = await slowBooks();
    const world = await startWorld();
    await world.configure('a', books(api.url));
    const following = remote(world, ...stored('a'));
    await expect.poll(() => api.seen.length).toBe(1);
    const id = await newest(world);
    const before = await world.log(id);
    await world.service.stop();
    api.letGo();
    const port = Number(new URL(world.addresses.url).port);
    const again = await startWorld({ dir: world.dir, port });
    const { code, stderr } = await following.ended;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    // Every line once.
    const log = await again.log(id);
    expect(log.length).toBeGreaterThan(before.length);
    for (const { message, time } of log) expect(stderr.split(`${time} INFO ${message}`)).toHaveLength(2);
  });

  test('asks on when the service is away for longer than a request is tried', async () => {
    const [said, shown, slept]: [string[], string[], number[]] = [[], [], []];
    const away = new StorageError('storage.unreachable', 'No connection.');
    const parts: (RunLogPart | StorageError)[] = [
      { lines: [line('one')], next: 1, isEnded: false },
      ...Array.from({ length: 7 }, () => away),
      { lines: [line('two')], next: 2, isEnded: true },
    ];
    const offsets: (number | undefined)[] = [];
    const run = { id: '7', status: 'success' } as Run; // what is asked of it
    const followed = await followRun(
      {
        detail: async () => await Promise.resolve(run),
        log: async (_id, query) => {
          offsets.push(query?.offset);
          const part = parts.shift();
          if (part === undefined || part instanceof StorageError) throw part ?? new Error('Asked too often.');
          return await Promise.resolve(part);
        },
      },
      {
        id: '7',
        ways: { follow: '', cancel: '' },
        log: { ...silentLog, info: (text) => void said.push(text), warn: (text) => void said.push(text) },
        show: ({ message }) => void shown.push(message),
        env: { ...systemEnv, sleep: async (ms) => await Promise.resolve(void slept.push(ms)) },
        signal: new AbortController().signal,
      },
    );
    expect(followed).toBe(run);
    expect(shown).toEqual(['one', 'two']);
    expect(new Set(offsets)).toEqual(new Set([0, 1]));
    expect(slept).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
    expect(said).toEqual([
      'The service is away, and is asked again until it answers: No connection.',
      'The service answers again',
    ]);
  });

  test.each([
    [['--remote'], '--remote runs a configuration that the storage keeps.'],
    [['--follow', '1'], '--follow is for runs of the service.'],
    [['--remote', '--follow', '1', '--cancel', '1'], 'are for one run each'],
    [['--remote', '--follow', '1', '--row', 'x'], '--row is for a run that is started.'],
    [['--remote', ...stored('a'), '--dry-run'], '--dry-run does not go with --remote.'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await gexHere('run', ...args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});
