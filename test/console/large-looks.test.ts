import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import type { StorageClient } from '../../src/storage/client/index.ts';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { workshopPart } from '../../src/service/start/workshop.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, cutTexts, hiddenTabs, looks, misplaced, oddTexts, useConsole } from './harness.ts';
import { fillLarge } from './large-service.ts';
import { NARROW, VIEWS } from './large-views.ts';

const command = [process.execPath, MAIN] as const;
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
      const problems = [...(await axe(page)), ...(await misplaced(page))];
      found.push(...problems.map((text) => `${width} px, ${theme}: ${text}`));
      if (await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth'))
        found.push(`${width} px: the page is wider`);
      if (width === 2560)
        found.push(...(await cutTexts(page)).map((text) => `cut beside free space: ${text}`));
      found.push(...(await hiddenTabs(page)).map((text) => `${width} px, a tab that is not seen: ${text}`));
    }
    expect(found).toEqual([]);
  });
});
