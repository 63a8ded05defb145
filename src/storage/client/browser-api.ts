import { StorageError } from '../../lib/errors.ts';
import type { Env } from '../../lib/env.ts';
import type { ApiResponse } from '../../engine/shared/message.ts';
import { silentLog } from '../../lib/log.ts';
import { whatOf, urlOf, type ApiCore, type ApiCall } from './api-core.ts';
import { bodyText } from './encode.ts';
import { failureOf, jsonOf, unreadable } from './failure.ts';
import { linesOf, lostOn } from './lines.ts';

export interface BrowserOptions {
  /** `scheme://host[/prefix]`, without a slash at the end. */
  readonly base: string;
  /** Id of a development branch; the default branch when undefined. */
  readonly branch?: string | number | undefined;
  /** Told when the session has ended; the call fails with `storage.unauthorized` all the same. */
  readonly onUnauthorized?: (() => void) | undefined;
  /** Told of every attempt whether the service has answered. */
  readonly onContact?: ((isThere: boolean) => void) | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/**
 * Waits between attempts, in milliseconds. A user is present: a failure that does not pass soon is shown, and the page
 * or the user repeats it.
 */
const WAITS_MS = [300, 1000, 2500];
/** Longest wait that a service may ask for, in milliseconds; a longer one is reported to the user. */
const LONGEST_WAIT_MS = 5000;
const PATIENCE_MS = 60_000;
/** Statuses that pass, with which the service says that it has not begun, or that something in between has failed. */
const PASSING = [423, 429, 502, 503, 504];

/**
 * Sends by the `fetch` of the browser, with the session in its cookie. A change has its `Idempotency-Key`, so that it is
 * done once, however often it is sent.
 */
export function createBrowserApi(options: BrowserOptions): ApiCore {
  const { base, onUnauthorized, onContact } = options;
  const fetchIt = options.fetch ?? ((input, init) => fetch(input, init));
  const { origin } = new URL(base);

  async function sendOnce(
    call: ApiCall,
    key: string,
    signal: AbortSignal,
    isRead: boolean,
  ): Promise<Received> {
    const { method, body } = call;
    const url = urlOf(base, call, options.branch);
    const response = await fetchIt(url, {
      method,
      headers: {
        Accept: 'application/json',
        'X-Console': '1',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'Idempotency-Key': key }),
      },
      credentials: 'same-origin',
      redirect: 'error',
      cache: 'no-store',
      signal,
      ...(body === undefined ? {} : { body: bodyText(body) }),
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      url,
      ...(response.ok && !isRead
        ? { body: new Uint8Array(), stream: response.body ?? undefined }
        : { body: new Uint8Array(await response.arrayBuffer()) }),
    };
  }

  async function send(call: ApiCall, isRead = true): Promise<Received> {
    const key = call.key ?? crypto.randomUUID();
    const what = whatOf(call);
    for (let attempt = 1; ; attempt++) {
      call.signal?.throwIfAborted();
      const patience = patienceOf(PATIENCE_MS);
      const signal =
        call.signal === undefined ? patience.signal : AbortSignal.any([call.signal, patience.signal]);
      const outcome = await sendOnce(call, key, signal, isRead)
        .catch((error: unknown) => new Lost(error))
        .finally(patience.end);
      call.signal?.throwIfAborted();
      const isUnavailable = outcome instanceof Lost || [502, 503, 504].includes(outcome.status);
      onContact?.(!isUnavailable);
      const waitMs = waitOf(outcome, attempt);
      if (waitMs !== undefined) {
        await sleep(waitMs, call.signal);
        continue;
      }
      if (outcome instanceof Lost) throw away(outcome, what, attempt);
      if (outcome.status === 401) onUnauthorized?.();
      if (outcome.status < 200 || outcome.status >= 300)
        throw failureOf(outcome, { what, origin, attempts: attempt }, PLAIN);
      return outcome;
    }
  }

  return {
    env: browserEnv,
    log: silentLog,
    secrets: PLAIN,
    base,
    maxRetries: WAITS_MS.length,
    knowsKeys: () => Promise.resolve(true),
    signalOf: (signal) => signal ?? new AbortController().signal,
    async call(call) {
      const response = await send(call);
      if (response.body.length === 0 || response.status === 204) return undefined;
      const json = jsonOf(response);
      if (json === undefined) throw unreadable(response, { what: whatOf(call), origin, attempts: 1 });
      return json;
    },
    async *lines(call) {
      const what = whatOf(call);
      const { stream } = await send(call, false);
      if (stream === undefined) return;
      try {
        yield* linesOf(partsOf(stream), what);
      } catch (error) {
        call.signal?.throwIfAborted();
        throw error instanceof StorageError ? error : lostOn(what, error);
      }
    },
  };
}

interface Received extends ApiResponse {
  /** Unread rest of a streamed answer. */
  readonly stream?: ReadableStream<Uint8Array> | undefined;
}

/** Not every browser goes through a stream by itself. */
async function* partsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {}); // it is over in any case
  }
}

/** Creates a signal that aborts after a time, like `AbortSignal.timeout`, and that can be cancelled. */
function patienceOf(waitMs: number): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new DOMException('Too late', 'TimeoutError')), waitMs);
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}

/** No answer: the service is away, or the connection was cut. */
class Lost {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

/** How long to wait before the next attempt; undefined when there is none. */
function waitOf(outcome: ApiResponse | Lost, attempt: number): number | undefined {
  const usual = WAITS_MS[attempt - 1];
  if (usual === undefined || outcome instanceof Lost) return usual;
  if (!PASSING.includes(outcome.status)) return undefined;
  const { 'retry-after': asked } = outcome.headers;
  const askedMs = Number(asked) * 1000;
  if (!(askedMs > 0)) return usual;
  return askedMs > LONGEST_WAIT_MS ? undefined : askedMs;
}

function away({ error }: Lost, what: string, attempts: number): StorageError {
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  return new StorageError(
    'storage.unreachable',
    isLate ? `No answer in time, for ${what}.` : `The service does not answer, for ${what}.`,
    {
      hint: 'Check that it runs, and that this machine is connected.',
      recovery: 'retry',
      cause: error,
      details: { attempts },
    },
  );
}

/** A page knows no secrets. */
const PLAIN = { redact: (text: string): string => text };

const browserEnv: Env = {
  now: () => Date.now(),
  randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  sleep,
};

async function sleep(waitMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, waitMs);
    signal?.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      if (signal?.aborted === true) reject(signal.reason as Error);
      else resolve();
    }
  });
}
