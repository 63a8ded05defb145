import { startService } from '../server/harness.ts';
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
