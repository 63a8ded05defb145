import type { Secrets } from '../../../lib/secrets.ts';
import { StorageError } from '../../../lib/errors.ts';
import { transferFailure } from './failure.ts';
import { isWorthwhile, waitBehind, type Patience } from './persist.ts';

/** Answer of the object store with the bytes from the requested position. */
export interface ObjectPart {
  readonly body: AsyncIterable<Uint8Array>;
  /** Position behind the last byte that was asked for. */
  readonly end: number;
  /** Version of the object: a later part must be of the same. */
  readonly etag: string | undefined;
}

export interface ResumeOptions {
  /** First byte, from 0. */
  readonly start: number;
  open(at: number, etag: string | undefined): Promise<ObjectPart>;
  /** Asks for new credentials. */
  renew(): Promise<void>;
  /** Position behind the last byte that has arrived. */
  readonly onBytes: (at: number) => void;
  readonly patience: Patience;
  readonly secrets: Secrets;
}

const FIRST_WAIT_MS = 500;

/**
 * Yields the bytes of an object. A connection that is cut is opened again at the same position, so that a long transfer
 * survives interruptions. An object that was replaced meanwhile is an error.
 *
 * @throws {StorageError} `storage.transferFailed`, `storage.notFound`
 */
export async function* readResuming(options: ResumeOptions): AsyncGenerator<Uint8Array, void> {
  const { patience, secrets, onBytes } = options;
  const { env, log, signal, store, what } = patience;
  let at = options.start;
  let etag: string | undefined;
  let hasRenewed = false;
  let begunMs = 0;
  let isWithCaller = false;
  // Cuts in a row, without a byte in between.
  for (let failures = 0; ;) {
    try {
      const part = await options.open(at, etag);
      store.isReached = true;
      etag = part.etag;
      for await (const chunk of part.body) {
        at += chunk.length;
        failures = 0;
        hasRenewed = false;
        isWithCaller = true;
        onBytes(at);
        yield chunk;
        isWithCaller = false;
      }
      if (at >= part.end) return;
      throw new StorageError('storage.transferFailed', `${what} was cut after ${at} of ${part.end} bytes.`, {
        recovery: 'retry',
      });
    } catch (error) {
      // Not a failure of the transfer; and to continue would skip the bytes that the caller has not read.
      if (isWithCaller) throw error;
      signal.throwIfAborted();
      if (mayBeExpired(error, at > options.start) && !hasRenewed) {
        hasRenewed = true;
        await options.renew();
        continue;
      }
      if (failures++ === 0) begunMs = env.now();
      if (!isWorthwhile(error, { attempt: failures, begunMs }, patience))
        throw replaced(error, what) ?? transferFailure(error, what, secrets);
      const waitMs = waitBehind(failures, FIRST_WAIT_MS);
      log.info(`${what} was interrupted after ${at} bytes and resumes in ${waitMs / 1000} seconds.`);
      await env.sleep(waitMs, signal);
    }
  }
}

/** Stores differ in what they say; what was allowed before and no longer is, has expired. */
function mayBeExpired(error: unknown, wasAllowed: boolean): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'ExpiredToken' || (wasAllowed && /^(?:AccessDenied|Forbidden)$/.test(error.name));
}

function replaced(error: unknown, what: string): StorageError | undefined {
  if (!(error instanceof Error) || error.name !== 'PreconditionFailed') return undefined;
  return new StorageError('storage.transferFailed', `${what} failed: the content was replaced meanwhile.`, {
    cause: error,
    hint: 'Do it again from the beginning.',
  });
}
