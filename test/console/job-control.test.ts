import { describe, expect, test } from 'vitest';
import { bytesBody } from '../../src/storage/client/index.ts';
import { metaOf } from '../service/database.ts';
import { axe, CHROMIUM, screenshots, useConsole } from './harness.ts';

describe.skipIf(CHROMIUM === undefined)('a job of a service that has no hand free', () => {
  // It takes no job: all of them wait.
  const own = useConsole({ concurrency: 0 });

  async function waiting(): Promise<number> {
    const bucket = await own.client.buckets.create({ name: `of-${crypto.randomUUID()}`, stage: 'in' });
    const { id } = await own.client.files.upload(bytesBody('id\n1\n'), { name: 'ids.csv' });
    const job = await own.client.tables.startCreate(bucket.id, { name: 'ids', dataFileId: id });
    return job.id;
  }

  test('waits, is left alone when one thinks better of it, and is cancelled', async () => {
    const id = await waiting();
    const { page } = await own.open(`/jobs/${id}`);
    await page.getByText('waiting', { exact: true }).waitFor();
    const button = page.getByRole('button', { name: 'Cancel the job' });
    await button.click();
    expect(await axe(page)).toEqual([]);
    await screenshots(page, 'job-cancel');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
    expect((await own.client.jobs.detail(id)).status).toBe('waiting');
    await button.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByRole('alert').getByText('storage.jobs.cancelled').waitFor();
    await expect.poll(async () => await button.count()).toBe(0);
    expect((await own.client.jobs.detail(id)).status).toBe('error');
  });

  test('that was given up is given again', async () => {
    const id = await waiting();
    const meta = await metaOf(own.dir);
    const error = JSON.stringify({
      code: 'storage.diskFull',
      message: 'The disk is full.',
      exceptionId: 'z',
    });
    await meta
      .updateTable('jobs')
      .set({ status: 'error', is_given_up: 1, error })
      .where('id', '=', id)
      .execute();
    await meta.destroy();
    const { page } = await own.open(`/jobs/${id}`);
    await page.getByRole('alert').getByText('The disk is full').waitFor();
    await page.getByRole('button', { name: 'Give it again' }).click();
    await page.getByText('The job was given again').waitFor();
    await page.getByText('waiting', { exact: true }).waitFor();
    await expect.poll(async () => await page.getByRole('button', { name: 'Give it again' }).count()).toBe(0);
    expect((await own.client.jobs.detail(id)).status).toBe('waiting');
  });

  test('says so when it cannot be cancelled any more', async () => {
    const id = await waiting();
    const { page } = await own.open(`/jobs/${id}`, { expects: [/400/] });
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await own.client.jobs.cancel(id);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.getByText('storage.jobs.cancelled').waitFor();
  });
});
