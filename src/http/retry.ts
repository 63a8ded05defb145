import type { Env } from '../env.ts';
import { HttpError } from '../errors.ts';
import type { Log } from '../log.ts';
import { headerOf, type ApiRequest, type ApiResponse, type SendWrapper } from './message.ts';
import { CURL, RETRYABLE_CURL } from './send/network-error.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Secrets } from '../secrets.ts';

export interface RetryOptions {
  /** Attempts after the first one. Default: 10. */
  readonly maxRetries: number;
  /** Statuses that are tried again, also 2xx. */
  readonly codes: readonly number[];
  /** Name of the response header that says how long to wait. Default: `Retry-After`. */
  readonly retryHeader: string;
  /** The longest wait that a server may ask for; one that asks for more is not waited for. Default: 15 minutes. */
  readonly maxRetryAfterMs: number;
  /** Network failures that are tried again, by their curl numbers. */
  readonly curlCodes: readonly number[];
}

export const DEFAULT_RETRY: RetryOptions = {
  maxRetries: 10,
  codes: [500, 502, 503, 504, 408, 420, 429],
  retryHeader: 'Retry-After',
  maxRetryAfterMs: 900_000,
  curlCodes: RETRYABLE_CURL,
};

/** Whether anything has ever answered: an address that never did is more likely wrong than busy. */
export interface FirstContact {
  isMade: boolean;
  /** Attempts to reach a host by name or connection before that. */
  readonly attempts: number;
}

export interface RetryContext {
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
  /** Of the whole run; without it every failure counts alike. */
  readonly firstContact?: FirstContact | undefined;
}

/**
 * Sends again what failed in a way that may pass (spec extractor 6.5), whatever the method is, as the reference
 * does. Waits as long as the server says, not jittered, else 1, 2, 4 … seconds. After the last attempt the response
 * is handed on and the error thrown as they are.
 *
 * @throws {HttpError} `http.status` when the server asks for a longer wait than is allowed
 */
export function retry(options: RetryOptions, context: RetryContext): SendWrapper {
  return (next) => async (request, sendOptions) => {
    const { signal } = sendOptions;
    for (let attempt = 1; ; attempt++) {
      const outcome = await next(request, sendOptions).catch((error: unknown) => new Failure(error));
      const most = maxRetriesOf(outcome, options, context);
      const reason = attempt > most ? undefined : reasonToRetry(outcome, options);
      if (reason === undefined) {
        if (outcome instanceof Failure) throw outcome.error;
        return attempt === 1 ? outcome : { ...outcome, attempts: attempt };
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

  get message(): string {
    return this.error instanceof Error ? this.error.message : String(this.error);
  }
}

type Outcome = ApiResponse | Failure;

function reasonToRetry(outcome: Outcome, options: RetryOptions): string | undefined {
  if (!(outcome instanceof Failure))
    return options.codes.includes(outcome.status) ? `status ${outcome.status}` : undefined;
  const curl = curlOf(outcome);
  if (curl === undefined || !options.curlCodes.includes(curl)) return undefined;
  return `network failure ${curl}: ${outcome.message.replace(/\.$/, '')}`;
}

function curlOf({ error }: Failure): number | undefined {
  const curl = error instanceof HttpError ? error.details['curl'] : undefined;
  return typeof curl === 'number' ? curl : undefined;
}

/** No such host, no connection, no secure one. */
const NOT_REACHED: readonly (number | undefined)[] = [CURL.dns, CURL.connect, CURL.tls];

/** Takes note of an answer. */
function maxRetriesOf(
  outcome: Outcome,
  { maxRetries }: RetryOptions,
  { firstContact }: RetryContext,
): number {
  if (firstContact === undefined) return maxRetries;
  if (!(outcome instanceof Failure) || !NOT_REACHED.includes(curlOf(outcome))) firstContact.isMade = true;
  return firstContact.isMade ? maxRetries : Math.min(maxRetries, firstContact.attempts - 1);
}

/** The longest pause that nobody asked for. */
const LONGEST_MS = 3_600_000;

function waitFor(outcome: Outcome, attempt: number, options: RetryOptions, nowMs: number): number {
  const usual = Math.min(1000 * 2 ** (attempt - 1), LONGEST_MS);
  if (outcome instanceof Failure) return usual;
  const told = retryAfterMs(headerOf(outcome.headers, options.retryHeader.toLowerCase()), nowMs) ?? usual;
  if (told > Math.max(options.maxRetryAfterMs, usual)) throw tooLong(outcome, told, options);
  return told;
}

function tooLong({ status }: ApiResponse, waitMs: number, options: RetryOptions): HttpError {
  const [asked, most] = [Math.ceil(waitMs / 1000), options.maxRetryAfterMs / 1000];
  return new HttpError(
    'http.status',
    `The API answered ${status} and asks to wait ${asked} seconds (${options.retryHeader}), which is longer than ${most}.`,
    {
      hint: 'Run it again after that time. To let a run wait so long, set api.retryConfig.maxRetryAfter to as many seconds.',
      details: { status, retryAfterMs: waitMs, maxRetryAfterMs: options.maxRetryAfterMs },
    },
  );
}

function logWait(
  reason: string,
  request: ApiRequest,
  attempt: number,
  waitMs: number,
  options: RetryOptions,
  { log, secrets }: RetryContext,
): void {
  const fields = { attempt, maxRetries: options.maxRetries, waitMs, url: secrets.redactUrl(request.url) };
  log.info(`Retrying in ${waitMs / 1000} seconds [${attempt} x] after ${reason}.`, fields);
}

/** Timers of the runtime fire at once when they are given more than this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function sleepLong(waitMs: number, env: Env, signal: AbortSignal): Promise<void> {
  for (let left = waitMs; left > 0; left -= LONGEST_TIMER_MS)
    await env.sleep(Math.min(left, LONGEST_TIMER_MS), signal);
}
