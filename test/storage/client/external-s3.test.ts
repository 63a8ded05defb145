// @module-tag thorough
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { systemEnv } from '../../../src/lib/env.ts';
import { StorageClient } from '../../../src/storage/client/index.ts';
import { answerAssumeRole, ROLE } from '../../service/stores/objects/assume-role.ts';
import { storeOfOthers } from '../../service/stores/objects/of-others.ts';
import { startEmbedded } from '../../service/stores/objects/support.ts';
import { startService } from '../../service/harness.ts';
import { describeStorageClient } from './contract.ts';
import { listening } from './support.ts';

describeStorageClient('with an S3 endpoint outside of the service', async () => {
  const embedded = await startEmbedded();
  const sts = createServer((request, response) => {
    void answerAssumeRole(embedded.store, request).then((xml) => response.end(xml));
  });
  const { accessKeyId, secretAccessKey } = embedded.store.keys.service;
  const running = await startService({
    objects: {
      endpoint: embedded.endpoint,
      stsEndpoint: await listening(sts),
      region: 'us-east-1',
      bucket: embedded.store.bucket,
      credentials: { accessKeyId, secretAccessKey },
      roleArn: ROLE,
    },
  });
  return {
    hasEncryption: true,
    client: (options) =>
      new StorageClient({
        url: running.addresses.url,
        token: running.token,
        ...options,
        s3: { endpoint: embedded.endpoint, ...options?.s3 },
      }),
    async close() {
      await running.stop();
      sts.closeAllConnections();
      sts.close();
      await embedded.close();
    },
  };
});

const others = storeOfOthers();
if (others !== undefined)
  describeStorageClient('with an object store of others', async () => {
    await others.ready();
    const running = await startService({ objects: { ...others.options, prefix: `${randomUUID()}/` } });
    return {
      hasEncryption: others.hasEncryption,
      client: (options) =>
        new StorageClient({ url: running.addresses.url, token: running.token, env: systemEnv, ...options }),
      close: () => running.stop(),
    };
  });
