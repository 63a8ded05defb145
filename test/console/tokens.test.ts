import { describe, expect, test } from 'vitest';
import { StorageClient } from '../../src/storage/client/index.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('tokens', () => {
  const own = useConsole();

  test('are made with rights, shown once, changed, refreshed and deleted', async () => {
    await own.client.buckets.create({ name: 'main', stage: 'in' });
    await own.client.buckets.create({ name: 'out', stage: 'out' });
    const { page } = await own.open('/tokens');
    await page.getByText('yours').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'New token' }).click();
    await page.getByLabel('Description').fill('Loader of <b>users</b>');
    await page.getByLabel('Rights to in.c-main').selectOption('reads and writes');
    await page.getByLabel('Rights to out.c-out').selectOption('reads');
    await page.getByLabel('Ends').selectOption('In a week');
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'token-new');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Make the token' }).click();
    const dialog = page.getByRole('dialog', { name: 'Copy the token now' });
    const secret = (await dialog.locator('code').textContent()) ?? '';
    const made = new StorageClient({ url: own.url, token: secret });
    const verified = await made.tokens.verify();
    made.close();
    expect(verified).toMatchObject({
      description: 'Loader of <b>users</b>',
      bucketPermissions: { 'in.c-main': 'write', 'out.c-out': 'read' },
    });
    expect(Date.parse(verified.expires ?? '') - Date.now()).toBeGreaterThan(6 * 86_400_000);
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('reads 1 bucket; reads and writes 1 bucket').waitFor();
    expect(await page.content()).not.toContain(secret);
    await screenshots(page, 'tokens');
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.getByRole('link', { name: 'Loader of <b>users</b>' }).click();
    await page.getByRole('button', { name: 'Change the rights' }).click();
    await page.getByLabel('Rights to in.c-main').selectOption('nothing');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('reads and writes 1 bucket').waitFor({ state: 'detached' });
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'token');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Refresh', exact: true }).click();
    await page.getByRole('button', { name: 'Refresh the token' }).click();
    expect(await dialog.locator('code').textContent()).not.toBe(secret);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();

    await page.getByRole('button', { name: 'Delete' }).click();
    const ending = page.getByRole('button', { name: 'Delete the token' });
    expect(await ending.isDisabled()).toBe(true);
    await page.getByLabel('Type Loader of').fill('Loader of <b>users</b>');
    await ending.click();
    await page.getByRole('heading', { name: 'Tokens' }).waitFor();
    expect((await own.client.tokens.list()).map(({ description }) => description)).not.toContain(
      'Loader of <b>users</b>',
    );
  });

  test('a limited one sees itself, and is told in words what it may not', async () => {
    const { token = '', id } = await own.client.tokens.create({ description: 'reader \u202e' });
    const { page } = await own.open('/tokens', { token, width: 390, expects: [/403/] });
    await page.getByText('Only the master token makes tokens').waitFor();
    expect(await page.getByRole('button', { name: 'New token' }).count()).toBe(0);
    await page.getByRole('link', { name: 'reader \\u202e' }).click();
    await page.getByText('its own files and jobs only').waitFor();
    expect(page.url()).toBe(`${own.url}/tokens/${id}`);
    expect(await axe(page)).toEqual([]);
    await page.goto(`${own.url}/tokens/1`);
    await page.getByRole('heading', { name: 'Your token may not see this' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});
