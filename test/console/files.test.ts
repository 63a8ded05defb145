import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/storage/client/index.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('files', () => {
  const own = useConsole();

  test('are uploaded, tagged, found, downloaded and deleted', async () => {
    const { page } = await own.open('/files');
    await page.getByText('There are no files').waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'files-empty');
    const from = path.join(own.dir, 'Zürich "1".csv');
    await writeFile(from, 'id,name\n1,Ann\n');
    await page.locator('input[type=file]').setInputFiles(from);
    await page.getByRole('link', { name: 'Zürich "1".csv' }).click();
    await page.getByRole('heading', { name: 'Zürich "1".csv' }).waitFor();

    for (const tag of ['daily', 'a/b <b>']) {
      await page.getByLabel('New tag').fill(tag);
      await page.getByRole('button', { name: 'Add the tag' }).click();
      await page.getByRole('button', { name: `Take away the tag ${tag}` }).waitFor();
    }
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'file');
    await page.getByRole('button', { name: 'Take away the tag a/b <b>' }).click();
    await page.getByRole('button', { name: 'Take away the tag a/b <b>' }).waitFor({ state: 'detached' });

    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^Zürich .1.\.csv$/);
    expect(await readFile(await file.path(), 'utf8')).toBe('id,name\n1,Ann\n');

    await page.goto(`${own.url}/files`);
    await page.getByLabel('Search by name or tag').fill('tags:daily');
    await page.getByRole('link', { name: 'Zürich "1".csv' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the file' }).click();
    await page.getByText('There are no files').waitFor();
    expect(await own.client.files.list()).toEqual([]);
  });

  test('in slices are downloaded joined', async () => {
    const { client } = own;
    await client.buckets.create({ name: 'main', stage: 'in' });
    const { id } = await client.files.upload(bytesBody('id\n1\n2\n'), { name: 'ids.csv' });
    await client.tables.create('in.c-main', { name: 'ids', dataFileId: id });
    const { fileId } = await client.tables.export('in.c-main.ids');
    const { page } = await own.open(`/files/${fileId}`);
    await page.getByText('in slices').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download, slices joined' }).click();
    const bytes = await readFile(await (await download).path());
    expect(gunzipSync(bytes).toString('utf8').split('\n').toSorted().filter(Boolean)).toEqual(['"1"', '"2"']);
  });

  test('with hostile names are texts, and a search that cannot be read is said so', async () => {
    const name = '<script>alert(1)</script>\u202egpj.exe\n"; filename=x';
    await own.client.files.upload(bytesBody('x'), { name, tags: ['<i>\u202e'.repeat(50)] });
    const { page } = await own.open('/files', { expects: [/400/] });
    await page.getByRole('link', { name: /^<script>alert\(1\)<\/script>\\u202egpj\.exe\\n/ }).waitFor();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'files');
    await page.getByLabel('Search by name or tag').fill('tags:(a AND');
    await page.getByRole('alert').getByText('Failed to parse the query').waitFor();
    await page.getByLabel('Search by name or tag').fill('zzz');
    await page.getByText('No file is like that').waitFor();
    await page.getByRole('button', { name: 'Show all files' }).click();
    await page.getByRole('link', { name: /^<script>/ }).click();
    await page.getByRole('button', { name: 'Delete' }).waitFor();
    expect(await page.title()).not.toContain('\u202e');
  });

  test('of others are refused to a limited token in words', async () => {
    const [file] = await own.client.files.list({ limit: 1 });
    const limited = await own.client.tokens.create({ description: 'reader', bucketPermissions: {} });
    const { page } = await own.open('/files', { token: limited.token ?? '', expects: [/403/] });
    await page.getByText('Your token sees its own files only').waitFor();
    await page.goto(`${own.url}/files/${file?.id}`);
    await page.getByRole('heading', { name: 'Your token may not see this' }).waitFor();
  });

  test('fit a narrow page', async () => {
    const { page } = await own.open('/files', { width: 360, theme: 'dark' });
    await page.getByRole('grid', { name: 'Files' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await axe(page)).toEqual([]);
  });
});
