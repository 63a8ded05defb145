import { describe, expect, test } from 'vitest';
import { CHROMIUM, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('the page about the API', () => {
  const own = useConsole();

  test('an address leads to an operation, and others are found', async () => {
    const { page } = await own.visit(`${own.url}/docs#/Files/post_v2_storage_files_prepare`, {
      expects: [/escaping deep link/],
    });
    await page.locator('.opblock.is-open').getByText('federationToken').first().waitFor();
    await page.getByPlaceholder('Filter').fill('tokens/verify');
    await expect.poll(async () => await page.locator('.opblock').count()).toBe(1);
    await page.locator('[data-path="/v2/storage/tokens/verify"]').waitFor();
  });

  test('has no part in the session of the console, and asks nothing', async () => {
    const { context } = await own.open('/');
    const page = await context.newPage();
    await page.goto(`${own.url}/docs`);
    await page.locator('.opblock-tag').first().waitFor();
    const tried = await page.evaluate(`(async () => {
      const told = async (work) => await Promise.resolve().then(work).then(() => 'done', (error) => error.name);
      return [
        self.origin,
        await told(() => localStorage.length),
        await told(() => document.cookie),
        await told(() => fetch('/console/session', { headers: { 'x-console': '1' } })),
        String(open('/tokens')),
      ];
    })()`);
    expect(tried).toEqual(['null', 'SecurityError', 'SecurityError', 'TypeError', 'null']);
  });
});
