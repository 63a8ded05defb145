import { expect, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { startService } from '../../service/harness.ts';
import { StorageClient } from '../../../src/storage/client/index.ts';
import { describeStorageClient } from './contract.ts';

describeStorageClient('in one process, with a fetch that knows no network', async () => {
  const running = await startService();
  return {
    hasEncryption: true,
    client: (options) =>
      new StorageClient({
        url: 'http://storage.invalid',
        token: running.token,
        fetch: running.service.fetch,
        ...options,
      }),
    close: () => running.stop(),
  };
});

test('a request of the same process is told with the status that it got', async () => {
  const told: unknown[] = [];
  const running = await startService({
    log: { ...silentLog, debug: (message, fields) => void told.push({ message, ...fields }) },
  });
  const headers = { 'x-storageapi-token': running.token };
  for (const path of ['buckets', 'buckets/in.c-none'])
    await running.service.fetch(`http://storage.invalid/v2/storage/${path}`, { headers });
  await running.stop();
  const answered = told.filter((line) => JSON.stringify(line).includes('A request was answered'));
  expect(answered).toMatchObject([{ status: 200 }, { status: 404 }]);
});
