import type { RateQuota } from './rate-fields.ts';

/** Requests that are taken although nothing was left, until what the API says is nonsense. */
const DISBELIEVED = 2;

/** A request that was answered, and what it says of a quota. */
export interface QuotaAnswer {
  /** Number of the request: what a later one says counts. */
  readonly number: number;
  /** It was the first after a reset. */
  readonly isFirst: boolean;
  readonly isTaken: boolean;
  readonly quotas: readonly RateQuota[];
  /** Requests that are under way now. */
  readonly underWay: number;
}

/**
 * The requests that an API says are left in a time. Half of a quota is used as fast as the API answers, the rest is
 * spread over the time to its reset, and what is not left is not asked for.
 */
export class DeclaredQuota {
  readonly #random: () => number;
  #number = 0;
  #left: number | undefined;
  #resetAt = 0;
  #spacingMs = 0;
  /** The next request is the first after a reset. */
  #isReset = false;
  /** An answer said that nothing is left until the reset. */
  #isEmpty = false;
  /** Requests that were taken after that, or first after a reset that left nothing, and none refused. */
  #untrue = 0;
  /** The most that was left of a quota whose size is not told. */
  #mostLeft = 0;
  #isScarce = false;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Time between requests. */
  get spacingMs(): number {
    return this.#spacingMs;
  }

  /** Forgets a quota whose time is over. @returns whether it did */
  renew(nowMs: number): boolean {
    if (this.#left === undefined || nowMs < this.#resetAt) return false;
    this.#forget();
    return true;
  }

  /** Returns when there is more, where a quota is known, and whether something is left until then. */
  get known(): { readonly resetAt: number; readonly isSpent: boolean } | undefined {
    return this.#left === undefined ? undefined : { resetAt: this.#resetAt, isSpent: this.#left <= 0 };
  }

  /** Returns how long a refusal lasts by what the API says, where it is believed. */
  resetOf(quotas: readonly RateQuota[]): number | undefined {
    if (this.#untrue >= DISBELIEVED) return undefined;
    return quotas.find(({ left, resetMs }) => left === 0 && resetMs > 0)?.resetMs;
  }

  /** Counts a request. @returns whether it is the first after a reset */
  begin(): boolean {
    if (this.#left !== undefined) this.#left--;
    const isFirst = this.#isReset;
    this.#isReset = false;
    return isFirst;
  }

  /** Takes what an answer says. @returns what is to be told of it */
  take({ number, isFirst, isTaken, quotas, underWay }: QuotaAnswer, nowMs: number): string | undefined {
    const [tightest] = quotas.toSorted((a, b) => speedOf(a) - speedOf(b));
    if (number < this.#number || tightest === undefined || this.#untrue >= DISBELIEVED) return undefined;
    this.#number = number;
    const { left, resetMs, quota } = tightest;
    if (left === 0) {
      if (!isTaken) this.#untrue = 0;
      else if (this.#isEmpty || (isFirst && quota !== 1)) this.#untrue++;
      if (this.#untrue >= DISBELIEVED) {
        this.#forget();
        return 'RateLimit: none left, and requests are taken: not kept to';
      }
    }
    this.#isEmpty = left === 0;
    this.#mostLeft = Math.max(this.#mostLeft, left);
    this.#resetAt = nowMs + resetMs + Math.min(500, resetMs * 0.02) * this.#random();
    // others that are under way may not be counted yet
    this.#left = left - underWay;
    const wasScarce = this.#isScarce;
    this.#isScarce = left < (quota ?? this.#mostLeft) / 2;
    this.#spacingMs = this.#isScarce && left > 0 ? 1 / speedOf(tightest) : 0;
    if (!this.#isScarce || wasScarce) return undefined;
    return `RateLimit: ${left}${quota === undefined ? '' : ` of ${quota}`} left for ${Math.ceil(resetMs / 1000)} s`;
  }

  #forget(): void {
    this.#left = undefined;
    this.#spacingMs = 0;
    this.#isEmpty = false;
    this.#isReset = true;
  }
}

/** Requests in a millisecond that a quota allows. */
function speedOf({ left, resetMs, quota, windowMs }: RateQuota): number {
  const now = left / Math.max(1, resetMs);
  return quota === undefined || windowMs === undefined ? now : Math.min(now, quota / Math.max(1, windowMs));
}
