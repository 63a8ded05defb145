import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { MAIN } from '../support/command.ts';
import { fillService, type Filled } from './full-service.ts';
import { axe, CHROMIUM, cutTexts, hiddenTabs, looks, misplaced, oddTexts, useConsole } from './harness.ts';

const command = [process.execPath, MAIN] as const;

/** View to check: its address, the element that shows that it is ready, and an action that opens more of it. */
type Stop = readonly [
  name: string,
  at: string | ((filled: Filled) => string),
  ready: string,
  open?: (page: Page) => Promise<void>,
];

const press =
  (name: string, into?: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).first().click();
    await page.getByRole('dialog').waitFor();
    if (into !== undefined) await page.getByRole('dialog').getByText(into).first().waitFor();
  };

const SHOP = '/sources/ex-generic-v2/shop';
const USERS = '/tables/in.c-main.users';

const STOPS: readonly Stop[] = [
  ['start', '/', 'Tables changed lately'],
  ['palette', '/', 'Tables changed lately', async (page) => await page.keyboard.press('Control+k')],
  ['keys', '/', 'Tables changed lately', press('Keyboard shortcuts')],
  ['tables', '/tables', 'shops_contacts'],
  ['sql', '/sql', 'Ask your tables'],
  ['tables-none-found', '/tables?search=zzz', 'in its name'],
  ['tables-by-bucket', '/tables?by=bucket', 'out.c-empty'],
  ['tables-new-bucket', '/tables', 'shops_contacts', press('New bucket')],
  ['bucket', '/tables/in.c-main', 'shops_contacts'],
  ['bucket-empty', '/tables/out.c-empty', 'This bucket is empty'],
  ['bucket-metadata', '/tables/in.c-main?tab=metadata', 'Add a note'],
  ['bucket-delete', '/tables/in.c-main', 'shops_contacts', press('Delete')],
  ['table', `${USERS}?sort=id&filters=[{"column":"id","operator":"ne","values":["3"]}]`, 'Name 0'],
  ['table-columns', `${USERS}?tab=columns`, 'amount'],
  ['table-origin', '/tables/in.c-library-good.books?tab=origin', 'Last loaded'],
  ['table-origin-by-hand', `${USERS}?tab=origin`, 'No run of a source has loaded it'],
  ['table-metadata', `${USERS}?tab=metadata`, 'owner'],
  ['table-import', `${USERS}?tab=import`, 'Drop a CSV file'],
  ['table-filter', USERS, 'Name 7', press('Filter')],
  ['table-chooser', USERS, 'Name 7', press('Columns')],
  [
    'table-record',
    '/tables/in.c-main.shops',
    'shops_b',
    async (page) => {
      await page.getByRole('gridcell', { name: 'shops_b' }).click();
      await page.getByRole('button', { name: 'Copy as JSON' }).waitFor();
    },
  ],
  [
    'table-column',
    `${USERS}?tab=columns`,
    'amount',
    async (page) => {
      await page.getByRole('gridcell', { name: 'amount', exact: true }).click();
      await page.getByRole('dialog').waitFor();
    },
  ],
  ['table-delete', USERS, 'Name 7', press('Delete')],
  ['sources', '/sources', 'Shop'],
  ['sources-trash', '/sources?show=trash', 'Restore'],
  ['sources-from-scratch', '/sources', 'Shop', press('From scratch')],
  ['source', SHOP, 'It has not run yet'],
  ['source-home', '/sources/ex-generic-v2/good', 'Rows of each run'],
  ['source-home-failing', '/sources/ex-generic-v2/failing', 'To do:'],
  ['source-settings', `${SHOP}?tab=settings`, 'Base address'],
  ['source-json', `${SHOP}?tab=json`, 'https://new.example.com/'],
  ['source-rows', `${SHOP}?tab=rows`, 'Row orders'],
  ['source-try', `${SHOP}?tab=try`, 'Try with 3 pages'],
  ['source-row', `${SHOP}/rows/users`, 'Run this row'],
  ['source-state', `${SHOP}?tab=state`, 'previousStart'],
  ['source-versions', `${SHOP}?tab=versions`, 'Another address'],
  ['source-hostile', '/sources/ex-generic-v2/hostile', 'Run now'],
  ['source-rename', SHOP, 'It has not run yet', press('Rename')],
  ['source-copy', SHOP, 'It has not run yet', press('Copy')],
  ['source-delete', SHOP, 'It has not run yet', press('Delete')],
  ['runs', '/runs', 'Books of good'],
  ['runs-start', '/runs', 'Books of good', press('Start a run')],
  ['run', ({ runs }) => `/runs/${runs.good}`, 'It ended:'],
  ['run-failing', ({ runs }) => `/runs/${runs.failing}`, 'http.status'],
  ['run-doubtful', ({ runs }) => `/runs/${runs.doubtful}`, 'Nothing of it was loaded'],
  ['run-time-line', ({ runs }) => `/runs/${runs.good}?tab=requests`, 'counted'],
  [
    'run-request',
    ({ runs }) => `/runs/${runs.good}?tab=requests`,
    'counted',
    async (page) => {
      await page.getByRole('listitem').filter({ hasText: 'counted' }).first().getByRole('button').click();
      await page.getByText('What led to it').waitFor();
    },
  ],
  ['run-log', ({ runs }) => `/runs/${runs.good}?tab=log`, ' lines'],
  ['run-compare', ({ runs }) => `/runs/${runs.good}?tab=compare`, 'in.c-library-good.books'],
  ['run-again', ({ runs }) => `/runs/${runs.good}`, 'It ended:', press('Run again')],
  ['problems', '/runs/problems', 'What went wrong'],
  [
    'problems-own-range',
    '/runs/problems?range=own&since=2026-01-01T00:00&until=2025-01-01T00:00',
    'ends before',
  ],
  ['runs-charts', '/runs/charts?source=ex-generic-v2%2Fgood', 'How runs ended'],
  ['schedules-all', '/runs/schedules', 'Pause all'],
  ['schedules-pause', '/runs/schedules', 'Pause all', press('Pause all')],
  ['schedules', '/runs/schedules/ex-generic-v2/good', 'Monday to Friday at 06:30'],
  ['schedule-new', '/runs/schedules/ex-generic-v2/good', 'Monday to Friday', press('Add a schedule')],
  ['jobs', '/jobs', 'Load into in.c-main.users'],
  ['jobs-none-found', '/jobs?status=processing', 'No job is like that'],
  ['job', ({ exportJob }) => `/jobs/${exportJob}`, 'What came of it'],
  ['job-failed', ({ failedJob }) => `/jobs/${failedJob}`, 'csvImport.columnsNotMatch'],
  ['files', '/files', 'img src=x'],
  ['file', ({ file }) => `/files/${file}`, 'daily'],
  ['file-delete', ({ file }) => `/files/${file}`, 'daily', press('Delete')],
  ['alerts', '/alerts', 'Operations'],
  ['alerts-sources', '/alerts?tab=sources', 'Books of good'],
  ['alerts-no-source', '/alerts?tab=sources&search=zzz', 'No source is like that'],
  ['alert', ({ alert }) => `/alerts/${alert}`, 'waiting'],
  ['alert-new', '/alerts', 'Operations', press('New alert')],
  ['alert-change', ({ alert }) => `/alerts/${alert}`, 'waiting', press('Change')],
  ['alert-mute', ({ alert }) => `/alerts/${alert}`, 'waiting', press('Mute')],
  ['alert-delete', ({ alert }) => `/alerts/${alert}`, 'waiting', press('Delete')],
  ['tokens', '/tokens', 'yours'],
  ['token', ({ token }) => `/tokens/${token}`, 'in.c-main'],
  ['token-new', '/tokens', 'yours', press('New token', 'in.c-main')],
  ['token-rights', ({ token }) => `/tokens/${token}`, 'in.c-main', press('Change the rights', 'in.c-main')],
  ['token-refresh', ({ token }) => `/tokens/${token}`, 'in.c-main', press('Refresh')],
  ['token-delete', ({ token }) => `/tokens/${token}`, 'in.c-main', press('Delete')],
  ['new-source', '/new', 'Look at it'],
];

describe.skipIf(CHROMIUM === undefined)('everyone can use, light and dark and at any width,', () => {
  const own = useConsole({
    parts: [dataPart, runnerPart({ command, concurrency: 3, pollMs: 100 }), workshopPart({ command })],
  });
  let filled: Filled;
  let page: Page;

  beforeAll(async () => {
    filled = await fillService(own.client);
    ({ page } = await own.open('/'));
  });

  test.each(STOPS.map(([name, ...stop]) => ({ name, stop })))('$name', async ({ name, stop }) => {
    const [at, ready, open] = stop;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(own.url + (typeof at === 'string' ? at : at(filled)));
    await page.getByText(ready).filter({ visible: true }).first().waitFor();
    await open?.(page);
    await expect.poll(async () => await page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
    const found = await oddTexts(page);
    for await (const { width, theme } of looks(page, name)) {
      const problems = [...(await axe(page)), ...(await misplaced(page))];
      found.push(...problems.map((text) => `${width} px, ${theme}: ${text}`));
      if (await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth'))
        found.push(`${width} px: the page is wider`);
      // Names of things that a person would give; values from outside are as long as they like.
      if (width === 2560) {
        const cut = await cutTexts(page, '.grid-cell:has(a)');
        found.push(
          ...cut.filter(({ length }) => length <= 60).map((text) => `cut beside free space: ${text}`),
        );
      }
      found.push(...(await hiddenTabs(page)).map((text) => `${width} px, a tab that is not seen: ${text}`));
    }
    expect(found).toEqual([]);
  });
});
