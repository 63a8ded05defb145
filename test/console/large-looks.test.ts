import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { StorageClient } from '../../src/storage/client/index.ts';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, looks, oddTexts, useConsole } from './harness.ts';
import { fillLarge } from './large-service.ts';

const command = [process.execPath, MAIN] as const;
const SOURCE = '/sources/ex-generic-v2/source-000';
const FAILING = '/sources/ex-generic-v2/source-120';
const TABLE = '/tables/in.c-bucket-00.table_0000';

/** Views that grow with what is in the service: the name, the address, and what shows that it is ready. */
const VIEWS: readonly (readonly [name: string, at: string, ready: string])[] = [
  ['start', '/', 'Tables changed lately'],
  ['tables', '/tables', 'table_0000'],
  ['tables-by-bucket', '/tables?by=bucket', 'in.c-bucket-05'],
  ['bucket', '/tables/in.c-bucket-00', 'table_0040'],
  ['table-columns', `${TABLE}?tab=columns`, 'Where it comes from'],
  ['table-origin', `${TABLE}?tab=origin`, 'Rows in the table after each load'],
  ['sql', '/sql', 'Ask your tables'],
  ['sources', '/sources', 'Source 000 of the shop'],
  ['source', SOURCE, 'Last runs'],
  ['source-settings', `${SOURCE}?tab=settings`, 'Base address'],
  ['source-versions', `${SOURCE}?tab=versions`, 'Configuration created'],
  ['source-failing', FAILING, 'Last runs'],
  ['runs', '/runs', '100199'],
  ['runs-failed', '/runs?status=error', 'Source 154 of the shop'],
  ['problems', '/runs/problems', 'runs failed'],
  ['charts', '/runs/charts', 'How runs ended'],
  ['schedules', '/runs/schedules', 'On the hour, every 2 hours'],
  ['run', '/runs/100000', 'Source 000 of the shop'],
  ['run-failed', '/runs/100120', 'It is for whoever looks after this source'],
  ['run-log', '/runs/100120?tab=log', 'Nothing was said'],
  ['jobs', '/jobs', 'What the storage does'],
  ['alerts-sources', '/alerts?tab=sources', 'of the shop'],
  ['tokens', '/tokens', 'yours'],
];

/** Views that a token without sources is told of in words. */
const NARROW: readonly (readonly [name: string, at: string, ready: string])[] = [
  ['start', '/', 'Tables changed lately'],
  ['tables', '/tables', 'table_0000'],
  ['bucket', '/tables/in.c-bucket-00', 'table_0040'],
  ['table-origin', `${TABLE}?tab=origin`, 'Rows in the table after each load'],
  ['sql', '/sql', 'Ask your tables'],
  ['sources', '/sources', 'Your token'],
  ['runs', '/runs', 'Your token'],
  ['jobs', '/jobs', 'What the storage does'],
  ['alerts-sources', '/alerts?tab=sources', 'Alerts'],
  ['tokens', '/tokens', 'yours'],
];

const TOKENS = {
  full: undefined,
  observer: { canManageBuckets: true, canReadAllFileUploads: true, isReadOnly: true },
  narrow: { bucketPermissions: { 'in.c-bucket-00': 'read' } },
} satisfies Record<string, Parameters<StorageClient['tokens']['create']>[0] | undefined>;
type Who = keyof typeof TOKENS;

describe.skipIf(CHROMIUM === undefined)('over 200 runs, 2,000 tables and 500 sources', () => {
  const own = useConsole({
    parts: [dataPart, runnerPart({ command, concurrency: 1, pollMs: 1000 }), workshopPart({ command })],
  });
  const pages = new Map<Who, Page>();

  beforeAll(async () => {
    await fillLarge(own.dir);
    for (const who of Object.keys(TOKENS) as Who[]) {
      const rights = TOKENS[who];
      const made =
        rights === undefined ? undefined : await own.client.tokens.create({ description: who, ...rights });
      // A table whose values nobody has looked at has no profile.
      const expects = [/status of 404/];
      const { page } = await own.open('/', {
        expects,
        ...(made?.token === undefined ? {} : { token: made.token }),
      });
      pages.set(who, page);
    }
  });

  const cases = (Object.keys(TOKENS) as Who[]).flatMap((who) =>
    (who === 'narrow' ? NARROW : VIEWS).map(([name, at, ready]) => ({ who, name, at, ready })),
  );
  test.each(cases)('$name fits and can be used by everyone: $who', async ({ who, name, at, ready }) => {
    const page = pages.get(who);
    if (page === undefined) throw new Error('Only within a test.');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(own.url + at);
    await page.getByText(ready).filter({ visible: true }).first().waitFor();
    await expect.poll(async () => await page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
    const found = await oddTexts(page);
    for await (const { width, theme } of looks(page, `large-${who}-${name}`)) {
      // Other tokens see the same parts, or fewer of them.
      const isLooked = who === 'full' ? width < 2560 : width === (theme === 'light' ? 390 : 1440);
      const problems = isLooked ? await axe(page) : [];
      found.push(...problems.map((text) => `${width} px, ${theme}: ${text}`));
      if (await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth'))
        found.push(`${width} px: the page is wider`);
      if (width === 2560)
        found.push(...(await cutTexts(page)).map((text) => `cut beside free space: ${text}`));
    }
    expect(found).toEqual([]);
  });
});

/** Returns texts that end with dots; on a wide screen there is space for all of them. */
async function cutTexts(page: Page): Promise<readonly string[]> {
  return await page.evaluate<string[]>(
    `[...document.querySelectorAll('main *')]
      .filter((each) => getComputedStyle(each).textOverflow === 'ellipsis' && each.scrollWidth > each.clientWidth + 1)
      .map((each) => each.textContent.slice(0, 80))`,
  );
}
