import { StorageError, type ErrorCode } from '../../../errors.ts';
import type { Secrets } from '../../../secrets.ts';

/** Answers of an object store that a further attempt would not change. */
const FINAL =
  /^(?:AccessDenied|AccessControlListNotSupported|EntityTooLarge|ExpiredToken|Forbidden|InvalidAccessKeyId|InvalidRange|InvalidToken|NoSuchBucket|NoSuchKey|NotFound|PreconditionFailed|RequestTimeTooSkewed|SignatureDoesNotMatch|CredentialsProviderError)$/;

/** Whether the same transfer may succeed when it is done again. */
export function mayPass(error: unknown): boolean {
  if (error instanceof StorageError) return error.recovery === 'retry';
  return error instanceof Error && !FINAL.test(error.name);
}

/** A failure of the object store or of the way there, in words. `what` is “The upload of "a.csv"”. */
export function transferFailure(error: unknown, what: string, secrets: Secrets): StorageError {
  if (error instanceof StorageError) return error;
  const name = error instanceof Error ? error.name : '';
  const known = KNOWN[name];
  const said = known?.text ?? (error instanceof Error ? describe(error) : String(error));
  return new StorageError(
    known?.code ?? 'storage.transferFailed',
    secrets.redact(`${what} failed: ${said}.`),
    {
      cause: error,
      hint: known?.hint ?? 'Check that the object store can be reached from here, then do it again.',
      recovery: mayPass(error) ? 'retry' : 'stop',
      details: { s3Code: name },
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

function describe(error: Error): string {
  const { code } = error as { code?: unknown };
  const text = error.message === '' ? error.name : error.message;
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text.replace(/\.$/, '');
}
