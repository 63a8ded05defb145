import type { Checksums } from '../checksums.ts';
import type { Sums } from './object-file.ts';

/** Attributes that an uploader may give an object; sent with every download. Header values as they came (latin1). */
export interface ObjectAttributes {
  readonly contentType?: string | undefined;
  readonly contentDisposition?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly contentLanguage?: string | undefined;
  readonly cacheControl?: string | undefined;
  readonly expires?: string | undefined;
  /**
   * True when `x-amz-server-side-encryption: AES256` was asked for. It is stored and reported; the disk is not
   * encrypted.
   */
  readonly isEncrypted: boolean;
  /** `x-amz-meta-*` without the prefix. */
  readonly userMetadata: Readonly<Record<string, string>>;
}

export interface ObjectMeta extends ObjectAttributes {
  readonly key: string;
  readonly bytes: number;
  /** MD5 in hexadecimal, or the MD5 of the parts' MD5s with `-<number of parts>`. Without quotes. */
  readonly etag: string;
  /** ISO 8601. */
  readonly modified: string;
  readonly checksums: Checksums;
  /** The multipart upload it came from. */
  readonly upload?: { readonly id: string; readonly partBytes: readonly number[] };
}

/** Stored metadata of one part of a multipart upload. */
export type PartMeta = Pick<ObjectMeta, 'bytes' | 'etag' | 'modified' | 'checksums'>;

export const noAttributes: ObjectAttributes = { isEncrypted: false, userMetadata: {} };

export function attributesOf(meta: ObjectMeta & Sums): ObjectAttributes {
  const {
    key: _key,
    bytes: _bytes,
    etag: _etag,
    modified: _modified,
    checksums: _sums,
    upload: _up,
    blocks: _blocks,
    ...rest
  } = meta;
  return rest;
}
