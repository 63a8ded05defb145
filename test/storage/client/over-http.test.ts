// @module-tag thorough
import { startService } from '../../service/harness.ts';
import { StorageClient } from '../../../src/storage/client/index.ts';
import { describeStorageClient } from './contract.ts';

describeStorageClient('over HTTP, against the embedded service', async () => {
  const running = await startService();
  return {
    hasEncryption: true,
    client: (options) => new StorageClient({ url: running.addresses.url, token: running.token, ...options }),
    close: () => running.stop(),
  };
});
