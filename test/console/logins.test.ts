import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { dataPart } from '../../src/service/start/data.ts';
import { runnerPart } from '../../src/service/start/runner.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { COMPILE_CACHE } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';
import { providerConfig, startProvider, type Provider } from '../support/oauth-provider.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

const command = [process.execPath, MAIN] as const;
const COMPONENT = 'ex-generic-v2';

const idToken = `e30.${Buffer.from('{"email": "anna@example.com"}').toString('base64url')}.x`;

/** A document with one list, for which a person logs in. */
function documentOf({ url }: Provider): string {
  const flow = { authorizationUrl: `${url}authorize`, tokenUrl: `${url}token`, scopes: { read: 'Read' } };
  const schema = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } };
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Books', version: '1' },
    servers: [{ url }],
    security: [{ person: ['read'] }],
    components: { securitySchemes: { person: { type: 'oauth2', flows: { authorizationCode: flow } } } },
    paths: {
      '/books': {
        get: { responses: { 200: { description: 'Books', content: { 'application/json': { schema } } } } },
      },
    },
  });
}

/** Presses the button, and waits for the tab of the provider to come back. */
async function logIn(page: Page, context: BrowserContext, name: string): Promise<Page> {
  const [tab] = await Promise.all([
    context.waitForEvent('page'),
    page.getByRole('button', { name, exact: true }).click(),
  ]);
  await tab.getByRole('heading', { name: /ogged in$/ }).waitFor();
  return tab;
}

describe.skipIf(CHROMIUM === undefined)('a person logs in to an API', () => {
  const own = useConsole({
    parts: [dataPart, workshopPart({ command }), runnerPart({ command, concurrency: 1, pollMs: 100 })],
  });

  async function saved(id: string, provider: Provider, more: object = {}): Promise<void> {
    const configuration = providerConfig(provider, {
      '#refreshToken': undefined,
      authorizationUrl: `${provider.url}authorize`,
      ...more,
    });
    await own.client.configurations(COMPONENT).create({ configurationId: id, name: 'Books', configuration });
  }

  async function run(id: string): Promise<string> {
    const started = await own.client.runs.start({ component: COMPONENT, configuration: id });
    const status = async () => (await own.client.runs.detail(started.id)).status;
    await expect.poll(status, { timeout: 100_000, interval: 200 }).toMatch(/^(?:success|error)$/);
    return started.id;
  }

  test('in a new source: the form, the other tab, the look, the trial, and what is saved', async () => {
    const provider = await startProvider({ expiresIn: 3600 });
    const { page, context } = await own.open('/new');
    await page.getByLabel('An address, a curl command').fill(`${provider.url}books`);
    await page.getByLabel('Login').selectOption('person');
    await page.getByLabel('Client id').fill('shop');
    await page.getByLabel('Client secret, if it has one').fill('hush-hush');
    await page.getByLabel('Address of the login page').fill(`${provider.url}authorize`);
    await page.getByLabel('Address of the tokens').fill(`${provider.url}token`);
    await page.getByLabel('Scopes').fill('read');
    expect(await page.getByRole('button', { name: 'Look at it' }).isDisabled()).toBe(true);
    await screenshots(page, 'login-form');
    expect(await axe(page)).toEqual([]);
    const tab = await logIn(page, context, 'Log in');
    // neither code nor state is left in the address or the history
    expect(tab.url()).toMatch(/\/console\/logins\/result\?id=[0-9a-f]{64}$/);
    expect(await tab.evaluate('history.length')).toBeLessThanOrEqual(2);
    await screenshots(tab, 'login-result');
    expect(await axe(tab)).toEqual([]);
    await tab.close();
    await page.getByText('logged in', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('heading', { name: 'What was found' }).waitFor({ timeout: 100_000 });
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    await page.getByRole('button', { name: 'Ask the API again' }).waitFor({ timeout: 100_000 });
    await screenshots(page, 'login-looked');
    const html = await page.content();
    for (const secret of ['a1', 'r1']) expect(html).not.toMatch(new RegExp(`\\b${secret}\\b`));
    await page.getByLabel('Name', { exact: true }).fill('Shop');
    await page.getByRole('button', { name: 'Save only' }).click();
    await page.getByRole('heading', { name: 'Shop', exact: true }).waitFor();
    await page.getByText('Runs renew it by themselves.').waitFor();
  });

  test('in a new source from a document that names the login', async () => {
    const provider = await startProvider({ expiresIn: 3600 });
    const { page, context } = await own.open('/new');
    await page.getByLabel('An address, a curl command').fill(documentOf(provider));
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor({ timeout: 100_000 });
    const button = page.getByRole('button', { name: 'Log in', exact: true });
    expect(await button.isDisabled()).toBe(true);
    await page.getByLabel('API_CLIENT_ID').fill('shop');
    await page.getByLabel('API_CLIENT_SECRET').fill('hush-hush');
    await page.getByText('Log in first').waitFor();
    expect(await page.getByRole('button', { name: 'Try with 3 pages' }).isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'login-document');
    await (await logIn(page, context, 'Log in')).close();
    await page.getByText('logged in', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    await page.getByRole('button', { name: 'Ask the API again' }).waitFor({ timeout: 100_000 });
    await page.getByText('1 row on 1 page').waitFor();
    await page.getByRole('button', { name: 'Save only' }).click();
    await page.getByText('Runs renew it by themselves.').waitFor();
  });

  test('of a saved source, whose page says how the login is', async () => {
    const provider = await startProvider({
      expiresIn: 3600,
      answer: (issued) => ({ ...issued, id_token: idToken }),
    });
    await saved('by-page', provider);
    const { page, context } = await own.open(`/sources/${COMPONENT}/by-page`);
    await page.getByText('nobody has logged in').waitFor();
    await screenshots(page, 'login-none');
    expect(await axe(page)).toEqual([]);
    await (await logIn(page, context, 'Log in')).close();
    await page.getByText('as anna@example.com').waitFor();
    await screenshots(page, 'login-active');
    expect(await axe(page)).toEqual([]);
  });

  test('again, when the provider has taken the login back and a run failed', async () => {
    const provider = await startProvider();
    await saved('taken-back', provider);
    const { page, context } = await own.open(`/sources/${COMPONENT}/taken-back`);
    await (await logIn(page, context, 'Log in')).close();
    await page.getByText('last renewed').waitFor();
    provider.revoke();
    const failed = await run('taken-back');
    await page.goto(`${own.url}/runs/${failed}`);
    await page.getByText('The refresh token was refused.').first().waitFor();
    await screenshots(page, 'login-failed-run');
    await page.getByRole('link', { name: 'Log in again' }).first().click();
    await page.getByText('the provider refused to renew it').waitFor();
    await screenshots(page, 'login-ended');
    expect(await axe(page)).toEqual([]);
    await (await logIn(page, context, 'Log in again')).close();
    await page.getByText('last renewed').waitFor();
  });

  test('and is told why not', async () => {
    const refusing = await startProvider({
      refuses: { error: 'access_denied', error_description: '<b>not</b> you' },
    });
    await saved('refused', refusing);
    const { page, context } = await own.open(`/sources/${COMPONENT}/refused`);
    const tab = await logIn(page, context, 'Log in');
    await expect.poll(async () => await tab.getByRole('heading').textContent()).toBe('Not logged in');
    await tab.close();
    await page.getByText('It says “access_denied: <b>not</b> you”').waitFor();
    await screenshots(page, 'login-refused');
    expect(await axe(page)).toEqual([]);
  });

  test('and may stop waiting', async () => {
    const slow = await startProvider({ answer: async () => await new Promise<object>(() => {}) });
    await saved('slow', slow);
    const { page } = await own.open(`/sources/${COMPONENT}/slow`);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByText('The provider has sent you back').waitFor();
    await screenshots(page, 'login-waiting');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Log in', exact: true }).waitFor();
  });

  test('without a refresh token: the end is told, and what ends soon', async () => {
    const provider = await startProvider({
      expiresIn: 3600,
      answer: () => ({ access_token: 'a1', expires_in: 3600 }),
    });
    await saved('ends', provider);
    const { page, context } = await own.open(`/sources/${COMPONENT}/ends`);
    await (await logIn(page, context, 'Log in')).close();
    await page.getByText('ends soon').waitFor();
    await page.getByText('the provider gave no refresh token').waitFor();
    await screenshots(page, 'login-ends-soon');
    expect(await axe(page)).toEqual([]);
  });

  test('of a configuration that only another machine can read says so, and nothing more', async () => {
    const provider = await startProvider();
    await saved('elsewhere', provider, { '#clientSecret': '$env:APP_SECRET' });
    const { page } = await own.open(`/sources/${COMPONENT}/elsewhere`, { expects: [/400/] });
    await page.getByText('The state of the login cannot be told here').waitFor();
    await page.getByText('APP_SECRET').first().waitFor();
  });

  test('is set in the form of a source', async () => {
    const provider = await startProvider();
    await own.client.configurations(COMPONENT).create({
      configurationId: 'by-form',
      name: 'By form',
      configuration: {
        parameters: { api: { baseUrl: provider.url }, config: { jobs: [{ endpoint: 'books' }] } },
      },
    });
    const { page } = await own.open(`/sources/${COMPONENT}/by-form?tab=settings`);
    await page.getByLabel('Kind of login').selectOption('oauth20.clientCredentials');
    await page.getByLabel('Client id').fill('shop');
    await page.getByLabel('Kind of login').selectOption('oauth20.refreshToken');
    await page.getByLabel('Client id').fill('shop');
    await page.getByLabel('Address of the login page').fill(`${provider.url}authorize`);
    await page.getByLabel('Address of the tokens').fill(`${provider.url}token`);
    await screenshots(page, 'login-source-form');
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('nobody has logged in').waitFor();
  });
});
