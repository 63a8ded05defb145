import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { milliseconds } from '../support/figures.ts';
import { watch, withPage, type Opened } from './browser.ts';
import { startService, type Service } from './service.ts';
import { makeTable } from './tables.ts';

export const LARGE_HEAD = ['', 'until shown', 'longest task', 'its processor time', 'over 50 ms'];

const TABLES = 5000;
const COLUMNS = 5000;
const LONG_CELLS = 50;
const LONG_CELL = 1_000_000;

/** 5,000 tables, 5,000 columns, cells of 1 MB: until they are shown, and what the main thread does meanwhile. */
export async function large(folder: string): Promise<string[][]> {
  const first = await startService(folder);
  const { token } = first;
  await first.client.buckets.create({ name: 'bench', stage: 'in' });
  const cell = 'long '.repeat(LONG_CELL / 5);
  await makeTable(
    first,
    'long',
    `n,text\n${Array.from({ length: LONG_CELLS }, (_, n) => `${n},${cell}${n}\n`).join('')}`,
  );
  await first.stop();
  fill(path.join(folder, 'meta.sqlite'));
  const service = await startService(folder, token);
  try {
    return await withPage(async (opened) => await look(opened, service));
  } finally {
    await service.stop();
  }
}

async function look(opened: Opened, service: Service): Promise<string[][]> {
  const { page } = opened;
  const rows: string[][] = [];
  const time = async (name: string, work: () => Promise<void>): Promise<void> => {
    let shownMs = 0;
    const { longestTaskMs, longestCpuMs, longCpuTasks } = await watch(opened, async () => {
      const started = performance.now();
      await work();
      shownMs = performance.now() - started;
    });
    rows.push([name, ...[shownMs, longestTaskMs, longestCpuMs].map(milliseconds), String(longCpuTasks)]);
  };
  const cell = page.getByRole('gridcell');
  await page.route('**/in.c-bench.broad/data-preview*', async (route) => {
    await route.fulfill({ json: answerOf(new URL(route.request().url()).searchParams) });
  });
  await page.route('**/in.c-bench.broad/profile/latest', async (route) => {
    await route.fulfill({ status: 404, json: { error: 'There is none', code: 'none' } });
  });
  await page.goto(await service.link('/jobs'));
  await page.getByRole('heading', { name: 'Jobs' }).waitFor();

  await time('5,000 tables, listed', async () => {
    await page.goto(`${service.url}/tables`);
    await cell.first().waitFor();
  });
  await time('one of them, searched for', async () => {
    await page.getByLabel('Search tables').fill('many_4999');
    await page.getByText('1 table ·').waitFor();
    await page.getByLabel('Search tables').fill('');
    await page.getByText(/^5,00\d tables/).waitFor();
  });
  await time('their bucket', async () => {
    await page.goto(`${service.url}/tables/in.c-bench`);
    await cell.first().waitFor();
  });
  await time('5,000 columns, opened', async () => {
    await page.goto(`${service.url}/tables/in.c-bench.broad`);
    await page.getByText('0 of column_1', { exact: true }).waitFor();
  });
  await time('the last of them', async () => {
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.getByText(`0 of column_${COLUMNS - 1}`, { exact: true }).waitFor();
  });
  await time('their list', async () => {
    await page.getByRole('tab', { name: /^Columns/ }).click();
    await cell.first().waitFor();
  });
  await time('their choice', async () => {
    await page.getByRole('tab', { name: 'Preview' }).click();
    await page.getByRole('button', { name: 'Columns', exact: true }).click();
    await page.getByRole('checkbox').first().waitFor();
  });
  await time('cells of 1 MB, opened', async () => {
    await page.goto(`${service.url}/tables/in.c-bench.long`);
    await page.getByText('long long').first().waitFor();
  });
  await time('one of them, shown whole', async () => {
    await cell.first().click();
    await page.getByRole('button', { name: 'Show whole' }).click();
    await page.getByText('1 MB', { exact: true }).waitFor();
  });
  return rows;
}

/** The service takes fewer columns than the console: their cells are answered here. */
function answerOf(query: URLSearchParams): object {
  const columns = (query.get('columns') ?? '').split(',');
  const offset = Number(query.get('offset'));
  const rows = Array.from({ length: Number(query.get('limit')) }, (_, row) =>
    columns.map((columnName) => ({
      columnName,
      value: `${offset + row} of ${columnName}`,
      isTruncated: false,
    })),
  );
  return { columns, rows };
}

/** Tables that are in the metadata alone: made one by one they would take minutes. */
function fill(file: string): void {
  const database = new DatabaseSync(file);
  const now = new Date().toISOString();
  const table = (name: string, rows: number): string => `
    insert into tables (branch_id, id, bucket_id, name, display_name, primary_key, is_typed, rows_count, data_bytes, revision, creator_id, creator_description, created, last_import, last_change)
      ${numbers(rows)} select id, 'in.c-bench.' || ${name}, 'in.c-bench', ${name}, ${name}, '[]', 0, 1000, 10000, 1, 1001, 'Master token', '${now}', '${now}', '${now}' from branches, n where is_default = 1;`;
  database.exec(`
    begin;
    ${table(`'many_' || i`, TABLES)}
    ${table(`'broad'`, 1)}
    insert into table_columns (branch_id, table_id, name, position)
      ${numbers(10)} select branch_id, id, 'column_' || i, i from tables, n where name like 'many%';
    insert into table_columns (branch_id, table_id, name, position)
      ${numbers(COLUMNS)} select branch_id, id, 'column_' || (i - 1), i from tables, n where name = 'broad';
    commit;
  `);
  database.close();
}

/** The numbers from 1 on, as rows `n` of a column `i`. */
function numbers(count: number): string {
  return `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`;
}
