import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../src/lib/log.ts';
import { login, type LoginOptions } from '../../src/runner/login.ts';
import { Secrets } from '../../src/lib/secrets.ts';
import { dataFolder, filesOf, runHere, startGex } from '../cli/support.ts';
import { providerConfig, startProvider, type Provider } from '../support/oauth-provider.ts';
import { failure } from '../engine/http/auth/support.ts';

const person = ({ url }: Provider): object => ({
  '#refreshToken': undefined,
  authorizationUrl: `${url}authorize`,
  scope: ['read', 'offline_access'],
  authorizationParams: { prompt: 'consent' },
});

/** Opens the address as a browser does, and gives what the person sees at the end. */
async function browse(address: string): Promise<string> {
  return await (await fetch(address)).text();
}

/** Comes back as somebody else would who knows the port. */
function forge(address: string): void {
  const forged = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
  forged.search = '?code=stolen&state=guess';
  void browse(forged.href);
}

function options(dataFolder: string, more: Partial<LoginOptions> = {}): LoginOptions {
  const { signal } = new AbortController();
  return {
    dataFolder,
    show: (address) => void browse(address),
    pasted: async () => await new Promise<string>(() => {}),
    log: silentLog,
    signal,
    ...more,
  };
}

const run = async (folder: string) => await runHere(['run', '--data', folder, '--storage', 'none']);

describe('a person logs in', () => {
  test('by the browser, with PKCE and state; runs go on with what came', async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider, person(provider)));
    expect((await run(folder)).stderr).toContain('Nobody has logged in yet.');
    let shown = '';
    const page = Promise.withResolvers<string>();
    const secrets = new Secrets();
    const results = await login(
      options(folder, {
        secrets,
        show: (address) => {
          shown = address;
          void browse(address).then(page.resolve);
        },
      }),
    );
    expect(results).toMatchObject([{ at: 'parameters.api.authentication', hasRefreshToken: true }]);
    expect(await page.promise).toContain('<h1>Logged in</h1>');
    const asked = Object.fromEntries(new URL(shown).searchParams);
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: 'shop',
      scope: 'read offline_access',
      code_challenge_method: 'S256',
      prompt: 'consent',
    });
    expect(asked['redirect_uri']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(asked['state']?.length).toBeGreaterThan(20);
    expect((await run(folder)).code).toBe(0);
    expect((await run(folder)).code).toBe(0);
    expect(provider.seen).toEqual(['code', 'token r1', 'GET /books a2', 'token r2', 'GET /books a3']);
    expect(Object.values(filesOf(folder)).join('\n')).not.toMatch(/"[ar][1-9]"/);
    expect(secrets.redact('code-1')).toBe('***');
  });

  test('without PKCE, at a fixed address', async () => {
    const provider = await startProvider({ needsPkce: false });
    const port = await freePort();
    const redirectUri = `http://localhost:${port}/back`;
    const folder = dataFolder(providerConfig(provider, { ...person(provider), pkce: false, redirectUri }));
    await login(options(folder));
    expect((await run(folder)).code).toBe(0);
  });

  test('by an address that is pasted, where the provider sends the browser elsewhere', async () => {
    const provider = await startProvider();
    const redirectUri = 'https://shop.example.com/back';
    const folder = dataFolder(providerConfig(provider, { ...person(provider), redirectUri }));
    const back = Promise.withResolvers<string>();
    const show: LoginOptions['show'] = (address, { isPasted }) => {
      expect(isPasted).toBe(true);
      void fetch(address, { redirect: 'manual' }).then(({ headers }) =>
        back.resolve(headers.get('location') ?? ''),
      );
    };
    await login(options(folder, { show, pasted: async () => `${await back.promise}\n` }));
    expect((await run(folder)).code).toBe(0);
  });

  test('one that is refused is told in words, in the terminal and in the browser', async () => {
    const provider = await startProvider({
      refuses: { error: 'access_denied', error_description: 'The person <said> no' },
    });
    const folder = dataFolder(providerConfig(provider, person(provider)));
    const page = Promise.withResolvers<string>();
    const show = (address: string): void => void browse(address).then(page.resolve);
    const found = await failure(async () => await login(options(folder, { show })));
    expect(found.message).toBe(
      'The login was refused, by the person or by the provider. It says “access_denied: The person <said> no”.',
    );
    expect(await page.promise).toContain('The person &lt;said&gt; no');
  });

  test('an answer with another state is none', async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider, person(provider)));
    const found = await failure(async () => await login(options(folder, { show: forge })));
    expect(found.message).toContain('is no answer to this login: its state is another');
    expect(provider.seen).toEqual([]);
  });

  test('nobody comes back in time', async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider, person(provider)));
    const found = await failure(async () => await login(options(folder, { show: () => {}, timeoutMs: 50 })));
    expect(found.message).toBe('Nobody has logged in within 0.05 seconds.');
    expect(found.hint).toContain('"redirectUri"');
  });

  test('a code that is not exchanged says why', async () => {
    const provider = await startProvider({ needsPkce: false });
    const folder = dataFolder(providerConfig(provider, person(provider)));
    const found = await failure(async () => await login(options(folder)));
    expect([found.code, found.message]).toEqual(['auth.failed', expect.stringContaining('invalid_grant')]);
  });

  test('a configuration that no person logs in to is told', async () => {
    const provider = await startProvider();
    const found = await failure(async () => await login(options(dataFolder(providerConfig(provider)))));
    expect(found.message).toBe('There is nothing in this configuration that a person logs in to.');
  });

  test('the command prints the address, and Ctrl-C ends it', { tags: 'thorough' }, async () => {
    const provider = await startProvider();
    const folder = dataFolder(providerConfig(provider, person(provider)));
    const child = startGex(['login', '--data', folder, '--no-browser', '--timeout', '2']);
    const { code, stderr } = await child.ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`Log in here:\n\n  ${provider.url}authorize?response_type=code&client_id=shop`);
    expect(stderr).toContain('Nobody has logged in within 2 seconds.');
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  onTestFinished(() => void server.close());
  return port;
}
