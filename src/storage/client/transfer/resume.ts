import type { Env } from '../../../env.ts';
import type { Log } from '../../../log.ts';
import type { Secrets } from '../../../secrets.ts';
import { StorageError } from '../../../errors.ts';
import { mayPass, transferFailure } from './failure.ts';

/** One answer of the object store: the bytes from where it was asked. */
export interface ObjectPart {
  readonly body: AsyncIterable<Uint8Array>;
  /** Position behind the last byte that was asked for. */
  readonly end: number;
  /** What the object is: a later part must be of the same. */
  readonly etag: string | undefined;
}

export interface ResumeOptions {
  /** First byte, from 0. */
  readonly start: number;
  open(at: number, etag: string | undefined): Promise<ObjectPart>;
  /** Asks for new credentials. */
  renew(): Promise<void>;
  readonly what: string;
  /** Position behind the last byte that has arrived. */
  readonly onBytes: (at: number) => void;
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
}

/** Cuts in a row, without a byte in between. */
const ATTEMPTS = 6;
const FIRST_WAIT_MS = 500;

/**
 * The bytes of an object. A connection that is cut is opened again where it was; so a transfer of hours survives what
 * it meets. An object that was replaced in between is an error.
 *
 * @throws {StorageError} `storage.transferFailed`, `storage.notFound`
 */
export async function* readResuming(options: ResumeOptions): AsyncGenerator<Uint8Array, void> {
  const { env, log, secrets, signal, what, onBytes } = options;
  let at = options.start;
  let etag: string | undefined;
  let hasRenewed = false;
  for (let failures = 0; ;) {
    try {
      const part = await options.open(at, etag);
      etag = part.etag;
      for await (const chunk of part.body) {
        at += chunk.length;
        failures = 0;
        hasRenewed = false;
        onBytes(at);
        yield chunk;
      }
      if (at >= part.end) return;
      throw new StorageError('storage.transferFailed', `${what} was cut after ${at} of ${part.end} bytes.`, {
        recovery: 'retry',
      });
    } catch (error) {
      signal.throwIfAborted();
      const isExpired =
        error instanceof Error && /^(?:ExpiredToken|AccessDenied|Forbidden)$/.test(error.name);
      if (isExpired && !hasRenewed && at > options.start) {
        hasRenewed = true;
        await options.renew();
        continue;
      }
      if (++failures >= ATTEMPTS || !mayPass(error))
        throw replaced(error, what) ?? transferFailure(error, what, secrets);
      const waitMs = FIRST_WAIT_MS * 2 ** (failures - 1);
      log.info(`${what} was interrupted after ${at} bytes and goes on in ${waitMs / 1000} seconds.`);
      await env.sleep(waitMs, signal);
    }
  }
}

function replaced(error: unknown, what: string): StorageError | undefined {
  if (!(error instanceof Error) || error.name !== 'PreconditionFailed') return undefined;
  return new StorageError('storage.transferFailed', `${what} failed: the content was replaced meanwhile.`, {
    cause: error,
    hint: 'Do it again from the beginning.',
  });
}
