import type { Env } from '../env.ts';
import { HttpError } from '../errors.ts';
import type { Log } from '../log.ts';
import { headerOf, type ApiRequest, type ApiResponse, type SendWrapper } from './message.ts';
import { RETRYABLE_CURL } from './network-error.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Secrets } from '../secrets.ts';

export interface RetryOptions {
  /** Attempts after the first one. Default: 10. */
  readonly maxRetries: number;
  /** Statuses that are tried again, also 2xx. */
  readonly codes: readonly number[];
  /** Name of the response header that says how long to wait. Default: `Retry-After`. */
  readonly retryHeader: string;
  /** Network failures that are tried again, by their curl numbers. */
  readonly curlCodes: readonly number[];
}

export const DEFAULT_RETRY: RetryOptions = {
  maxRetries: 10,
  codes: [500, 502, 503, 504, 408, 420, 429],
  retryHeader: 'Retry-After',
  curlCodes: RETRYABLE_CURL,
};

export interface RetryContext {
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
}

/**
 * Sends again what failed in a way that may pass (spec extractor 6.5), whatever the method is, as the reference
 * does. Waits as long as the server says, not jittered, else 1, 2, 4 … seconds. After the last attempt the response
 * is handed on and the error thrown as they are.
 */
export function retry(options: RetryOptions, context: RetryContext): SendWrapper {
  return (next) =>
    async (request, { signal }) => {
      for (let attempt = 1; ; attempt++) {
        const outcome = await next(request, { signal }).catch((error: unknown) => new Failure(error));
        const reason = attempt > options.maxRetries ? undefined : reasonToRetry(outcome, options);
        if (reason === undefined) {
          if (outcome instanceof Failure) throw outcome.error;
          return outcome;
        }
        const waitMs = waitFor(outcome, attempt, options, context.env.now());
        logWait(reason, request, attempt, waitMs, options, context);
        await sleepLong(waitMs, context.env, signal);
      }
    };
}

class Failure {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

type Outcome = ApiResponse | Failure;

function reasonToRetry(outcome: Outcome, options: RetryOptions): string | undefined {
  if (!(outcome instanceof Failure))
    return options.codes.includes(outcome.status) ? `status ${outcome.status}` : undefined;
  if (!(outcome.error instanceof HttpError)) return undefined;
  const { details, message } = outcome.error;
  const { curl } = details;
  if (typeof curl !== 'number' || !options.curlCodes.includes(curl)) return undefined;
  return `network failure ${curl}: ${message.replace(/\.$/, '')}`;
}

/** The longest pause that nobody asked for. */
const LONGEST_MS = 3_600_000;

function waitFor(outcome: Outcome, attempt: number, options: RetryOptions, nowMs: number): number {
  const told =
    outcome instanceof Failure
      ? undefined
      : retryAfterMs(headerOf(outcome.headers, options.retryHeader.toLowerCase()), nowMs);
  return told ?? Math.min(1000 * 2 ** (attempt - 1), LONGEST_MS);
}

/** From here on people should know why nothing moves: a single wait as long as this, or so many attempts. */
const NOTEWORTHY_MS = 30_000;
const NOTEWORTHY_ATTEMPT = 3;

function logWait(
  reason: string,
  request: ApiRequest,
  attempt: number,
  waitMs: number,
  options: RetryOptions,
  { log, secrets }: RetryContext,
): void {
  const fields = { attempt, maxRetries: options.maxRetries, waitMs, url: secrets.redactUrl(request.url) };
  const message = `Retrying in ${waitMs / 1000} seconds [${attempt} x] after ${reason}.`;
  if (waitMs >= NOTEWORTHY_MS || attempt >= NOTEWORTHY_ATTEMPT) log.info(message, fields);
  else log.debug(message, fields);
}

/** Timers of the runtime fire at once when they are given more than this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function sleepLong(waitMs: number, env: Env, signal: AbortSignal): Promise<void> {
  for (let left = waitMs; left > 0; left -= LONGEST_TIMER_MS)
    await env.sleep(Math.min(left, LONGEST_TIMER_MS), signal);
}
