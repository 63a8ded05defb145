import { CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { ExternalStoreOptions } from '../../../../src/service/stores/objects/external-store.ts';
import { ROLE } from './assume-role.ts';

export interface StoreOfOthers {
  readonly options: Omit<ExternalStoreOptions, 'env'>;
  readonly hasEncryption: boolean;
  /** Keys are paths in it: none has a piece without a name, or `.` or `..`; nor is one an object and a folder (MinIO). */
  readonly hasPaths: boolean;
  /** For clients of it. */
  readonly config: S3ClientConfig;
  /** Makes the bucket when it is missing. */
  ready(): Promise<void>;
}

/**
 * A real store of others: TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY, TEST_S3_SECRET_KEY, TEST_S3_ROLE_ARN; TEST_S3_CHECKSUMS=0
 * and TEST_S3_ENCRYPTION=0 for a store that knows neither (Ceph 16), TEST_S3_PATHS=1 for one whose keys are paths (MinIO). Undefined when none is named.
 */
export function storeOfOthers(named?: string): StoreOfOthers | undefined {
  const { env } = process;
  const endpoint = env['TEST_S3_ENDPOINT'];
  if (endpoint === undefined) return undefined;
  const { TEST_S3_BUCKET = 'contract', TEST_S3_REGION: region = 'us-east-1' } = env;
  const bucket = named ?? TEST_S3_BUCKET;
  const credentials = {
    accessKeyId: env['TEST_S3_ACCESS_KEY'] ?? '',
    secretAccessKey: env['TEST_S3_SECRET_KEY'] ?? '',
  };
  const hasChecksums = env['TEST_S3_CHECKSUMS'] !== '0';
  const hasEncryption = env['TEST_S3_ENCRYPTION'] !== '0';
  const roleArn = env['TEST_S3_ROLE_ARN'] ?? ROLE;
  const config: S3ClientConfig = {
    endpoint,
    region,
    forcePathStyle: true,
    ...(hasChecksums ? {} : { requestChecksumCalculation: 'WHEN_REQUIRED' }),
  };
  return {
    options: { endpoint, region, bucket, credentials, roleArn, hasChecksums, hasEncryption },
    hasEncryption,
    hasPaths: env['TEST_S3_PATHS'] === '1',
    config,
    async ready() {
      const owner = new S3Client({ ...config, credentials });
      await owner.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
        if (!(error instanceof Error) || !error.name.startsWith('BucketAlready')) throw error;
      });
      owner.destroy();
    },
  };
}
