import { beforeAll, describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/storage/client/transfer/body.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('SQL', () => {
  const own = useConsole();

  beforeAll(async () => {
    await own.client.buckets.create({ name: 'main', stage: 'in' });
    const csv = `id,country\n${Array.from({ length: 30 }, (_, i) => `${i},${i % 3 === 0 ? 'CZ' : 'DE'}`).join('\n')}\n`;
    const file = await own.client.files.upload(bytesBody(csv), { name: 'users.csv' });
    await own.client.tables.create('in.c-main', { name: 'users', dataFileId: file.id });
  });

  test('a query of the address runs by Ctrl+Enter, and its rows are a table, a chart and a file', async () => {
    const sql = 'SELECT country, count(*) AS users FROM "in.c-main".users GROUP BY ALL ORDER BY 1';
    const { page } = await own.open(`/sql?query=${encodeURIComponent(sql)}`);
    const editor = page.getByRole('textbox', { name: 'Query in SQL' });
    await editor.focus();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('status').filter({ hasText: '2 rows' }).waitFor();
    await expect.poll(async () => await page.getByRole('grid').textContent()).toContain('DE');
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'sql');
    await page.getByRole('tab', { name: 'Chart' }).click();
    await expect.poll(async () => await page.locator('.sql-chart').textContent()).toContain('CZ10');
    expect(page.url()).toContain('show=chart');
    expect(await axe(page)).toEqual([]);
    for (const [item, name] of [
      ['CSV', 'result.csv'],
      ['JSON lines', 'result.jsonl'],
      ['Parquet', 'result.parquet'],
    ] as const) {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      if (item === 'CSV') {
        expect(await axe(page)).toEqual([]);
        await screenshots(page, 'sql-export');
        await page.setViewportSize({ width: 1440, height: 900 });
      }
      await page.getByRole('menuitem', { name: item, exact: true }).click();
      expect((await download).suggestedFilename()).toBe(name);
    }
  });

  test('a mistake is shown with its place, and tables and columns are completed', async () => {
    const { page } = await own.open('/sql', { expects: [/400/] });
    await page.getByRole('button', { name: 'Write a first query' }).click();
    const editor = page.getByRole('textbox', { name: 'Query in SQL' });
    await expect.poll(async () => await editor.textContent()).toContain('"in.c-main"."users"');
    await editor.focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type('SELECT nope FROM "in.c-main".users');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Line 1, column 8: Referenced column').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type('SELECT 1 FROM in');
    await page.getByRole('option', { name: /"in\.c-main"\."users"/ }).waitFor();
  });
});
