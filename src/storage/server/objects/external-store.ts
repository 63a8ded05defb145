import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { AssumeRoleCommandOutput } from '@aws-sdk/client-sts';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { Env } from '../../../env.ts';
import { ObjectError, toObjectError } from './errors.ts';
import { checkKey } from './keys.ts';
import { isRefusal, knownCode, roleError, typed, typedBody } from './sdk-errors.ts';
import { sessionPolicy } from './session-policy.ts';
import { expirationText, type ObjectStore } from './store.ts';

export interface ExternalStoreOptions {
  /** Base address of the store as this service reaches it; the one of AWS when left out. */
  readonly endpoint?: string | undefined;
  /** Base address as clients reach it, for signed addresses; `endpoint` when left out. */
  readonly publicEndpoint?: string | undefined;
  /** Base address of its STS; `endpoint` when left out. */
  readonly stsEndpoint?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Keys of the service, which may do everything in the bucket and assume the role. */
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** The role that temporary credentials are made of; a session policy limits it to the file. Without it none are. */
  readonly roleArn?: string;
  /** `/bucket/key` instead of `bucket.host/key`; true when there is an `endpoint`. */
  readonly isPathStyle?: boolean | undefined;
  /** False for stores that refuse `x-amz-server-side-encryption: AES256` (Ceph before 17.2). True unless told. */
  readonly hasEncryption?: boolean | undefined;
  /** False for stores that don't know the newer checksums (Ceph 16). True unless told. */
  readonly hasChecksums?: boolean | undefined;
  /** How long a store may be silent within a request. Default 60 seconds, 15 for its STS; each is tried three times. */
  readonly idleMs?: number | undefined;
  readonly env: Env;
}

export interface ExternalStore extends ObjectStore {
  close(): void;
}

/**
 * Any S3 endpoint. Temporary credentials come from AssumeRole with a session policy: the one call that AWS and Ceph
 * both enforce. The SDK is loaded here and nowhere else, when the first store is made.
 */
export async function createExternalStore(options: ExternalStoreOptions): Promise<ExternalStore> {
  const { bucket, region, env, credentials, endpoint, hasEncryption = true, hasChecksums = true } = options;
  const [s3, sts, presigner, lib] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/client-sts'),
    import('@aws-sdk/s3-request-presigner'),
    import('@aws-sdk/lib-storage'),
  ]);
  const config: S3ClientConfig = {
    region,
    credentials,
    forcePathStyle: options.isPathStyle ?? endpoint !== undefined,
    ...(hasChecksums
      ? {}
      : { requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' }),
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: options.idleMs ?? IDLE_MS },
  };
  const client = new s3.S3Client({ ...config, ...at(endpoint) });
  const publicClient = new s3.S3Client({ ...config, ...at(options.publicEndpoint ?? endpoint) });
  const stsClient = new sts.STSClient({
    region,
    credentials,
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: options.idleMs ?? STS_IDLE_MS },
    ...at(options.stsEndpoint ?? endpoint),
  });
  const encryption = (isWanted: boolean) =>
    isWanted && hasEncryption ? ({ ServerSideEncryption: 'AES256' } as const) : {};

  const deleteSome = async (keys: readonly string[]): Promise<void> => {
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const { Errors = [] } = await typed(client.send(new s3.DeleteObjectsCommand({ Bucket: bucket, Delete })));
    const [first] = Errors;
    if (first !== undefined)
      throw new ObjectError(
        knownCode(first.Code),
        `An object could not be deleted: ${first.Message ?? first.Code}`,
      );
  };

  const dropUpload = async (Key: string | undefined, UploadId: string | undefined): Promise<void> => {
    try {
      await client.send(new s3.AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
    } catch (error) {
      // Its sender has just completed it, or another process has dropped it.
      if (!(error instanceof s3.NoSuchUpload)) throw error;
    }
  };

  // A role allows an hour unless it was told to allow more, and only a refusal says so: AWS and Ceph name it differently.
  let maxSeconds = MAX_SESSION_SECONDS;
  const assume = async (seconds: number, Policy: string): Promise<AssumeRoleCommandOutput> => {
    const DurationSeconds = Math.min(Math.max(seconds, MIN_SESSION_SECONDS), maxSeconds);
    const RoleSessionName = `file-${Buffer.from(env.randomBytes(6)).toString('hex')}`;
    const command = { RoleArn: options.roleArn, RoleSessionName, Policy };
    try {
      return await stsClient.send(new sts.AssumeRoleCommand({ ...command, DurationSeconds }));
    } catch (error) {
      if (DurationSeconds <= USUAL_SESSION_SECONDS || !isRefusal(error)) throw error;
      const answer = await stsClient.send(
        new sts.AssumeRoleCommand({ ...command, DurationSeconds: USUAL_SESSION_SECONDS }),
      );
      maxSeconds = USUAL_SESSION_SECONDS;
      return answer;
    }
  };

  const store: ExternalStore = {
    bucket,
    region,
    endpoint: options.publicEndpoint ?? endpoint,
    hasEncryption,
    async grant(scope) {
      const seconds = Math.round((scope.expiresAt.getTime() - env.now()) / 1000);
      const requiresEncryption = scope.requiresEncryption && hasEncryption;
      const policy = sessionPolicy(bucket, { ...scope, requiresEncryption });
      const answer = await typed(
        assume(seconds, policy).catch((error: unknown) => {
          throw roleError(error, options.roleArn) ?? error;
        }),
      );
      const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = answer.Credentials ?? {};
      if (AccessKeyId === undefined || SecretAccessKey === undefined || SessionToken === undefined)
        throw new ObjectError('InternalError', 'The STS of the object store answered without credentials.');
      return {
        AccessKeyId,
        SecretAccessKey,
        SessionToken,
        Expiration: expirationText(Expiration ?? scope.expiresAt),
      };
    },
    presign: (key, { expiresInSeconds }) =>
      typed(
        presigner.getSignedUrl(
          publicClient,
          new s3.GetObjectCommand({ Bucket: bucket, Key: checkKey(key) }),
          {
            expiresIn: expiresInSeconds,
            signingDate: new Date(env.now()),
          },
        ),
      ),
    async head(key) {
      const command = new s3.HeadObjectCommand({ Bucket: bucket, Key: checkKey(key) });
      const found = await typed(client.send(command)).catch((error: unknown) => {
        if (error instanceof ObjectError && error.code === 'NoSuchKey') return undefined;
        throw error;
      });
      if (found === undefined) return undefined;
      return {
        bytes: found.ContentLength ?? 0,
        etag: bare(found.ETag),
        attributes: {
          contentType: found.ContentType,
          disposition: found.ContentDisposition,
          contentEncoding: found.ContentEncoding,
          contentLanguage: found.ContentLanguage,
          cacheControl: found.CacheControl,
          userMetadata: found.Metadata ?? {},
          encrypted: found.ServerSideEncryption !== undefined,
        },
      };
    },
    async read(key, range) {
      const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
      const { Body } = await typed(
        client.send(new s3.GetObjectCommand({ Bucket: bucket, Key: checkKey(key), ...Range })),
      );
      if (Body instanceof Readable) return typedBody(Body);
      throw new ObjectError('InternalError', 'The object store answered without a body.');
    },
    async write(key, body, options) {
      const params = {
        Bucket: bucket,
        Key: checkKey(key),
        Body: body,
        ContentType: options.contentType,
        ContentDisposition: options.disposition,
        ContentEncoding: options.contentEncoding,
        ContentLanguage: options.contentLanguage,
        CacheControl: options.cacheControl,
        Metadata: options.userMetadata,
        ...encryption(options.encrypted),
      };
      if (body instanceof Readable) {
        let bytes = 0;
        const counted = body.map((chunk: Uint8Array) => ((bytes += chunk.length), chunk));
        const upload = new lib.Upload({ client, params: { ...params, Body: counted } });
        const done = upload.done().catch((error: unknown) => {
          // What the sender did is not the store's failure.
          if (body.errored !== null) throw toObjectError(body.errored);
          throw error;
        });
        return { etag: bare((await typed(done)).ETag), bytes };
      }
      const { ETag } = await typed(client.send(new s3.PutObjectCommand(params)));
      return { bytes: body.length, etag: bare(ETag) };
    },
    adopt: (key, file, options) => store.write(key, createReadStream(file), options),
    async *list(prefix) {
      let token: string | undefined;
      do {
        const page = await typed(
          client.send(
            new s3.ListObjectsV2Command({
              Bucket: bucket,
              Prefix: prefix,
              ...(token === undefined ? {} : { ContinuationToken: token }),
            }),
          ),
        );
        for (const { Key, Size } of page.Contents ?? [])
          if (Key !== undefined) yield { key: Key, bytes: Size ?? 0 };
        token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },
    async delete(keys) {
      for (let i = 0; i < keys.length; i += DELETE_BATCH)
        await deleteSome(keys.slice(i, i + DELETE_BATCH).map((key) => checkKey(key)));
    },
    async deletePrefix(prefix) {
      let batch: string[] = [];
      for await (const { key } of store.list(prefix)) {
        if (batch.push(key) < DELETE_BATCH) continue;
        await deleteSome(batch);
        batch = [];
      }
      if (batch.length > 0) await deleteSome(batch);
    },
    dropUnknown: async () => undefined,
    async dropUnfinished(before) {
      let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined;
      do {
        const command = new s3.ListMultipartUploadsCommand({ Bucket: bucket, ...marker });
        const page = await typed(client.send(command));
        for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
          if (Initiated !== undefined && Initiated < before) await typed(dropUpload(Key, UploadId));
        const isMore = page.IsTruncated === true;
        marker = isMore
          ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
          : undefined;
      } while (marker !== undefined);
    },
    close() {
      for (const each of [client, publicClient, stsClient]) each.destroy();
    },
  };
  return store;
}

/** A store that is gone is noticed, and one that joins many parts in silence may finish. */
const CONNECT_MS = 5000;
const IDLE_MS = 60_000;
const STS_IDLE_MS = 15_000;

/** What STS accepts, and what a role allows unless it was told otherwise. */
const MIN_SESSION_SECONDS = 900;
const USUAL_SESSION_SECONDS = 3600;
const MAX_SESSION_SECONDS = 12 * 3600;
const DELETE_BATCH = 1000;

function at(endpoint: string | undefined): { endpoint?: string } {
  return endpoint === undefined ? {} : { endpoint };
}

function bare(etag: string | undefined): string {
  return (etag ?? '').replaceAll('"', '');
}
