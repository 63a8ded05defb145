import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { AssumeRoleCommandOutput } from '@aws-sdk/client-sts';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { Env } from '../../../lib/env.ts';
import {
  claimBucket,
  requireOwner,
  takeBucketOver,
  takeBucketOverFromCopy,
  type BucketOwner,
} from './bucket-owner.ts';
import { attachmentOf } from './disposition.ts';
import { ObjectError, toObjectError } from './errors.ts';
import { checkKey } from './keys.ts';
import {
  fromSdk,
  isConflict,
  isRefusal,
  isUnknown,
  knownCode,
  roleError,
  typed,
  typedBody,
} from './sdk-errors.ts';
import { sessionPolicy } from './session-policy.ts';
import { expirationText, type GrantScope, type ObjectStore } from './store.ts';

export interface ExternalStoreOptions {
  /** Base address of the store as this service reaches it; the one of AWS when left out. */
  readonly endpoint?: string | undefined;
  /** Base address as clients reach it, for signed addresses; `endpoint` when left out. */
  readonly publicEndpoint?: string | undefined;
  /** Base address of its STS; `endpoint` when left out. */
  readonly stsEndpoint?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Prefix of the keys of all objects, such as `team-a/`: several storages may share a bucket. Default: none. */
  readonly prefix?: string | undefined;
  /** The storage that the objects belong to; `ready` checks its marker. Default: none. */
  readonly owner?: BucketOwner | undefined;
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
  /** Looks whether the bucket is that of its owner, and writes nothing. */
  requireOwner(): Promise<void>;
  /** Marks the bucket as that of its owner, whosever it was. @returns the storage that it was taken from, for people */
  takeOver(): Promise<string | undefined>;
  /** Takes over the bucket of the same storage in another database, and no other. */
  takeOverFromCopy(): Promise<string | undefined>;
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
  const client = new s3.S3Client({ ...config, ...reachedAt(endpoint) });
  const publicClient = new s3.S3Client({ ...config, ...reachedAt(options.publicEndpoint ?? endpoint) });
  const stsClient = new sts.STSClient({
    region,
    credentials,
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: options.idleMs ?? STS_IDLE_MS },
    ...reachedAt(options.stsEndpoint ?? endpoint),
  });
  const encryption = (isWanted: boolean) =>
    isWanted && hasEncryption ? ({ ServerSideEncryption: 'AES256' } as const) : {};

  const { prefix = '', owner } = options;
  const root = owner?.isInKeys === true ? `${prefix}${owner.id}/` : prefix;
  const at = (key: string): string => checkKey(root + checkKey(key));

  const deleteSome = async (keys: readonly string[]): Promise<void> => {
    const Delete = { Objects: keys.map((key) => ({ Key: at(key) })), Quiet: true };
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

  // A role allows an hour unless it was told to allow more, and a store may know no lists of rights. Only a refusal says
  // so, and each store has its own words for it: what was accepted once is asked for from then on.
  let accepted: Accepted = { maxSeconds: MAX_SESSION_SECONDS, hasAcls: true };
  // Once such a list was accepted, no later refusal is for it.
  let knowsAcls = false;
  const assume = async (scope: GrantScope, seconds: number): Promise<AssumeRoleCommandOutput> => {
    const send = async ({ maxSeconds, hasAcls }: Accepted): Promise<AssumeRoleCommandOutput> =>
      await stsClient.send(
        new sts.AssumeRoleCommand({
          RoleArn: options.roleArn,
          RoleSessionName: `file-${Buffer.from(env.randomBytes(6)).toString('hex')}`,
          Policy: sessionPolicy(bucket, { ...scope, key: at(scope.key) }, { hasAcls }),
          DurationSeconds: Math.min(Math.max(seconds, MIN_SESSION_SECONDS), maxSeconds),
        }),
      );
    const isUpload = scope.access === 'upload';
    try {
      const answer = await send(accepted);
      knowsAcls ||= isUpload && accepted.hasAcls;
      return answer;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      for (const less of lessThan(accepted, { seconds, mayDropAcls: isUpload && !knowsAcls })) {
        const answer = await send(less).catch((again: unknown) => {
          if (!isRefusal(again)) throw again;
        });
        if (answer === undefined) continue;
        accepted = less;
        knowsAcls ||= isUpload && less.hasAcls;
        return answer;
      }
      throw error;
    }
  };

  const listed = async function* (
    before: string,
  ): AsyncGenerator<{ Key: string; Size: number; written: Date }> {
    let token: string | undefined;
    do {
      const command = new s3.ListObjectsV2Command({
        Bucket: bucket,
        Prefix: before,
        ...(token === undefined ? {} : { ContinuationToken: token }),
      });
      const page = await typed(client.send(command));
      for (const { Key, Size = 0, LastModified = new Date(NaN) } of page.Contents ?? [])
        if (Key !== undefined) yield { Key, Size, written: LastModified };
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  };

  const marked = {
    place: `the bucket “${bucket}”${prefix === '' ? '' : ` below “${prefix}”`}`,
    async readText(key: string) {
      const command = new s3.GetObjectCommand({ Bucket: bucket, Key: prefix + key });
      const found = await typed(client.send(command)).catch((error: unknown) => {
        if (error instanceof ObjectError && error.code === 'NoSuchKey') return undefined;
        throw error;
      });
      return await found?.Body?.transformToString();
    },
    async writeNew(key: string, text: string) {
      const command = { Bucket: bucket, Key: prefix + key, Body: text, ...encryption(true) };
      try {
        await client.send(new s3.PutObjectCommand({ ...command, IfNoneMatch: '*' }));
      } catch (error) {
        if (isConflict(error)) return;
        if (!isUnknown(error)) throw fromSdk(error);
        await typed(client.send(new s3.PutObjectCommand(command)));
      }
    },
    async write(key: string, text: string) {
      const command = { Bucket: bucket, Key: prefix + key, Body: text, ...encryption(true) };
      await typed(client.send(new s3.PutObjectCommand(command)));
    },
    async isEmpty(before: string) {
      for await (const _first of listed(prefix + before)) return false;
      return true;
    },
  };

  const store: ExternalStore = {
    bucket,
    root,
    region,
    endpoint: options.publicEndpoint ?? endpoint,
    hasEncryption,
    async grant(scope) {
      const seconds = Math.round((scope.expiresAt.getTime() - env.now()) / 1000);
      const requiresEncryption = scope.requiresEncryption && hasEncryption;
      const answer = await typed(
        assume({ ...scope, requiresEncryption }, seconds).catch((error: unknown) => {
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
    presign: (key, { expiresInSeconds, fileName }) =>
      typed(
        presigner.getSignedUrl(
          publicClient,
          new s3.GetObjectCommand({
            Bucket: bucket,
            Key: at(key),
            ...(fileName === undefined ? {} : { ResponseContentDisposition: attachmentOf(fileName) }),
          }),
          {
            expiresIn: expiresInSeconds,
            signingDate: new Date(env.now()),
          },
        ),
      ),
    async head(key) {
      const command = new s3.HeadObjectCommand({ Bucket: bucket, Key: at(key) });
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
        client.send(new s3.GetObjectCommand({ Bucket: bucket, Key: at(key), ...Range })),
      );
      if (Body instanceof Readable) return typedBody(Body);
      throw new ObjectError('InternalError', 'The object store answered without a body.');
    },
    async write(key, body, options) {
      const params = {
        Bucket: bucket,
        Key: at(key),
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
          // A failure of the sender is not one of the store.
          if (body.errored !== null) throw toObjectError(body.errored);
          throw error;
        });
        return { etag: bare((await typed(done)).ETag), bytes };
      }
      const { ETag } = await typed(client.send(new s3.PutObjectCommand(params)));
      return { bytes: body.length, etag: bare(ETag) };
    },
    adopt: (key, file, options) =>
      store.write(key, createReadStream(file, { highWaterMark: READ_BYTES }), options),
    async *list(below) {
      for await (const { Key, Size } of listed(root + below))
        yield { key: Key.slice(root.length), bytes: Size };
    },
    async delete(keys) {
      for (let i = 0; i < keys.length; i += DELETE_BATCH) await deleteSome(keys.slice(i, i + DELETE_BATCH));
    },
    async deletePrefix(below) {
      let batch: string[] = [];
      for await (const { key } of store.list(below)) {
        if (batch.push(key) < DELETE_BATCH) continue;
        await deleteSome(batch);
        batch = [];
      }
      if (batch.length > 0) await deleteSome(batch);
    },
    async dropUnknown(before, known) {
      // The owner of objects is certain only if the id of the storage is in their keys.
      if (owner?.isInKeys !== true) return;
      const drop = async (keys: readonly string[]): Promise<void> => {
        const there = await known(keys);
        const unknown = keys.filter((key) => !there.has(key));
        if (unknown.length > 0) await deleteSome(unknown);
      };
      let batch: string[] = [];
      for await (const { Key, written } of listed(root)) {
        if (!(written < before) || batch.push(Key.slice(root.length)) < DELETE_BATCH) continue;
        await drop(batch);
        batch = [];
      }
      if (batch.length > 0) await drop(batch);
    },
    async dropUnfinished(before) {
      let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined;
      do {
        const command = new s3.ListMultipartUploadsCommand({ Bucket: bucket, ...marker });
        const page = await typed(client.send(command));
        // Not by a prefix of the request: some stores take it for a whole key (MinIO).
        for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
          if (Key?.startsWith(root) === true && Initiated !== undefined && Initiated < before)
            await typed(dropUpload(Key, UploadId));
        const isMore = page.IsTruncated === true;
        marker = isMore
          ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
          : undefined;
      } while (marker !== undefined);
    },
    async ready() {
      // Any object under that key, or none, shows that the store is reachable and accepts us.
      if (owner === undefined) await store.head('ready');
      else await claimBucket(marked, owner);
    },
    async requireOwner() {
      if (owner !== undefined) await requireOwner(marked, owner);
    },
    takeOverFromCopy: async () =>
      owner === undefined ? undefined : await takeBucketOverFromCopy(marked, owner),
    takeOver: async () => (owner === undefined ? undefined : await takeBucketOver(marked, owner)),
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

/** Limits of a session: the range that STS accepts, and the default that a role allows. */
const MIN_SESSION_SECONDS = 900;
const USUAL_SESSION_SECONDS = 3600;
const MAX_SESSION_SECONDS = 12 * 3600;
const DELETE_BATCH = 1000;

/** Bytes of a file that are read at a time: an upload joins them to parts of 5 MB, and many take a fourth more of a processor. */
const READ_BYTES = 1024 * 1024;

/** Options that an STS has accepted, or is expected to accept. */
interface Accepted {
  readonly maxSeconds: number;
  readonly hasAcls: boolean;
}

/** Returns the reduced options to try after a refusal: less in one way, then in both. */
function lessThan(
  { maxSeconds, hasAcls }: Accepted,
  { seconds, mayDropAcls }: { readonly seconds: number; readonly mayDropAcls: boolean },
): readonly Accepted[] {
  const isLong = Math.min(seconds, maxSeconds) > USUAL_SESSION_SECONDS;
  const shorter = { maxSeconds: USUAL_SESSION_SECONDS, hasAcls };
  const withoutAcls = { maxSeconds, hasAcls: false };
  return [
    ...(isLong ? [shorter] : []),
    ...(mayDropAcls && hasAcls ? [withoutAcls] : []),
    ...(isLong && mayDropAcls && hasAcls ? [{ ...shorter, hasAcls: false }] : []),
  ];
}

function reachedAt(endpoint: string | undefined): { endpoint?: string } {
  return endpoint === undefined ? {} : { endpoint };
}

function bare(etag: string | undefined): string {
  return (etag ?? '').replaceAll('"', '');
}
