import type { RateQuota } from './rate-fields.ts';

/** Requests that are taken although nothing was left, until what the API says is nonsense. */
const DISBELIEVED = 2;
/** Requests that are taken after an answer, from which what is left must have become less, and part of them by which. */
const COUNTED = 8;
const LEAST_PART = 1 / 4;
/** The same where it became less by all of them. */
const COUNTED_ALL = 3;
/**
 * Time to a reset from which one request more than is left asks, once in a run, whether a quota is true that says after
 * a reset that nothing is left, and of which nothing was seen to become less.
 */
const TRIED_MS = 5000;
/** A reset may come earlier than an API says, which rounds up to seconds. */
const EARLY_MS = 1000;

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

/** Words of an answer, beside which those of later ones are held. */
interface Claim extends RateQuota {
  readonly number: number;
  readonly atMs: number;
}

/**
 * The requests that an API says are left in a time. What is not left is not asked for. Half of a quota is used as fast
 * as the API answers, and the rest is spread over the time to its reset, once what is left was seen to become less by
 * what was asked: until then it is used at once, which a true quota takes as well, and shows whether it is one.
 */
export class DeclaredQuota {
  readonly #random: () => number;
  #number = 0;
  /** Requests that are left by the latest answer, and those of them that may be asked for. */
  #toldLeft = 0;
  #left: number | undefined;
  #resetAt = 0;
  /** Requests in a window, and the window, as far as they are known. */
  #size: number | undefined;
  #periodMs = 0;
  #spacingMs = 0;
  /** The next request is the first after a reset. */
  #isReset = false;
  /** Number of the last request, and of the last one before the reset. */
  #sent = 0;
  #sentBefore = 0;
  /** Requests that were taken since the reset, and told that nothing is left. */
  #last = 0;
  /** The same beyond the first one, or first after a reset, and none refused. */
  #untrue = 0;
  #isTried = false;
  /** The most that was left of a quota whose size is not told. */
  #mostLeft = 0;
  #isScarce = false;
  /** The quota counts requests. */
  #isTrue = false;
  #claim: Claim | undefined;
  /** Requests that were taken after the claim. */
  #takenSince = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Time between requests. */
  get spacingMs(): number {
    return this.#spacingMs;
  }

  /** Begins a quota anew whose time is over. @returns whether it did */
  renew(nowMs: number): boolean {
    if (this.#left === undefined || nowMs < this.#resetAt) return false;
    this.#forget();
    if (this.#size !== undefined) {
      this.#left = this.#size;
      this.#resetAt = nowMs + this.#periodMs;
      this.#toldLeft = Infinity;
    }
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

  /** Counts a request, of that number. @returns whether it is the first after a reset */
  begin(number: number): boolean {
    this.#sent = number;
    if (this.#left !== undefined) this.#left--;
    const isFirst = this.#isReset;
    this.#isReset = false;
    return isFirst;
  }

  /** Takes what an answer says. @returns what is to be told of it */
  take(answer: QuotaAnswer, nowMs: number): string | undefined {
    const [tightest] = answer.quotas.toSorted((a, b) => speedOf(a) - speedOf(b));
    if (tightest === undefined || this.#untrue >= DISBELIEVED) return undefined;
    const { left } = tightest;
    this.#doubt(answer, { ...tightest, number: answer.number, atMs: nowMs });
    if (this.#untrue >= DISBELIEVED) {
      this.#forget();
      return `RateLimit: ${left === 0 ? 'none' : left} left, and requests are taken: not kept to`;
    }
    if (answer.number >= this.#number) return this.#keep(answer, tightest, nowMs);
    // it was under way, and is among what the later one was told of, as it was told of no less
    if (answer.isTaken && this.#left !== undefined && left >= this.#toldLeft) this.#left++;
    return undefined;
  }

  /** Keeps to what the latest request was told. */
  #keep({ number, isFirst, underWay }: QuotaAnswer, quota: RateQuota, nowMs: number): string | undefined {
    const { left, resetMs, quota: size, windowMs } = quota;
    this.#number = number;
    this.#toldLeft = left;
    this.#mostLeft = Math.max(this.#mostLeft, left);
    this.#size = size;
    this.#periodMs = windowMs ?? Math.max(this.#periodMs, resetMs);
    this.#resetAt = nowMs + resetMs + Math.min(500, resetMs * 0.02) * this.#random();
    // others that are under way may not be counted yet
    this.#left = left - underWay + Number(this.#tries(quota, isFirst));
    const wasScarce = this.#isScarce;
    this.#isScarce = left < (size ?? this.#mostLeft) / 2;
    this.#spacingMs = this.#isTrue && this.#isScarce && left > 0 ? 1 / speedOf(quota) : 0;
    if (!this.#isScarce || wasScarce) return undefined;
    return `RateLimit: ${left}${size === undefined ? '' : ` of ${size}`} left for ${Math.ceil(resetMs / 1000)} s`;
  }

  /** Looks whether an answer fits to those before it. */
  #doubt({ number, isFirst, isTaken }: QuotaAnswer, claim: Claim): void {
    if (claim.left === 0 && !isTaken) [this.#untrue, this.#isTrue] = [0, true];
    if (!isTaken) return;
    if (number > (this.#claim?.number ?? number)) this.#takenSince++;
    if (claim.left === 0 && number > this.#sentBefore)
      this.#untrue += Number(++this.#last > 1 || (isFirst && claim.quota !== 1));
    if (number < this.#number) return;
    if (claim.left > 0) this.#last = 0;
    this.#check(claim);
  }

  /** Holds what is left beside what was left before: it becomes less by what is taken, and more as time passes. */
  #check(now: Claim): void {
    const before = this.#claim;
    if (
      before === undefined ||
      before.quota !== now.quota ||
      now.atMs > before.atMs + before.resetMs - EARLY_MS
    ) {
      this.#begin(now);
      return;
    }
    if (this.#takenSince < COUNTED_ALL) return;
    const { left, atMs, resetMs, quota = left, windowMs = resetMs } = before;
    const renewed = (quota * (now.atMs - atMs)) / Math.max(1, windowMs);
    const less = left - now.left;
    if (less >= this.#takenSince) this.#isTrue = true;
    if (this.#takenSince < COUNTED) return;
    const least = LEAST_PART * this.#takenSince;
    if (less + renewed < least) this.#untrue = DISBELIEVED;
    if (less < least) return;
    this.#isTrue = true;
    this.#begin(now);
  }

  /** Tells whether one request more is to show that a quota is true. */
  #tries({ left, resetMs }: RateQuota, isFirst: boolean): boolean {
    if (left > 0 || this.#isTrue || resetMs < TRIED_MS) return false;
    if (!isFirst || this.#isTried) return this.#untrue > 0;
    return (this.#isTried = true);
  }

  #begin(claim: Claim): void {
    this.#claim = claim;
    this.#takenSince = 0;
  }

  #forget(): void {
    this.#left = undefined;
    this.#spacingMs = 0;
    this.#last = 0;
    this.#sentBefore = this.#sent;
    this.#isReset = true;
  }
}

/** Requests in a millisecond that a quota allows. */
function speedOf({ left, resetMs, quota, windowMs }: RateQuota): number {
  const now = left / Math.max(1, resetMs);
  return quota === undefined || windowMs === undefined ? now : Math.min(now, quota / Math.max(1, windowMs));
}
