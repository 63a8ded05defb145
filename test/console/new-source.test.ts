import { describe, expect, test } from 'vitest';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { COMPILE_CACHE, json, startApi, type Api } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

const SECRET = 'reader-7-secret';

/** Users on five pages, behind a token, with a list in each and a second list beside. */
const usersApi = async (): Promise<Api> =>
  await startApi(({ url, headers }, response) => {
    if (headers.authorization !== `Bearer ${SECRET}`) {
      json(response, { error: 'who are you?' }, 401);
      return;
    }
    const page = Number(url.searchParams.get('cursor') ?? 0);
    const data = [1, 2].map((n) => ({
      id: page * 2 + n,
      name: `user ${page * 2 + n}`,
      address: { city: '<script>alert(1)</script>' },
      tags: ['a', 'b'],
      updated_at: `2026-01-0${n}T00:00:00Z`,
    }));
    const next = page < 4 ? String(page + 1) : null;
    json(response, { data, groups: [{ no: 1 }], meta: { next, total: 10 } });
  });

const command = [process.execPath, MAIN] as const;

describe.skipIf(CHROMIUM === undefined)('a new source', () => {
  const own = useConsole({
    parts: [dataPart, workshopPart({ command }), runnerPart({ command, concurrency: 1, pollMs: 100 })],
  });

  test('that was looked at is kept when the way back is taken by mistake, and says what login is asked for', async () => {
    const api = await startApi(({ headers }, response) => {
      if (headers.authorization === `Bearer ${SECRET}`)
        return json(
          response,
          [1, 2, 3].map((id) => ({ id, day: `2026-03-0${id}` })),
        );
      response.setHeader('www-authenticate', 'Bearer realm="shop"');
      json(response, { error: 'who are you?' }, 401);
    });
    const { page } = await own.open('/sources');
    await page.getByRole('link', { name: 'New source' }).first().click();
    await page.getByLabel('An address, a curl command').fill(`${api.url}days`);
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByText('The API asks for: Bearer realm="shop"').waitFor();
    await page.getByText('“Client and secret (OAuth client credentials)”').waitFor();
    await page.getByLabel('Login').selectOption('bearer');
    await page.getByLabel('Token', { exact: true }).fill(SECRET);
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('heading', { name: 'What was found' }).waitFor();

    // A guess is told as one, and the form of the time is that of its values.
    await page.getByRole('button', { name: 'time: day' }).click();
    await page.getByText('nothing proves it').waitFor();
    await expect.poll(async () => await page.getByLabel('How it is written').inputValue()).toBe('Y-m-d');

    page.once('dialog', (dialog) => void dialog.dismiss());
    await page.evaluate('history.back()');
    await expect.poll(() => page.url()).toBe(`${own.url}/new`);
    await page.getByRole('heading', { name: 'What was found' }).waitFor();
    page.once('dialog', (dialog) => void dialog.accept());
    await page.evaluate('history.back()');
    await page.getByRole('heading', { name: 'Sources', exact: true }).waitFor();
  });

  test('comes from a link: proposal, trial, mapping, run', async () => {
    const api = await usersApi();
    const { page } = await own.open('/new');
    await page.getByLabel('An address, a curl command').fill(`${api.url}users`);
    await page.getByLabel('Login').selectOption('bearer');
    await page.getByLabel('Token', { exact: true }).fill(SECRET);
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('heading', { name: 'What was found' }).waitFor();
    await page.getByText('complete', { exact: true }).waitFor();
    await screenshots(page, 'new-source-found');
    expect(await axe(page)).toEqual([]);

    const asked = api.seen.length;
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    const table = page.getByRole('grid', { name: 'Table users' }).filter({ visible: true });
    await table.getByText('user 6').waitFor();
    expect(api.seen.length).toBe(asked + 3);
    await screenshots(page, 'new-source-tried');

    // Another mapping, from what was recorded.
    await page.getByRole('button', { name: 'Use it as the key' }).click();
    await page.getByLabel('Column of name').fill('who');
    await page.getByLabel('Take address.city').uncheck();
    await table.getByRole('columnheader', { name: 'who' }).waitFor();
    await table.getByRole('columnheader', { name: 'id (key)' }).waitFor();
    await expect.poll(() => table.getByText('alert').count()).toBe(0);
    expect(api.seen.length).toBe(asked + 3);

    expect(page.url()).toBe(`${own.url}/new`);
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(kept).not.toContain(SECRET);
    await page.getByLabel('Name', { exact: true }).fill('My users');
    await page.getByRole('button', { name: 'Save and run it now' }).click();
    await expect.poll(() => page.url()).toMatch(/\/runs\/./);
    const [run] = await own.client.runs.list();
    await expect
      .poll(async () => (await own.client.runs.detail(run?.id ?? '')).status, { timeout: 100_000 })
      .toBe('success');
    const users = await own.client.tables.detail('in.c-my-users.users');
    expect(users).toMatchObject({ primaryKey: ['id'], columns: ['id', 'who', 'updated_at'] });
    expect((await own.client.tables.detail('in.c-my-users.users_tags')).rowsCount).toBe(20);
    const saved = await own.client.configurations('ex-generic-v2').detail('my-users');
    expect(JSON.stringify(saved)).not.toContain(SECRET);
  });

  test('what gives no list is told in words, and a look can be stopped', async () => {
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    const api = await startApi(({ url }, response) => {
      if (url.pathname === '/secret') json(response, { error: 'who are you?' }, 401);
      else if (url.pathname === '/page')
        response.setHeader('Content-Type', 'text/html').end('<html>hi</html>');
      else void gate.then(() => json(response, []));
    });
    const { page } = await own.open('/new', { width: 390 });
    const look = async (source: string): Promise<void> => {
      await page.getByLabel('An address, a curl command').fill(source);
      await page.getByRole('button', { name: 'Look at it' }).click();
    };
    await look(`${api.url}secret`);
    await page.getByText('The API wants a login').waitFor();
    expect(await axe(page)).toEqual([]);
    await look(`${api.url}page`);
    await page.getByText('Give the address of the API itself').waitFor();
    await look('http://127.0.0.1:1/x');
    await page.getByRole('alert').getByText('127.0.0.1:1').waitFor();
    await look('just a text');
    await page.getByRole('alert').waitFor();
    await screenshots(page, 'new-source-failed');
    await look(`${api.url}slow`);
    await expect.poll(() => api.seen.at(-1)).toBe('GET /slow');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Stopped.').waitFor();
    letGo();
  });
});
