import { beforeAll, describe, expect, test } from 'vitest';
import { metaOf } from '../service/database.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

const HOUR_MS = 3_600_000;
const component = 'ex-generic-v2';

/** Five causes; what differs within one are ids, pages and names. */
const CAUSES: readonly ((i: number) => { code: string; message: string; where?: object })[] = [
  (i) => ({
    code: 'http.status',
    message: `The API answered 500 Internal Server Error to GET https://a.example.com/users?page=${i}: request ${i}fa3b9c1 failed`,
    where: { url: 'https://a.example.com/users' },
  }),
  (i) => ({
    code: 'http.status',
    message: `The API answered 401 Unauthorized to GET https://b.example.com/orders?page=${i}: token expired`,
    where: { url: 'https://b.example.com/orders' },
  }),
  (i) => ({ code: 'http.network', message: `No connection to https://c.example.com/${i} (ECONNREFUSED).` }),
  (i) => ({ code: 'run.doubtful', message: `The table “table ${i}” may not have everything.` }),
  (i) => ({ code: 'auth.failed', message: `The login answered with status 400: request ${i} is over.` }),
];

describe.skipIf(CHROMIUM === undefined)('what went wrong', () => {
  const own = useConsole();

  beforeAll(async () => {
    for (let i = 0; i < 10; i++)
      await own.client
        .configurations(component)
        .create({ configurationId: `c${i}`, name: `Source ${i}`, configuration: {} });
    const meta = await metaOf(own.dir);
    for (let i = 0; i < 200; i++) {
      const { id } = await own.client.runs.start({ component, configuration: `c${i % 10}` });
      // sixty failed, twelve of each cause, spread over the day; source 9 never failed
      const isFailed = i % 10 < 6 && i < 100;
      const cause = CAUSES[i % 5]?.(i);
      const error = { ...cause, audience: 'user', hint: `Advice ${i % 5}.` };
      const ended = new Date(Date.now() - (200 - i) * (HOUR_MS / 10)).toISOString();
      await meta
        .updateTable('runs')
        .set({
          status: isFailed ? 'error' : 'success',
          error: isFailed ? JSON.stringify(error) : null,
          verdict: isFailed ? null : 'complete',
          report: '[]',
          started: ended,
          ended,
        })
        .where('id', '=', Number(id))
        .execute();
    }
    // what failed last of the first source was not mended
    const last = meta.updateTable('runs').set({ status: 'cancelled' });
    await last.where('configuration_id', '=', 'c0').where('status', '=', 'success').execute();
    await meta.destroy();
  });

  test('last night is answered in two clicks, by causes, with what to do', async () => {
    const { page } = await own.open('/');
    await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
    await page.getByRole('link', { name: 'What went wrong' }).click();
    await page.getByText('130 runs succeeded, 60 failed, 10 cancelled.').waitFor();
    const causes = page.getByRole('region').filter({ hasText: 'To do:' });
    await expect.poll(async () => await causes.count()).toBe(5);
    await causes.first().getByText('20 runs failed').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'problems');
  });

  test('what was not solved is run again, each source once', async () => {
    const { page } = await own.open('/runs/problems');
    const cause = page.getByRole('region').filter({ hasText: '500 Internal Server Error' });
    await cause.getByRole('link', { name: 'Source 0' }).waitFor();
    await expect.poll(async () => await cause.getByText('solved since').count()).toBe(1);
    await cause.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('1 run started').waitFor();
    const waiting = await own.client.runs.list({ status: ['waiting'] });
    expect(waiting.map(({ configuration }) => configuration)).toEqual(['c0']);
    await expect.poll(async () => await cause.getByRole('button', { name: 'Run again' }).count()).toBe(0);
  });

  test('a range without failures says so', async () => {
    const { page } = await own.open('/runs/problems?range=nonsense');
    await page.getByText('60 failed').waitFor();
    await page.getByLabel('Range of time').selectOption({ label: 'Last 7 days' });
    await expect.poll(() => page.url()).toContain('range=week');
    const found = await own.client.runs.problems({ since: new Date(Date.now() - HOUR_MS).toISOString() });
    expect(found).toMatchObject({ counts: { error: 0 }, problems: [] });
  });
});
