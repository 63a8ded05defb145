import { Readable } from 'node:stream';
import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import { ObjectError, toObjectError } from './errors.ts';
import { createObjectFolder, type ObjectFolder } from './folder/folder.ts';
import { attributesOf, described } from './folder/described.ts';
import { createKeyRing, type KeyRing, type SignerIdentity } from './key-ring.ts';
import { checkKey } from './keys.ts';
import { createS3Handler, type S3Handler } from './s3/handler.ts';
import type { KeyHolder, ObjectStore } from './store.ts';
import {
  ALGORITHM,
  encodePath,
  encodeUri,
  scopeText,
  signRequest,
  timeText,
  UNSIGNED_PAYLOAD,
} from './s3/sigv4.ts';

export interface FolderStoreOptions extends OwnStoreOptions {
  /** The folder that holds the objects; one process at a time may use it. */
  readonly directory: string;
  /** Smallest part of a multipart upload but the last; 5 MiB, as in S3. */
  readonly minPartBytes?: number;
}

/** Options of a store behind our own S3 endpoint. */
export interface OwnStoreOptions {
  /** At least 32 random bytes, kept by the service: all keys and tokens come from it (`loadSecret`). */
  readonly secret: Uint8Array;
  /** Base address under which clients reach the handler; asked when it is needed, as the port may not be known yet. */
  readonly endpoint: () => string;
  readonly env: Env;
  readonly log: Log;
  /** `files` unless told. */
  readonly bucket?: string;
  /** `us-east-1` unless told: clients compute other host names for other regions. */
  readonly region?: string;
  readonly maxUploadBytes?: number;
  /** Tells whether the file and the token that keys were given for still exist; default: they do. */
  readonly isHeld?: (holder: KeyHolder) => Promise<boolean>;
}

export interface FolderStore extends ObjectStore {
  /** The S3 protocol over this store, for a server of its own (`createS3Server`) or another. */
  readonly handler: S3Handler;
  readonly keys: KeyRing;
  /** Makes the folder and sweeps what a killed process left. Once, before anything else. */
  open(): Promise<void>;
}

/** Name of the bucket of a folder. */
export const FOLDER_BUCKET = 'files';

/** The embedded object store: a folder, with the S3 protocol in front of it for clients. */
export function createFolderStore(options: FolderStoreOptions): FolderStore {
  const { directory, env, minPartBytes } = options;
  const folder = createObjectFolder(directory, env, minPartBytes === undefined ? {} : { minPartBytes });
  return createOwnStore(folder, options);
}

/** Makes an object store of objects, wherever they are, with the S3 protocol in front of them for clients. */
export function createOwnStore(folder: ObjectFolder, options: OwnStoreOptions): FolderStore {
  const { env, log, endpoint, bucket = FOLDER_BUCKET, region = 'us-east-1', maxUploadBytes } = options;
  const keys = createKeyRing(options.secret, env);
  const handler = createS3Handler(folder, keys, {
    bucket,
    region,
    env,
    log,
    hosts: () => [new URL(endpoint()).host],
    ...(maxUploadBytes === undefined ? {} : { maxUploadBytes }),
    ...(options.isHeld === undefined ? {} : { isHeld: options.isHeld }),
  });
  return {
    bucket,
    root: '',
    region,
    get endpoint() {
      return endpoint();
    },
    hasEncryption: true,
    handler,
    keys,
    open: () => typed(folder.open()),
    ready: async () => void (await typed(folder.head('ready'))),
    // Async, as other stores must ask for credentials elsewhere.
    grant: async (scope) => keys.issue(scope),
    presign: async (key, { expiresInSeconds }) =>
      presignGet({
        endpoint: endpoint(),
        bucket,
        key: checkKey(key),
        region,
        identity: keys.service,
        now: env.now(),
        expiresInSeconds,
      }),
    async head(key) {
      const meta = await typed(folder.head(key));
      return meta === undefined ? undefined : described(meta);
    },
    async read(key, range) {
      const object = await typed(folder.get(key));
      if (object === undefined) throw new ObjectError('NoSuchKey', 'The object does not exist.');
      const { bytes } = object.meta;
      if (range !== undefined && (range.start >= bytes || range.end < range.start)) {
        await object.close();
        throw new ObjectError('InvalidRange', 'The range is beyond the end of the object.');
      }
      return object.read(
        range === undefined ? undefined : { start: range.start, end: Math.min(range.end, bytes - 1) },
      );
    },
    write: (key, body, options) =>
      typed(
        folder.put(key, body instanceof Readable ? body : [body], {
          checksums: [],
          attributes: attributesOf(options),
        }),
      ),
    adopt: (key, file, options) => typed(folder.adopt(key, file, attributesOf(options))),
    async *list(prefix) {
      try {
        yield* folder.list(prefix);
      } catch (error) {
        throw toObjectError(error);
      }
    },
    async delete(keys) {
      for (const key of keys) await typed(folder.delete(key));
    },
    async deletePrefix(prefix) {
      for await (const { key } of folder.list(prefix)) await typed(folder.delete(key));
    },
    dropUnfinished: (before) => typed(folder.dropUploads(before.getTime())),
    dropUnknown: (before, known) => typed(folder.dropUnknown(before.getTime(), known)),
  };
}

function typed<Value>(work: Promise<Value>): Promise<Value> {
  return work.catch((error: unknown) => {
    throw toObjectError(error);
  });
}

/** A signed address of one object: GET without any further credentials, until it expires. */
function presignGet(options: {
  /** Base address that the client reaches, such as `http://127.0.0.1:8101`. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly key: string;
  readonly region: string;
  readonly identity: SignerIdentity;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly expiresInSeconds: number;
}): string {
  const { endpoint, identity, region } = options;
  const base = new URL(endpoint);
  const scope = { time: timeText(options.now), region };
  const query: (readonly [string, string])[] = [
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${identity.accessKeyId}/${scopeText(scope)}`],
    ['X-Amz-Date', scope.time],
    ['X-Amz-Expires', String(options.expiresInSeconds)],
    ['X-Amz-SignedHeaders', 'host'],
  ];
  const path = encodePath(`/${options.bucket}/${options.key}`);
  const headers = [['host', base.host]] as const;
  const request = { method: 'GET', path, query, headers, payloadHash: UNSIGNED_PAYLOAD };
  const signature = signRequest(request, identity.secretAccessKey, scope);
  const text = query.map(([name, value]) => `${name}=${encodeUri(value)}`).join('&');
  return `${base.protocol}//${base.host}${path}?${text}&X-Amz-Signature=${signature}`;
}
