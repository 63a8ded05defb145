import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { ObjectError } from '../errors.ts';
import type { ObjectMeta } from '../folder/meta.ts';
import type { ByteRange } from '../store.ts';
import { checksumHeaders, objectHeaders } from './attributes.ts';
import { header, param, type S3Call, type S3Operation } from './call.ts';
import { checkReadConditions, rangeCounts } from './conditions.ts';
import { readRange } from './range.ts';
import { sendEmpty, setHeaders, type S3Headers } from './reply.ts';

async function getObject(call: S3Call): Promise<void> {
  const object = await call.folder.get(call.address.key);
  if (object === undefined) throw noSuchKey(call);
  try {
    const { status, range, headers } = describe(call, object.meta);
    const body = object.read(range);
    // Damage at the beginning can still be reported by status; further on only a broken connection reports it.
    await once(body, 'readable');
    setHeaders(call.response, headers);
    call.response.writeHead(status);
    await pipeline(body, call.response);
  } finally {
    await object.close();
  }
}

async function headObject(call: S3Call): Promise<void> {
  const meta = await call.folder.head(call.address.key);
  if (meta === undefined) throw noSuchKey(call);
  const { status, headers } = describe(call, meta);
  sendEmpty(call, status, headers);
}

export const READ_OPERATIONS: readonly S3Operation[] = [
  { name: 'GetObject', method: 'GET', level: 'object', action: 'read', run: getObject },
  { name: 'HeadObject', method: 'HEAD', level: 'object', action: 'read', run: headObject },
];

function describe(call: S3Call, meta: ObjectMeta): { status: number; range?: ByteRange; headers: S3Headers } {
  checkReadConditions(call, meta);
  const part = readPartNumber(call, meta);
  const range = part ?? (rangeCounts(call, meta) ? readRange(header(call, 'range'), meta.bytes) : undefined);
  const isWhole = range === undefined;
  const headers = {
    ...objectHeaders(meta),
    ...SAFE,
    ...(meta.contentDisposition === undefined ? { 'content-disposition': 'attachment' } : {}),
    ...overrides(call),
    ...(isWhole && header(call, 'x-amz-checksum-mode')?.toUpperCase() === 'ENABLED'
      ? checksumHeaders(meta.checksums)
      : {}),
    'content-length': isWhole ? meta.bytes : range.end - range.start + 1,
    'content-range': isWhole ? undefined : `bytes ${range.start}-${range.end}/${meta.bytes}`,
    'x-amz-mp-parts-count': part === undefined ? undefined : meta.upload?.partBytes.length,
  };
  return isWhole ? { status: 200, headers } : { status: 206, range, headers };
}

/** Headers that make any content safe: a browser downloads it, and shows or runs nothing of it. */
const SAFE: S3Headers = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
};

/** `partNumber=2`: the bytes that came as that part. */
function readPartNumber(call: S3Call, meta: ObjectMeta): ByteRange | undefined {
  const text = param(call, 'partNumber');
  if (text === undefined) return undefined;
  if (header(call, 'range') !== undefined)
    throw new ObjectError('InvalidRequest', 'Only one of Range and partNumber may be given.');
  const sizes = meta.upload?.partBytes ?? [meta.bytes];
  const size = sizes[Number(text) - 1];
  if (size === undefined)
    throw new ObjectError('InvalidPartNumber', 'The object has no part of that number.', {
      facts: { ActualPartCount: sizes.length },
    });
  if (size === 0) return undefined;
  const start = sizes.slice(0, Number(text) - 1).reduce((sum, bytes) => sum + bytes, 0);
  return { start, end: start + size - 1 };
}

const OVERRIDES = [
  'content-type',
  'content-disposition',
  'content-encoding',
  'content-language',
  'cache-control',
  'expires',
];

/** `response-content-type` and the like replace what was stored. */
function overrides(call: S3Call): S3Headers {
  const given = OVERRIDES.map((name) => [name, param(call, `response-${name}`)] as const);
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, headerText(value)]])),
  );
}

/** Text as a header value: its UTF-8 bytes, one character each. */
export function headerText(text: string): string {
  if (/[^\P{Cc}\t]/u.test(text))
    throw new ObjectError('InvalidArgument', 'A header value holds a control character.');
  return Buffer.from(text).toString('latin1');
}

function noSuchKey(call: S3Call): ObjectError {
  return new ObjectError('NoSuchKey', 'The specified key does not exist.', {
    facts: { Key: call.address.key },
  });
}
