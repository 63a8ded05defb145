import { createHash, createHmac } from 'node:crypto';

/** Signature Version 4 of AWS, the parts that signing and checking share. */
export const ALGORITHM = 'AWS4-HMAC-SHA256';
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';
export const EMPTY_HASH = sha256Hex('');

export interface SigningScope {
  /** `20170214T103446Z` */
  readonly time: string;
  readonly region: string;
}

export interface CanonicalRequest {
  readonly method: string;
  /** Encoded. */
  readonly path: string;
  /** Decoded; without the signature itself. */
  readonly query: readonly (readonly [string, string])[];
  /** The signed ones, in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly payloadHash: string;
}

export function signRequest(request: CanonicalRequest, secret: string, scope: SigningScope): string {
  return sign(
    [ALGORITHM, scope.time, scopeText(scope), sha256Hex(canonicalText(request))].join('\n'),
    secret,
    scope,
  );
}

/** Hexadecimal. */
export function sign(text: string, secret: string, scope: SigningScope): string {
  const key = [scope.time.slice(0, 8), scope.region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    `AWS4${secret}`,
  );
  return createHmac('sha256', key).update(text).digest('hex');
}

/** `20170214/us-east-1/s3/aws4_request` */
export function scopeText({ time, region }: SigningScope): string {
  return `${time.slice(0, 8)}/${region}/s3/aws4_request`;
}

/** `20170214T103446Z` */
export function timeText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().replaceAll(/[-:]/g, '').slice(0, 15)}Z`;
}

/** Milliseconds since 1970; undefined when it is no such text. */
export function readTime(text: string): number | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** Everything but unreserved characters (RFC 3986) as `%XX`. */
export function encodeUri(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The same, but slashes stay. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeUri).join('/');
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

function canonicalText({ method, path, query, headers, payloadHash }: CanonicalRequest): Buffer {
  const pairs = query.map(([name, value]) => [encodeUri(name), encodeUri(value)] as const);
  const sorted = pairs.sort(([n1, v1], [n2, v2]) => compare(n1, n2) || compare(v1, v2));
  const text = [
    method,
    path,
    sorted.map((pair) => pair.join('=')).join('&'),
    ...headers.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}`),
    '',
    headers.map(([name]) => name).join(';'),
    payloadHash,
  ].join('\n');
  // Header values are kept as the bytes that came, one character for each.
  return Buffer.from(text, 'latin1');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
