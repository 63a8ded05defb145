import { describe, expect, test } from 'vitest';
import { runnerPart } from '../../src/service/start/runner.ts';
import { dataPart } from '../../src/service/start/data.ts';
import { json, startApi, COMPILE_CACHE, type Api } from '../cli/support.ts';
import { MAIN } from '../support/command.ts';
import { metaOf } from '../service/database.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

// Processes that run the sources start in half the time with it.
process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;

const runner = runnerPart({ command: [process.execPath, MAIN], concurrency: 2, pollMs: 100 });

/** Full pages up to the one that is named, and an empty one behind. */
const pages = (last: number) => (page: number) =>
  page <= last ? [{ id: page * 2 }, { id: page * 2 + 1 }] : [];

async function booksApi(rowsOf: (page: number) => unknown): Promise<Api> {
  return await startApi(({ url }, response) =>
    json(response, rowsOf(Number(url.searchParams.get('page') ?? 1))),
  );
}

describe.skipIf(CHROMIUM === undefined)('runs', () => {
  const own = useConsole({ parts: [dataPart, runner] });
  const component = 'ex-generic-v2';

  /** A source with one job over an API of numbered pages. */
  async function source(
    id: string,
    api: Api,
    job: object = {},
    name = `Books of ${id}`,
    of: object = {},
  ): Promise<void> {
    await own.client.configurations(component).create({
      configurationId: id,
      name,
      configuration: {
        parameters: {
          api: { baseUrl: api.url, pagination: { method: 'pagenum', limit: 2 }, ...of },
          config: { outputBucket: `library-${id}`, jobs: [{ endpoint: 'books', ...job }] },
        },
      },
    });
  }

  async function ran(id: string): Promise<string> {
    const run = await own.client.runs.start({ component, configuration: id });
    await expect
      .poll(async () => (await own.client.runs.detail(run.id)).endTime, { timeout: 100_000, interval: 100 })
      .not.toBeNull();
    return run.id;
  }

  test('one is started from the page and followed to its end, and tells what led from page to page', async () => {
    await source('good', await booksApi(pages(2)));
    const { page } = await own.open('/runs');
    await page.getByText('Nothing has run yet').waitFor();
    await page.getByRole('button', { name: 'Start a run' }).first().click();
    await page.getByRole('dialog').getByLabel('Source').selectOption({ label: 'Books of good' });
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByRole('heading', { name: /^Run \d+$/ }).waitFor();
    await page.getByText('Done', { exact: true }).waitFor({ timeout: 100_000 });
    await page.getByText('It ended:').waitFor();
    // Rows of the API while it runs, and those of the tables when they are there: each is called what it is.
    await page.getByText('Rows in tables', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'in.c-library-good.books' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-overview');

    await page.getByRole('tab', { name: 'Time line' }).click();
    const second = page.getByRole('listitem').filter({ hasText: 'page 2' });
    await second.getByText('page=2, counted').waitFor();
    await expect.poll(async () => await second.locator('mark').allTextContents()).toEqual(['page=2']);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-time-line');
    await second.getByRole('button').click();
    await page.getByRole('dialog').getByText('What led to it').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');

    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByRole('log').getByText('Made the bucket in.c-library-good').waitFor();
    await page.getByLabel('Search the log').fill('nothing says this');
    await page.getByText('No line is like that').waitFor();
    await page.getByLabel('Search the log').fill('bucket');
    await page.getByText(/of \d+ lines/).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-log');
    // On a narrow screen a line has room for three.
    await page.setViewportSize({ width: 390, height: 844 });
    const box = async () => (await page.getByRole('log').boundingBox())?.height ?? 0;
    await expect.poll(box).toBeGreaterThan(60);
    await page.setViewportSize({ width: 1440, height: 900 });

    // Tables are compressed on their way, and the size of the file is known when it has come.
    await page.getByRole('link', { name: 'Files', exact: true }).first().click();
    await page.getByRole('grid', { name: 'Files' }).getByText('books').first().waitFor();
    expect(await page.getByText('0 B', { exact: true }).count()).toBe(0);
  });

  test('one that goes on shows how far it is, survives that the service goes away, and is cancelled', async () => {
    const { promise: gate, resolve: letGo } = Promise.withResolvers<void>();
    let kept = 0;
    const api = await startApi(({ url }, response) => {
      const page = Number(url.searchParams.get('page') ?? 1);
      if (page < 3) json(response, pages(9)(page));
      else {
        kept++;
        void gate.then(() => json(response, []));
      }
    });
    await source('slow', api);
    const { id } = await own.client.runs.start({ component, configuration: 'slow' });
    const { page } = await own.open(`/runs/${id}`, { expects: [/Failed to load|ERR_|EventSource|502|503/] });
    await page.getByText('Running', { exact: true }).waitFor({ timeout: 100_000 });
    const numbers = page.getByRole('group', { name: 'So far' });
    await expect.poll(async () => await numbers.textContent(), { timeout: 100_000 }).toContain('2Pages4Rows');
    await page.getByRole('group', { name: 'Now' }).getByText('page=3').waitFor();
    await page.locator('.runs-facts').getByText('Rows read', { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-live');

    await own.away();
    await page
      .getByText(/does not answer/)
      .first()
      .waitFor({ timeout: 100_000 });
    await expect.poll(async () => await numbers.textContent()).toContain('2Pages');
    await own.back();
    await page
      .getByText(/does not answer/)
      .first()
      .waitFor({ state: 'detached', timeout: 100_000 });
    await page.getByText('Running', { exact: true }).waitFor({ timeout: 100_000 });
    await page.getByRole('tab', { name: 'Time line' }).click();
    const sent = page.getByRole('list', { name: 'Requests as they were sent' });
    await sent.getByText('page=2').waitFor();
    await sent.getByRole('button').filter({ hasText: 'page=2' }).click();
    await page.getByRole('dialog').getByText('Ended').waitFor();
    const linked = page.url();
    await page.keyboard.press('Escape');
    // The third one was given up when the service went away, and sent again.
    await page.getByText(/^3 requests, 1 of which failed/).waitFor();
    expect(await axe(page)).toEqual([]);
    // The process that goes on needs its time until it has sent it.
    await expect.poll(() => kept, { timeout: 100_000 }).toBe(2);
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByRole('dialog').getByText('nothing more is loaded').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor({ timeout: 100_000 });
    await page.getByText('2 requests failed').waitFor();
    await sent.getByText('It was given up, as the run ended.').first().waitFor();
    await screenshots(page, 'run-cancelled-time-line');
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByLabel('Level').selectOption({ label: 'Warnings and errors' });
    await page.getByRole('log').getByText('The run was cancelled.').waitFor();
    // A link that was copied before leads there after the end, too.
    await page.goto(linked);
    await page.getByRole('dialog').getByText('page=2').waitFor();
    await page.keyboard.press('Escape');
    await page.goto(linked.replace('sent=', 'sent=9'));
    await page.getByText('The request of this link is not kept').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show those that are' }).click();
    await page.getByText('2 requests failed').waitFor();
    letGo();
  });

  test('one that failed shows each request that failed, how it was answered, and its error in the log', async () => {
    const api = await startApi(({ url }, response) => {
      if (Number(url.searchParams.get('page') ?? 1) === 1) json(response, pages(9)(1));
      else json(response, { error: 'The disk <b>of the shop</b> is full' }, 500);
    });
    await source('failed', api, {}, 'Books of failed', { retryConfig: { maxRetries: 2 } });
    const id = await ran('failed');
    const { page } = await own.open(`/runs/${id}?tab=requests`);
    await page.getByRole('heading', { name: '3 requests failed' }).waitFor();
    const sent = page.getByRole('list', { name: 'Requests as they were sent' }).getByRole('listitem');
    await expect.poll(async () => await sent.count()).toBe(3);
    for (const line of await sent.all())
      await expect
        .poll(async () => await line.textContent())
        .toMatch(/page=2.*500.*The disk <b>of the shop<\/b> is full/);
    // The one that was answered is there all the same.
    await page.getByText('1 request', { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-failed-time-line');
    await sent.first().getByRole('button').click();
    await page.getByRole('dialog').getByText('How the answer begins').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Log' }).click();
    await page.getByLabel('Level').selectOption({ label: 'Errors' });
    await page.getByRole('log').getByText('The API answered 500').waitFor();
    // A line that is longer than the page is wide does not lie upon the next one.
    await page.setViewportSize({ width: 700, height: 900 });
    const line = page
      .getByRole('log')
      .getByRole('button')
      .filter({ hasText: 'The API answered 500' })
      .first();
    await expect
      .poll(
        async () =>
          await line.evaluate(
            (each: { scrollHeight: number; clientHeight: number }) => each.scrollHeight - each.clientHeight,
          ),
      )
      .toBeLessThan(2);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('one whose request was sent again shows its attempts with the waits, and a link leads to it', async () => {
    let refused = 0;
    const api = await startApi(({ url }, response) => {
      const page = Number(url.searchParams.get('page') ?? 1);
      if (page === 40 && refused++ < 2) json(response, { error: 'Come back later' }, 503);
      else json(response, pages(50)(page));
    });
    await source('again', api);
    const id = await ran('again');
    const { page, context } = await own.open(`/runs/${id}?tab=requests`);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const second = page
      .getByRole('list', { name: 'Requests as they were sent' })
      .getByRole('listitem')
      .nth(1);
    await second.getByText(/^attempt 2, after a wait of \d/).waitFor();
    const chart = page.getByRole('figure').filter({ hasText: 'Requests by status' });
    await chart.getByText('Numbers', { exact: true }).click();
    await expect
      .poll(async () => {
        const rows = await chart.locator('tbody tr').allInnerTexts();
        const counts = rows.map((row) => row.split('\t').slice(1).map(Number));
        return [0, 1, 2, 3].map((i) => counts.reduce((sum, row) => sum + (row[i] ?? 0), 0));
      })
      .toEqual([51, 0, 2, 0]);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-statuses');
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.goto(`${own.url}/runs/${id}?tab=requests&request=40`);
    const dialog = page.getByRole('dialog', { name: 'books, page 40' });
    await dialog.getByText('What its time went into').waitFor();
    await expect
      .poll(async () => (await dialog.getByRole('listitem').allTextContents()).join(' '))
      .toMatch(
        /An attempt failed after [^.]+ms\. It waited for .+ An attempt failed after .+ It waited for .+ An attempt was answered after/,
      );
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-request-again');
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog.getByRole('button', { name: 'Copy as curl' }).click();
    const copied = async () => await page.evaluate<string>('navigator.clipboard.readText()');
    await expect.poll(copied).toMatch(/^curl 'http:.*page=40/);
    await dialog.getByRole('button', { name: 'Copy a link to this request' }).click();
    await expect.poll(copied).toBe(`${own.url}/runs/${id}?tab=requests&request=40`);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toContain('request=');
    // The list has scrolled to it.
    const list = page.getByRole('list', { name: 'Requests', exact: true });
    await list.getByText('page=40, counted').waitFor();

    await second.getByRole('button').click();
    await expect.poll(() => page.url()).toContain('&sent=');
    const link = page.url();
    const { page: other } = await own.open(link.slice(own.url.length));
    await other.getByRole('dialog').getByText('attempt 2, after a wait').waitFor();
    await expect.poll(async () => await other.getByRole('dialog').textContent()).toContain('503');
  });

  test('one that nobody answered says so for each request', async () => {
    const api = await startApi((request) => void request);
    const of = { http: { requestTimeout: 1 }, retryConfig: { maxRetries: 1 } };
    await source('silent', api, {}, 'Books of silent', of);
    const { page } = await own.open(`/runs/${await ran('silent')}?tab=requests`);
    await page.getByRole('heading', { name: '2 requests failed' }).waitFor();
    const sent = page.getByRole('list', { name: 'Requests as they were sent' }).getByRole('listitem');
    await expect.poll(async () => await sent.first().textContent()).toMatch(/no answer/);
    await screenshots(page, 'run-silent-time-line');
  });

  test('one that fails says why and what to do', async () => {
    const api = await startApi((_request, response) => json(response, { error: 'no' }, 404));
    await source('failing', api);
    const id = await ran('failing');
    const { page } = await own.open(`/runs/${id}`, { theme: 'dark' });
    const alert = page.getByRole('alert');
    await alert.getByText('404').first().waitFor();
    await expect.poll(async () => await alert.textContent()).toContain('http.status');
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-failed');
    await page.getByRole('tab', { name: 'Time line' }).click();
    await page.getByRole('heading', { name: '1 request failed' }).waitFor();
    const only = page.getByRole('list', { name: 'Requests as they were sent' }).getByRole('listitem');
    await expect.poll(async () => await only.textContent()).toMatch(/\/books\?.*404.*\{"error":"no"\}/);
  });

  test('one whose login failed shows that request', async () => {
    const api = await startApi(({ url }, response) =>
      url.pathname === '/login' ? json(response, { error: 'wrong password' }, 401) : json(response, []),
    );
    const authentication = {
      type: 'login',
      loginRequest: { endpoint: 'login', method: 'POST' },
      apiRequest: { headers: { 'X-Token': { response: 'token' } } },
    };
    await source('locked', api, {}, 'Books of locked', { authentication });
    const { page } = await own.open(`/runs/${await ran('locked')}?tab=requests`);
    await page.getByRole('heading', { name: '1 request failed' }).waitFor();
    const sent = page.getByRole('list', { name: 'Requests as they were sent' }).getByRole('listitem');
    await expect.poll(async () => await sent.textContent()).toMatch(/POST .*\/login.*401.*wrong password/);
    await sent.getByRole('button').click();
    await page.getByRole('dialog').getByText('a login').waitFor();
    expect(await axe(page)).toEqual([]);
  });

  test('one that may not have everything shows what speaks against it', async () => {
    await source('doubtful', await booksApi(() => [{ id: 1 }, { id: 2 }]));
    const id = await ran('doubtful');
    const { page } = await own.open(`/runs/${id}`);
    await page.getByText('doubtful', { exact: true }).first().waitFor();
    await page
      .getByText(/again, although something else was asked for/)
      .first()
      .waitFor();
    await page.getByText('Nothing of it was loaded').waitFor();
    await expect
      .poll(async () => await page.locator('.runs-facts').textContent())
      .toContain('Rows in tables0');
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-doubtful');

    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Accept the doubt' }).click();
    const dialog = page.getByRole('dialog', { name: 'Accept the doubt?' });
    await dialog.getByLabel('Why the tables are good').fill('The API gives <b>each</b> page twice');
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-accept');
    await page.setViewportSize({ width: 1440, height: 900 });
    await dialog.getByRole('button', { name: 'Accept the doubt' }).click();
    // The run that loads what was held back, which says for which one it does so.
    await page.getByText('asks the API for nothing').waitFor();
    await page.getByText('Done', { exact: true }).waitFor({ timeout: 100_000 });
    await page.getByRole('link', { name: 'in.c-library-doubtful.books' }).waitFor();
    await page.getByRole('link', { name: `run ${id}`, exact: true }).click();
    await page.getByText('Its doubt was accepted by Master token: “The API gives <b>each</b>').waitFor();
    await expect
      .poll(async () => await page.getByRole('button', { name: 'Accept the doubt' }).count())
      .toBe(0);
    // It was loaded after all: nothing on the page says otherwise.
    await page.getByText('This run held it back until its doubt was accepted.').waitFor();
    await expect.poll(async () => await page.getByText('Nothing of it was loaded').count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-accepted');
  });

  test('a row of a table leads to the request that brought it', async () => {
    const mappings = { books: { id: { mapping: { destination: 'id', primaryKey: true } } } };
    const api = await booksApi(pages(4));
    await own.client.configurations(component).create({
      configurationId: 'kept',
      name: 'Books of kept',
      configuration: {
        parameters: {
          api: { baseUrl: api.url, pagination: { method: 'pagenum', limit: 2 } },
          config: { outputBucket: 'library-kept', mappings, jobs: [{ endpoint: 'books' }] },
        },
      },
    });
    const id = await ran('kept');
    const { page } = await own.open('/tables/in.c-library-kept.books');
    await page.getByRole('gridcell', { name: '7', exact: true }).click();
    await page.getByRole('button', { name: 'Where does this row come from?' }).click();
    const origin = page.getByRole('region', { name: 'Where this row comes from' });
    await origin.getByRole('link', { name: `run ${id}`, exact: true }).waitFor();
    await origin.getByRole('link', { name: 'Books of kept' }).waitFor();
    await origin.getByText(/^It brought the row: page 3 of the job/).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'row-origin');
    await page.setViewportSize({ width: 1440, height: 900 });
    await origin.getByRole('link', { name: 'Show it in the time line' }).click();
    await page.getByRole('dialog', { name: 'books, page 3' }).getByText('page=3, counted').waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('?tab=requests&job=books&request=3');
  });

  test('two of a source stand side by side, and what is other is marked', async () => {
    let last = 1;
    await source('growing', await booksApi((page) => pages(last)(page)));
    const first = await ran('growing');
    last = 3;
    const second = await ran('growing');
    const { page } = await own.open(`/runs/${second}?tab=compare`);
    await page.getByRole('columnheader', { name: `Run ${first}` }).waitFor();
    const line = page.getByRole('row').filter({ hasText: 'in.c-library-growing.books' });
    await expect.poll(async () => await line.textContent()).toContain('+4');
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'run-compare');
  });

  test('names with signs of all kinds are texts', async () => {
    const name = '<img src=x onerror=alert(1)> \u202Eevil\u0007';
    await source(
      'hostile',
      await booksApi(pages(1)),
      { endpoint: `books?of=${name}`, dataType: 'books' },
      name,
    );
    const id = await ran('hostile');
    const { page } = await own.open(`/runs/${id}`);
    await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
    for (const tab of ['Time line', 'Log']) await page.getByRole('tab', { name: tab }).click();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.getByRole('main').textContent()).not.toContain('\u202E');
  });

  test('a schedule is made in words, shown with its next time, stopped and deleted', async () => {
    await source('timed', await booksApi(pages(1)));
    const { page } = await own.open('/runs/schedules');
    await page.getByLabel('Source', { exact: true }).selectOption({ label: 'Books of timed' });
    await page.getByRole('button', { name: 'Add a schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('It runs').selectOption({ label: 'Monday to Friday' });
    await dialog.getByLabel('Time zone').fill('Europe/Nowhere');
    await dialog.getByText('There is no such zone').waitFor();
    await dialog.getByLabel('Time zone').fill('Europe/Prague');
    await dialog.getByText('Monday to Friday at 06:30').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'schedule-form');
    await dialog.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByRole('heading', { name: 'Monday to Friday at 06:30 Europe/Prague' }).waitFor();
    await page.getByText(/Next: \w{3},? \d+ \w+(?:,| at) 06:30/).waitFor();
    const of = own.client.configurations(component).schedules('timed');
    expect(await of.list()).toMatchObject([{ cron: '30 6 * * 1-5', timeZone: 'Europe/Prague' }]);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'schedules');
    await page.getByRole('switch', { name: 'Enabled' }).click();
    await page.getByText('It does not run while it is disabled').waitFor();
    await page.getByRole('button', { name: 'Delete the schedule' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the schedule' }).click();
    await page.getByText('It runs only when somebody starts it').waitFor();
    expect(await of.list()).toEqual([]);
  });

  test('a schedule that a weaker token stopped says so, and is approved there', async () => {
    await source('stopped', await booksApi(pages(1)));
    const clerk = await own.client.tokens.create({ description: 'clerk', componentAccess: [component] });
    const of = own.client.configurations(component).schedules('stopped');
    const { id } = await of.create({ cron: '0 0 1 1 *' });
    const changed = await fetch(`${own.url}/v2/storage/components/${component}/configs/stopped`, {
      method: 'PUT',
      headers: { 'x-storageapi-token': clerk.token ?? '', 'content-type': 'application/json' },
      body: JSON.stringify({ description: 'changed' }),
    });
    expect(changed.status).toBe(200);
    const meta = await metaOf(own.dir);
    const next_occurrence = new Date(Date.now() - 60_000).toISOString();
    await meta.updateTable('schedules').set({ next_occurrence }).where('id', '=', Number(id)).execute();
    await meta.destroy();
    await expect.poll(async () => (await of.detail(id)).refusal, { timeout: 100_000 }).not.toBeNull();
    const { page } = await own.open(`/runs/schedules/${component}/stopped`);
    await page.getByText('The token “clerk”, which made version 2 of the configuration').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'schedule-stopped');
    await page.getByRole('button', { name: 'Approve version 2' }).click();
    await page.getByText('The version is approved').waitFor();
    await expect.poll(async () => await page.getByText('The token “clerk”').count()).toBe(0);
    expect(await of.detail(id)).toMatchObject({ approvedVersion: 2, refusal: null });
  });

  test('the list is filtered by source and status, and says so in its address', async () => {
    const { page } = await own.open('/runs');
    await page.getByRole('grid', { name: 'Runs' }).getByText('Books of good').waitFor();
    await screenshots(page, 'runs');
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Status').selectOption({ label: 'Failed' });
    await page.getByRole('grid', { name: 'Runs' }).getByText('Books of good').waitFor({ state: 'detached' });
    await page.getByRole('grid', { name: 'Runs' }).getByText('Books of failing').waitFor();
    expect(page.url()).toContain('status=error');
  });
});
