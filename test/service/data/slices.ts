import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { gunzipSync } from 'node:zlib';

interface SlicedFile {
  /** Signed address of the manifest. */
  readonly url: string;
  readonly region: string;
  readonly s3Path: { readonly bucket: string };
  readonly credentials: {
    readonly AccessKeyId: string;
    readonly SecretAccessKey: string;
    readonly SessionToken: string;
  };
}

/** All slices of a file one after another. */
export async function joinSlices(file: SlicedFile): Promise<string> {
  return Buffer.concat(await readSlices(file)).toString('utf8');
}

/** The slices of a file, read with the credentials that came with it. */
export async function readSlices(file: SlicedFile): Promise<readonly Buffer[]> {
  const { AccessKeyId, SecretAccessKey, SessionToken } = file.credentials;
  const s3 = new S3Client({
    endpoint: new URL(file.url).origin,
    region: file.region,
    forcePathStyle: true,
    credentials: { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken: SessionToken },
  });
  const manifest = (await (await fetch(file.url)).json()) as { entries: { url: string }[] };
  const parts: Buffer[] = [];
  for (const { url } of manifest.entries) {
    const Key = url.slice(`s3://${file.s3Path.bucket}/`.length);
    const found = await s3.send(new GetObjectCommand({ Bucket: file.s3Path.bucket, Key }));
    const bytes = Buffer.from((await found.Body?.transformToByteArray()) ?? []);
    parts.push(Key.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  }
  s3.destroy();
  return parts;
}
