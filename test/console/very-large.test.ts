import { beforeAll, describe, expect, test } from 'vitest';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { MAIN } from '../support/command.ts';
import { bytesAnswered, CHROMIUM, screenshots, useConsole } from './harness.ts';
import { fillLarge } from './large-service.ts';

const runner = runnerPart({ command: [process.execPath, MAIN], concurrency: 1, pollMs: 1000 });

const IDLE_MS = 8000;
/** 50 kB a minute. */
const BYTES_PER_MS = 50_000 / 60_000;
/** Views that are watched for a while. */
const IDLE = new Set(['/runs', '/alerts?tab=sources']);

describe.skipIf(CHROMIUM === undefined)('a service with 5,000 runs, 2,000 tables and 500 sources', () => {
  const own = useConsole({ parts: [dataPart, runner] });

  beforeAll(async () => {
    await fillLarge(own.dir, { runs: 5000 });
  });

  test('lists ask for little, and for nothing while nothing changes', async () => {
    const { page } = await own.open('/jobs');
    const bytes = bytesAnswered(page);
    for (const [at, ready] of [
      ['/', 'Tables changed lately'],
      ['/tables', 'in.c-bucket-00'],
      ['/runs', '104999'],
      ['/runs?status=error&offset=1000', '1,001 to 1,100 of the runs'],
      ['/sources', 'Source 000 of the shop'],
      ['/runs/schedules', 'Runs that begin in the next 24 hours'],
      ['/alerts?tab=sources', 'of the shop'],
      ['/alerts?tab=sources&search=shop+499', 'Source 499 of the shop'],
    ] as const) {
      await page.goto(own.url + at);
      await page.getByText(ready).first().waitFor();
      await page.waitForTimeout(1500);
      const shown = await bytes();
      expect(shown, at).toBeGreaterThan(200);
      expect(shown, at).toBeLessThan(100_000);
      if (!IDLE.has(at)) continue;
      const begin = performance.now();
      await page.waitForTimeout(IDLE_MS);
      const idle = await bytes();
      expect(idle / (performance.now() - begin), `${at}, idle`).toBeLessThan(BYTES_PER_MS);
    }
    await screenshots(page, 'very-large-states');
  }, 240_000);
});
