import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

const COMPONENT = 'ex-generic-v2';
const CONTENT = {
  parameters: {
    api: {
      baseUrl: 'https://api.example.com/v1/',
      authentication: { type: 'bearer', '#token': 'reader-7-secret' },
      pagination: { method: 'pagenum', pageParam: 'page' },
    },
    config: {
      outputBucket: 'shop',
      jobs: [{ endpoint: 'users', dataField: 'data' }],
      unknownToTheForm: [1, 2.5],
    },
  },
};

describe.skipIf(CHROMIUM === undefined)('sources', () => {
  const own = useConsole({
    parts: [dataPart, workshopPart({ command: [process.execPath, MAIN] })],
  });

  const configs = () => own.client.configurations(COMPONENT);
  async function make(id: string, content: object = CONTENT, name = `Source ${id}`): Promise<string> {
    await configs().create({ name, configurationId: id, configuration: content });
    return `/sources/${COMPONENT}/${id}`;
  }
  const contentOf = async (id: string): Promise<string> =>
    JSON.stringify((await configs().detail(id)).configuration);
  test('one is made from scratch, set by fields, and saved with what was said', async () => {
    const { page } = await own.open('/sources');
    await page.getByRole('button', { name: 'From scratch' }).click();
    await page.getByLabel('Name').fill('Shop');
    await page.getByLabel('Base address').fill('https://shop.example.com/');
    await page.getByRole('button', { name: 'Create the source' }).click();
    await page.getByRole('heading', { name: 'Shop' }).waitFor();
    await page.getByRole('button', { name: 'Add a job' }).click();
    await page.getByLabel('Endpoint').fill('orders');
    await page.getByLabel('Kind of login').selectOption('apiKey');
    await page.getByLabel('Name of the header or parameter').fill('X-Key');
    await page.getByLabel('Key', { exact: true }).fill('typed-secret-1');
    await page.getByLabel('How pages follow').selectOption('offset');
    await page.getByLabel('Page size', { exact: true }).fill('100');
    await page.getByLabel('What did you change? (optional)').fill('First settings');
    await page.getByText('No problem found.').waitFor();
    await save(page);
    await page.getByText('encrypted, set').waitFor();
    // Neither in the fields nor in the JSON.
    await page.getByRole('tab', { name: 'JSON' }).click();
    await editorOf(page).waitFor();
    const shown = await page.evaluate(
      `document.documentElement.outerHTML + JSON.stringify([...document.querySelectorAll('input')].map((each) => each.value))`,
    );
    expect(shown).toContain('GEX::');
    expect(shown).not.toContain('typed-secret-1');
    const [made] = await configs().list();
    expect(made).toMatchObject({
      name: 'Shop',
      configuration: {
        parameters: {
          api: {
            authentication: {
              type: 'apiKey',
              name: 'X-Key',
              '#key': expect.stringMatching(/^GEX::/) as string,
            },
            pagination: { method: 'offset', limit: 100 },
          },
          config: { jobs: [{ endpoint: 'orders' }] },
        },
      },
      currentVersion: { changeDescription: 'First settings' },
    });
    expect(await axe(page)).toEqual([]);
  });

  test('a field changes one value, and what the form does not know stays as it is', async () => {
    const at = await make('kept', { ...CONTENT, odd: { '10': 1, '9': [] }, empty: [] });
    const before = await contentOf('kept');
    const { page } = await own.open(`${at}?tab=settings`);
    await page.getByLabel('Data field').fill('items');
    await save(page);
    expect(await contentOf('kept')).toBe(before.replace('"dataField":"data"', '"dataField":"items"'));
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'source-settings');
  });

  test('JSON: keys are completed with their description, and a problem is shown at its place', async () => {
    const { page } = await own.open(`${await make('typed')}?tab=settings`);
    await page.getByRole('tab', { name: 'JSON' }).click();
    await retype(page, '{\n  "parameters": {\n    "api": { "baseUrl": 7 }\n    \n  }\n}');
    await page.getByRole('button', { name: /3:.*parameters\.api\.baseUrl/s }).click();
    const focused = page.locator('.cm-activeLine');
    await expect.poll(async () => await focused.textContent()).toContain('"baseUrl": 7');
    await expect.poll(async () => await page.locator('.cm-lintRange-error').count()).toBeGreaterThan(0);
    await page.keyboard.press('End');
    await page.keyboard.type(',');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('Control+Space');
    const options = page.locator('.cm-tooltip-autocomplete');
    await options.getByText('config', { exact: true }).waitFor();
    await page.locator('.cm-completionInfo').waitFor();
    expect(await page.locator('.cm-completionInfo').textContent()).not.toBe('');
    await screenshots(page, 'source-json');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.type('"conf');
    // the list of before is replaced once what was typed has been looked up
    await expect.poll(async () => await options.getByRole('option').count()).toBe(1);
    await options.getByText('config', { exact: true }).click();
    await expect.poll(async () => await editorOf(page).textContent()).toContain('"config": {');
    await retype(page, '{ "parameters": ');
    await page.getByText('What is no JSON cannot be saved yet.').waitFor();
    expect(await axe(page)).toEqual([]);
  });

  test('rows are moved by keyboard and by dragging, switched off and deleted', async () => {
    const at = await make('rows');
    for (const name of ['One', 'Two', 'Three'])
      await configs().rows('rows').create({ rowId: name.toLowerCase(), name });
    await configs().update('rows', { rowsSortOrder: ['one', 'two', 'three'] });
    const order = async (): Promise<readonly string[]> => (await configs().detail('rows')).rowsSortOrder;
    const { page } = await own.open(`${at}?tab=rows`);
    await page.getByRole('button', { name: 'Move up: Three' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(order).toEqual(['one', 'three', 'two']);
    await expect
      .poll(async () => await page.evaluate('document.activeElement?.getAttribute("aria-label")'))
      .toBe('Move up: Three');
    const items = page.getByRole('list', { name: 'Rows in their order' }).getByRole('listitem');
    await items.nth(2).dragTo(items.nth(0));
    await expect.poll(order).toEqual(['two', 'one', 'three']);
    await page.getByRole('switch', { name: /One/ }).click();
    await expect.poll(async () => (await configs().rows('rows').detail('one')).isDisabled).toBe(true);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'source-rows');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Delete: Three' }).click();
    await page.getByRole('button', { name: 'Delete the row' }).click();
    await expect.poll(order).toEqual(['two', 'one']);
    await page.getByRole('link', { name: 'Two' }).click();
    await page.getByRole('button', { name: 'Add a job' }).click();
    await page.getByLabel('Endpoint').fill('twos');
    await save(page);
    expect(await configs().rows('rows').detail('two')).toMatchObject({
      configuration: { parameters: { config: { jobs: [{ endpoint: 'twos' }] } } },
    });
  });

  test('versions tell what is different, and lead back', async () => {
    const at = await make('versions');
    await configs().update('versions', {
      configuration: { parameters: { ...CONTENT.parameters, api: { baseUrl: 'https://new.example.com/' } } },
      changeDescription: 'Another address',
    });
    const { page } = await own.open(`${at}?tab=versions`);
    const list = page.getByRole('list', { name: 'Differences' });
    await list.getByText('"https://api.example.com/v1/" → "https://new.example.com/"').waitFor();
    await list.getByText('configuration.parameters.api.authentication').waitFor();
    await page.getByText('Another address').waitFor();
    await page.getByRole('button', { name: 'Show both texts' }).click();
    await page.getByRole('textbox', { name: 'Version 2' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'source-versions');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Roll back to 1' }).click();
    await page.getByRole('button', { name: 'Roll back', exact: true }).click();
    await page.getByText('Rolled back to version 1').waitFor();
    expect(await configs().detail('versions')).toMatchObject({
      version: 3,
      configuration: { parameters: { api: { baseUrl: 'https://api.example.com/v1/' } } },
    });
  });

  test('of two who edit, the second is told, sees both, and loses nothing', async () => {
    const at = await make('two');
    const { page: first } = await own.open(`${at}?tab=settings`);
    const { page: second } = await own.open(`${at}?tab=settings`, { expects: [/412/] });
    await second.getByLabel('Data field').fill('mine');
    await second.getByLabel('Bucket').fill('second');
    await first.getByLabel('Base address').fill('https://theirs.example.com/');
    await first.getByLabel('Data field').fill('theirs');
    await save(first);
    await second.getByRole('button', { name: 'Save', exact: true }).click();
    await second.getByRole('button', { name: 'Look at both' }).click();
    await second
      .getByRole('list', { name: 'Their changes' })
      .getByText('https://theirs.example.com/')
      .waitFor();
    await second.getByRole('list', { name: 'Your changes' }).getByText('second').waitFor();
    await second.getByLabel('Both have changed parameters.config.jobs[0].dataField').selectOption('theirs');
    expect(await axe(second)).toEqual([]);
    await screenshots(second, 'source-conflict');
    await second.setViewportSize({ width: 1440, height: 900 });
    await second.getByRole('button', { name: 'Go on with both' }).click();
    await save(second);
    expect(await configs().detail('two')).toMatchObject({
      version: 3,
      configuration: {
        parameters: {
          api: { baseUrl: 'https://theirs.example.com/' },
          config: { outputBucket: 'second', jobs: [{ dataField: 'theirs' }] },
        },
      },
    });
  });

  test('a session that ends while one types loses nothing', async () => {
    const { page, context } = await own.open(`${await make('ended')}?tab=settings`, { expects: [/401/] });
    await page.getByLabel('Data field').waitFor();
    await context.clearCookies();
    // Typing starts a check for problems, whose answer shows that the session is over.
    await page.getByLabel('Data field').fill('typed before');
    await page.getByRole('heading', { name: 'Your session has ended' }).waitFor();
    await page.getByLabel('Token', { exact: true }).fill(own.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(async () => await page.getByLabel('Data field').inputValue()).toBe('typed before');
    await save(page);
    expect(await contentOf('ended')).toContain('"dataField":"typed before"');
  });

  test('leaving asks, while something is not saved', async () => {
    const { page } = await own.open(`${await make('left')}?tab=settings`);
    await page.getByLabel('Data field').fill('unsaved');
    const asked: string[] = [];
    page.once('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
    await expect.poll(() => asked).toHaveLength(1);
    await expect.poll(async () => await page.getByLabel('Data field').inputValue()).toBe('unsaved');
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(async () => await page.getByLabel('Data field').inputValue()).toBe('data');
  });

  test('to the trash and back, copied, with a state that is reset', async () => {
    const at = await make('moved', CONTENT, 'Moved');
    await configs().updateState('moved', { time: { previousStart: 7 } });
    const { page } = await own.open(`${at}?tab=state`);
    await page.getByText('previousStart').waitFor();
    await page.getByRole('button', { name: 'Reset the state' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset the state' }).click();
    await expect.poll(async () => (await configs().detail('moved')).state).toEqual({});
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByLabel('Name of the copy').fill('Moved too');
    await page.getByRole('button', { name: 'Copy the source' }).click();
    await page.getByRole('heading', { name: 'Moved too' }).waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete the source' }).click();
    await page.getByRole('link', { name: 'Trash' }).click();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('The trash is empty').waitFor();
    await page.getByRole('link', { name: 'Go to the sources' }).click();
    await page.getByRole('link', { name: 'Moved too' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'sources-list');
  });

  test('hostile names are texts, and a megabyte of JSON is edited', async () => {
    const name = '<img src=x onerror=alert(1)> \u202Egnp.exe';
    const jobs = Array.from({ length: 9000 }, (_, i) => ({
      endpoint: `users/${i}`,
      dataType: `users-${i}`,
      dataField: 'data.rows',
    }));
    const at = await make(
      'large',
      { parameters: { api: { baseUrl: 'https://a.example/' }, config: { jobs } } },
      name,
    );
    await configs().rows('large').create({ rowId: 'r', name, description: name });
    const { page } = await own.open(`${at}?tab=json`);
    await editorOf(page).waitFor();
    await editorOf(page).click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.insertText('"first": true, ');
    await save(page);
    expect(await contentOf('large')).toMatch(/^\{"first":true,/);
    await page.getByRole('tab', { name: /Rows/ }).click();
    await page.getByRole('link', { name: /img src/ }).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await axe(page)).toEqual([]);
  });

  test('everything fits on 360 pixels', async () => {
    const at = await make('narrow');
    const { page } = await own.open(`${at}?tab=settings`, { width: 360, theme: 'dark' });
    for (const tab of ['Settings', 'JSON', 'State', 'Versions']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.waitForLoadState('networkidle');
      const wide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
      expect(wide, tab).toBe(false);
      expect(await axe(page), tab).toEqual([]);
    }
  });
});

const editorOf = (page: Page) => page.getByRole('textbox', { name: 'Configuration as JSON' });
const save = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved', { exact: true }).first().waitFor();
};
/** Types over everything in an editor. */
async function retype(page: Page, text: string): Promise<void> {
  await editorOf(page).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}
