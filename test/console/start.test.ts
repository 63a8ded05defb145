import { describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/storage/client/index.ts';
import { axe, CHROMIUM, drop, screenshots, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('the start page', () => {
  const own = useConsole();

  test('of an empty service offers ways to begin', async () => {
    const { page } = await own.open('/');
    await page.getByRole('heading', { name: 'A source from a link' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'start-empty');
    await page.getByRole('link', { name: 'Begin with a link' }).click();
    await page.getByRole('heading', { name: 'New source' }).waitFor();
  });

  test('makes a table of a file that is dropped, and says what is wrong with one that is no CSV', async () => {
    const { page } = await own.open('/');
    await page.getByText('Drop it here').waitFor();
    await drop(page, 'picture.csv', Buffer.from('\u0089PNG\r\n\u001a\n\0\0\0\rIHDR "', 'latin1'));
    await page.getByRole('heading', { name: 'A table from a file' }).waitFor();
    await page.getByText('does not look like CSV').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make the table' }).click();
    await page.getByRole('alert').waitFor();
    expect(await own.client.tables.list()).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();

    await drop(page, 'my books.csv', Buffer.from('id,title\n1,Dune\n'));
    await page.getByRole('checkbox', { name: 'id' }).check();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'table-new');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Make the table' }).click();
    await page.getByRole('heading', { name: 'my_books' }).waitFor();
    expect(await own.client.tables.detail('in.c-files.my_books')).toMatchObject({
      rowsCount: 1,
      primaryKey: ['id'],
    });
    // It would ask for the table again.
    await page.close();
    await own.client.buckets.delete('in.c-files', { force: true });
  });

  test('shows what failed and what changed, and the palette leads there', async () => {
    const { client } = own;
    await client.buckets.create({ name: 'main', stage: 'in' });
    const file = async (text: string): Promise<number> =>
      (await client.files.upload(bytesBody(text), { name: 'users.csv' })).id;
    await client.tables.create('in.c-main', { name: 'users', dataFileId: await file('id,name\n1,Ann\n') });
    const job = await client.tables.startLoad('in.c-main.users', { dataFileId: await file('a\n1\n') });
    await client.jobs.wait(job).catch(() => undefined);
    await client
      .configurations('ex-generic-v2')
      .create({ configurationId: 'crm', name: 'CRM <b>\u202e', configuration: {} });

    const { page } = await own.open('/');
    await page.getByText('1 bucket, 1 row,').waitFor();
    await page.getByRole('link', { name: 'Load into in.c-main.users' }).waitFor();
    await page.getByRole('link', { name: 'in.c-main.users', exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'start');
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Table, source, run' });
    await field.fill('crm');
    await page.getByRole('option', { name: 'CRM <b>\\u202e' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'palette');
    await page.setViewportSize({ width: 1440, height: 900 });
    await field.fill('zzz');
    await page.getByText('Nothing is called so').waitFor();
    await field.fill('toggle dark');
    await page.getByRole('option', { name: /dark/i }).waitFor();
    await page.keyboard.press('Enter');
    await field.waitFor({ state: 'detached' });
    await expect.poll(async () => await page.evaluate('document.documentElement.dataset.theme')).not.toBe('');
    await page.keyboard.press('Control+k');
    await field.fill('jobs');
    await page.getByRole('option', { name: 'Jobs' }).first().waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { name: 'Start' }).waitFor();
    await page.keyboard.press('?');
    await page.getByText('Go anywhere by its name').waitFor();
  });

  test('of a limited token shows what it may, and says what not', async () => {
    const { token = '' } = await own.client.tokens.create({ description: 'reader', bucketPermissions: {} });
    const { page } = await own.open('/', { token, width: 390, theme: 'dark', expects: [/403/] });
    await page.getByRole('heading', { name: 'Start' }).waitFor();
    await page.getByText('nothing that your token may see').waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});
