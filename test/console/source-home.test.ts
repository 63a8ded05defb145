import { beforeAll, describe, expect, test } from 'vitest';
import { dataPart } from '../../src/service/start/data.ts';
import { runnerPart } from '../../src/service/start/runner.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, looks, useConsole, type Console } from './harness.ts';
import { fillLarge } from './large-service.ts';
import type { Page } from 'playwright-core';

const command = [process.execPath, MAIN] as const;
const runner = runnerPart({ command, concurrency: 1, pollMs: 1000 });
const SOURCE = '/sources/ex-generic-v2/source-000';
const TABLE = 'in.c-bucket-00.table_0000';

async function sizeOf({ url, token }: Console, path: string): Promise<number> {
  const response = await fetch(`${url}/v2/storage/${path}`, { headers: { 'x-storageapi-token': token } });
  expect(response.status).toBe(200);
  return (await response.text()).length;
}

async function seen(page: Page, name: string): Promise<void> {
  const found: string[] = [];
  for await (const { width, theme } of looks(page, name)) {
    found.push(...(await axe(page)).map((text) => `${width} px, ${theme}: ${text}`));
    if (await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth'))
      found.push(`${width} px: the page is wider`);
  }
  expect(found).toEqual([]);
}

describe.skipIf(CHROMIUM === undefined)('among 500 sources, 2,000 tables and 5,000 runs', () => {
  const own = useConsole({ parts: [dataPart, runner, workshopPart({ command })] });

  beforeAll(async () => {
    await fillLarge(own.dir, { runs: 5000 });
  });

  test('a source shows its last runs, its next one and the tables that it fills', async () => {
    const { page } = await own.open(SOURCE, {
      // The runs of this set-up have left no explanations.
      expects: [/404/],
    });
    const runs = await own.client.runs.list({
      component: 'ex-generic-v2',
      configuration: 'source-000',
      limit: 60,
    });
    const strip = page.getByRole('list', { name: /Last runs/ });
    await expect.poll(async () => await strip.getByRole('link').count()).toBe(runs.length);
    expect(runs).toHaveLength(10);
    const states = await strip.getByRole('link').allTextContents();
    expect(states.filter((text) => text.includes('Failed'))).toHaveLength(
      runs.filter(({ status }) => status === 'error').length,
    );
    await page.getByRole('region', { name: 'Next runs' }).getByText('every day at 06:30').waitFor();
    const tables = page.getByRole('grid', { name: 'Tables that it fills' });
    await tables.getByRole('link', { name: TABLE }).waitFor();
    await expect.poll(async () => await tables.getAttribute('aria-rowcount')).toBe('5');
    // The numbers of a chart are in a table, too.
    await page.getByText('Numbers', { exact: true }).first().click();
    const numbers = page.getByRole('region', { name: 'Numbers of Rows of each run' });
    const ended = runs.filter(({ endTime }) => endTime !== null);
    await expect.poll(async () => await numbers.getByRole('row').count()).toBe(ended.length + 1);
    await page.getByText('Numbers', { exact: true }).first().click();
    await seen(page, 'home-source');

    await tables.getByRole('link', { name: TABLE }).click();
    await page.getByRole('tab', { name: 'Where it comes from' }).click();
    await page.getByRole('heading', { name: 'Source 000 of the shop' }).waitFor();
    await page.getByText('Rows in the table after each load').waitFor();
    await seen(page, 'home-table');
    await page.getByRole('link', { name: 'The requests that brought its rows' }).click();
    await page.getByRole('tab', { name: 'Time line', selected: true }).waitFor();
  });

  test('a source whose last run failed says why, and what to do', async () => {
    const [last] = await own.client.runs.list({
      isLast: true,
      isBad: true,
      status: ['success', 'error'],
      limit: 1,
    });
    const { page } = await own.open(`/sources/ex-generic-v2/${last?.configuration ?? ''}`);
    const banner = page.getByRole('alert');
    await banner.getByText(last?.error?.message ?? '-').waitFor();
    await banner.getByText('To do:').waitFor();
    await seen(page, 'home-failed');
  });

  test('all schedules are one list with a calendar, and are paused and resumed together', async () => {
    const { page } = await own.open('/runs/schedules');
    await page.getByText('285 schedules run by their times, 15 disabled.').waitFor();
    await page.getByText('Runs that begin in the next 24 hours').waitFor();
    await seen(page, 'home-schedules');
    const list = page.getByRole('grid', { name: 'Schedules' });
    await expect.poll(async () => await list.getAttribute('aria-rowcount')).toBe('101');
    await page.getByText('1 to 100 of 300 schedules').waitFor();
    await page.getByLabel('Search schedules').fill('shop 299');
    await list.getByRole('link', { name: 'Source 299 of the shop' }).waitFor();
    await list.getByText('being enabled').waitFor();
    await page.getByLabel('Standing').selectOption({ label: 'active (285)' });
    await page.getByText('No schedule is like that').waitFor();
    await page.getByLabel('Search schedules').fill('');
    await list.getByRole('link', { name: 'Source 000 of the shop' }).waitFor();
    await page.getByRole('button', { name: 'Pause all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause them' }).click();
    await page.getByText('0 schedules run by their times, 285 paused, 15 disabled.').waitFor();
    await page.getByText('Nothing runs by itself within the next day.').waitFor();
    await page.getByRole('button', { name: 'Resume all' }).click();
    await page.getByText('285 schedules run by their times, 15 disabled.').waitFor();
  });

  test('runs are drawn by day', async () => {
    const { page } = await own.open('/runs/charts');
    await page.getByText('4,994 runs ended.').waitFor();
    await page.getByText('Numbers', { exact: true }).click();
    const days = await own.client.runs.days();
    const failed = days.reduce((sum, { error }) => sum + error, 0);
    expect(failed).toBe(1500);
    const cells = page.getByRole('region', { name: 'Numbers of How runs ended' }).getByRole('row');
    await expect.poll(async () => await cells.count()).toBe(31);
    await seen(page, 'home-charts');
  }, 180_000);

  test('runs are drawn by source and day, those that fail first, and each cell leads to the runs behind it', async () => {
    const { page } = await own.open('/runs/charts');
    const grid = page.getByRole('region', { name: 'Days of the sources' });
    await expect.poll(async () => await grid.getByRole('row').count()).toBe(31);
    await expect.poll(async () => await grid.getByRole('columnheader').count()).toBe(15);
    const cell = grid.getByRole('link', { name: /^\d+ failed/ }).first();
    const failing = Number.parseInt((await cell.textContent()) ?? '', 10);
    const [, source = '', day = ''] =
      /source=([^&]*)&day=([\d-]*)/.exec((await cell.getAttribute('href')) ?? '') ?? [];
    const [component, configuration] = decodeURIComponent(source).split('/');
    const ofDay = { component, configuration, since: day, until: `${day}T23:59:59.999Z` };
    const behind = await own.client.runs.list(ofDay);
    expect(behind.filter(({ status }) => status === 'error')).toHaveLength(failing);
    await cell.click();
    await page.getByRole('button', { name: `Not only those that ended on ${day}` }).waitFor();
    const runs = page.getByRole('grid', { name: 'Runs' });
    await runs.getByRole('link', { name: behind[0]?.id ?? '', exact: true }).waitFor();
    await expect.poll(async () => await runs.getAttribute('aria-rowcount')).toBe(String(behind.length + 1));
    await page.goBack();
    await page.getByRole('searchbox', { name: 'Search sources' }).fill('shop 077');
    await expect.poll(async () => await grid.getByRole('row').count()).toBe(2);
    await page.getByRole('combobox', { name: 'Range of time' }).selectOption('own');
    await page.getByLabel('From', { exact: true }).fill(day);
    await page.getByLabel('To', { exact: true }).fill(day);
    await expect.poll(async () => await grid.getByRole('columnheader').count()).toBe(2);
    await page.getByLabel('From', { exact: true }).fill('2999-01-01');
    await page.getByText('The range ends before it begins.').waitFor();
  });

  test('a token that may only read tables is told of what it may not see', async () => {
    const { token = '' } = await own.client.tokens.create({
      description: 'reader',
      bucketPermissions: { 'in.c-bucket-00': 'read' },
    });
    const { page } = await own.open(`/tables/${TABLE}?tab=origin`, { token });
    await page.getByText('1 source of components that your token may not use fills it.').waitFor();
    await page.getByText('Rows in the table after each load').waitFor();
    await seen(page, 'home-limited');
  });

  test('answers little, however much there is', async () => {
    expect(await sizeOf(own, 'components/ex-generic-v2/configs/source-000/tables')).toBeLessThan(5000);
    expect(await sizeOf(own, `tables/${TABLE}/sources`)).toBeLessThan(2000);
    expect(await sizeOf(own, 'runs/days')).toBeLessThan(5000);
    expect(await sizeOf(own, 'runs/source-days?days=31&limit=40')).toBeLessThan(100_000);
    expect(await sizeOf(own, 'schedules/brief')).toBeLessThan(50_000);
    expect(await sizeOf(own, 'schedules/calendar')).toBeLessThan(20_000);
    expect(await sizeOf(own, 'configurations/brief')).toBeLessThan(50_000);
    expect(await sizeOf(own, 'configurations/names')).toBeLessThan(50_000);
  });
});
