import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { ExternalStoreOptions } from '../../src/service/stores/objects/external-store.ts';

/** Makes a bucket in an object store; the keys of the store are GEX_S3_ACCESS_KEY and GEX_S3_SECRET_KEY. */
export async function makeBucket(
  endpoint: string,
  bucket: string,
): Promise<Pick<ExternalStoreOptions, 'bucket' | 'credentials' | 'endpoint' | 'region'>> {
  const { GEX_S3_ACCESS_KEY = '', GEX_S3_SECRET_KEY = '' } = process.env;
  const credentials = { accessKeyId: GEX_S3_ACCESS_KEY, secretAccessKey: GEX_S3_SECRET_KEY };
  const region = 'us-east-1';
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return { bucket, credentials, endpoint, region };
}
