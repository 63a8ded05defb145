import { PassThrough, type Readable } from 'node:stream';
import { ObjectError, OBJECT_ERROR_STATUS, type ObjectErrorCode } from './errors.ts';

/** The same work; whatever it fails with is an `ObjectError`. */
export async function typed<Value>(work: Promise<Value>): Promise<Value> {
  return work.catch((error: unknown) => {
    throw fromSdk(error);
  });
}

/** The same bytes; a connection that breaks is an error of the store. */
export function typedBody(body: Readable): Readable {
  const typedOne = new PassThrough({ highWaterMark: 256 * 1024 });
  body.once('error', (error) => typedOne.destroy(fromSdk(error)));
  // It may break before it is read, or afterwards; a reader gets the error all the same.
  typedOne.on('error', () => {});
  typedOne.once('close', () => body.destroy());
  return body.pipe(typedOne);
}

/** Errors of the SDK carry the code of the protocol as their name, and HEAD gives only a status. */
export function fromSdk(error: unknown): ObjectError {
  if (error instanceof ObjectError) return error;
  const name = error instanceof Error ? error.name : '';
  if (name === 'NotFound')
    return new ObjectError('NoSuchKey', 'The object does not exist.', { cause: error });
  const status = statusOf(error);
  if (status === 403 && !(name in OBJECT_ERROR_STATUS))
    return new ObjectError('AccessDenied', 'The object store refuses the keys.', { cause: error });
  if (status === undefined || status >= 500 || !(name in OBJECT_ERROR_STATUS)) {
    // The error itself is for the log: it may name addresses.
    const message =
      status === undefined
        ? 'The object store cannot be reached.'
        : `The object store cannot be used: it answered ${status}.`;
    const words = status === undefined ? undefined : wordsOf(error);
    return new ObjectError('ServiceUnavailable', message, { words, cause: error });
  }
  return new ObjectError(knownCode(name), error instanceof Error ? error.message : '', { cause: error });
}

/** The words of the store itself, with their code, as far as it has said any. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error) || NO_WORDS.test(error.name)) return '';
  // A proxy in front of a store may answer with a page.
  const words = error.message.replaceAll(/\s+/g, ' ').replace(/\.$/, '').slice(0, MAX_WORDS);
  return words === '' || words === error.name ? error.name : `“${words}” (${error.name})`;
}

/** Names that the SDK gives to answers without any. */
const NO_WORDS = /^(?:\d+|Error|SyntaxError|TimeoutError|Unknown|UnknownError)$/;
const MAX_WORDS = 300;

/**
 * Tells whether the STS refused the request: with 400, which wrong keys (403) don't give. AWS also answers 400 for
 * causes outside of the request: too many requests, and clocks and keys that are behind.
 */
export function isRefusal(error: unknown): boolean {
  return statusOf(error) === 400 && !(error instanceof Error && PASSING.has(error.name));
}

const PASSING: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'PriorRequestNotComplete',
  'RequestExpired',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'RequestTimeoutException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

/** Tells whether another object is there already, or is just being written. */
export function isConflict(error: unknown): boolean {
  return statusOf(error) === 409 || statusOf(error) === 412;
}

/** Tells whether the store does not know the operation. */
export function isUnknown(error: unknown): boolean {
  return statusOf(error) === 501;
}

/** Explains the failure to assume a role; undefined for one that is not the role's: a wrong key, or no answer. */
export function roleError(error: unknown, role = ''): ObjectError | undefined {
  const status = statusOf(error);
  if (status === 404)
    return new ObjectError(
      'AccessDenied',
      `The role “${role}” is not there, so nobody can be given keys for a file. Make it in the object store, or name another with --s3-role-arn.`,
      { cause: error },
    );
  const name = error instanceof Error ? error.name : '';
  if (status !== 403 || (name !== 'AccessDenied' && name in OBJECT_ERROR_STATUS)) return undefined;
  return new ObjectError(
    'AccessDenied',
    `The object store does not let its keys assume the role “${role}”, so nobody can be given keys for a file. See that the role is there and trusts the user of the keys, or name another with --s3-role-arn.`,
    { cause: error },
  );
}

/** Returns the status that the store answered; undefined when no answer came. */
function statusOf(error: unknown): number | undefined {
  const metadata = error instanceof Error && '$metadata' in error ? error.$metadata : undefined;
  const status =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata
      ? metadata.httpStatusCode
      : undefined;
  return typeof status === 'number' ? status : undefined;
}

export function knownCode(name: string | undefined): ObjectErrorCode {
  // Checked by `in`: the names of the table are the codes.
  return name !== undefined && name in OBJECT_ERROR_STATUS ? (name as ObjectErrorCode) : 'InternalError';
}
