import { describe, expect, test } from 'vitest';
import { runnerPart } from '../../src/runs/part.ts';
import { dataPart } from '../../src/storage/server/data.ts';
import { workshopPart } from '../../src/workshop/part.ts';
import { COMPILE_CACHE, json, startApi, type Api } from '../cli/support.ts';
import { MAIN } from '../command.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

const SECRET = 'reader-7-secret';

/** Users on five pages, behind a token, with a list in each and a second list beside. */
const usersApi = async (): Promise<Api> =>
  await startApi(({ url, headers }, response) => {
    if (headers.authorization !== `Bearer ${SECRET}`) {
      json(response, { error: 'who are you?' }, 401);
      return;
    }
    const page = Number(url.searchParams.get('cursor') ?? 0);
    const data = [1, 2].map((n) => ({
      id: page * 2 + n,
      name: `user ${page * 2 + n}`,
      address: { city: '<script>alert(1)</script>' },
      tags: ['a', 'b'],
      updated_at: `2026-01-0${n}T00:00:00Z`,
    }));
    const next = page < 4 ? String(page + 1) : null;
    json(response, { data, groups: [{ no: 1 }], meta: { next, total: 10 } });
  });

const command = [process.execPath, MAIN] as const;

describe.skipIf(CHROMIUM === undefined)('a new source', () => {
  const own = useConsole({
    parts: [dataPart, workshopPart({ command }), runnerPart({ command, concurrency: 1, pollMs: 100 })],
  });

  test('comes from a link: proposal, trial, mapping, run', async () => {
    const api = await usersApi();
    const { page } = await own.open('/new');
    await page.getByLabel('An address, a curl command').fill(`${api.url}users`);
    await page.getByLabel('Login').selectOption('bearer');
    await page.getByLabel('Token', { exact: true }).fill(SECRET);
    await page.getByRole('button', { name: 'Look at it' }).click();
    await page.getByRole('heading', { name: 'What was found' }).waitFor();
    await page.getByText('complete', { exact: true }).waitFor();
    await screenshots(page, 'new-source-found');
    expect(await axe(page)).toEqual([]);

    const asked = api.seen.length;
    await page.getByRole('button', { name: 'Try with 3 pages' }).click();
    const table = page.getByRole('grid', { name: 'Table users' }).filter({ visible: true });
    await table.getByText('user 6').waitFor();
    expect(api.seen.length).toBe(asked + 3);
    await screenshots(page, 'new-source-tried');
  });
});
