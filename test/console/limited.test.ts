import { beforeAll, describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/storage/client/index.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('a token that may only read', () => {
  const own = useConsole();
  let token = '';

  beforeAll(async () => {
    const { client } = own;
    for (const name of ['read', 'write']) {
      await client.buckets.create({ name, stage: 'in' });
      const { id } = await client.files.upload(bytesBody('id,name\n1,Ann\n'), { name: 'users.csv' });
      await client.tables.create(`in.c-${name}`, { name: 'users', dataFileId: id });
    }
    const made = await client.tokens.create({
      description: 'reader',
      bucketPermissions: { 'in.c-read': 'read', 'in.c-write': 'write' },
    });
    token = made.token ?? '';
  });

  test('is offered nothing that would be refused', async () => {
    const { page } = await own.open('/tables/in.c-read.users', { token });
    await page.getByRole('gridcell', { name: 'Ann' }).waitFor();
    await expect
      .poll(async () => await page.getByRole('tab').allTextContents())
      .toEqual(['Preview', 'Columns (2)', 'Where it comes from', 'History', 'Metadata']);
    await expect.poll(async () => await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'New source' }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'limited-table');
    await page.goto(`${own.url}/tables/in.c-read`);
    await page.getByRole('link', { name: 'users', exact: true }).waitFor();
    await expect.poll(async () => await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
    await expect.poll(async () => await page.locator('.drop-zone').count()).toBe(0);
  });

  test('may write where it may, and is offered that', async () => {
    const { page } = await own.open('/tables/in.c-write.users', { token });
    await page.getByRole('tab', { name: 'Import' }).waitFor();
    await expect.poll(async () => await page.getByRole('button', { name: 'Delete' }).count()).toBe(1);
    await page.goto(`${own.url}/tables/in.c-write`);
    await page.locator('.drop-zone').waitFor();
    // A bucket is deleted by who manages it.
    await expect.poll(async () => await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
  });

  test('finds a page at an address that leads nowhere, and programs their answer', async () => {
    const { page } = await own.open('/nowhere/at/all', { token, expects: [/404/] });
    await page.getByText('There is nothing here').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('link', { name: 'Go to the start' }).click();
    await page.getByRole('heading', { name: 'Start' }).waitFor();
    const answer = await fetch(`${own.url}/nowhere`);
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: 'Not found' }]);
  });

  test('comes back to a list as it was left', async () => {
    const { page } = await own.open('/tables', { token, height: 500 });
    const grid = page.getByRole('grid', { name: 'Tables' });
    await grid.getByRole('button', { name: 'Bucket' }).click();
    await grid.getByRole('button', { name: 'Bucket' }).click();
    await expect.poll(async () => await grid.getByRole('link', { name: 'in.c-write' }).count()).toBe(1);
    await grid.getByRole('link', { name: 'users' }).first().click();
    await page.getByRole('gridcell', { name: 'Ann' }).waitFor();
    await page.goBack();
    const heading = grid.getByRole('columnheader', { name: 'Bucket' });
    await expect.poll(async () => await heading.getAttribute('aria-sort')).toBe('descending');
  });
});
