import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StorageClient } from '../../src/storage/client/index.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { runnerPart } from '../../src/service/start/runner.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { COMPILE_CACHE } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';
import { providerConfig, startProvider, type Provider } from '../support/oauth-provider.ts';
import { anyText, containing, startService, type Running } from './harness.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

const command = [process.execPath, MAIN] as const;
const PAGE = { 'x-console': '1', 'sec-fetch-site': 'same-origin' };
const COMPONENT = 'ex-generic-v2';

let service: Running;
let client: StorageClient;
let url: string;

beforeAll(async () => {
  service = await startService({
    parts: [dataPart, workshopPart({ command }), runnerPart({ command, concurrency: 1, pollMs: 100 })],
  });
  ({ url } = service.addresses);
  client = new StorageClient({ url, token: service.token });
});
afterAll(async () => {
  client.close();
  await service.stop();
});

interface Answered {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

/** A browser: its cookies go to the service as one sends them, those of the session not with a link from elsewhere. */
class Browser {
  readonly cookies = new Map<string, string>();

  async ask(
    method: string,
    address: string,
    body?: object,
    from: 'elsewhere' | 'page' = 'page',
  ): Promise<Answered> {
    const sent = [...this.cookies].filter(([name]) => from === 'page' || !name.startsWith('gex-console'));
    return await new Promise((resolve, reject) => {
      const headers = {
        cookie: sent.map((pair) => pair.join('=')).join('; '),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(from === 'page' ? PAGE : { 'sec-fetch-site': 'cross-site' }),
      };
      httpRequest(address, { method, headers }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => {
          for (const cookie of answer.headers['set-cookie'] ?? []) {
            const [name = '', value = ''] = cookie.split(';', 1)[0]?.split('=') ?? [];
            this.cookies.set(name, value);
          }
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
        });
      })
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async signIn(token = service.token): Promise<this> {
    await this.ask('POST', `${url}/console/session`, { token });
    return this;
  }

  async begin(body: object): Promise<{ id: string; address: string; redirectUri: string }> {
    const begun = await this.ask('POST', `${url}/console/logins`, body);
    expect([begun.status, begun.text]).toEqual([201, anyText]);
    return JSON.parse(begun.text) as { id: string; address: string; redirectUri: string };
  }

  /** Goes to the provider and comes back. */
  async visit(address: string): Promise<{ readonly back: string; readonly answer: Answered }> {
    const to = (await fetch(address, { redirect: 'manual' })).headers.get('location') ?? '';
    return { back: to, answer: await this.ask('GET', to, undefined, 'elsewhere') };
  }

  async progress(id: string): Promise<Progress> {
    return JSON.parse((await this.ask('GET', `${url}/console/logins/${id}`)).text) as Progress;
  }
}

interface Progress {
  readonly status: string;
  readonly error?: string;
  readonly login?: { readonly hasRefreshToken: boolean; readonly endsAt?: string; readonly logins?: string };
}

const person = (provider: Provider, more: object = {}, jobs?: readonly object[]): object =>
  providerConfig(
    provider,
    { '#refreshToken': undefined, authorizationUrl: `${provider.url}authorize`, scope: 'read', ...more },
    jobs,
  );

const resultOf = async (browser: Browser, { headers }: Answered): Promise<Answered> =>
  await browser.ask('GET', String(headers.location), undefined, 'elsewhere');

async function ended(run: string): Promise<void> {
  const status = async () => (await client.runs.detail(run)).status;
  await expect.poll(status, { timeout: 100_000, interval: 200 }).toMatch(/^(?:success|error)$/);
}

let count = 0;
async function saved(configuration: object): Promise<string> {
  const id = `source-${++count}`;
  await client.configurations(COMPONENT).create({ name: id, configurationId: id, configuration });
  return id;
}

describe('a person logs in through the service', () => {
  test('for a saved source, and its state is told', async () => {
    const idToken = `e30.${Buffer.from('{"email": "anna@example.com"}').toString('base64url')}.x`;
    const provider = await startProvider({
      expiresIn: 3600,
      answer: (issued) => ({ ...issued, id_token: idToken }),
    });
    const configuration = await saved(person(provider));
    const logins = async () => await client.configurations(COMPONENT).logins(configuration);
    expect(await logins()).toEqual([
      { at: 'parameters.api.authentication', isOfPerson: true, state: 'none' },
    ]);
    const browser = await new Browser().signIn();
    const begun = await browser.begin({ component: COMPONENT, configuration });
    expect(begun.redirectUri).toBe(`${url}/console/logins/callback`);
    const sent = new URL(begun.address).searchParams;
    expect([sent.get('redirect_uri'), sent.get('code_challenge_method'), sent.get('scope')]).toEqual([
      begun.redirectUri,
      'S256',
      'read',
    ]);
    expect(await browser.progress(begun.id)).toEqual({ status: 'waiting' });
    const { answer } = await browser.visit(begun.address);
    // the code is neither in the address nor in the history
    expect([answer.status, answer.headers.location]).toEqual([
      303,
      `${url}/console/logins/result?id=${begun.id}`,
    ]);
    const page = await resultOf(browser, answer);
    expect([page.status, page.text]).toEqual([200, containing('<h1>Logged in</h1>')]);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(await browser.progress(begun.id)).toEqual({
      status: 'done',
      login: { hasRefreshToken: true },
    });
    expect(await logins()).toEqual([
      {
        at: 'parameters.api.authentication',
        isOfPerson: true,
        state: 'active',
        account: 'anna@example.com',
        isRenewed: true,
        renewed: anyText,
      },
    ]);
    const { state } = await client.configurations(COMPONENT).detail(configuration);
    expect(JSON.stringify(state)).toMatch(/"#tokens":"GEX::1::/);
    expect(JSON.stringify(state)).not.toMatch(/"[ar]1"/);
  });

  test('runs go on with it; taken back by the provider it has ended, and can be made anew', async () => {
    const provider = await startProvider({ expiresIn: 3600 });
    const configuration = await saved(person(provider));
    const logins = async () => await client.configurations(COMPONENT).logins(configuration);
    const browser = await new Browser().signIn();
    const logIn = async (): Promise<void> => {
      const { address } = await browser.begin({ component: COMPONENT, configuration });
      await browser.visit(address);
    };
    await logIn();
    const { id } = await client.runs.start({ component: COMPONENT, configuration });
    await ended(id);
    expect((await client.runs.detail(id)).status).toBe('success');
    provider.revoke();
    const failed = await client.runs.start({ component: COMPONENT, configuration });
    await ended(failed.id);
    expect(await client.runs.detail(failed.id)).toMatchObject({ error: { code: 'auth.loginEnded' } });
    expect(await logins()).toMatchObject([{ state: 'ended', refused: anyText }]);
    await logIn();
    expect(await logins()).toMatchObject([{ state: 'active' }]);
  });

  test('for a source that is not saved: the page gets what came encrypted, and goes on with it', async () => {
    const provider = await startProvider({ expiresIn: 3600 });
    const browser = await new Browser().signIn();
    const document = person(provider);
    const begun = await browser.begin({ document });
    await browser.visit(begun.address);
    const { login } = await browser.progress(begun.id);
    const logins = login?.logins ?? '';
    expect(logins).toMatch(/"#tokens":"GEX::1::/);
    const auth = `person:shop:hush-hush@${provider.url}authorize,${provider.url}token,read`;
    const found = await client.workshop.explore({ source: `${provider.url}books`, auth, logins });
    expect(found).toMatchObject({ form: 'list', rowsRead: 1 });
    provider.revoke();
    await expect(
      client.workshop.explore({ source: `${provider.url}books`, auth, logins }),
    ).rejects.toMatchObject({ details: { serviceCode: 'auth.loginEnded' } });
    const next = await browser.begin({ document });
    await browser.visit(next.address);
    const fresh = (await browser.progress(next.id)).login?.logins ?? '';
    const tried = await client.workshop.try({ document, logins: fresh });
    expect(tried.tables).toMatchObject([{ name: 'books', rowsCount: 1 }]);
    const configuration = await saved(document);
    await client
      .configurations(COMPONENT)
      .updateState(configuration, { component: { logins: JSON.parse(fresh) as unknown } });
    expect(await client.configurations(COMPONENT).logins(configuration)).toMatchObject([{ state: 'active' }]);
  });

  test('a refresh in a trial gives the page the next token', async () => {
    const provider = await startProvider();
    const browser = await new Browser().signIn();
    const document = person(provider);
    const begun = await browser.begin({ document });
    await browser.visit(begun.address);
    const logins = (await browser.progress(begun.id)).login?.logins ?? '';
    const renewed: string[] = [];
    await client.workshop.try({ document, logins }, { onLogins: (next) => renewed.push(next) });
    expect(provider.current()).toBe('r2');
    await client.workshop.try(
      { document, logins: renewed.at(-1) ?? '' },
      { onLogins: (next) => renewed.push(next) },
    );
    expect(provider.current()).toBe('r3');
  });
});

describe('what a login does not take', () => {
  test('a state that was guessed, a second time, another browser, and a session that has ended', async () => {
    const provider = await startProvider({ expiresIn: 3600 });
    const configuration = await saved(person(provider));
    const browser = await new Browser().signIn();
    const begun = await browser.begin({ component: COMPONENT, configuration });
    const stolen = await fetch(begun.address, { redirect: 'manual' });
    const back = stolen.headers.get('location') ?? '';
    const forged = new URL(back);
    forged.searchParams.set('state', 'guess');
    const strange = async (who: Browser, address: string): Promise<void> => {
      const answer = await who.ask('GET', address, undefined, 'elsewhere');
      expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
      expect(answer.text).toContain('This is no answer to a login that was begun in this browser');
    };
    await strange(browser, forged.href);
    await strange(browser, `${url}/console/logins/callback`);
    // somebody else, signed in too, is sent the address that came back
    const other = await new Browser().signIn();
    await strange(other, back);
    // a cookie of that name, as somebody who knows the state could set one
    const [name = ''] = [...browser.cookies.keys()].filter((each) => each.startsWith('gex-login'));
    other.cookies.set(name, 'guess'.repeat(8));
    await strange(other, back);
    expect((await other.ask('GET', `${url}/console/logins/${begun.id}`)).status).toBe(404);
    await strange(new Browser(), `${url}/console/logins/result?id=${begun.id}`);
    expect(provider.seen).not.toContain('code');
    // and the one who began comes back, twice at once
    const answers = await Promise.all([
      browser.ask('GET', back, undefined, 'elsewhere'),
      browser.ask('GET', back, undefined, 'elsewhere'),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 400]);
    expect(provider.seen.filter((line) => line === 'code')).toHaveLength(1);
    await strange(browser, back);

    const late = await browser.begin({ component: COMPONENT, configuration });
    await browser.ask('DELETE', `${url}/console/session`);
    const signedOut = await browser.visit(late.address);
    expect((await resultOf(browser, signedOut.answer)).text).toContain('The session has ended.');
    expect(provider.seen.filter((line) => line === 'code')).toHaveLength(1);
  });

  test('a token in place of a session, another component, a page of another site', async () => {
    const provider = await startProvider();
    const document = person(provider);
    expect((await service.call('POST', '/console/logins', { document })).status).toBe(403);
    const { body } = await service.call('POST', 'tokens', { description: 'Reader' });
    const limited = await new Browser().signIn((body as { token: string }).token);
    expect((await limited.ask('POST', `${url}/console/logins`, { document })).status).toBe(403);
    const browser = await new Browser().signIn();
    const foreign = await browser.ask('POST', `${url}/console/logins`, { document }, 'elsewhere');
    expect(foreign.status).toBe(401);
    const nothing = await browser.ask('POST', `${url}/console/logins`, {
      document: { parameters: { api: { baseUrl: provider.url }, config: { jobs: [{ endpoint: 'a' }] } } },
    });
    expect([nothing.status, nothing.text]).toEqual([
      400,
      containing('There is nothing in this configuration that a person logs in to.'),
    ]);
    const script = await browser.ask('POST', `${url}/console/logins`, {
      document: person(provider, { authorizationUrl: 'javascript:alert(1)' }),
    });
    expect([script.status, script.text]).toEqual([400, containing('must be a whole address')]);
  });
});

/** Logs in, and returns why it failed. */
async function failureOf(provider: Provider): Promise<string> {
  const browser = await new Browser().signIn();
  const begun = await browser.begin({ document: person(provider) });
  const { answer } = await browser.visit(begun.address);
  const { status, error = '' } = await browser.progress(begun.id);
  expect(status).toBe('failed');
  const page = await resultOf(browser, answer);
  expect(page.text).toContain('<h1>Not logged in</h1>');
  expect(page.text).not.toContain('<script');
  return error;
}

describe('a provider that', () => {
  test('refuses is told in its own words, and no more', async () => {
    const provider = await startProvider({
      refuses: { error: 'access_denied', error_description: '<script>alert(1)</script> not you' },
    });
    expect(await failureOf(provider)).toContain('The login was refused, by the person or by the provider.');
    expect(provider.seen).toEqual([]);
  });

  test('answers garbage, an error, or nothing of a token', async () => {
    const garbage = await startProvider({ answer: () => '<html>a page</html>' });
    expect(await failureOf(garbage)).toContain('not JSON');
    const empty = await startProvider({ answer: () => ({ hello: 'world' }) });
    expect(await failureOf(empty)).toContain('The token response has no “access_token”.');
    const wrong = await startProvider({ needsPkce: false });
    expect(await failureOf(wrong)).toContain('invalid_grant');
  });

  test('does not answer is given up, and one that a proxy is before is sent to the address of the proxy', async () => {
    const publicUrl = 'https://tools.example.com/gex';
    const behind = await startService({
      publicUrl,
      parts: [dataPart, workshopPart({ command, patienceMs: 10_000 })],
    });
    try {
      const provider = await startProvider({ answer: async () => await new Promise<object>(() => {}) });
      const at = behind.addresses.url;
      const headers = { ...PAGE, origin: 'https://tools.example.com', 'content-type': 'application/json' };
      const ask = async (method: string, path: string, body?: object, cookie = ''): Promise<Response> =>
        await fetch(at + path, {
          method,
          redirect: 'manual',
          headers: { ...headers, cookie },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      const session = await ask('POST', '/console/session', { token: behind.token });
      const own = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      const begun = await ask('POST', '/console/logins', { document: person(provider) }, own);
      expect(begun.status).toBe(201);
      const cookie = begun.headers.get('set-cookie') ?? '';
      expect(cookie).toMatch(
        /^__Host-gex-login-[0-9a-f]{16}=[\w-]{40}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      );
      const { address } = (await begun.json()) as { address: string };
      const redirectUri = new URL(address).searchParams.get('redirect_uri');
      expect(redirectUri).toBe(`${publicUrl}/console/logins/callback`);
      const back = (await fetch(address, { redirect: 'manual' })).headers.get('location') ?? '';
      const path = back.slice(publicUrl.length);
      const answer = await ask('GET', path, undefined, cookie.split(';')[0]);
      expect(answer.headers.get('location')).toMatch(`${publicUrl}/console/logins/result?id=`);
      const result = await ask(
        'GET',
        (answer.headers.get('location') ?? '').slice(publicUrl.length),
        undefined,
        cookie.split(';')[0],
      );
      expect(await result.text()).toContain('It took longer than 10 seconds, and was ended.');
    } finally {
      await behind.stop();
    }
  });

  test('gives no refresh token: the end of the login is told', async () => {
    const provider = await startProvider({
      expiresIn: 3600,
      answer: () => ({ access_token: 'a1', expires_in: 3600 }),
    });
    const configuration = await saved(person(provider));
    const browser = await new Browser().signIn();
    const begun = await browser.begin({ component: COMPONENT, configuration });
    await browser.visit(begun.address);
    expect(await browser.progress(begun.id)).toMatchObject({
      status: 'done',
      login: { hasRefreshToken: false, endsAt: anyText },
    });
    expect(await client.configurations(COMPONENT).logins(configuration)).toMatchObject([
      { state: 'endsSoon', isRenewed: false, endsAt: anyText },
    ]);
  });
});
