// @module-tag thorough
import { expect, onTestFinished, test } from 'vitest';
import { StorageClient } from '../../src/storage/client/index.ts';
import { metaOf } from '../service/database.ts';
import { startService } from '../service/harness.ts';
import { startGex, type Running } from './support.ts';

test('a job that waits is cancelled, and one that was given up is given again, by command and client', async () => {
  // A service that takes no job: all of them wait.
  const service = await startService({ concurrency: 0 });
  onTestFinished(async () => await service.stop());
  const { url } = service.addresses;
  const client = new StorageClient({ url, token: service.token });
  const jobs = (...args: readonly string[]): Running['ended'] =>
    startGex(['storage', 'jobs', ...args, '--storage', url], {
      env: { ...process.env, KBC_TOKEN: service.token },
    }).ended;
  await client.buckets.create({ name: 'main', stage: 'in' });
  const waiting = async (): Promise<number> =>
    ((await service.call('DELETE', 'buckets/in.c-main?async=1')).body as { id: number }).id;

  const [first, second] = [await waiting(), await waiting()];
  expect(await client.jobs.cancel(first)).toMatchObject({
    id: first,
    status: 'error',
    error: { code: 'storage.jobs.cancelled' },
  });
  await expect(client.jobs.cancel(first)).rejects.toMatchObject({
    code: 'storage.refused',
    details: { serviceCode: 'storage.jobs.ended' },
  });
  await expect(client.jobs.retry(first)).rejects.toMatchObject({
    details: { serviceCode: 'storage.jobs.notGivenUp' },
  });
  const cancelled = await jobs('cancel', String(second));
  expect(cancelled).toMatchObject({ code: 0, stderr: '' });
  expect(cancelled.stdout).toMatch(/^status +error$/m);
  expect((await jobs('list', '--status', 'waiting')).stdout).toBe('There are no such jobs.\n');
  const refused = await jobs('retry', String(second));
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('was not given up');

  const meta = await metaOf(service.dir);
  const end = { is_given_up: 1, error: '{"code":"x","message":"y","exceptionId":"z"}' } as const;
  await meta.updateTable('jobs').set(end).where('id', 'in', [first, second]).execute();
  await meta.destroy();
  expect(await client.jobs.retry(first)).toMatchObject({ id: first, status: 'waiting' });
  const again = await jobs('retry', String(second), '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ id: second, status: 'waiting' });
  client.close();
});
