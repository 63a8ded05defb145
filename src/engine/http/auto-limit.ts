import { isoTime } from '../../lib/iso-time.ts';
import { AnswerTimes } from './answer-times.ts';
import type { RateFacts, RateQuota } from './rate-fields.ts';

/** A change of the limit, or what holds it where it is, for reports. */
export interface LimitChange {
  /** Milliseconds since the first request. */
  readonly atMs: number;
  /** Requests sent so far. */
  readonly sent: number;
  readonly from: number;
  /** The same as before where answers became slow, or the API declares that little is left. */
  readonly to: number;
  /** `429, Retry-After 12 s`, `it was used`, `the API says so`. */
  readonly why: string;
}

/** The requests that a limit counts: those to a host with the same credentials. */
export interface LimitSubject {
  readonly origin: string;
  /** Names the credentials without telling them; absent where there are none. */
  readonly credential?: string | undefined;
}

/** The limit of an origin at the end of a run, and how it came about. */
export interface LimitTrace extends LimitSubject {
  /** When the first request was sent. */
  readonly since: string;
  readonly limit: number;
  readonly sent: number;
  /** Requests that the API refused. */
  readonly refused: number;
  readonly changes: readonly LimitChange[];
}

/** Beginning of a limit by an earlier run. */
export interface LimitStart {
  readonly limit: number;
  /** More was refused then, so that it grows one by one. */
  readonly wasRefused: boolean;
}

/** Keeps limits from run to run. */
export interface LimitKeeper {
  /** Returns what to begin with; undefined for a host that is not known. */
  startOf(subject: LimitSubject): LimitStart | undefined;
  /** Names credentials without telling them: the same name in each run. */
  nameOf(credentials: string): string;
  keep(traces: readonly LimitTrace[]): void;
}

/** A request under way. */
export interface LimitTicket {
  /** Its number, from 1. */
  readonly number: number;
  /** Requests that were under way when it was sent, itself included. */
  readonly atOnce: number;
  readonly startMs: number;
  /** Name of the job that it is for. */
  readonly job: string;
  /** It is the first after the reset of a quota. */
  readonly isFirst: boolean;
}

/** Outcome of a request, as far as it says something of limits. */
export type LimitOutcome =
  | { readonly kind: 'taken'; readonly facts: RateFacts }
  | {
      readonly kind: 'refused';
      readonly why: string;
      readonly retryAfterMs?: number | undefined;
      /** Tells that it may be for the number of requests in a time; an API that has too much to do takes fewer. */
      readonly isOfRate: boolean;
      readonly facts: RateFacts;
    }
  /** Any other failure. */
  | { readonly kind: 'failed' };

export interface AutoLimitOptions {
  readonly start?: LimitStart | undefined;
  /** Returns a number from 0 to 1, for pauses that do not all end at the same moment. */
  readonly random: () => number;
}

/** The most requests at once, whatever the API takes. */
export const MOST_AT_ONCE = 32;
const START = 2;
const NEW: LimitStart = { limit: START, wasRefused: false };
/** How long the limit stays below one that was refused. */
const BELOW_MS = 180_000;
const LEAST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Periods in which APIs count, with what a clock may be late. */
const USUAL_PERIODS_MS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60].map((s) => s * 1020);
/** Part by which each answer makes the pace faster, and times that a refusal makes it slower. */
const FASTER = 0.0005;
const SLOWER = 1.02;
const MOST_SLOWER = 1.25;
/** The same for each answer to a pace that was learned from few of them, until one is refused. */
const GUESSED = 0.05;
/** Answers between refusals that are too few, and after which the pace becomes faster twice as much. */
const FEW = 20;
const HURRIED = 200;
const MOST_CHANGES = 200;
/** Answers over which the share of refusals is looked at, with the share from which they are no chance. */
const SHARES = [
  { over: 20, most: 0.25 },
  { over: 100, most: 0.1 },
];
/** Refusals without an answer between them that are no chance. */
const IN_A_ROW = 3;
/** Pause after refusals of more at once than were taken before. */
const FEWER_MS = 250;
/** Resets after which nothing is left, until what the API says is nonsense. */
const DISBELIEVED = 2;
/** Answers that take so many times as long as the best ones hold the limit. */
const SLOW = 2;
/** Part of the best speed below which more at once is taken back. */
const WORSE = 0.85;
/** The same for twice as many. */
const BETTER = 1.1;
/** Part of the limit beside which a request is asked to be judged. */
const FULL = 3 / 4;
/** So many at once are not taken back: a few answers may be slow by chance. */
const GENTLE = 4;
/** How long a number that was taken back is not tried again, the first time. */
const PATIENCE_MS = 10_000;
const NONE: readonly LimitChange[] = [];

/**
 * The number of requests that an API likes to have at once: more for each round in which the limit was used, half of it
 * when requests are refused. It doubles until the first refusal, and then stays below what was refused for minutes. Where
 * not the number is refused, but the rate, requests get a pace. It knows no time of its own.
 *
 * A burst of refusals is one: requests that were sent before the limit was cut say nothing of the new one. A request
 * that is refused by chance, and names no time to wait, is none.
 */
export class AutoLimit {
  readonly #random: () => number;
  #limit: number;
  #most = MOST_AT_ONCE;
  #underWay = 0;
  #sent = 0;
  #refused = 0;
  #firstMs: number | undefined;
  readonly #changes: LimitChange[] = [];
  /** Changes since the last request ended or began. */
  #news: readonly LimitChange[] = NONE;
  #lastMs = -Infinity;
  /** Milliseconds that the clock was set back. */
  #behindMs = 0;

  /** Number of the last request that was sent before the last cut. */
  #cutAt = 0;
  #isDoubling: boolean;
  #ceiling = Infinity;
  #ceilingUntil = 0;
  #belowMs = BELOW_MS;
  #taken = 0;
  #isUsed = false;
  /** Requests that were taken since the last cut, by how many were under way. */
  #takenAt: number[] = [];

  /** Shares of answers that were refusals, over as many as `SHARES` says. */
  #shares = SHARES.map(() => 0);
  /** Refusals since the last answer. */
  #inARow = 0;
  /**
   * The first refusal that may be by chance, until a request that was sent later is taken: requests sent until then, and at
   * once; and whether one that was sent later was refused, too.
   */
  #doubt: { readonly at: number; readonly atOnce: number; isSecond: boolean } | undefined;
  /** Bursts of refusals without an answer between them. */
  #refusals = 0;
  /** Requests under way that were sent after the last cut. */
  #sinceCut = 0;
  /** The last refusal was of a rate. */
  #isRate = false;
  #pausedUntil = 0;
  /** Pauses since the last answer. */
  #pausedMs = 0;
  /** When requests were taken again after the last pause, and how many since. */
  #openedMs = 0;
  #isOpened = false;
  #takenSince = 0;
  /** Time between requests, where their rate was refused. */
  #paceMs = 0;
  /** It was learned from few answers, and nothing was refused since. */
  #isGuess = false;

  #quotaOf = 0;
  #left: number | undefined;
  #resetAt = 0;
  #spacingMs = 0;
  #nextAt = 0;
  /** The next request is the first after a reset. */
  #isReset = false;
  /** Resets in a row after which nothing was left, while requests were taken. */
  #emptyResets = 0;
  /** The most that was left of a quota whose size is not told. */
  #mostLeft = 0;

  readonly #times = new AnswerTimes();
  #roundMs = 0;
  /** Requests sent until the limit changed. */
  #changedAt = 0;
  /** Limit that had the most answers in a time, by times beside the best. */
  #best = { limit: 1, speed: 0 };
  #patienceMs = PATIENCE_MS;
  #heldUntil = 0;
  #isHeld = false;
  #isPaced = false;

  constructor({ start = NEW, random }: AutoLimitOptions) {
    this.#limit = Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(start.limit)));
    this.#isDoubling = !start.wasRefused;
    this.#random = random;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Bursts of refusals since an answer came. */
  get refusals(): number {
    return this.#refusals;
  }

  trace({ origin, credential }: LimitSubject): LimitTrace {
    return {
      origin,
      ...(credential === undefined ? {} : { credential }),
      since: isoTime(this.#firstMs ?? 0),
      limit: this.#limit,
      sent: this.#sent,
      refused: this.#refused,
      changes: [...this.#changes],
    };
  }

  /** Returns the milliseconds until the next request may be sent; undefined when one that is under way has to end. */
  waitMs(clockMs: number): number | undefined {
    const nowMs = this.#timeOf(clockMs);
    // after a refusal one request asks whether it is over, beside those that were sent before
    if (this.#underWay >= this.#limit || (this.#refusals > 0 && this.#sinceCut > 0)) return undefined;
    if (this.#left !== undefined && nowMs >= this.#resetAt) this.#forgetQuota();
    const quotaMs = this.#left !== undefined && this.#left <= 0 ? this.#resetAt - nowMs : 0;
    // from the reset on there is no pace
    const nextAt = this.#left === undefined ? this.#nextAt : Math.min(this.#nextAt, this.#resetAt);
    return Math.max(0, this.#pausedUntil - nowMs, nextAt - nowMs, quotaMs);
  }

  /** @param job name of the job that it is for */
  begin(clockMs: number, job = ''): LimitTicket {
    const nowMs = this.#timeOf(clockMs);
    if (this.#firstMs === undefined) this.#firstMs = this.#roundMs = this.#openedMs = nowMs;
    this.#underWay++;
    this.#sinceCut++;
    this.#sent++;
    if (this.#left !== undefined) this.#left--;
    this.#nextAt = Math.max(nowMs, this.#nextAt) + Math.max(this.#spacingMs, this.#paceMs);
    const isFirst = this.#isReset;
    this.#isReset = false;
    return { number: this.#sent, atOnce: this.#underWay, startMs: nowMs, job, isFirst };
  }

  /** Ends a request. @returns what changed by it */
  end(ticket: LimitTicket, outcome: LimitOutcome, clockMs: number): readonly LimitChange[] {
    const nowMs = this.#timeOf(clockMs);
    this.#underWay--;
    if (ticket.number > this.#cutAt) this.#sinceCut--;
    this.#news = NONE;
    if (outcome.kind === 'failed') return NONE;
    this.#declared(ticket, outcome, nowMs);
    if (outcome.kind === 'taken') this.#take(ticket, nowMs);
    else this.#refuse(ticket, outcome, nowMs);
    return this.#news;
  }

  /** Returns a time that never goes back, whatever happens to the clock. */
  #timeOf(clockMs: number): number {
    if (clockMs + this.#behindMs < this.#lastMs) this.#behindMs = this.#lastMs - clockMs;
    return (this.#lastMs = clockMs + this.#behindMs);
  }

  #take(ticket: LimitTicket, nowMs: number): void {
    this.#count(0);
    if (ticket.number > (this.#doubt?.at ?? Infinity)) this.#doubt = undefined;
    if (this.#refusals > 0 && ticket.number > this.#cutAt) {
      this.#setPace(ticket.startMs);
      this.#takenAt = [];
      this.#refusals = 0;
      this.#pausedMs = 0;
      this.#openedMs = ticket.startMs;
      this.#isOpened = true;
      this.#takenSince = 0;
    }
    this.#takenSince++;
    this.#hurry();
    // beside nearly as many as are at once now
    const isJudged = ticket.number > this.#changedAt && ticket.atOnce >= this.#limit * FULL;
    this.#times.add(ticket.job, nowMs - ticket.startMs, isJudged);
    if (ticket.number <= this.#cutAt) return;
    this.#takenAt[ticket.atOnce] = (this.#takenAt[ticket.atOnce] ?? 0) + 1;
    this.#taken++;
    this.#isUsed ||= ticket.atOnce >= this.#limit;
    if (this.#taken >= this.#limit) this.#endRound(nowMs);
  }

  /** Judges a round of answers: as many as may be under way. */
  #endRound(nowMs: number): void {
    const isUsed = this.#isUsed;
    this.#taken = 0;
    this.#isUsed = false;
    const { slowness, isKnown } = this.#times;
    this.#times.forget(nowMs - this.#roundMs);
    this.#roundMs = nowMs;
    if (!isUsed || slowness === undefined) return;
    const times = `answers take ${slowness.toFixed(1)} times as long as the best`;
    const speed = this.#limit / slowness;
    const least = (this.#isDoubling ? BETTER : WORSE) * this.#best.speed;
    if (this.#limit > Math.max(this.#best.limit, GENTLE) && isKnown && speed < least) {
      // more at once brings no more
      this.#isDoubling = false;
      this.#heldUntil = nowMs + this.#patienceMs;
      this.#patienceMs *= 2;
      return this.#set(this.#best.limit, times, nowMs);
    }
    if (speed > this.#best.speed) this.#best = { limit: this.#limit, speed };
    const isSlow = slowness > SLOW;
    if (isSlow && !this.#isHeld) this.#tell(this.#limit, times, nowMs);
    this.#isHeld = isSlow;
    if (!isSlow && nowMs >= this.#heldUntil) this.#grow(nowMs);
  }

  #grow(nowMs: number): void {
    if (nowMs >= this.#ceilingUntil && this.#ceiling !== Infinity && this.#limit >= this.#ceiling) {
      this.#ceiling++;
      this.#ceilingUntil = nowMs + this.#belowMs;
    }
    // half of the way to what was taken, and one by one beyond
    const known = this.#ceiling === Infinity ? 0 : Math.floor((this.#limit + this.#ceiling) / 2);
    const wanted = this.#isDoubling ? this.#limit * 2 : Math.max(this.#limit + 1, known);
    this.#set(Math.min(wanted, this.#ceiling, this.#most), 'it was used', nowMs);
  }

  #refuse(
    ticket: LimitTicket,
    { why, retryAfterMs, isOfRate }: Extract<LimitOutcome, { kind: 'refused' }>,
    nowMs: number,
  ): void {
    this.#refused++;
    if (ticket.number <= this.#cutAt) {
      // of the same burst: the API may name a later time
      if (retryAfterMs !== undefined) this.#pause(nowMs, retryAfterMs);
      if (this.#ceiling !== Infinity) this.#ceiling = Math.max(1, Math.min(this.#ceiling, ticket.atOnce - 1));
      return;
    }
    this.#count(1);
    const isAgain = this.#refusals > 0;
    if (!isAgain && retryAfterMs === undefined && this.#isByChance(ticket))
      return this.#keepInMind(ticket, nowMs);
    const doubted = this.#doubt?.atOnce ?? Infinity;
    const fewest = this.#takenWith(doubted) > 0 ? ticket.atOnce : Math.min(ticket.atOnce, doubted);
    this.#doubt = undefined;
    this.#shares = SHARES.map(() => 0);
    // it was alone, or as many at once were taken before: it is their rate that is refused, and not their number
    const isRate =
      ticket.atOnce === 1 || this.#takenWith(ticket.atOnce) >= 3 * ticket.atOnce || (isAgain && this.#isRate);
    this.#isRate = isRate && isOfRate;
    if (!isRate) {
      if (this.#ceiling !== Infinity) this.#belowMs *= 2;
      this.#stayBelow(fewest - 1, nowMs);
    } else if (isAgain) this.#ceiling = Infinity;
    const wanted = isRate && isAgain ? this.#limit : Math.floor(this.#limit / 2);
    this.#cutAt = this.#sent;
    this.#sinceCut = 0;
    this.#isDoubling = false;
    this.#taken = 0;
    this.#isUsed = false;
    this.#refusals++;
    const waitMs = retryAfterMs ?? this.#ownPause(isRate, nowMs);
    this.#pausedMs += waitMs;
    this.#pause(nowMs, waitMs);
    const told = retryAfterMs === undefined ? '' : `, Retry-After ${Math.ceil(retryAfterMs / 1000)} s`;
    this.#set(Math.max(1, Math.min(wanted, this.#ceiling)), `${why}${told}`, nowMs);
  }

  /**
   * Tells whether a refusal may say nothing of the number of requests and of their rate: few are refused, and not several
   * in a row. APIs, and what is before them, refuse one now and then, whatever they are asked.
   */
  #isByChance({ number }: LimitTicket): boolean {
    if (this.#inARow >= IN_A_ROW) return false;
    if (this.#doubt?.isSecond === true && number > this.#doubt.at) return false;
    return this.#shares.every((share, i) => share <= (SHARES[i]?.most ?? 0));
  }

  #keepInMind({ number, atOnce }: LimitTicket, nowMs: number): void {
    this.#doubt ??= { at: this.#sent, atOnce, isSecond: false };
    this.#doubt.isSecond ||= number > this.#doubt.at;
    if (this.#paceMs === 0) return;
    this.#paceMs *= SLOWER;
    this.#isGuess = false;
    this.#openedMs = nowMs;
    this.#takenSince = 0;
  }

  /** Counts an answer. */
  #count(refused: 0 | 1): void {
    this.#inARow = refused === 0 ? 0 : this.#inARow + 1;
    this.#shares = this.#shares.map((share, i) => share + (refused - share) / (SHARES[i]?.over ?? 1));
  }

  #stayBelow(most: number, nowMs: number): void {
    this.#ceiling = Math.max(1, most);
    this.#ceilingUntil = nowMs + this.#belowMs;
  }

  /** Returns the pause where the API names none: until a usual period is over, or shortly where the pace is known. */
  #ownPause(isRate: boolean, nowMs: number): number {
    // fewer at once may be all that is asked for: the answer to one of the others tells
    if (this.#refusals === 1 && !isRate) return this.#underWay > 0 ? 0 : FEWER_MS;
    const goneMs = nowMs - this.#openedMs;
    const usualMs =
      this.#paceMs > 0 ? undefined : USUAL_PERIODS_MS.find((ms) => ms - goneMs >= LEAST_PAUSE_MS);
    const wantedMs = usualMs === undefined ? this.#pausedMs / 2 : usualMs - goneMs;
    return Math.min(Math.max(wantedMs, LEAST_PAUSE_MS), LONGEST_PAUSE_MS);
  }

  /** Learns a pace from what was taken from the last pause to the end of this one. */
  #setPace(nowMs: number): void {
    if (!this.#isRate) return;
    const isFew = this.#takenSince < FEW;
    this.#isGuess = isFew && this.#refusals > 1;
    // a request alone was refused in the pause: it is no chance; a run may begin with what another one has left
    if (this.#refusals > 1 && this.#isOpened && this.#takenSince > 0)
      this.#paceMs = (nowMs - this.#openedMs) / this.#takenSince;
    else if (this.#paceMs > 0) this.#slowDown();
    else if (isFew) this.#paceMs = this.#times.usualMs / this.#limit;
  }

  #slowDown(): void {
    this.#paceMs *= this.#takenSince < FEW ? MOST_SLOWER : SLOWER;
    this.#isGuess = false;
  }

  /** Makes the pace faster with each answer, the more the longer none was refused. */
  #hurry(): void {
    this.#paceMs *= 1 - (this.#isGuess ? GUESSED : FASTER * (1 + this.#takenSince / HURRIED));
    if (this.#paceMs * MOST_AT_ONCE < this.#times.usualMs) this.#paceMs = 0;
  }

  #pause(nowMs: number, waitMs: number): void {
    const jitterMs = Math.min(500, waitMs * 0.02) * this.#random();
    if (nowMs + waitMs > this.#pausedUntil) this.#pausedUntil = nowMs + waitMs + jitterMs;
  }

  #takenWith(atOnce: number): number {
    return this.#takenAt.reduce((sum, count, level) => (level >= atOnce ? sum + count : sum), 0);
  }

  /** Takes what the API says of its limits; that of a later request counts. */
  #declared(
    { number, isFirst }: LimitTicket,
    { kind, facts: { quotas, atOnce } }: Exclude<LimitOutcome, { kind: 'failed' }>,
    nowMs: number,
  ): void {
    if (atOnce !== undefined && atOnce !== this.#most) {
      this.#most = Math.min(MOST_AT_ONCE, atOnce);
      if (this.#limit > this.#most) this.#set(this.#most, 'the API says so', nowMs);
    }
    if (number < this.#quotaOf) return;
    const [tightest] = quotas.toSorted((a, b) => speedOf(a) - speedOf(b));
    if (tightest === undefined || this.#emptyResets >= DISBELIEVED) return;
    this.#quotaOf = number;
    const { left, resetMs, quota } = tightest;
    if (isFirst) {
      const isEmpty = kind === 'taken' && left === 0 && quota !== 1;
      this.#emptyResets = isEmpty ? this.#emptyResets + 1 : 0;
      if (this.#emptyResets >= DISBELIEVED) {
        this.#tell(
          this.#limit,
          'RateLimit: none left after each reset, and requests are taken: not kept to',
          nowMs,
        );
        return this.#forgetQuota();
      }
    }
    this.#mostLeft = Math.max(this.#mostLeft, left);
    this.#resetAt = nowMs + resetMs + Math.min(500, resetMs * 0.02) * this.#random();
    // others that are under way may not be counted yet
    this.#left = left - this.#underWay;
    // half of a quota is used as fast as the API answers, the rest is spread over the time that is left
    const isScarce = left < (quota ?? this.#mostLeft) / 2;
    this.#spacingMs = isScarce && left > 0 ? 1 / speedOf(tightest) : 0;
    if (isScarce && !this.#isPaced) {
      const of = quota === undefined ? '' : ` of ${quota}`;
      this.#tell(this.#limit, `RateLimit: ${left}${of} left for ${Math.ceil(resetMs / 1000)} s`, nowMs);
    }
    this.#isPaced = isScarce;
  }

  #forgetQuota(): void {
    this.#left = undefined;
    this.#spacingMs = 0;
    this.#nextAt = 0;
    this.#isReset = true;
  }

  #set(limit: number, why: string, nowMs: number): void {
    if (limit !== this.#limit) this.#tell(limit, why, nowMs);
  }

  #tell(limit: number, why: string, nowMs: number): void {
    const change = {
      atMs: nowMs - (this.#firstMs ?? nowMs),
      sent: this.#sent,
      from: this.#limit,
      to: limit,
      why,
    };
    if (limit !== this.#limit) {
      this.#changedAt = this.#sent;
      this.#times.judge();
    }
    this.#limit = limit;
    this.#changes.push(change);
    this.#news = [...this.#news, change];
    if (this.#changes.length > MOST_CHANGES) this.#changes.shift();
  }
}

/** Requests in a millisecond that a quota allows. */
function speedOf({ left, resetMs, quota, windowMs }: RateQuota): number {
  const now = left / Math.max(1, resetMs);
  return quota === undefined || windowMs === undefined ? now : Math.min(now, quota / Math.max(1, windowMs));
}
