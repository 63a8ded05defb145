import { describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/storage/client/index.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('jobs', () => {
  const own = useConsole();

  /** A table that was made, a load that fails, and an export. */
  async function someJobs(): Promise<{ failed: number }> {
    const { client } = own;
    await client.buckets.create({ name: 'main', stage: 'in' });
    const file = async (text: string): Promise<number> =>
      (await client.files.upload(bytesBody(text), { name: 'users.csv' })).id;
    await client.tables.create('in.c-main', {
      name: 'users',
      dataFileId: await file('id,name\n1,Ann\n'),
      primaryKey: ['id'],
    });
    const job = await client.tables.startLoad('in.c-main.users', {
      dataFileId: await file('id,"<img src=x onerror=alert(1)>\u202e"\n1,x\n'),
    });
    await client.jobs.wait(job).catch(() => undefined);
    await client.tables.export('in.c-main.users');
    return { failed: job.id };
  }

  test('are in words, can be filtered, and say why they failed', async () => {
    const { page: empty } = await own.open('/jobs');
    await empty.getByText('There are no jobs yet').waitFor();
    expect(await axe(empty)).toEqual([]);
    await screenshots(empty, 'jobs-empty');
    const { failed } = await someJobs();

    const { page } = await own.open('/jobs');
    const links = page.getByRole('gridcell').getByRole('link', { name: /users/ });
    await page.getByRole('link', { name: 'Export in.c-main.users' }).waitFor();
    await page.getByRole('link', { name: 'Make in.c-main.users from a file' }).waitFor();
    await expect.poll(async () => await links.count()).toBe(3);
    await page.getByLabel('Status').selectOption('failed');
    await page.getByRole('link', { name: 'Export in.c-main.users' }).waitFor({ state: 'detached' });
    await expect.poll(() => new URL(page.url()).search).toBe('?status=error');
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Operation').selectOption('Export a table');
    await page.getByText('No job is like that').waitFor();
    await page.getByRole('button', { name: 'Show all jobs' }).click();
    await page.getByRole('link', { name: 'Export in.c-main.users' }).waitFor();
    await screenshots(page, 'jobs');

    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('link', { name: 'Load into in.c-main.users' }).click();
    await page.getByRole('heading', { name: 'Load into in.c-main.users' }).waitFor();
    expect(page.url()).toBe(`${own.url}/jobs/${failed}`);
    const alert = page.getByRole('alert');
    await alert.getByText('The file and the table have different columns').waitFor();
    await alert.getByText('csvImport.columnsNotMatch').waitFor();
    expect(await alert.textContent()).not.toContain('\u202e');
    expect(await page.getByRole('button', { name: 'Give it again' }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'job-failed');
    await page
      .getByRole('link', { name: /^File \d+$/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'users.csv' }).waitFor();
  });

  test('of another token are refused in words', async () => {
    const { client } = own;
    const { id } = (await client.jobs.list({ limit: 1 }))[0] ?? { id: 0 };
    const limited = await client.tokens.create({ description: 'reader', bucketPermissions: {} });
    const { page } = await own.open('/jobs', { token: limited.token ?? '', expects: [/403/] });
    await page.getByText('Your token sees its own jobs only').waitFor();
    await page.goto(`${own.url}/jobs/${id}`);
    await page.getByRole('heading', { name: 'Your token may not see this' }).waitFor();
    expect(await axe(page)).toEqual([]);
  });

  test('that do not exist, and ids that are none, are said so', async () => {
    const { page } = await own.open('/jobs/99999999', { expects: [/404/] });
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    await page.goto(`${own.url}/jobs/%3Cscript%3E`);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
  });

  test('can be reached and opened by the keyboard', async () => {
    const { page } = await own.open('/jobs', { theme: 'dark', width: 390 });
    await page.getByRole('grid', { name: 'Jobs' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Export in.c-main.users' }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});
