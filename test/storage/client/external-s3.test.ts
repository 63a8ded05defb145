import { createServer } from 'node:http';
import { systemEnv } from '../../../src/env.ts';
import { StorageClient } from '../../../src/storage/client/index.ts';
import { answerAssumeRole, ROLE } from '../server/objects/assume-role.ts';
import { startEmbedded } from '../server/objects/support.ts';
import { startService } from '../server/harness.ts';
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

// A store of others: TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY, TEST_S3_SECRET_KEY, TEST_S3_ROLE_ARN, TEST_S3_BUCKET (which must
// be there); TEST_S3_CHECKSUMS=0 and TEST_S3_ENCRYPTION=0 for a store that knows neither.
const { TEST_S3_ENDPOINT: endpoint } = process.env;
if (endpoint !== undefined)
  describeStorageClient('with an object store of others', async () => {
    const running = await startService({
      objects: {
        endpoint,
        region: process.env['TEST_S3_REGION'] ?? 'us-east-1',
        bucket: process.env['TEST_S3_BUCKET'] ?? 'contract',
        credentials: {
          accessKeyId: process.env['TEST_S3_ACCESS_KEY'] ?? '',
          secretAccessKey: process.env['TEST_S3_SECRET_KEY'] ?? '',
        },
        roleArn: process.env['TEST_S3_ROLE_ARN'] ?? ROLE,
        hasChecksums: process.env['TEST_S3_CHECKSUMS'] !== '0',
        hasEncryption: process.env['TEST_S3_ENCRYPTION'] !== '0',
      },
    });
    return {
      client: (options) =>
        new StorageClient({ url: running.addresses.url, token: running.token, env: systemEnv, ...options }),
      close: () => running.stop(),
    };
  });
