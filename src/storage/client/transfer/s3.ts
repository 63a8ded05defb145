import type { S3Client } from '@aws-sdk/client-s3';
import { StorageError } from '../../../lib/errors.ts';
import type { File, TemporaryCredentials } from '../../protocol/index.ts';
import type { Environment } from '../../../engine/http/tunnel/proxy.ts';
import type { Network } from '../network.ts';
import type { S3Options } from '../client-options.ts';

/** Location of an object of the service, and the credentials for it. */
export interface S3Place {
  readonly bucket: string;
  readonly key: string;
  /** Undefined where the service gives none. */
  readonly region: string | undefined;
  /** A signed address of the file. */
  readonly url: string;
  readonly credentials: TemporaryCredentials;
}

/** A file that is elsewhere than in an S3-compatible store, or whose service gives no credentials. */
export function noPlace(
  { name, provider }: Pick<File, 'name' | 'provider'>,
  work: 'read' | 'write',
): StorageError {
  const given: string = provider ?? 'aws'; // only this one has been seen by the type
  const why = given === 'aws' ? 'gives no credentials for it' : `keeps it with “${given}”`;
  return new StorageError(
    'storage.unexpected',
    `“${name}” cannot be ${work === 'read' ? 'read' : 'written'}: the service ${why}.`,
    {
      hint:
        'This client reads and writes S3-compatible object stores.' +
        (work === 'write' ? ' The importer needs none: uploadByImporter.' : ''),
    },
  );
}

export interface S3 {
  /** True when the store has answered at least once. */
  isReached: boolean;
  /** A client for that place. The SDK is loaded by the first call. */
  open(place: S3Place): Promise<S3Client>;
}

/** Good for every store but those of Amazon, whose services name it. */
const REGION = 'us-east-1';
/** At once, for what is over in a moment; what lasts longer is waited for by the transfers. */
const ATTEMPTS = 3;

export function createS3(options: S3Options, network: Network, environment: Environment): S3 {
  const given = options.endpoint ?? environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL'];
  return {
    isReached: false,
    async open({ bucket, region, url, credentials }) {
      const { S3Client: Client } = await import('@aws-sdk/client-s3');
      return new Client({
        ...s3AddressOf(url, bucket, given),
        region: region ?? REGION,
        credentials: {
          accessKeyId: credentials.AccessKeyId,
          secretAccessKey: credentials.SecretAccessKey,
          sessionToken: credentials.SessionToken,
        },
        maxAttempts: ATTEMPTS,
        // Older stores know no checksums; the signature covers the bytes of a part all the same.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        expectContinueHeader: false,
        requestHandler: network.objects,
      });
    },
  };
}

/** Address of the object store, and how its buckets are named in addresses. */
interface S3Address {
  /** Undefined: the store's own of the region. */
  readonly endpoint?: string;
  readonly forcePathStyle: boolean;
}

/**
 * Derives the address of the object store from a signed one, because the service gives bucket, key and region, but no
 * endpoint.
 *
 * | signed address | endpoint |
 * |---|---|
 * | `http://127.0.0.1:9000/files/exp-15/…` | `http://127.0.0.1:9000`, bucket in the path |
 * | `https://files.store.example.com/exp-15/…` | `https://store.example.com`, bucket in the host |
 * | `https://files.s3.us-east-1.amazonaws.com/…` | that of the region |
 *
 * @param given address by the user or the environment; it wins
 */
export function s3AddressOf(url: string, bucket: string, given: string | undefined): S3Address {
  if (given !== undefined && given !== '') return { endpoint: given, forcePathStyle: true };
  if (!URL.canParse(url)) return { forcePathStyle: false };
  const { protocol, host, hostname, origin, pathname } = new URL(url);
  if (/\.amazonaws\.com(?:\.cn)?$/.test(hostname)) return { forcePathStyle: bucket.includes('.') };
  if (host.startsWith(`${bucket}.`))
    return { endpoint: `${protocol}//${host.slice(bucket.length + 1)}`, forcePathStyle: false };
  const at = pathname.indexOf(`/${encodeURIComponent(bucket)}/`);
  return { endpoint: origin + (at > 0 ? pathname.slice(0, at) : ''), forcePathStyle: true };
}
