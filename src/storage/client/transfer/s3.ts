import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { S3Client } from '@aws-sdk/client-s3';
import type { TemporaryCredentials } from '../../protocol/index.ts';
import type { S3Options } from '../options.ts';
import { s3AddressOf } from './s3-address.ts';

/** Where an object of the service is, and what opens it. */
export interface S3Place {
  readonly bucket: string;
  readonly key: string;
  readonly region: string;
  /** A signed address of the file. */
  readonly url: string;
  readonly credentials: TemporaryCredentials;
}

export interface S3 {
  /** A client for that place. The SDK is loaded by the first call. */
  open(place: S3Place): Promise<S3Client>;
  /** Closes the connections that are kept open. */
  close(): void;
}

const CONNECT_MS = 10_000;
const SILENT_MS = 60_000;
const ATTEMPTS = 5;

export function createS3(options: S3Options): S3 {
  const httpAgent = new HttpAgent({ keepAlive: true, maxSockets: 50 });
  const httpsAgent = new HttpsAgent({ keepAlive: true, maxSockets: 50 });
  const given =
    options.endpoint ?? process.env['AWS_ENDPOINT_URL_S3'] ?? process.env['AWS_ENDPOINT_URL'] ?? undefined;
  return {
    async open({ bucket, region, url, credentials }) {
      const { S3Client: Client } = await import('@aws-sdk/client-s3');
      return new Client({
        ...s3AddressOf(url, bucket, given),
        region,
        credentials: {
          accessKeyId: credentials.AccessKeyId,
          secretAccessKey: credentials.SecretAccessKey,
          sessionToken: credentials.SessionToken,
        },
        maxAttempts: ATTEMPTS,
        // Older stores know no checksums; the signature covers the bytes of a part all the same.
        requestChecksumCalculation: 'WHEN_REQUIRED',
        responseChecksumValidation: 'WHEN_REQUIRED',
        requestHandler: {
          httpAgent,
          httpsAgent,
          connectionTimeout: CONNECT_MS,
          socketTimeout: options.silentMs ?? SILENT_MS,
        },
      });
    },
    close() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}
