import { StorageError } from '../../lib/errors.ts';
import { CURL } from '../../engine/http/send/network-error.ts';

/** The service says with these that it has not begun. */
export const NOT_TAKEN = [423, 429, 503];
export const NOT_SENT: readonly number[] = [CURL.dns, CURL.connect, CURL.tls];

/** Tells whether the service has certainly not begun the request. */
function isUntaken({ status, details }: StorageError): boolean {
  const { curl } = details;
  return status === undefined
    ? typeof curl === 'number' && NOT_SENT.includes(curl)
    : NOT_TAKEN.includes(status);
}

/** Nobody knows whether it was taken: no answer, a failure of the service, or an answer from something in between. */
export function isUnsure(error: unknown): boolean {
  if (!(error instanceof StorageError) || isUntaken(error)) return false;
  const { code, recovery, serviceCode, status = 200 } = error;
  // the service has looked at it, and refuses what is asked
  if (status === 409 && serviceCode !== '') return false;
  return recovery === 'retry' || (code === 'storage.unexpected' && status < 300);
}
