import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { COMPILE_CACHE, json, startApi } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

const SECRET = 'reader-7-secret';
const HOSTILE = '<img src=x onerror=alert(1)>\u202Egnp.exe\u0007';
const COMPONENT = 'ex-generic-v2';

const look = async (page: Page, source: string): Promise<void> => {
  await page.getByLabel('An address, a curl command').fill(source);
  await page.getByRole('button', { name: 'Look at it' }).click();
};
const found = async (page: Page): Promise<void> =>
  await page.getByRole('heading', { name: 'What was found' }).waitFor();

/** Drops a file, as from the desktop. */
async function drop(page: Page, name: string, content: unknown): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const t = new DataTransfer(); t.items.add(new File([${JSON.stringify(JSON.stringify(content))}], ${JSON.stringify(name)})); return t; })()`,
  );
  await page.locator('.new-drop').dispatchEvent('drop', { dataTransfer: transfer });
  await page.getByText(name, { exact: true }).waitFor();
}

describe.skipIf(CHROMIUM === undefined)('a new source of what people paste and drop', () => {
  const own = useConsole({
    parts: [dataPart, workshopPart({ command: [process.execPath, MAIN] })],
  });

  test('a curl command with a token: request, row and table are linked, and the token is nowhere', async () => {
    const api = await startApi(({ url, headers }, response) => {
      if (headers.authorization !== `Bearer ${SECRET}`) {
        json(response, { error: 'who are you?' }, 401);
        return;
      }
      const page = Number(url.searchParams.get('page') ?? 1);
      const ids = page > 2 ? [] : [page * 2 - 1, page * 2];
      json(response, {
        users: ids.map((id) => ({ id, name: `user ${id}`, isNew: true, tags: [{ tag: `t${id}` }] })),
        page,
        total: 4,
      });
    });
    const { page } = await own.open('/new');
    await look(page, `curl '${api.url}users' -H 'Authorization: Bearer ${SECRET}'`);
    await found(page);
    // Pasted text stays in its field until the page is left.
    await page.getByLabel('An address, a curl command').fill('');
    const asked = api.seen.length;
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    const requests = page.getByRole('region', { name: 'Requests', exact: true });
    await requests.getByRole('button', { name: 'page=2' }).click();
    const rows = page.getByRole('region', { name: 'Rows of the answer' });
    await page.getByText('Choose a row to see where it is').waitFor();
    await rows.getByRole('button', { name: 'user 4' }).click();
    await page.getByText('Row 2 is line 4 of users.').waitFor();
    // As it came: a yes is no 1.
    await rows.getByText('true', { exact: true }).waitFor();
    const marked = page.locator('.grid-row-marked');
    await expect.poll(() => marked.allTextContents()).toEqual([expect.stringContaining('user 4')]);
    await page.getByRole('button', { name: 'users_tags · 1 of the row' }).click();
    await expect.poll(() => marked.allTextContents()).toEqual([expect.stringContaining('t4')]);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'new-source-panels');
    const tried = api.seen.length;
    expect(tried).toBeGreaterThan(asked);

    // The editor: what is wrong is told, and a good change shows at once from the recording.
    await page.getByText('The configuration as JSON').click();
    const editor = page.getByRole('textbox', { name: 'Configuration as JSON' });
    await editor.waitFor();
    await editor.click();
    await page.keyboard.press('Control+f');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Home');
    await page.keyboard.insertText('x');
    await page.getByRole('region', { name: 'Problems' }).getByText('1:1').waitFor();
    await page.keyboard.press('Backspace');
    await page.getByText('No problem found.').waitFor();
    await page.getByLabel('Name of the table').fill('people');
    await expect.poll(() => editor.textContent()).toContain('"people"');
    await page.getByRole('button', { name: 'people', exact: false }).first().waitFor();
    expect(api.seen.length).toBe(tried);

    // A change of what is asked cannot be answered by the recording: that is said, and the API is not asked.
    const text = (await editor.innerText()).replace('"users"', '"people/all"');
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(text);
    await page.getByText('Ask it again, or take the change back.').waitFor();
    expect(api.seen.length).toBe(tried);
    await page.keyboard.press('Control+z');
    await page.getByText('Ask it again, or take the change back.').waitFor({ state: 'detached' });

    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    const shown = `${await page.content()} ${stored as string} ${page.url()}`;
    expect(shown).not.toContain(SECRET);
    await page.getByLabel('Name', { exact: true }).fill('Curl');
    await page.getByRole('button', { name: 'Save only' }).click();
    await expect.poll(() => page.url()).toContain(`/sources/${COMPONENT}/curl`);
    const saved = JSON.stringify(await own.client.configurations(COMPONENT).detail('curl'));
    expect(saved).not.toContain(SECRET);
    expect(saved).toContain('"#token":"GEX::');
    expect(await page.content()).not.toContain(SECRET);
  });

  test('of a HAR file that is dropped another list is looked at by a click', async () => {
    const api = await startApi(({ url }, response) =>
      json(response, url.pathname === '/teams' ? [{ team: HOSTILE }] : [{ id: 1 }, { id: 2 }]),
    );
    const entryOf = (path: string, answer: unknown): object => ({
      request: { method: 'GET', url: api.url + path, headers: [] },
      response: { status: 200, content: { mimeType: 'application/json', text: JSON.stringify(answer) } },
    });
    const { page } = await own.open('/new', { width: 390 });
    await drop(page, 'page.har', {
      log: { entries: [entryOf('users', [{ id: 1 }, { id: 2 }]), entryOf('teams', [{ team: HOSTILE }])] },
    });
    await page.getByRole('button', { name: 'Look at it' }).click();
    await found(page);
    const lists = page.getByRole('region', { name: 'Lists in the file' });
    await lists.getByText('this one').waitFor();
    await expect.poll(async () => await page.getByLabel('Name of the table').inputValue()).toBe('users');
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'new-source-choices');
    await lists.getByRole('button', { name: `GET ${api.url}teams` }).click();
    await expect.poll(() => page.getByLabel('Name of the table').inputValue()).toBe('teams');
    expect(api.seen).toContain('GET /teams');
    // Content of cells is shown as text, with its control characters visible.
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    const table = page.getByRole('grid', { name: 'Table teams' });
    await table.getByText('<img src=x').waitFor();
    const cells = (await table.textContent()) ?? '';
    expect(['\u202E', '\u0007'].filter((sign) => cells.includes(sign))).toEqual([]);
    expect(await page.locator('img[src="x"]').count()).toBe(0);
  });

  test('of an OpenAPI document lists are taken, and a value that is missing is asked for first', async () => {
    const api = await startApi(({ headers }, response) =>
      json(
        response,
        headers['x-api-key'] === SECRET ? [{ id: 1 }] : {},
        headers['x-api-key'] === SECRET ? 200 : 401,
      ),
    );
    const get = {
      responses: {
        200: {
          description: 'all',
          content: {
            'application/json': {
              schema: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
            },
          },
        },
      },
    };
    const { page } = await own.open('/new');
    await drop(page, 'api.json', {
      openapi: '3.0.0',
      info: { title: 'Books', version: '1' },
      servers: [{ url: api.url }],
      security: [{ key: [] }],
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } } },
      paths: { '/books': { get }, [`/${HOSTILE.slice(0, 9)}`]: { get } },
    });
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('heading', { name: 'Books' }).waitFor();
    await page.getByRole('button', { name: 'Take none' }).click();
    await page.getByText('Take a list first.').waitFor();
    await page.getByLabel('/books').check();
    await page.getByText('Fill in API_KEY first').waitFor();
    expect(await page.getByRole('button', { name: 'Try with 3 pages' }).isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('API_KEY').fill(SECRET);
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    await page.getByRole('grid', { name: 'Table books' }).getByText('1').waitFor();
    await page.getByRole('button', { name: 'Save only' }).click();
    await expect.poll(() => page.url()).toContain('/sources/');
    const [row] = await own.client.configurations(COMPONENT).rows('books').list();
    expect(row?.id).toBe('books');
    const saved = JSON.stringify(await own.client.configurations(COMPONENT).detail('books'));
    expect(saved).not.toContain(SECRET);
    expect(saved).toContain('"#key":"GEX::');
  });

  test('each list of an OpenAPI document is asked for, and what was proved is shown', async () => {
    const api = await startApi(({ url }, response) => {
      const page = Number(url.searchParams.get('page') ?? 1);
      if (url.pathname !== '/books') return json(response, { message: 'not here' }, 404);
      json(response, { items: page > 3 ? [] : [{ id: page * 2 }, { id: page * 2 + 1 }], pages: 3, page });
    });
    const items = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } };
    const content = { 'application/json': { schema: { type: 'object', properties: { items } } } };
    const get = { responses: { 200: { description: 'all', content } } };
    const { page } = await own.open('/new');
    await drop(page, 'api.json', {
      openapi: '3.0.0',
      info: { title: 'Books', version: '1' },
      servers: [{ url: api.url }],
      paths: { '/books': { get }, '/authors': { get } },
    });
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('button', { name: 'Ask for each list' }).click();
    const table = page.getByRole('region', { name: 'What was proved' });
    await table.getByRole('row', { name: '/books complete' }).getByText('6 on 3 pages').waitFor();
    await table.getByRole('row', { name: '/authors failed' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByText('The configuration as JSON').click();
    await page.getByText('pagenum').first().waitFor();
  });

  test('of a Postman collection that is dropped the lists are shown', async () => {
    const { page } = await own.open('/new');
    await drop(page, 'shop.json', {
      info: { name: 'Shop', schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json' },
      item: [{ name: 'Orders', request: { method: 'GET', url: { raw: 'https://shop.example.com/orders' } } }],
    });
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('heading', { name: 'Shop' }).waitFor();
    await page.getByLabel('orders').waitFor();
  });

  test.each([
    ['basic', 'User and password', 'me', 'Password', { authorization: `Basic ${btoa(`me:${SECRET}`)}` }],
    ['header', 'Key in a header', 'X-Key', 'Key', { 'x-key': SECRET }],
    ['query', 'Key in the address', 'api_key', 'Key', {}],
  ] as const)('a login by %s', async (kind, _title, name, label, wanted) => {
    const api = await startApi(({ url, headers }, response) => {
      const isIn =
        kind === 'query'
          ? url.searchParams.get('api_key') === SECRET
          : Object.entries(wanted).every(([key, value]) => headers[key] === value);
      json(response, isIn ? [{ id: 1 }] : {}, isIn ? 200 : 401);
    });
    const { page } = await own.open('/new');
    await look(page, `${api.url}things`);
    await page.getByText('The API wants a login.').waitFor();
    await page.getByText('Choose a login above, and look again.').waitFor();
    await page.getByLabel('Login').selectOption(kind);
    await page.getByLabel(kind === 'basic' ? 'User' : kind === 'header' ? 'Header' : 'Parameter').fill(name);
    await page.getByText('Give the secret, too.').waitFor();
    await page.getByLabel(label, { exact: true }).fill('wrong-secret');
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByText('Is the login right, and for this API?').waitFor();
    await page.getByLabel(label, { exact: true }).fill(SECRET);
    await page.getByRole('button', { name: 'Look at it' }).click();
    await found(page);
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    await page.getByRole('grid', { name: 'Table things' }).waitFor();
    expect(await page.content()).not.toContain(SECRET);
  });

  test('an API that answers anything else is told in words of this page', async () => {
    const api = await startApi(({ url }, response) => {
      const status = Number(url.searchParams.get('status') ?? 200);
      if (url.pathname === '/page') response.setHeader('Content-Type', 'text/html').end('<html>hi</html>');
      else if (url.pathname === '/deep') response.end(`${'['.repeat(5000)}${']'.repeat(5000)}`);
      else json(response, { message: 'none' }, status);
    });
    const { page } = await own.open('/new');
    const alert = page.getByRole('alert').filter({ hasNotText: 'The API wants' });
    const told = async (source: string, words: RegExp): Promise<void> => {
      await look(page, source);
      await alert.filter({ hasText: words }).first().waitFor();
      expect(await alert.first().textContent()).not.toMatch(/--[a-z]|\bgex |\\n/);
    };
    await told(`${api.url}?status=404`, /404.*Check the address/s);
    await told(`${api.url}?status=405`, /405.*paste the whole request as a curl command/is);
    await told(`${api.url}?status=400`, /400.*Something is missing in the request/s);
    await told(`${api.url}?status=500`, /500.*The fault is on the side of the API/s);
    await told(`${api.url}page`, /Give the address of the API itself/);
    await told(`${api.url}deep`, /levels of nesting/);
    await told('http://nowhere.invalid/users', /nowhere\.invalid/);
    await told('{"neither": "this", "nor": "that"}', /none of the documents/);
    await screenshots(page, 'new-source-told');
    expect(await axe(page)).toEqual([]);
    // One object is a row: nothing is a list there, and that is said.
    await look(page, `${api.url}one`);
    await found(page);
    await page.getByText('There is one page.').waitFor();
  });

  test('answers that are too large to be kept are shown in part, and that is said', async () => {
    const rows = Array.from({ length: 30 }, (_, id) => ({
      id,
      text: randomBytes(300_000).toString('base64'),
    }));
    const api = await startApi((_request, response) => json(response, rows));
    const { page } = await own.open('/new');
    await look(page, `${api.url}blobs`);
    await found(page);
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    await page.getByText('The answers are too large to be kept').waitFor();
    await page.getByRole('grid', { name: 'Table blobs' }).getByText('7', { exact: true }).waitFor();
    await page.getByText('30 rows', { exact: true }).last().waitFor();
    expect((await page.content()).length).toBeLessThan(1_000_000);
  });
});
