import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { MAIN } from '../support/command.ts';
import { axe, bytesAnswered, CHROMIUM, screenshots, useConsole } from './harness.ts';
import { CAUSES, fillLarge, type Large } from './large-service.ts';

const command = [process.execPath, MAIN] as const;
const runner = runnerPart({ command, concurrency: 1, pollMs: 1000 });

const grid = (page: Page, name: string) => page.getByRole('grid', { name });

describe.skipIf(CHROMIUM === undefined)('a service with much in it', () => {
  const own = useConsole({ parts: [dataPart, runner, workshopPart({ command })] });
  let filled: Large;

  beforeAll(async () => {
    filled = await fillLarge(own.dir);
  });

  test('shows on the start page how many sources failed, also when others ran since', async () => {
    const { page } = await own.open('/');
    const runs = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Last runs' }) });
    await runs
      .getByRole('link', { name: `${filled.failed} sources failed or may not have everything` })
      .waitFor();
    await expect.poll(async () => await runs.getByText('Failed', { exact: true }).count()).toBe(6);
    expect(await runs.getByText('Waiting', { exact: true }).count()).toBe(0);
    const tables = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Tables changed lately' }) });
    await expect
      .poll(async () => await tables.getByRole('link', { name: /^in\.c-bucket/ }).allTextContents())
      .toEqual([0, 1, 2, 3, 4, 5].map((n) => `in.c-bucket-0${n}.table_000${n}`));
    await screenshots(page, 'large-start');

    await runs.getByRole('link', { name: /sources failed/ }).click();
    await grid(page, 'Runs').getByText('Failed', { exact: true }).first().waitFor();
    await expect
      .poll(async () => await grid(page, 'Runs').getAttribute('aria-rowcount'))
      .toBe(String(filled.failed + 1));
  });

  test('shows what went wrong by its causes, and accepts doubts together', async () => {
    const { page } = await own.open('/', { expects: [/409/] });
    // One click leads from what failed to its causes.
    await page.getByRole('link', { name: 'What went wrong, by causes' }).click();
    await page.getByText(`134 runs succeeded, ${filled.failed} failed, 0 cancelled.`).waitFor();
    const causes = page.getByRole('region').filter({ hasText: /runs? failed/ });
    await expect.poll(async () => await causes.count()).toBe(CAUSES.length);
    const doubts = page.getByRole('region').filter({ hasText: 'may not have everything' });
    await doubts.getByRole('button', { name: /^Accept/ }).scrollIntoViewIfNeeded();
    // A run that failed otherwise has no doubt.
    expect(await page.getByRole('button', { name: /^Accept/ }).count()).toBe(1);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'problems-doubts');
    await page.setViewportSize({ width: 1440, height: 900 });
    await doubts.getByRole('button', { name: /^Accept/ }).click();
    const dialog = page.getByRole('dialog', { name: /^Accept the doubts? of/ });
    await dialog.getByLabel('Why the tables are good').fill('Rows that were deleted are counted, too');
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'problems-accept');
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog.getByRole('button', { name: 'Accept the doubts' }).click();
    // These runs have kept nothing that could be loaded: each one says so.
    await doubts.getByText('With these it was not done:').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'problems-not-accepted');
  });

  test('lists all runs, a part at a time, and those that failed', async () => {
    const { page } = await own.open('/runs');
    await grid(page, 'Runs').getByRole('link', { name: '100199', exact: true }).waitFor();
    await screenshots(page, 'large-runs');
    await page.getByRole('button', { name: 'Older' }).click();
    await grid(page, 'Runs').getByRole('link', { name: '100099', exact: true }).waitFor();
    await page.getByText('101 to 200 of the runs').waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByText('No more runs').waitFor();
    await page.getByLabel('Status').selectOption({ label: 'Failed' });
    await page.getByText('No more runs').waitFor({ state: 'detached' });
    await expect
      .poll(async () => await grid(page, 'Runs').getAttribute('aria-rowcount'))
      .toBe(String(filled.failed + 1));
  });

  test('shows the runs of one source, and its last one however long ago', async () => {
    const { page } = await own.open('/sources');
    await page.getByLabel('Search sources').fill('source-000');
    const line = grid(page, 'Sources').getByRole('row').filter({ hasText: 'source-000' });
    await line.getByRole('link', { name: 'Done' }).waitFor();
    await line.getByRole('link', { name: 'Source 000 of the shop' }).click();
    await page.getByRole('heading', { name: 'Source 000 of the shop' }).waitFor();
    await page.getByRole('link', { name: 'Runs', exact: true }).last().click();
    await grid(page, 'Runs').getByRole('link', { name: '100000', exact: true }).waitFor();
    await expect.poll(async () => await grid(page, 'Runs').getAttribute('aria-rowcount')).toBe('2');
    await expect
      .poll(async () => await page.getByLabel('Source').locator('option:checked').textContent())
      .toBe('Source 000 of the shop');
  });

  // It looks on for half a minute, whatever the machine.
  test('asks for little, and for nothing while nothing changes', { timeout: 180_000 }, async () => {
    const { page } = await own.open('/jobs');
    const bytes = bytesAnswered(page);
    for (const [view, ready] of [
      ['Tables', 'in.c-bucket-00'],
      ['Runs', 'Source 199 of the shop'],
      ['Sources', 'Source 000 of the shop'],
    ] as const) {
      await page.getByRole('link', { name: view, exact: true }).first().click();
      await page.getByRole('grid').getByText(ready).first().waitFor();
      await page.waitForTimeout(1500);
      const shown = await bytes();
      expect(shown, view).toBeGreaterThan(1000);
      expect(shown, view).toBeLessThan(100_000);
      const begin = performance.now();
      await page.waitForTimeout(8000);
      const idle = await bytes();
      expect(idle / (performance.now() - begin), `${view}, idle`).toBeLessThan(50_000 / 60_000);
    }
  });

  // Sooner than without the stream, where it is asked for every half minute: each list has rested for a while before.
  test('shows at once what changes elsewhere', { timeout: 180_000 }, async () => {
    const { page } = await own.open('/runs');
    await grid(page, 'Runs').getByRole('link', { name: '100199', exact: true }).waitFor();
    await page.waitForTimeout(3000);
    const { id } = await own.client.runs.start({ component: 'ex-generic-v2', configuration: 'source-001' });
    await grid(page, 'Runs').getByRole('link', { name: id, exact: true }).waitFor({ timeout: 20_000 });
    await page.goto(`${own.url}/runs/schedules`);
    await page.getByText('285 schedules run by their times, 15 disabled.').waitFor();
    await page.waitForTimeout(3000);
    await own.client.schedules.pause();
    await page.getByText('285 paused').waitFor({ timeout: 20_000 });
    await own.client.schedules.resume();
    await page.getByText('285 schedules run by their times, 15 disabled.').waitFor({ timeout: 20_000 });
    await page.goto(`${own.url}/alerts`);
    await page.getByText('Nobody is told of anything').waitFor();
    await page.waitForTimeout(3000);
    const alert = { name: 'followed', url: 'http://127.0.0.1:1/', isEnabled: false };
    const made = await own.client.alerts.create(alert);
    await page.getByRole('link', { name: 'followed' }).waitFor({ timeout: 20_000 });
    await own.client.alerts.delete(made.id);
    await page.getByText('Nobody is told of anything').waitFor({ timeout: 20_000 });
  });

  test('comes back to the place where a list was left', async () => {
    const { page } = await own.open('/sources');
    const list = grid(page, 'Sources');
    await list.getByText('Source 000 of the shop').waitFor();
    await list.evaluate((element: { scrollTop: number }) => (element.scrollTop = 2500));
    const link = list.getByRole('link', { name: /^Source 06\d of the shop$/ }).first();
    const name = (await link.textContent()) ?? '';
    await list.getByRole('link', { name }).click();
    await page.getByRole('heading', { name }).waitFor();
    await page.goBack();
    await list.getByRole('link', { name }).waitFor();
    await expect
      .poll(async () => await list.evaluate((element: { scrollTop: number }) => element.scrollTop))
      .toBeGreaterThan(2000);
  });

  test('lists tables page by page, searched and sorted by the service', async () => {
    const { page } = await own.open('/tables');
    const list = grid(page, 'Tables');
    await page.getByText('2,000 tables · 102 MB').waitFor();
    await expect.poll(async () => await list.getAttribute('aria-rowcount')).toBe('201');
    await list.getByRole('button', { name: 'Rows' }).click();
    await list.getByRole('link', { name: 'table_0000', exact: true }).waitFor();
    await list.getByRole('button', { name: 'Rows' }).click();
    // The last of all, which is on no page before.
    await list.getByRole('link', { name: 'table_1999', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await list.getByRole('link', { name: 'table_1799', exact: true }).waitFor();
    await page.getByText('201 to 400 of 2,000 tables').waitFor();
    await page.getByLabel('Search tables').fill('1234 bucket');
    await page.getByText('1 table ·').waitFor();
    await list.getByRole('link', { name: 'table_1234', exact: true }).click();
    await page.getByRole('heading', { name: 'table_1234' }).waitFor();
    await page.goBack();
    await list.getByRole('link', { name: 'table_1234', exact: true }).waitFor();
    const heading = list.getByRole('columnheader', { name: 'Rows' });
    await expect.poll(async () => await heading.getAttribute('aria-sort')).toBe('descending');
  });

  test('lists sources page by page, searched and sorted by the service', async () => {
    const { page } = await own.open('/sources?offset=400');
    const list = grid(page, 'Sources');
    await list.getByRole('link', { name: 'Source 400 of the shop' }).waitFor();
    await page.getByText('401 to 500 of 500 sources').waitFor();
    await list.getByRole('button', { name: 'Source' }).click();
    await list.getByRole('button', { name: 'Source' }).click();
    // The last of all, on the first page.
    await list.getByRole('link', { name: 'Source 499 of the shop' }).waitFor();
    await page.getByLabel('Search sources').fill('shop 154');
    await page.getByText('1 source', { exact: true }).waitFor();
    // How it ran last, and when, stand beside it.
    const line = list.getByRole('row').filter({ hasText: 'source-154' });
    await expect.poll(async () => await line.textContent()).toMatch(/Failed.*ago/);
    await line.getByRole('link', { name: 'Source 154 of the shop' }).click();
    await page.getByRole('heading', { name: 'Source 154 of the shop' }).waitFor();
    await page.goBack();
    await page.getByText('1 source', { exact: true }).waitFor();
    // The address is the list's, also when it is left for all of them.
    await page.getByRole('link', { name: 'Sources', exact: true }).first().click();
    await page.getByText('500 sources', { exact: true }).waitFor();
    await expect.poll(async () => await page.getByLabel('Search sources').inputValue()).toBe('');
  });

  test('takes an address whose source cannot be read for that of all runs', async () => {
    const { page } = await own.open('/runs?source=%25');
    await grid(page, 'Runs').getByRole('link', { name: '100199', exact: true }).waitFor();
    expect(CAUSES.reduce((sum, { runs }) => sum + runs, 0)).toBe(filled.failed);
  });
});
