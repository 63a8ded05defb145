import { describe, expect, test } from 'vitest';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { json, startApi } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

const COMPONENT = 'ex-generic-v2';
const SECRET = 'reader-7-secret';

describe.skipIf(CHROMIUM === undefined)('a saved source', () => {
  const own = useConsole({ parts: [dataPart, workshopPart({ command: [process.execPath, MAIN] })] });

  async function make(configurationId: string, baseUrl: string, authentication: object): Promise<void> {
    await own.client.configurations(COMPONENT).create({
      configurationId,
      name: 'Shop',
      configuration: {
        parameters: { api: { baseUrl, authentication }, config: { outputBucket: 'shop' } },
      },
    });
  }

  test('is tried with its own secrets, and each of its rows alone, also before a change is saved', async () => {
    let requests = 0;
    const api = await startApi(({ url, headers }, response) => {
      requests++;
      if (headers.authorization !== `Bearer ${SECRET}`) json(response, { error: 'who are you?' }, 401);
      else
        json(
          response,
          [1, 2].map((id) => ({ id, path: url.pathname, name: `name ${id}` })),
        );
    });
    await make('shop', api.url, { type: 'bearer', '#token': SECRET });
    const rows = own.client.configurations(COMPONENT).rows('shop');
    for (const rowId of ['users', 'orders', 'off'])
      await rows.create({
        rowId,
        name: `Row ${rowId}`,
        isDisabled: rowId === 'off',
        configuration: { parameters: { config: { jobs: [{ endpoint: rowId, dataType: rowId }] } } },
      });

    const { page } = await own.open(`/sources/${COMPONENT}/shop?tab=try`);
    const tables = page.getByRole('region', { name: /^Tables/ });
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    await page.getByRole('heading', { name: 'Tables (2)' }).waitFor();
    await expect
      .poll(async () => await tables.getByRole('button').allTextContents())
      .toEqual(expect.arrayContaining([expect.stringContaining('users'), expect.stringContaining('orders')]));
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'source-try');
    // Nothing of it is kept.
    expect(await own.client.tables.list()).toEqual([]);

    await page.goto(`${own.url}/sources/${COMPONENT}/shop/rows/users?tab=try`);
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    await page.getByRole('heading', { name: 'Tables (1)' }).waitFor();
    await tables.getByText('/users').first().waitFor();
    const asked = requests;
    await page.getByRole('tab', { name: 'JSON' }).click();
    const editor = page.getByRole('textbox', { name: 'Configuration as JSON' });
    await editor.fill('{"parameters": {"config": {"jobs": [{"endpoint": "users", "dataType": "people"}]}}}');
    await page.getByRole('tab', { name: 'Try it' }).click();
    await page.getByText('with what is not saved').waitFor();
    await tables.getByText('people').first().waitFor();
    expect(requests).toBe(asked);
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('is not tried where its runs renew a login, which a trial could use up', async () => {
    await make('login', 'http://127.0.0.1:9/', {
      type: 'oauth20.refreshToken',
      clientId: 'id',
      '#clientSecret': 'secret-9',
      '#refreshToken': 'refresh-9',
      tokenUrl: 'http://127.0.0.1:9/token',
    });
    const { page } = await own.open(`/sources/${COMPONENT}/login?tab=try`);
    await page.getByText('a trial could use it up').waitFor();
    expect(await page.getByRole('button', { name: 'Try with 3 pages' }).isDisabled()).toBe(true);
  });
});
