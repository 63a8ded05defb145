import type { IncomingMessage } from 'node:http';
import { ObjectError } from '../errors.ts';

/** Subject of a request: the service, a bucket, or an object. */
export interface ObjectAddress {
  readonly method: string;
  /** Undefined when the service itself is meant. */
  readonly bucket: string | undefined;
  /** Empty when the bucket is meant. */
  readonly key: string;
  /** As it came, still encoded: signatures are made over it. */
  readonly rawPath: string;
  /** Decoded, in the order in which they came. */
  readonly query: readonly (readonly [name: string, value: string])[];
}

/**
 * Path-style (`/bucket/key`) and virtual-host style (`Host: bucket.anything`). The hosts of the
 * service itself are path-style, even where one of them begins like the bucket.
 */
export function readAddress(
  request: IncomingMessage,
  ownBucket: string,
  ownHosts: readonly string[],
): ObjectAddress {
  const target = (request.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  const rawPath = (mark < 0 ? target : target.slice(0, mark)) || '/';
  const query = mark < 0 ? [] : readQuery(target.slice(mark + 1));
  const path = decode(rawPath).slice(1);
  const method = request.method ?? 'GET';
  const host = (request.headers.host ?? '').toLowerCase();
  if (host.startsWith(`${ownBucket.toLowerCase()}.`) && !ownHosts.includes(host))
    return { method, bucket: ownBucket, key: path, rawPath, query };
  const slash = path.indexOf('/');
  const bucket = slash < 0 ? path : path.slice(0, slash);
  return {
    method,
    bucket: bucket === '' ? undefined : bucket,
    key: slash < 0 ? '' : path.slice(slash + 1),
    rawPath,
    query,
  };
}

/** The first value of that name. */
export function queryValue(address: ObjectAddress, name: string): string | undefined {
  return address.query.find(([known]) => known === name)?.[1];
}

function readQuery(text: string): [string, string][] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      const [name, value] = equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
      return [decode(name.replaceAll('+', ' ')), decode(value.replaceAll('+', ' '))];
    });
}

function decode(text: string): string {
  // Node gives the bytes of the request line as latin1; unencoded UTF-8 in it is read as what it is.
  const utf8 = Buffer.from(text, 'latin1').toString('utf8');
  try {
    return decodeURIComponent(utf8);
  } catch {
    throw new ObjectError('InvalidURI', 'The address of the request is not well encoded.');
  }
}
