import { describe, expect, test } from 'vitest';
import { axe, CHROMIUM, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('the console', () => {
  const own = useConsole();

  test('a link signs in once, and is gone from the address', async () => {
    const link = await own.link();
    const { page, context } = await own.visit(link);
    await page.getByRole('heading', { name: 'Start' }).waitFor();
    expect(page.url()).toBe(`${own.url}/`);
    const { page: other } = await own.visit(link, { expects: [/401/] });
    await other.getByText('The link has been used already').waitFor();
    const stored = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(stored).toBe('[{},{},""]');
    const cookies = await context.cookies();
    expect(cookies).toMatchObject([{ httpOnly: true, sameSite: 'Strict', path: '/' }]);
    expect(JSON.stringify(cookies)).not.toContain(own.token);
  });

  test('a token signs in, and signing out ends the session for good', async () => {
    const { page, context } = await own.visit(`${own.url}/runs`, { expects: [/401/] });
    await page.getByLabel('Token').fill('1-2-wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('That token is not known here').waitFor();
    await page.getByLabel('Token').fill(own.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    expect(page.url()).not.toContain(own.token);
    const [cookie] = await context.cookies();
    await page.getByRole('button', { name: 'Your session' }).first().click();
    await page.getByText('Signed in with Master token').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.locator('button[aria-haspopup]:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('[role^=menuitem]:focus').waitFor();
    await page.keyboard.press('ArrowUp');
    await page.locator('[role=menuitem]:focus', { hasText: 'Sign out' }).waitFor();
    await page.keyboard.press('Enter');
    // A link is good once: who leaves is told what leads back, and may stay.
    const dialog = page.getByRole('dialog', { name: 'Sign out?' });
    await dialog.getByText('gex ui').waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.getByRole('button', { name: 'Your session' }).first().click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await dialog.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    const again = await fetch(`${own.url}/v2/storage/tables`, {
      headers: { cookie: `${cookie?.name}=${cookie?.value}`, 'x-console': '1' },
    });
    expect(again.status).toBe(401);
  });

  test('the first load is small, and the rest comes when it is needed', async () => {
    const { page } = await own.visit('about:blank');
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(await own.link());
    await page.getByRole('heading', { name: 'A source from a link' }).waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(150_000);
  });
});
