import type { Env } from '../../lib/env.ts';
import type { ApiRequest, ApiResponse, SendWrapper } from '../../engine/shared/message.ts';
import { retryAfterMs } from '../../engine/http/retry-after.ts';

/** Requests that go no further: all that are allowed were made. */
export class BudgetSpent extends Error {
  constructor() {
    super('all requests that are allowed were made');
  }
}

/** The longest wait that an API gets when it asks for one, and how often. */
const LONGEST_WAIT_MS = 20_000;
const MOST_WAITS = 4;

/** How often an API that has given nothing but faults of its own is asked again. */
const MOST_FAULTS = 2;

export interface WireOptions {
  /** Requests, redirects and repeated ones included. */
  readonly maxRequests: number;
  readonly env: Env;
  /** Told before each request: its number, from 1. */
  readonly onRequest?: (request: ApiRequest, number: number) => void;
  /** Told when the API asks to wait. */
  readonly onWait?: (waitMs: number) => void;
}

/**
 * The way to the API for a few requests: none is sent twice, and no more than are allowed. An API that asks to wait
 * gets its time, within bounds; one whose first answer is a fault of its own is asked again.
 */
export class Wire {
  readonly #options: WireOptions;
  readonly #answers = new Map<string, ApiResponse>();
  #sent = 0;
  #waits = 0;
  #faults = 0;
  #isReached = false;
  #last: ApiResponse | undefined;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  get sent(): number {
    return this.#sent;
  }

  get left(): number {
    return Math.max(0, this.#options.maxRequests - this.#sent);
  }

  /** The last answer that came. */
  get last(): ApiResponse | undefined {
    return this.#last;
  }

  /** Times that the API asked to wait. */
  get waits(): number {
    return this.#waits;
  }

  /** Forgets the answers, so that they are asked for again. */
  forgetAll(): void {
    this.#answers.clear();
  }

  readonly tap: SendWrapper = (next) => async (request, options) => {
    const key = keyOf(request);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    for (;;) {
      if (this.left === 0) throw new BudgetSpent();
      this.#sent++;
      this.#options.onRequest?.(request, this.#sent);
      const response = (this.#last = await next(request, options));
      const waitMs = this.#waitFor(response) ?? this.#waitAfterFault(response);
      if (waitMs === undefined) {
        this.#answers.set(key, response);
        return response;
      }
      await this.#options.env.sleep(waitMs, options.signal);
    }
  };

  #waitFor({ status, headers }: ApiResponse): number | undefined {
    if (status !== 429 && status !== 503) return undefined;
    if (this.#waits >= MOST_WAITS || this.left === 0) return undefined;
    const waitMs = retryAfterMs(headers['retry-after'], this.#options.env.now()) ?? 1000 * 2 ** this.#waits;
    if (waitMs > LONGEST_WAIT_MS) return undefined;
    this.#waits++;
    this.#options.onWait?.(waitMs);
    return waitMs;
  }

  /**
   * Returns the milliseconds to wait before a request is repeated; undefined if it is not. Only faults before the first
   * answer of the API are repeated: a later one may be the effect of what was tried.
   */
  #waitAfterFault({ status }: ApiResponse): number | undefined {
    if (status < 500) this.#isReached = true;
    if (this.#isReached || this.#faults >= MOST_FAULTS || this.left === 0) return undefined;
    return 1000 * 2 ** this.#faults++;
  }
}

function keyOf({ method, url, headers, body }: ApiRequest): string {
  const text =
    body === undefined ? '' : typeof body === 'string' ? body : Buffer.from(body).toString('latin1');
  return `${method} ${url}\n${JSON.stringify(headers)}\n${text}`;
}
