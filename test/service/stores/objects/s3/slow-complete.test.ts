import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { systemEnv } from '../../../../../src/lib/env.ts';
import { silentLog } from '../../../../../src/lib/log.ts';
import {
  createObjectFolder,
  type ObjectFolder,
} from '../../../../../src/service/stores/objects/folder/folder.ts';
import { createKeyRing } from '../../../../../src/service/stores/objects/key-ring.ts';
import { createS3Handler } from '../../../../../src/service/stores/objects/s3/handler.ts';
import { createS3Server } from '../../../../../src/service/stores/objects/s3/server.ts';
import { errorCode, listen, SECRET } from '../support.ts';

test('an upload whose parts take long to join is answered bit by bit, also when it fails in the end', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'objects-slow-'));
  const folder = createObjectFolder(directory, systemEnv);
  await folder.open();
  const slow: ObjectFolder = {
    ...folder,
    async completeUpload(...args) {
      await systemEnv.sleep(60);
      return folder.completeUpload(...args);
    },
  };
  const keys = createKeyRing(SECRET, systemEnv);
  const options = { bucket: 'files', region: 'us-east-1', env: systemEnv, log: silentLog, aliveMs: 10 };
  const server = createS3Server(createS3Handler(slow, keys, options));
  const endpoint = await listen(server);
  const { accessKeyId, secretAccessKey } = keys.service;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials,
    maxAttempts: 1,
  });
  const target = { Bucket: 'files', Key: 'slow' };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
  const part = await client.send(new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: 'part' }));
  const complete = (ETag: string | undefined) =>
    client.send(
      new CompleteMultipartUploadCommand({
        ...target,
        UploadId,
        MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] },
      }),
    );
  expect(await errorCode(complete('"other"'))).toBe('InvalidPart');
  expect(await complete(part.ETag)).toMatchObject({ Key: 'slow', Bucket: 'files' });
  expect(await folder.head('slow')).toMatchObject({ bytes: 4 });
  client.destroy();
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true });
});
