import type { Env } from '../../lib/env.ts';
import { reasonOf, HttpError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import {
  headerOf,
  type AgainReason,
  type ApiRequest,
  type ApiResponse,
  type SendAttempt,
  type Pause,
  type React,
  type Reacted,
  type SendWrapper,
} from '../shared/message.ts';
import { bodyStart } from './body-start.ts';
import { isRedirect } from './redirect.ts';
import { CURL, RETRYABLE_CURL } from './send/network-error.ts';
import { retryAfterMs } from './retry-after.ts';
import type { Secrets } from '../../lib/secrets.ts';

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

/** Record of whether any host has ever answered: an address that never did is more likely wrong than busy. */
export interface FirstContact {
  isMade: boolean;
  /** Attempts to reach a host by name or connection before that. */
  readonly attempts: number;
}

/**
 * Retry that costs none: of one that is refused together with others; or of one that is refused alone, at once or after
 * the time that the API names.
 */
export type FreeRetry = 'together' | 'now' | 'later';

export interface RetryContext {
  readonly env: Env;
  readonly log: Log;
  readonly secrets: Secrets;
  /** First contact of the whole run; without it every failure counts alike. */
  readonly firstContact?: FirstContact | undefined;
  /** Tells of a refusal that costs no retry: the limits of requests at once wait for the API, or this request does. */
  readonly freeOf?: ((request: ApiRequest, response: ApiResponse) => FreeRetry | undefined) | undefined;
}

/**
 * Retries what failed in a way that may pass, whatever the method is, as the reference does. It waits as long as the
 * server says, not jittered, else 1, 2, 4 … seconds. After the last attempt it returns the response, or throws the
 * error, as it is.
 *
 * The `react` rules of the configuration come first, and have their own count.
 *
 * @throws {HttpError} `http.status` when the server asks for a longer wait than is allowed
 */
export function retry(options: RetryOptions, context: RetryContext): SendWrapper {
  return (next) => async (request, sendOptions) => {
    const { signal, react } = sendOptions;
    let attempt = 1;
    const told = react === undefined ? undefined : new Told(react);
    const say = waitLog(request, context);
    for (let sent = 1; ; sent++) {
      const own = told === undefined ? sendOptions : { ...sendOptions, attempt: told.attempt(sent > 1) };
      let outcome: Outcome;
      try {
        outcome = await next(request, own);
      } catch (error) {
        outcome = new Failure(error);
      }
      const reacted = outcome instanceof Failure ? undefined : told?.react(outcome, context.env.now());
      if (reacted?.do === 'fail') throw reacted.error;
      if (reacted?.do === 'again' && told !== undefined && !(outcome instanceof Failure)) {
        const count = told.count(reacted.reason);
        const waitMs = pauseFor(outcome, reacted.pause, count, options, context.env.now());
        say({ reason: reacted.why, count, most: reacted.reason.times, waitMs }, outcome);
        await sleepLong(waitMs, context.env, signal);
        continue;
      }
      const most = maxRetriesOf(outcome, options, context);
      const why = reacted === undefined ? reasonToRetry(outcome, options) : undefined;
      const free = why === undefined ? undefined : freeOf(request, outcome, context);
      if (free !== undefined) {
        // one that asks for more time than is allowed is not waited for
        const waitMs = waitFor(outcome, attempt, options, context.env.now());
        if (free === 'later') await sleepLong(waitMs, context.env, signal);
        continue;
      }
      const reason = attempt > most ? undefined : why;
      if (reason === undefined) {
        if (outcome instanceof Failure) throw outcome.error;
        const answer = sent === 1 ? outcome : { ...outcome, attempts: sent };
        return reacted === undefined ? answer : { ...answer, isTaken: true };
      }
      const waitMs = waitFor(outcome, attempt, options, context.env.now());
      say({ reason, count: attempt, most, waitMs }, outcome);
      attempt++;
      await sleepLong(waitMs, context.env, signal);
    }
  };
}

/** Decisions of the `react` rules on the answers to one request, with the number of retries for each. */
class Told {
  readonly #react: React;
  readonly #counts = new Map<AgainReason, number>();
  readonly #of = {};
  #renewsLogin = false;

  constructor(react: React) {
    this.#react = react;
  }

  react(response: ApiResponse, nowMs: number): Reacted | undefined {
    // a hop is no answer
    if (isRedirect(response)) return undefined;
    return this.#react(response, (reason) => (this.#counts.get(reason) ?? 0) >= reason.times, nowMs);
  }

  count(reason: AgainReason): number {
    const count = (this.#counts.get(reason) ?? 0) + 1;
    this.#counts.set(reason, count);
    this.#renewsLogin = reason.isLogin;
    return count;
  }

  attempt(isAgain: boolean): SendAttempt {
    const renewsLogin = this.#renewsLogin;
    this.#renewsLogin = false;
    return { of: this.#of, renewsLogin, isAgain };
  }
}

function pauseFor(
  outcome: ApiResponse,
  pause: Pause,
  count: number,
  options: RetryOptions,
  nowMs: number,
): number {
  if (pause.by === 'usual') return waitFor(outcome, count, options, nowMs);
  if (pause.by === 'answer' && pause.ms > options.maxRetryAfterMs)
    throw tooLong(outcome, pause.ms, 'its answer', options);
  return pause.ms;
}

class Failure {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }

  get message(): string {
    return reasonOf(this.error);
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

function freeOf(request: ApiRequest, outcome: Outcome, context: RetryContext): FreeRetry | undefined {
  return outcome instanceof Failure ? undefined : context.freeOf?.(request, outcome);
}

/** The longest pause that nobody asked for. */
const LONGEST_MS = 3_600_000;

function waitFor(outcome: Outcome, attempt: number, options: RetryOptions, nowMs: number): number {
  const usual = Math.min(1000 * 2 ** (attempt - 1), LONGEST_MS);
  if (outcome instanceof Failure) return usual;
  const told = retryAfterMs(headerOf(outcome.headers, options.retryHeader.toLowerCase()), nowMs) ?? usual;
  if (told > Math.max(options.maxRetryAfterMs, usual))
    throw tooLong(outcome, told, options.retryHeader, options);
  return told;
}

function tooLong({ status }: ApiResponse, waitMs: number, where: string, options: RetryOptions): HttpError {
  const [asked, most] = [Math.ceil(waitMs / 1000), options.maxRetryAfterMs / 1000];
  return new HttpError(
    'http.status',
    `The API answered ${status} and asks to wait ${asked} seconds (${where}), which is longer than ${most}.`,
    {
      hint: 'Run it again after that time. To let a run wait so long, set api.retryConfig.maxRetryAfter to as many seconds.',
      details: { status, retryAfterMs: waitMs, maxRetryAfterMs: options.maxRetryAfterMs },
    },
  );
}

/** Bytes of a bad answer that are shown. */
const SHOWN_BYTES = 200;

interface Wait {
  readonly reason: string;
  readonly count: number;
  readonly most: number;
  readonly waitMs: number;
}

/** Gives a log of the waits of one request: why it is sent again, and how its first bad answer begins. */
function waitLog(
  { url, label }: ApiRequest,
  { log, secrets }: RetryContext,
): (wait: Wait, outcome: Outcome) => void {
  let isShown = false;
  return ({ reason, count, most, waitMs }, outcome) => {
    const seconds = waitMs / 1000;
    const text = `Retrying in ${seconds} ${seconds === 1 ? 'second' : 'seconds'} (${count} of ${most}) after ${reason}`;
    const body = isShown || outcome instanceof Failure ? '' : bodyStart(outcome.body, SHOWN_BYTES, secrets);
    isShown ||= body !== '';
    log.info(body === '' ? `${text}.` : `${text}: ${body}`, {
      ...(label === undefined ? {} : { job: label }),
      attempt: count,
      maxRetries: most,
      waitMs,
      url: secrets.redactUrl(url),
    });
  };
}

/** Timers of the runtime fire at once when they are given more than this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

async function sleepLong(waitMs: number, env: Env, signal: AbortSignal): Promise<void> {
  for (let left = waitMs; left > 0; left -= LONGEST_TIMER_MS)
    await env.sleep(Math.min(left, LONGEST_TIMER_MS), signal);
}
