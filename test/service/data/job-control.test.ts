import { afterEach, beforeEach, expect, test } from 'vitest';
import { metaOf } from '../database.ts';
import { startService, type Running } from '../harness.ts';
import { clientOf, type JobBody } from './client.ts';

let api: Running;
let client: ReturnType<typeof clientOf>;

beforeEach(async () => {
  // A service that takes no job: all of them wait.
  api = await startService({ concurrency: 0 });
  client = clientOf(api);
});
afterEach(async () => await api.stop());

async function waitingJob(): Promise<JobBody> {
  await client.call('POST', 'buckets', { name: 'main', stage: 'in' });
  const { body } = await client.call<JobBody>('DELETE', 'buckets/in.c-main?async=1');
  expect(body.status).toBe('waiting');
  return body;
}

test('a job that waits is cancelled: it ends with an error that says so', async () => {
  const job = await waitingJob();
  const cancelled = await client.call<JobBody>('POST', `jobs/${job.id}/cancel`);
  expect(cancelled).toMatchObject({
    status: 202,
    body: { id: job.id, status: 'error', error: { code: 'storage.jobs.cancelled' } },
  });
  expect((await client.call('GET', 'buckets/in.c-main')).status).toBe(200);
  expect(await client.call('POST', `jobs/${job.id}/cancel`)).toMatchObject({
    status: 400,
    body: { code: 'storage.jobs.ended' },
  });
  expect(await client.call('POST', `jobs/${job.id}/retry`)).toMatchObject({
    status: 400,
    body: { code: 'storage.jobs.notGivenUp' },
  });
});

test('a job that was given up is given again', async () => {
  const job = await waitingJob();
  const meta = await metaOf(api.dir);
  const end = {
    status: 'error',
    is_given_up: 1,
    error: '{"code":"x","message":"y","exceptionId":"z"}',
  } as const;
  await meta.updateTable('jobs').set(end).where('id', '=', job.id).execute();
  await meta.destroy();
  const again = await client.call<JobBody>('POST', `jobs/${job.id}/retry`);
  expect(again).toMatchObject({ status: 202, body: { id: job.id, status: 'waiting' } });
  expect(again.body.error).toBeUndefined();
});

test('a job is for its own token and for the master token', async () => {
  const job = await waitingJob();
  const rights = { description: 'limited', bucketPermissions: { 'in.c-main': 'write' } };
  const { body } = await client.call<{ token: string }>('POST', 'tokens', rights);
  const headers = { 'X-StorageApi-Token': body.token };
  for (const verb of ['cancel', 'retry'])
    expect((await api.call('POST', `jobs/${job.id}/${verb}`, undefined, headers)).status).toBe(403);
  for (const id of ['1', 'x', '999999999'])
    expect((await api.call('POST', `jobs/${id}/cancel`)).status).toBe(404);
});
