import { startService } from '../server/harness.ts';
import { StorageClient } from '../../../src/storage/client/index.ts';
import { describeStorageClient } from './contract.ts';

describeStorageClient('in one process, with a fetch that knows no network', async () => {
  const { service, token, stop } = await startService();
  return {
    client: (options) =>
      new StorageClient({ url: 'http://storage.invalid', token, fetch: service.fetch, ...options }),
    close: stop,
  };
});
