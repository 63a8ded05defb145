// @module-tag thorough
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { component, dataFolder, filesOf, put, runHere, startGex, type Ended } from '../cli/support.ts';
import { providerConfig, startProvider } from '../support/oauth-provider.ts';
import { startService, type Running } from '../service/harness.ts';

const run = async (folder: string, ...more: string[]): Promise<Ended> =>
  await runHere(['run', '--data', folder, '--storage', 'none', ...more]);

/** A row of the resource. */
const row = (id: string) => ({
  id,
  name: id,
  configuration: { parameters: { config: { jobs: [{ endpoint: id }] } } },
});

const everything = (folder: string): string => Object.values(filesOf(folder)).join('\n');

describe('a refresh token for one use, over a data folder', () => {
  test('each run goes on with the token of the run before, whatever became of that', async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider));
    expect((await run(folder)).code).toBe(0);
    expect((await run(folder, '--limit', '1')).code).toBe(0);
    expect((await run(folder, '--restart')).code).toBe(0);
    expect((await run(folder, '--reset-state')).code).toBe(0);
    expect((await run(folder, '--dry-run')).code).toBe(0);
    const broken = providerConfig(provider, {}, [{ endpoint: 'broken' }]);
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify(broken));
    expect((await run(folder)).code).toBe(1);
    writeFileSync(path.join(folder, 'config.json'), JSON.stringify(providerConfig(provider)));
    expect((await run(folder)).code).toBe(0);
    expect(provider.seen.filter((line) => line.startsWith('token'))).toEqual([
      'token r0',
      'token r1',
      'token r2',
      'token r3',
      'token r4',
      'token r5',
    ]);
    // nothing of it can be read, and only its owner may read the rest
    expect(everything(folder)).not.toMatch(/"[ar][1-9]"/);
    for (const name of ['logins.json', 'logins.key'])
      expect(statSync(path.join(folder, 'in', name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(path.join(folder, 'in', 'logins.json'), 'utf8')).toMatch(
      /^\{"logins":\{"[0-9a-f]{16}":\{"#tokens":"GEX::1::[^"]+","savedAt":\d+,"isRenewed":true\}\}\}$/,
    );
    expect(readFileSync(path.join(folder, 'in', 'state.json'), 'utf8')).not.toContain('logins');
  });

  test('the key of the environment is used when there is one, and its own one is not made', async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider));
    const env = { GEX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') };
    const args = ['run', '--data', folder, '--storage', 'none'];
    expect((await runHere(args, { env })).code).toBe(0);
    expect((await runHere(args, { env })).code).toBe(0);
    expect(existsSync(path.join(folder, 'in', 'logins.key'))).toBe(false);
    const without = await run(folder);
    expect(without.stderr).toContain('The value was encrypted with the key');
    expect(provider.seen).toEqual(['token r0', 'GET /books a1', 'token r1', 'GET /books a2']);
  });

  test('rows share their login', async () => {
    const provider = await startProvider();
    const folder = dataFolder({
      configuration: providerConfig(provider, {}, []),
      rows: [row('books'), row('loans')],
    });
    const ended = await run(folder);
    expect([ended.code, ended.stderr]).toEqual([0, expect.anything()]);
    expect(provider.seen).toEqual(['token r0', 'GET /books a1', 'token r1', 'GET /loans a2']);
  });

  test('a kill between the answer and the file: the next run tries again, and says what happened', async () => {
    let gate: (() => void) | undefined;
    const provider = await startProvider({
      beforeAnswer: async (count) => {
        if (count !== 1) return;
        gate?.();
        await new Promise(() => {});
      },
    });
    const folder = dataFolder(providerConfig(provider));
    const taken = new Promise<void>((resolve) => (gate = resolve));
    const child = startGex(['run', '--data', folder, '--storage', 'none']);
    await taken;
    child.kill('SIGKILL');
    await child.ended;
    expect(readFileSync(path.join(folder, 'in', 'logins.json'), 'utf8')).toContain('"pending"');
    const { code, stderr } = await run(folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /A run was stopped while it refreshed its login, at \S+Z\. Its refresh token is tried again/,
    );
    expect(stderr).toContain(
      'after it had sent this token and before it had kept what came: the API may have replaced it then.',
    );
    expect(stderr).toContain('invalid_grant');
    // a new token of the configuration begins anew
    writeFileSync(
      path.join(folder, 'config.json'),
      JSON.stringify(providerConfig(provider, { '#refreshToken': provider.current() })),
    );
    expect((await run(folder)).code).toBe(0);
  });

  test('a kill before the token was taken loses nothing', async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider));
    await run(folder);
    const file = path.join(folder, 'in', 'logins.json');
    const kept = JSON.parse(readFileSync(file, 'utf8')) as { logins: Record<string, object> };
    for (const login of Object.values(kept.logins))
      Object.assign(login, { pending: { since: 1, at: 1, by: 'x' } });
    writeFileSync(file, JSON.stringify(kept));
    expect((await run(folder)).code).toBe(0);
    expect(provider.seen.at(-1)).toBe('GET /books a2');
  });

  test('what is damaged is not thrown away', async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider));
    put(folder, 'in/logins.json', '{"logins": {');
    const { code, stderr } = await run(folder);
    expect(code).toBe(1);
    expect(stderr).toContain('in/logins.json cannot be read: they are damaged.');
    expect(provider.seen).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)(
    'a folder that cannot be written is told before anything is sent',
    async () => {
      const provider = await startProvider();
      const folder = dataFolder(providerConfig(provider));
      put(folder, 'in/x', '');
      chmodSync(path.join(folder, 'in'), 0o500);
      expect((await run(folder)).code).toBe(1);
      expect(provider.seen).toEqual([]);
    },
  );

  test('an action uses the login, and keeps the one that it refreshes', async () => {
    const provider = await startProvider();
    const config = providerConfig(provider) as { parameters: object };
    const folder = dataFolder({ parameters: { ...config.parameters, __SELECTED_JOB: '0' } });
    const { code, stdout } = await runHere(['action', 'test_request', '--data', folder]);
    expect(code).toBe(0);
    expect(stdout).not.toContain('a1');
    expect((await run(folder)).code).toBe(0);
    expect(provider.seen).toEqual(['token r0', 'GET /books a1', 'token r1', 'GET /books a2']);
  });
});

describe('in a container', () => {
  test('the login is in the state, also of a run that failed', async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider, {}, [{ endpoint: 'books' }, { endpoint: 'broken' }]));
    put(folder, 'in/state.json', '{"mine": 1}');
    expect((await component(folder)).code).not.toBe(0);
    const failed = JSON.parse(readFileSync(path.join(folder, 'out/state.json'), 'utf8')) as Record<
      string,
      object
    >;
    expect(Object.keys(failed)).toEqual(['mine', 'logins']);
    expect(JSON.stringify(failed['logins'])).toContain(String.raw`\"refreshToken\":\"r2\"`);

    // the platform starts the next one with it
    const next = dataFolder(providerConfig(provider));
    put(next, 'in/state.json', JSON.stringify(failed));
    const { code, stdout } = await component(next);
    expect(code).toBe(0);
    const state = JSON.parse(readFileSync(path.join(next, 'out/state.json'), 'utf8')) as Record<
      string,
      object
    >;
    expect(JSON.stringify(state['logins'])).toContain(String.raw`\"refreshToken\":\"r3\"`);
    expect(state).toHaveProperty('time.previousStart');
    expect(stdout).not.toMatch(/\b[ar][123]\b/);
  });

  test('an action refreshes nothing, for it keeps nothing', async () => {
    const provider = await startProvider();
    const config = providerConfig(provider) as { parameters: object };
    const folder = dataFolder({
      action: 'test_request',
      parameters: { ...config.parameters, __SELECTED_JOB: '0' },
    });
    const { stdout } = await component(folder);
    expect(stdout).toContain('The login is to be refreshed, and an action keeps nothing of it.');
    expect(provider.seen).toEqual([]);
  });
});

describe('of a stored configuration', () => {
  let storage: Running;
  beforeAll(async () => {
    storage = await startService();
  });
  afterAll(async () => await storage.stop());

  const args = (id: string, folder: string): string[] => [
    'run',
    '--component',
    'ex-generic-v2',
    '--config',
    id,
    '--storage',
    storage.addresses.url,
    '--data',
    folder,
  ];
  const key = (): Record<string, string> => ({
    KBC_TOKEN: storage.token,
    GEX_ENCRYPTION_KEY_FILE: path.join(storage.dir, 'encryption.key'),
  });
  const create = async (id: string, configuration: object): Promise<void> => {
    const body = { configurationId: id, name: id, configuration };
    expect((await storage.call('POST', 'components/ex-generic-v2/configs', body)).status).toBe(201);
  };
  const stateOf = async (id: string): Promise<unknown> => {
    const { body } = await storage.call('GET', `components/ex-generic-v2/configs/${id}`);
    return (body as { state: unknown }).state;
  };

  test('the login is in its state, encrypted, and stays there', async () => {
    const provider = await startProvider();
    const config = providerConfig(provider, {}, [{ endpoint: 'books' }]) as {
      parameters: { config: object };
    };
    Object.assign(config.parameters.config, { outputBucket: 'logins' });
    await create('rotating', config);
    for (const count of [1, 2]) {
      const { code, stderr } = await runHere(args('rotating', dataFolder()), { env: key() });
      expect([code, stderr]).toEqual([0, expect.anything()]);
      const state = JSON.stringify(await stateOf('rotating'));
      expect(state).toMatch(/"logins":\{"[0-9a-f]{16}":\{"#tokens":"GEX::1::/);
      expect(state).toContain('"previousStart"');
      expect(state).not.toContain('pending');
      expect(provider.seen.at(-1)).toBe(`GET /books a${count}`);
    }
  });

  test('without a key nothing is sent', async () => {
    const provider = await startProvider();
    // as a service without keys has it, or a platform that decrypts for its runs
    const config = providerConfig(provider, {
      refreshToken: 'r0',
      '#refreshToken': undefined,
      '#clientSecret': undefined,
    });
    await create('keyless', config);
    const { code, stderr } = await runHere(args('keyless', dataFolder()), {
      env: { KBC_TOKEN: storage.token },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('The login cannot be kept: there is no key to encrypt it with.');
    expect(stderr).toContain('"keep": false');
    expect(provider.seen).toEqual([]);
  });
});
