import type { Readable } from 'node:stream';

/**
 * Store for the bytes of files: one bucket of an S3-compatible store.
 * Two implementations pass one contract suite: a folder of this process behind our own S3 endpoint, and any outside
 * store. Keys are 1 to 1,024 bytes of UTF-8 and are taken as they are: `..`, `//` or `%` in a key mean nothing.
 * Everything fails with an `ObjectError`.
 */
export interface ObjectStore {
  readonly bucket: string;
  /** Prefix of the keys of this storage in the bucket: clients get both together. */
  readonly root: string;
  readonly region: string;
  /** S3 endpoint for clients; undefined when that of Amazon is meant. May change with time. */
  readonly endpoint: string | undefined;
  /** True when it can be asked for encryption at rest; files of one that cannot are never marked as encrypted. */
  readonly hasEncryption: boolean;
  /** Resolves when the store is there, lets us in, and belongs to this storage. */
  ready(): Promise<void>;
  /** Creates temporary credentials for one key, or for the keys with that prefix, and for nothing else. */
  grant(scope: GrantScope): Promise<ObjectCredentials>;
  /**
   * An address that answers GET of one object to a client without credentials. At most seven days. A browser that is led
   * there keeps the file, under that name, and shows nothing of it.
   */
  presign(
    key: string,
    options: { readonly expiresInSeconds: number; readonly fileName?: string },
  ): Promise<string>;
  head(key: string): Promise<DescribedObject | undefined>;
  /** The bytes, or a part of them; the caller reads the stream to its end or destroys it. `NoSuchKey`, `InvalidRange`. */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /** All or nothing: until it resolves, the key shows what it showed before. The body is read once. */
  write(key: string, body: Readable | Uint8Array, options: ObjectWriteOptions): Promise<StoredObject>;
  /**
   * Stores a whole file of this machine, whose path must not be used afterwards: the file may have become the object
   * itself. The ETag need not be the MD5.
   */
  adopt(key: string, file: string, options: ObjectWriteOptions): Promise<StoredObject>;
  /** Objects in the order of the bytes of their keys; only a page of them is held in memory. */
  list(prefix: string): AsyncIterable<{ readonly key: string; readonly bytes: number }>;
  /** Deletes what is there; a key without an object is no error. */
  delete(keys: readonly string[]): Promise<void>;
  deletePrefix(prefix: string): Promise<void>;
  /** Drops multipart uploads that were never completed and that began before that time. */
  dropUnfinished(before: Date): Promise<void>;
  /**
   * Drops objects that were last written before that moment and that are not among those that `known` gives back of
   * them. Those of a storage that is older than its id are left alone: others may have keys of the same form.
   */
  dropUnknown(before: Date, known: (keys: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void>;
}

export interface GrantScope {
  readonly key: string;
  /** True when all keys that begin with `key` are meant (sliced files). */
  readonly isPrefix: boolean;
  /** `upload` writes and cannot read; `download` reads, and lists what it may read. */
  readonly access: 'upload' | 'download';
  /** True when an upload without `x-amz-server-side-encryption: AES256` is refused. */
  readonly requiresEncryption: boolean;
  readonly expiresAt: Date;
  /** Owner of the credentials; they end with it where the store can tell, which the embedded one can. */
  readonly holder?: KeyHolder | undefined;
}

/** The file that credentials are for, and the token that asked for them. */
export interface KeyHolder {
  readonly fileId: number;
  readonly tokenId: number;
}

/** The four values a client needs, spelled as the protocol spells them. */
export interface ObjectCredentials {
  readonly AccessKeyId: string;
  readonly SecretAccessKey: string;
  readonly SessionToken: string;
  /** ISO 8601 in UTC, such as `2017-02-14T21:34:46+00:00`. */
  readonly Expiration: string;
}

export interface StoredObject {
  readonly bytes: number;
  /** Without its quotes. */
  readonly etag: string;
}

export interface DescribedObject extends StoredObject {
  /** Options for writing the same object elsewhere. */
  readonly attributes: ObjectWriteOptions;
}

/** Positions of the first and the last byte, from 0, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ObjectWriteOptions {
  readonly contentType?: string | undefined;
  /** Content-Disposition of downloads, in ASCII (`attachmentOf`). */
  readonly disposition?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly contentLanguage?: string | undefined;
  readonly cacheControl?: string | undefined;
  /** `x-amz-meta-*` without the prefix. */
  readonly userMetadata?: Readonly<Record<string, string>>;
  readonly encrypted: boolean;
}

/** `2017-02-14T21:34:46+00:00` */
export function expirationText(date: Date): string {
  return `${date.toISOString().slice(0, 19)}+00:00`;
}
