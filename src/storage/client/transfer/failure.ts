import { HttpError, StorageError, type ErrorCode } from '../../../lib/errors.ts';
import { CURL, networkError } from '../../../engine/http/send/network-error.ts';
import type { Secrets } from '../../../lib/secrets.ts';

/** Refusals that are about one attempt only, and not about what was asked. */
const PASSING =
  /^(?:BadDigest|IncompleteBody|OperationAborted|RequestTimeout|SlowDown|XAmzContentSHA256Mismatch)$/;
/** Names of errors of the SDK itself, which a retry does not fix. */
const FINAL = /^(?:CredentialsProviderError|NotImplemented)$/;

/** Tells whether the same transfer may succeed when it is repeated. */
export function mayPass(error: unknown): boolean {
  if (error instanceof StorageError) return error.recovery === 'retry';
  if (!(error instanceof Error) || FINAL.test(error.name) || isUntrusted(error)) return false;
  const status = statusOf(error) ?? 0;
  return status < 400 || status >= 500 || [408, 429].includes(status) || PASSING.test(error.name);
}

/** A failure of the object store or of the way there, in words. `what` is “The upload of "a.csv"”. */
export function transferFailure(error: unknown, what: string, secrets: Secrets): StorageError {
  if (error instanceof StorageError) return error;
  const name = error instanceof Error ? error.name : '';
  const known = isUntrusted(error) ? UNTRUSTED : KNOWN[name];
  const said = known?.text ?? (error instanceof Error ? describe(error) : String(error));
  return new StorageError(
    known?.code ?? 'storage.transferFailed',
    secrets.redact(`${what} failed: ${said}.`),
    {
      cause: error,
      hint: known?.hint ?? (isOfProxy(error) ? error.hint : undefined) ?? NOT_REACHED,
      recovery: mayPass(error) ? 'retry' : 'stop',
      details: { s3Code: name },
    },
  );
}

/** A page that asks for a login is an answer like any other; but every store says what it has, or has taken. */
export function noStore(): StorageError {
  return new StorageError(
    'storage.transferFailed',
    'What answered in the place of the object store is none.',
    {
      hint: 'Check the endpoint of the object store, and what is between here and the store.',
    },
  );
}

interface Known {
  readonly text: string;
  readonly hint: string;
  readonly code?: ErrorCode;
}

const MISSING: Known = {
  text: 'there is no content',
  hint: 'Its upload never ended, or the file was deleted. Upload it again.',
  code: 'storage.notFound',
};
const EXPIRED: Known = {
  text: 'the credentials of the file have expired',
  hint: 'They last for some hours. Do it again: new ones are asked for.',
};
const UNTRUSTED: Known = {
  text: 'the certificate of the object store is not trusted',
  hint: 'If the store uses a private authority, name a file with its certificate in NODE_EXTRA_CA_CERTS.',
};
const KNOWN: Readonly<Record<string, Known>> = {
  NoSuchKey: MISSING,
  NotFound: MISSING,
  ExpiredToken: EXPIRED,
  AccessDenied: {
    text: 'the object store did not allow it',
    hint: 'The temporary credentials are for this file alone; check the endpoint and the clock of this machine.',
  },
  RequestTimeTooSkewed: {
    text: 'the clock of this machine is wrong',
    hint: 'Set the clock, then do it again.',
  },
};

const NOT_REACHED = 'Check that the object store can be reached from here, then do it again.';

function isOfProxy(error: unknown): error is HttpError {
  return error instanceof HttpError && error.code === 'http.proxy';
}

function describe(error: Error): string {
  if (error instanceof HttpError) return error.message.replace(/\.$/, '');
  const { code } = error as { code?: unknown };
  const status = statusOf(error);
  // The SDK's own words for an answer without the XML of a store.
  if (status !== undefined && /^Unknown|XML parse error|Deserialization error/.test(error.message))
    return `what answered, with status ${status}, is no object store`;
  const text = error.message === '' ? error.name : error.message;
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text.replace(/\.$/, '');
}

/** Returns the status in an error of the SDK, when there was an answer. */
function statusOf(error: Error): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

function isUntrusted(error: unknown): boolean {
  return networkError(error, { origin: '' }).details['curl'] === CURL.certificate;
}
