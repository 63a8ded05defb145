import { ObjectError } from '../errors.ts';
import type { ObjectAttributes, ObjectMeta } from '../folder/meta.ts';
import { header, type S3Call } from './call.ts';
import type { S3Headers } from './reply.ts';

const MAX_METADATA_BYTES = 2048;

/** Reads the attributes of the object from the headers of an upload. */
export function readAttributes(call: S3Call): ObjectAttributes {
  const userMetadata: Record<string, string> = {};
  let bytes = 0;
  for (const [name, values] of Object.entries(call.request.headersDistinct)) {
    if (!name.startsWith('x-amz-meta-') || values === undefined) continue;
    const value = values.join(',');
    bytes += name.length - 'x-amz-meta-'.length + value.length;
    userMetadata[name.slice('x-amz-meta-'.length)] = value;
  }
  if (bytes > MAX_METADATA_BYTES)
    throw new ObjectError(
      'MetadataTooLarge',
      `The metadata headers have more than ${MAX_METADATA_BYTES} bytes.`,
    );
  return {
    contentType: header(call, 'content-type'),
    contentDisposition: header(call, 'content-disposition'),
    contentEncoding: withoutChunked(header(call, 'content-encoding')),
    contentLanguage: header(call, 'content-language'),
    cacheControl: header(call, 'cache-control'),
    expires: header(call, 'expires'),
    isEncrypted: readEncryption(call),
    userMetadata,
  };
}

export function encryptionHeaders(isEncrypted: boolean): S3Headers {
  return { 'x-amz-server-side-encryption': isEncrypted ? 'AES256' : undefined };
}

/** The headers of an answer that describe an object, without its length. */
export function objectHeaders(meta: ObjectMeta): S3Headers {
  const user = Object.entries(meta.userMetadata).map(
    ([name, value]) => [`x-amz-meta-${name}`, value] as const,
  );
  return {
    'accept-ranges': 'bytes',
    etag: quoted(meta.etag),
    'last-modified': new Date(meta.modified).toUTCString(),
    'content-type': meta.contentType ?? 'binary/octet-stream',
    'content-disposition': meta.contentDisposition,
    'content-encoding': meta.contentEncoding,
    'content-language': meta.contentLanguage,
    'cache-control': meta.cacheControl,
    expires: meta.expires,
    ...encryptionHeaders(meta.isEncrypted),
    ...Object.fromEntries(user),
  };
}

/** `x-amz-checksum-crc32` and the like. */
export function checksumHeaders(checksums: ObjectMeta['checksums']): S3Headers {
  const entries = Object.entries(checksums);
  if (entries.length === 0) return {};
  const isComposite = entries.some(([, sum]) => sum.includes('-'));
  return {
    ...Object.fromEntries(entries.map(([name, sum]) => [`x-amz-checksum-${name}`, sum])),
    'x-amz-checksum-type': isComposite ? 'COMPOSITE' : 'FULL_OBJECT',
  };
}

export function quoted(etag: string): string {
  return `"${etag}"`;
}

function readEncryption(call: S3Call): boolean {
  const value = header(call, 'x-amz-server-side-encryption');
  if (value === undefined || value === 'AES256') {
    if (header(call, 'x-amz-server-side-encryption-customer-algorithm') === undefined)
      return value !== undefined;
    throw new ObjectError('NotImplemented', 'Encryption with keys of the client is not supported.');
  }
  if (value.startsWith('aws:kms'))
    throw new ObjectError('NotImplemented', 'Encryption by KMS is not supported; use AES256.');
  throw new ObjectError('InvalidArgument', 'x-amz-server-side-encryption must be AES256.');
}

/** `aws-chunked` is about the transfer and is gone with it. */
function withoutChunked(encoding: string | undefined): string | undefined {
  if (encoding === undefined || !/aws-chunked/i.test(encoding)) return encoding;
  const rest = encoding
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part.toLowerCase() !== 'aws-chunked');
  return rest.length === 0 ? undefined : rest.join(', ');
}
