import { startService } from '../server/harness.ts';
import { StorageClient } from '../../../src/storage/client/index.ts';
import { describeStorageClient } from './contract.ts';

describeStorageClient('over HTTP, against the embedded service', async () => {
  const { addresses, token, stop } = await startService();
  return {
    client: (options) => new StorageClient({ url: addresses.url, token, ...options }),
    close: stop,
  };
});
