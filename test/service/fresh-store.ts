import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { ExternalStoreOptions } from '../../src/service/stores/objects/external-store.ts';
import { answerAssumeRole, ROLE } from './stores/objects/assume-role.ts';
import { storeOfOthers } from './stores/objects/of-others.ts';
import { listen, startEmbedded } from './stores/objects/support.ts';

/** For the names of tests: `npm run test:s3` runs those that have it in their name. */
export const OVER =
  process.env['TEST_S3_ENDPOINT'] === undefined ? 'our own S3 endpoint' : 'a store of others';

/** An empty bucket of the store that the tests were given, or of our own endpoint. */
export interface FreshStore {
  readonly options: Omit<ExternalStoreOptions, 'env'>;
  /** The same as options of the command, each beginning with `--s3`, or with `--to-s3` and the like. */
  readonly named: (end?: 'from' | 'to') => string[];
  /** Variables of the command. */
  readonly keys: Readonly<Record<string, string>>;
  readonly list: (prefix?: string) => Promise<string[]>;
  readonly read: (key: string) => Promise<string>;
  readonly put: (key: string, text: string) => Promise<void>;
  readonly remove: (key: string) => Promise<void>;
  close(): Promise<void>;
}

export async function freshStore(): Promise<FreshStore> {
  const bucket = `fresh-${randomBytes(6).toString('hex')}`;
  const others = storeOfOthers(bucket);
  const own = others === undefined ? await openOwn(bucket) : undefined;
  await others?.ready();
  const options = others?.options ?? own?.options;
  if (options === undefined) throw new Error('There is one of both.');
  const { endpoint, region, credentials, roleArn = ROLE, stsEndpoint } = options;
  const owner = new S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    region,
    credentials,
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  return {
    options,
    named: (end) => [
      ...(end === undefined
        ? [`--s3-role-arn=${roleArn}`, ...(stsEndpoint === undefined ? [] : [`--s3-sts=${stsEndpoint}`])]
        : []),
      ...[
        `s3=${endpoint}`,
        `s3-bucket=${bucket}`,
        ...(options.hasEncryption === false ? ['s3-no-encryption'] : []),
        ...(options.hasChecksums === false ? ['s3-no-checksums'] : []),
      ].map((option) => (end === undefined ? `--${option}` : `--${end}-${option}`)),
    ],
    keys: { GEX_S3_ACCESS_KEY: credentials.accessKeyId, GEX_S3_SECRET_KEY: credentials.secretAccessKey },
    async list(prefix = '') {
      const { Contents = [] } = await owner.send(
        new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }),
      );
      return Contents.flatMap(({ Key }) => Key ?? []);
    },
    async read(Key) {
      const { Body } = await owner.send(new GetObjectCommand({ Bucket: bucket, Key }));
      return (await Body?.transformToString()) ?? '';
    },
    put: async (Key, Body) => void (await owner.send(new PutObjectCommand({ Bucket: bucket, Key, Body }))),
    remove: async (Key) => void (await owner.send(new DeleteObjectCommand({ Bucket: bucket, Key }))),
    async close() {
      owner.destroy();
      await own?.close();
    },
  };
}

async function openOwn(bucket: string): Promise<Pick<FreshStore, 'close' | 'options'>> {
  const embedded = await startEmbedded({ bucket });
  const sts = createServer((request, response) => {
    void answerAssumeRole(embedded.store, request).then(
      (xml) => response.end(xml),
      () => response.writeHead(400).end(),
    );
  });
  const { accessKeyId, secretAccessKey } = embedded.store.keys.service;
  return {
    options: {
      endpoint: embedded.endpoint,
      stsEndpoint: await listen(sts),
      region: 'us-east-1',
      bucket,
      credentials: { accessKeyId, secretAccessKey },
      roleArn: ROLE,
    },
    async close() {
      sts.closeAllConnections();
      sts.close();
      await embedded.close();
    },
  };
}
