import { readFile } from 'node:fs/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/storage/client/transfer/body.ts';
import { axe, CHROMIUM, drop, screenshots, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('tables', () => {
  const own = useConsole();

  beforeAll(async () => {
    await own.client.buckets.create({ name: 'main', stage: 'in' });
    await own.client.buckets.create({ name: 'other', stage: 'out' });
    await make('users', users(3000), ['id']);
    await make('shops', 'id,contacts\n1,shops_a\n2,shops_b\n', ['id']);
    await make('shops_contacts', 'kind,JSON_parentId\nmail,shops_a\nphone,shops_a\nfax,shops_b\n');
  });

  async function make(name: string, csv: string, primaryKey: string[] = []): Promise<string> {
    const { id } = await own.client.files.upload(bytesBody(csv), { name: `${name}.csv` });
    const table = await own.client.tables.create('in.c-main', { name, dataFileId: id, primaryKey });
    return table.id;
  }

  test('are listed, found, grouped and opened, by the keyboard too', async () => {
    const { page } = await own.open('/tables');
    await page.getByText('3 tables').waitFor();
    // Words in any order.
    await page.getByLabel('Search tables').fill('contacts main');
    await page.getByText('1 table ·').waitFor();
    await page.getByLabel('Search tables').fill('');
    await page.getByLabel('Show').selectOption('bucket');
    await page.getByText('2 buckets').waitFor();
    await page.getByRole('grid', { name: 'Buckets' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'in.c-main' }).waitFor();
    await page.getByRole('link', { name: 'shops', exact: true }).click();
    await page.getByRole('gridcell', { name: 'shops_b' }).waitFor();
  });

  test('rows are searched, filtered, sorted, and fetched down to the last', async () => {
    const { page } = await own.open('/tables/in.c-main.users');
    const grid = page.getByRole('grid');
    await page.getByRole('gridcell', { name: 'Name 7', exact: true }).waitFor();
    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+End');
    await page.getByRole('gridcell', { name: 'Name 2999', exact: true }).waitFor();
    // Numbers by their size, at first: 999.5 stands behind 2999.5.
    await page.getByRole('button', { name: 'amount', exact: true }).click();
    await page.getByRole('button', { name: 'amount', exact: true }).click();
    await page.getByText('numbers by their size').waitFor();
    await grid.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+Home');
    await page.getByRole('gridcell', { name: '2999.5', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sorted by' }).click();
    await page.getByText('as text').waitFor();
    await page.getByRole('gridcell', { name: '999.5', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove the order' }).click();
    await page.getByLabel('Search in all columns').fill('name 2998');
    await page.getByText('1 of 3,000 rows', { exact: true }).waitFor();
    await page.getByLabel('Search in all columns').fill('');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Column', { exact: true }).fill('id');
    await page.getByLabel('Value').fill('5\n6');
    await page.getByRole('button', { name: 'Add the filter' }).click();
    await page.getByText('2 of 3,000 rows', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('id is 5 or 6').waitFor();
    await page.getByText('2 of 3,000 rows', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'name' }).uncheck();
    await page.getByRole('button', { name: 'Move amount to the front' }).click();
    await page.getByRole('button', { name: 'Close' }).click();
    await expect
      .poll(async () => await page.getByRole('columnheader').allInnerTexts())
      .toEqual(['amount', 'id\nkey', 'text']);
  });

  test('rows are chosen by a part of a text, by being empty and between two numbers, counted, and exported so', async () => {
    await make('mixed', 'id,note,amount\n1,Alpha,9\n2,,10\n3,beta ALPHA,100\n4,gamma,n/a\n', ['id']);
    const { page } = await own.open('/tables/in.c-main.mixed');
    const filter = async (operator: string, column: string, fill: () => Promise<void>): Promise<void> => {
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Column', { exact: true }).fill(column);
      await dialog.getByLabel('Condition').selectOption({ label: operator });
      await fill();
      await dialog.getByRole('button', { name: 'Add the filter' }).click();
    };
    await filter('is empty', 'note', async () => undefined);
    await page.getByText('note is empty').waitFor();
    await page.getByText('1 of 4 rows', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove the filter note' }).click();
    await filter('is between', 'amount', async () => {
      await page.getByLabel('From').fill('9');
      await page.getByLabel('To, included').fill('99');
      await page.getByRole('checkbox', { name: 'Compare as numbers' }).check();
      expect(await axe(page)).toEqual([]);
    });
    await page.getByText('2 of 4 rows', { exact: true }).waitFor();
    const removing = page.getByRole('button', { name: 'Remove the filter amount' });
    for (const left of [1, 0]) {
      await removing.first().click();
      await expect.poll(async () => await removing.count()).toBe(left);
    }
    await filter('contains', 'note', async () => await page.getByLabel('Value').fill('alpha'));
    await page.getByText('2 of 4 rows', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'amount', exact: true }).click();
    await page.getByRole('button', { name: 'amount', exact: true }).click();
    await page.getByText('numbers by their size').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'table-filtered');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('button', { name: 'Export these rows' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV', exact: true }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).toBe(
      '"id","note","amount"\n"3","beta ALPHA","100"\n"1","Alpha","9"\n',
    );
  });

  test('a file with semicolons becomes a table with its columns', async () => {
    const { page } = await own.open('/tables/in.c-main');
    await page.locator('.drop-zone').waitFor();
    await drop(page, 'prices.csv', Buffer.from('id;price;text\n1;2,50;"a;b"\n'));
    await page.getByText('The first line has 3 columns by it.').waitFor();
    await expect.poll(async () => await page.getByLabel('Between the columns').inputValue()).toBe(';');
    await page.getByRole('checkbox', { name: 'price' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make the table' }).click();
    await page.getByRole('gridcell', { name: '2,50', exact: true }).waitFor();
    await page.getByRole('gridcell', { name: 'a;b', exact: true }).waitFor();
    await expect
      .poll(async () => await page.getByRole('columnheader').allInnerTexts())
      .toEqual(['id', 'price', 'text']);
  });

  test('every part of a table is reached from every other', async () => {
    const { page } = await own.open('/tables/in.c-main.shops', { expects: [/404/] });
    const parts = {
      Preview: page.getByRole('gridcell', { name: 'shops_b' }),
      Columns: page.getByRole('gridcell', { name: 'contacts' }),
      Metadata: page.getByText('Nothing is noted yet'),
      Import: page.getByText('Drop a CSV file here'),
    };
    for (const name of ['Columns', 'Metadata', 'Preview', 'Import', 'Columns', 'Preview'] as const) {
      await page.getByRole('tab', { name }).click();
      await parts[name].waitFor();
    }
  });

  test('a cell of 1 MB is shown whole, and hostile texts are texts', async () => {
    const id = await make(
      'hostile',
      `n,a\n1,"<img src=x onerror=alert(1)><script>alert(2)</script>"\n2,"\u202Eevil\u0007"\n3,${'z'.repeat(1_000_000)}END\n`,
    );
    const { page } = await own.open(`/tables/${id}`);
    await page.getByText('<script>alert(2)').waitFor();
    await page.getByText('\\u202eevil\\u0007').waitFor();
    await page.getByRole('gridcell', { name: '3', exact: true }).click();
    await page.getByRole('button', { name: 'Show whole' }).click();
    // The table is as large, which is shown above it.
    await page.getByRole('tabpanel').getByText('1 MB', { exact: true }).waitFor();
    for (let i = 0; i < 5; i++) await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('END').waitFor();
  });

  test('a row leads to its children, and these to their parent', async () => {
    const { page } = await own.open('/tables/in.c-main.shops');
    await page.getByRole('gridcell', { name: '2', exact: true }).click();
    await page.getByRole('link', { name: 'Its rows of in.c-main.shops_contacts' }).click();
    await page.getByText('JSON_parentId is shops_b').waitFor();
    await page.getByText('1 of 3 rows', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'shops_b' }).click();
    await page.getByText('contacts is shops_b').waitFor();
    await page.getByRole('heading', { name: 'shops', exact: true }).waitFor();
  });

  test('a link leads to a row, by its key where there is one', async () => {
    const { page, context } = await own.open('/tables/in.c-main.users?sort=id&down=1&row=3');
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const dialog = page.getByRole('dialog', { name: 'Row 3' });
    await dialog.getByText('Name 2997', { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Copy a link to this row' }).click();
    const copied = async () => await page.evaluate<string>('navigator.clipboard.readText()');
    await expect.poll(copied).toContain('row=1');
    await page.goto(await copied());
    await page.getByText('id is 2997').waitFor();
    await page.getByRole('dialog', { name: 'Row 1' }).getByText('Name 2997', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.url()).not.toContain('row=');

    await page.goto(`${own.url}/tables/in.c-main.shops_contacts?row=2`);
    await page.getByRole('dialog', { name: 'Row 2' }).getByText('phone').waitFor();
    await page.getByRole('button', { name: 'Copy a link to this row' }).click();
    await expect.poll(copied).toBe(`${own.url}/tables/in.c-main.shops_contacts?row=2`);
    await page.goto(`${own.url}/tables/in.c-main.shops_contacts?row=20`);
    await page.getByText('There is no such row').waitFor();
  });

  test('5,000 columns are shown where one looks', async () => {
    const names = Array.from({ length: 5000 }, (_, i) => `column_${i}`);
    const { page } = await own.open('/tables');
    // More than this service takes, but what lists them must not care.
    await page.route('**/v2/storage/tables/in.c-main.wide', async (route) => {
      const users = await own.client.tables.detail('in.c-main.users');
      await route.fulfill({ json: { ...users, id: 'in.c-main.wide', name: 'wide', columns: names } });
    });
    await page.route('**/in.c-main.wide/data-preview*', async (route) => {
      const { searchParams } = new URL(route.request().url());
      const columns = (searchParams.get('columns') ?? '').split(',');
      const row = columns.map((name) => ({ columnName: name, value: `of ${name}`, isTruncated: false }));
      const limit = Number(searchParams.get('limit'));
      await route.fulfill({ json: { columns, rows: Array.from({ length: limit }, () => row) } });
    });
    await page.route('**/in.c-main.wide/profile/latest', async (route) => {
      await route.fulfill({ status: 404, json: { error: 'none', code: 'none' } });
    });
    await page.goto(`${own.url}/tables/in.c-main.wide`);
    await page.getByText('of column_1', { exact: true }).first().waitFor();
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.getByText('of column_4999', { exact: true }).first().waitFor();
    expect(await page.getByRole('gridcell').count()).toBeLessThan(1500);
    await page.getByRole('gridcell').last().click();
    await page.getByText('4,900 columns are left').waitFor();
  });

  test('the values are looked at when they are wanted, and a column is described', async () => {
    const { page } = await own.open('/tables/in.c-main.users?tab=columns', { expects: [/404/] });
    await page.getByRole('button', { name: 'Look at the values' }).click();
    await page.getByRole('gridcell', { name: 'Name 0', exact: true }).first().waitFor();
    await page.getByRole('gridcell', { name: 'amount', exact: true }).click();
    await page.getByText('All values are numbers').waitFor();
    await page.getByLabel('Description').fill('What it <b>costs</b>');
    await page.getByRole('button', { name: 'Save the description' }).click();
    await page.getByRole('gridcell', { name: 'What it <b>costs</b>' }).waitFor();
    const file = await own.client.files.upload(bytesBody('id,name\n1,x\n'), { name: 'x.csv' });
    await make('aging', 'a\n1\n');
    await own.client.tables.profile('in.c-main.aging');
    const more = await own.client.files.upload(bytesBody('a\n2\n'), { name: 'x.csv' });
    await own.client.tables.load('in.c-main.aging', { dataFileId: more.id, incremental: true });
    await own.client.files.delete(file.id);
    await page.goto(`${own.url}/tables/in.c-main.aging?tab=columns`);
    await page.getByText('Rows have changed since').waitFor();
  });

  test('a dropped file becomes a table, adds to one, replaces it, or is refused with its line', async () => {
    const { page } = await own.open('/tables/out.c-other', { expects: [/404/] });
    await page.getByText('This bucket is empty').waitFor();
    await drop(page, 'new things.csv.gz', gzipSync('id,thing\n1,a\n2,b\n'));
    await page.getByText('compressed').waitFor();
    await page.getByRole('checkbox', { name: 'id' }).check();
    await page.getByRole('button', { name: 'Make the table' }).click();
    await page.getByRole('heading', { name: 'new_things' }).waitFor();
    await page.getByRole('gridcell', { name: 'b', exact: true }).waitFor();
    const id = 'out.c-other.new_things';
    expect(await own.client.tables.detail(id)).toMatchObject({ rowsCount: 2, primaryKey: ['id'] });

    await page.getByRole('tab', { name: 'Import' }).click();
    await drop(page, 'more.csv', Buffer.from('id,thing,colour\n2,B,red\n3,c,blue\n'));
    await page.getByText('Matched by their names: 2 columns').waitFor();
    await page.getByText('One column is new').waitFor();
    await page.getByRole('button', { name: 'Import the file' }).click();
    await page.getByText('the table has 3 rows now').waitFor();

    await drop(page, 'picture.csv', Buffer.from('id,thing,colour\n4,d,red\n5,"e,x\n'));
    await page.getByRole('button', { name: 'Import the file' }).click();
    await page.getByText(/Line 3/).waitFor();
    await page.getByText('Nothing was changed').waitFor();
    expect((await own.client.tables.detail(id)).rowsCount).toBe(3);
    await page.getByRole('button', { name: 'Choose another' }).click();

    await drop(page, 'all.csv', Buffer.from('id,thing,colour\n9,z,grey\n'));
    await page.getByLabel('What happens').selectOption('replace');
    await page.getByRole('button', { name: 'Import the file' }).click();
    await page.getByRole('button', { name: 'Replace the rows' }).click();
    await page.getByText('the table has 1 row now').waitFor();
  });

  test('a table is downloaded as CSV and compressed, as the client reads it', async () => {
    const { page } = await own.open('/tables/in.c-main.users');
    const chunks: Buffer[] = [];
    for await (const chunk of await own.client.tables.read('in.c-main.users')) chunks.push(chunk as Buffer);
    const expected = Buffer.concat(chunks);
    for (const [item, name, unpack] of [
      ['CSV', 'in.c-main.users.csv', (bytes: Buffer) => bytes],
      ['CSV, gzip', 'in.c-main.users.csv.gz', gunzipSync],
    ] as const) {
      const arriving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
      const download = await arriving;
      expect(download.suggestedFilename()).toBe(name);
      expect(unpack(await readFile(await download.path())).equals(expected)).toBe(true);
    }
  });

  test('a table is downloaded as files with its types', async () => {
    const { page } = await own.open('/tables/in.c-main.users');
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Excel' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'table-export');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('Escape');
    for (const [item, name, start] of [
      ['Parquet', 'in.c-main.users.parquet', 'PAR1'],
      ['JSON lines', 'in.c-main.users.jsonl', '{"id":'],
      ['Excel', 'in.c-main.users.xlsx', 'PK'],
    ] as const) {
      const arriving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('menuitem', { name: item, exact: true }).click();
      const download = await arriving;
      expect(download.suggestedFilename()).toBe(name);
      expect((await readFile(await download.path(), 'latin1')).slice(0, start.length)).toBe(start);
    }
  });

  test('a table and a bucket are deleted when their names are typed', async () => {
    await make('doomed', 'a\n1\n');
    const { page } = await own.open('/tables/in.c-main.doomed');
    await page.getByRole('button', { name: 'Delete' }).click();
    const button = page.getByRole('button', { name: 'Delete the table' });
    expect(await button.isDisabled()).toBe(true);
    await page.getByLabel('Type in.c-main.doomed to go on').fill('in.c-main.doomed');
    await button.click();
    await page.getByRole('heading', { name: 'in.c-main' }).waitFor();
    expect(await own.client.tables.find('in.c-main.doomed')).toBeUndefined();
    await own.client.buckets.create({ name: 'gone', stage: 'in' });
    await page.goto(`${own.url}/tables/in.c-gone`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type in.c-gone to go on').fill('in.c-gone');
    await page.getByRole('button', { name: 'Delete the bucket' }).click();
    await page.getByRole('heading', { name: 'Tables', exact: true }).waitFor();
    expect(await own.client.buckets.find('in.c-gone')).toBeUndefined();
  });

  test('metadata is added, changed and deleted', async () => {
    const { page } = await own.open('/tables/in.c-main.shops?tab=metadata');
    await page.getByText('Nothing is noted yet').waitFor();
    await page.getByRole('button', { name: 'Add a note' }).click();
    await page.getByLabel('Name').fill('owner');
    await page.getByLabel('Value').fill('<i>Ann</i>');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('<i>Ann</i>').waitFor();
    expect(await own.client.tables.metadata('in.c-main.shops').list()).toMatchObject([
      { key: 'owner', value: '<i>Ann</i>', provider: 'user' },
    ]);
    await page.getByRole('button', { name: 'Delete owner' }).click();
    await page.getByRole('button', { name: 'Delete the note' }).click();
    await page.getByText('Nothing is noted yet').waitFor();
  });

  test.each(['light', 'dark'] as const)('everyone can use every part: %s', async (theme) => {
    const { page } = await own.open('/tables?by=bucket', { theme, expects: [/404/] });
    await page.getByRole('grid').waitFor();
    expect(await axe(page)).toEqual([]);
    for (const [path, text] of [
      ['/tables/in.c-main', 'Drop a CSV file'],
      ['/tables/in.c-main.users?sort=id&filters=[{"column":"id","operator":"ne","values":["3"]}]', 'Name 0'],
      ['/tables/in.c-main.users?tab=columns', 'amount'],
      ['/tables/in.c-main.users?tab=metadata', 'Add a note'],
      ['/tables/in.c-main.users?tab=import', 'Drop a CSV file'],
    ] as const) {
      await page.goto(own.url + path);
      await page.getByText(text).first().waitFor();
      expect(await axe(page), path).toEqual([]);
      if (theme === 'light')
        await screenshots(
          page,
          `tables-${path
            .split(/[./?=]/)
            .filter((part) => /^\w+$/.test(part))
            .join('-')
            .slice(0, 40)}`,
        );
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: theme });
    }
    await page.goto(`${own.url}/tables/in.c-main.users`);
    await page.getByRole('gridcell', { name: 'Name 7', exact: true }).click();
    await page.getByRole('button', { name: 'Copy as JSON' }).waitFor();
    expect(await axe(page)).toEqual([]);
    if (theme === 'light') await screenshots(page, 'tables-record');
  });

  test('nothing is wider than a narrow screen', async () => {
    const { page } = await own.open('/tables/in.c-main.users', { width: 360, height: 800 });
    await page.getByRole('gridcell', { name: 'Name 7', exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });
});

describe.skipIf(CHROMIUM === undefined)('a table whose service goes away', () => {
  const own = useConsole();

  test('a service that goes away leaves what is shown, and goes on when it is back', async () => {
    await own.client.buckets.create({ name: 'main', stage: 'in' });
    const { id } = await own.client.files.upload(bytesBody(users(3000)), { name: 'users.csv' });
    await own.client.tables.create('in.c-main', { name: 'users', dataFileId: id });
    const { page } = await own.open('/tables/in.c-main.users', {
      expects: [/ERR_CONNECTION|503|Failed to load/],
    });
    await page.getByRole('gridcell', { name: 'Name 7', exact: true }).waitFor();
    await own.away();
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+End');
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await own.back();
    await page.getByRole('gridcell', { name: 'Name 2999', exact: true }).waitFor();
  });
});

function users(count: number): string {
  const rows = Array.from({ length: count }, (_, i) => `${i},Name ${i},${i}.5,${'text '.repeat(i % 5)}\n`);
  return `id,name,amount,text\n${rows.join('')}`;
}
