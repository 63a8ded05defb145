import type { Page, Route } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { MAIN } from '../support/command.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

const PLACES = ['start', 'tables', 'sources', 'runs', 'jobs', 'files', 'tokens'] as const;
const pathOf = (place: string): string => (place === 'start' ? '/' : `/${place}`);

describe.skipIf(CHROMIUM === undefined)('a view whose data', () => {
  const runner = runnerPart({ command: [process.execPath, MAIN], concurrency: 1 });
  const own = useConsole({ parts: [dataPart, runner] });

  async function through(
    open: (page: Page, place: string) => Promise<void>,
    answer: (route: Route) => Promise<void>,
  ) {
    const { page } = await own.open('/', { expects: [/400|404/] });
    await page.route('**/v2/storage/**', answer);
    for (const place of PLACES) {
      await page.goto(own.url + pathOf(place));
      await open(page, place);
      expect(await axe(page), place).toEqual([]);
    }
  }

  test('is on its way shows that', async () => {
    // Kept until the page goes elsewhere.
    const held = new Promise<void>(() => {});
    await through(
      async (page, place) => {
        // Not while the code of the view is still on its way.
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.getByRole('status', { name: 'Loading' }).first().waitFor();
        await screenshots(page, `${place}-loading`);
      },
      async () => await held,
    );
  });

  test('cannot be had says why, and offers to try again', async () => {
    let isBroken = true;
    const error = { error: 'The drawer is jammed.', code: 'test.jammed', exceptionId: 'x-1' };
    await through(
      async (page, place) => {
        await page.getByText('The drawer is jammed').first().waitFor();
        // Unknown counts are not shown as zero.
        expect(await page.getByRole('main').textContent()).not.toMatch(/\b0 (?:rows|tables|buckets)|yet/);
        await screenshots(page, `${place}-failed`);
        if (place === 'start') return;
        isBroken = false;
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.getByText('The drawer is jammed').waitFor({ state: 'detached' });
        isBroken = true;
      },
      async (route) => await (isBroken ? route.fulfill({ status: 400, json: error }) : route.continue()),
    );
  });

  test('cannot come without a network says so at once, and goes on by itself', async () => {
    const { page, context } = await own.open('/tokens', { expects: [/ERR_INTERNET_DISCONNECTED/] });
    await page.getByRole('grid', { name: 'Tokens' }).waitFor();
    const banner = page.getByText('The service does not answer').first();
    await context.setOffline(true);
    await banner.waitFor();
    await context.setOffline(false);
    await banner.waitFor({ state: 'detached' });
  });
});
