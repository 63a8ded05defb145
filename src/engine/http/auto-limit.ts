import { isoTime } from '../../lib/iso-time.ts';
import { ChanceRefusals } from './chance-refusals.ts';
import { DeclaredQuota } from './declared-quota.ts';
import type { LimitChange, LimitStart, LimitSubject, LimitTrace } from './limit-trace.ts';
import { NumberTrials } from './number-trials.ts';
import type { RateFacts } from './rate-fields.ts';
import { RequestPace } from './request-pace.ts';

/** A request under way. */
export interface LimitTicket {
  /** Its number, from 1. */
  readonly number: number;
  /** Requests that were under way when it was sent, itself included. */
  readonly atOnce: number;
  /** The limit then. */
  readonly limit: number;
  /** It is beside more than any before, and so may be on a new connection. */
  readonly isNew: boolean;
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
      /** The same request was refused before. */
      readonly isAgain?: boolean;
      readonly facts: RateFacts;
    }
  /** Any other failure. */
  | { readonly kind: 'failed' };

type Refusal = Extract<LimitOutcome, { kind: 'refused' }>;

export interface AutoLimitOptions {
  readonly start?: LimitStart | undefined;
  /** Returns a number from 0 to 1, for pauses that do not all end at the same moment. */
  readonly random: () => number;
}

/** The most requests at once, whatever the API takes. */
export const MOST_AT_ONCE = 32;
/** Requests at once to begin with: browsers ask six. */
export const FIRST_LIMIT = 4;
const NEW: LimitStart = { limit: FIRST_LIMIT, wasRefused: false };
/** How long the limit stays below one that was refused: the first time, and where it was refused again. */
const FIRST_BELOW_MS = 10_000;
const BELOW_MS = 180_000;
/** The same in times that an API tells to wait. */
const BELOW_TOLD = 15;
const MOST_CHANGES = 200;
/** Part of the time of an answer over which requests are sent, where a number was refused. */
const APART = 1 / 2;
/** The same while more are tried, so that an API is asked so many at once as it seems. */
const APART_TRIED = 1 / 4;
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
  #limit: number;
  #most = MOST_AT_ONCE;
  #underWay = 0;
  #mostUnderWay = 0;
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
  /** It grows one by one. */
  #wasRefused: boolean;
  #ceiling = Infinity;
  #ceilingUntil = 0;
  /** Number below which it stayed last, and for how long. */
  #below = { most: 0, ms: 0 };
  /** The limit and its ceiling before the last burst of refusals. */
  #before = { limit: 0, ceiling: Infinity };
  /** One request alone was refused again and again. */
  #wasAway = false;
  /** Limit that it doubles to again after the API was away. */
  #back = 0;
  #taken = 0;
  /** Requests that were taken since the limit changed. */
  #takenSince = 0;
  #isUsed = false;
  /** Requests that were taken, by how many were under way: fewer than the last number that was refused. */
  readonly #takenAt: number[] = [];

  /** Requests under way that were sent after the last cut. */
  #sinceCut = 0;
  readonly #chance = new ChanceRefusals();
  readonly #pace: RequestPace;
  readonly #quota: DeclaredQuota;
  #nextAt = 0;

  readonly #trials: NumberTrials;

  constructor({ start = NEW, random }: AutoLimitOptions) {
    this.#limit = Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(start.limit)));
    this.#wasRefused = start.wasRefused;
    this.#trials = new NumberTrials(this.#limit);
    this.#pace = new RequestPace(random);
    this.#quota = new DeclaredQuota(random);
  }

  get limit(): number {
    return this.#limit;
  }

  /** Bursts of refusals since an answer came. */
  get refusals(): number {
    return this.#pace.refusals;
  }

  /** Requests that were taken so far. */
  get taken(): number {
    return this.#taken;
  }

  /** Pauses since an answer came, in milliseconds. */
  get pausedMs(): number {
    return this.#pace.pausedMs;
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
    if (this.#underWay >= this.#limit || (this.refusals > 0 && this.#sinceCut > 0)) return undefined;
    if (this.#quota.renew(nowMs)) this.#nextAt = 0;
    const known = this.#quota.known;
    const quotaMs = known?.isSpent === true ? known.resetAt - nowMs : 0;
    // from the reset on there is no pace
    const nextAt = Math.min(this.#nextAt, known?.resetAt ?? Infinity);
    return Math.max(0, this.#pace.pausedUntil - nowMs, nextAt - nowMs, quotaMs);
  }

  /** @param job name of the job that it is for */
  begin(clockMs: number, job = ''): LimitTicket {
    const nowMs = this.#timeOf(clockMs);
    if (this.#firstMs === undefined) {
      this.#firstMs = nowMs;
      this.#pace.open(nowMs);
    }
    const isNew = ++this.#underWay > this.#mostUnderWay;
    if (isNew) this.#mostUnderWay = this.#underWay;
    this.#isUsed ||= this.#underWay >= this.#limit;
    this.#sinceCut++;
    this.#sent++;
    const isFirst = this.#quota.begin(this.#sent);
    // a number that was refused may be that of requests at the same moment; what is tried is not to begin with a burst
    const part = this.#below.ms > 0 ? APART : this.#trials.isTrying ? APART_TRIED : 0;
    const apartMs = (this.#trials.times.usualMs / this.#limit) * part;
    this.#nextAt =
      Math.max(nowMs, this.#nextAt) + Math.max(this.#quota.spacingMs, this.#pace.spacingMs, apartMs);
    return {
      number: this.#sent,
      atOnce: this.#underWay,
      limit: this.#limit,
      isNew,
      startMs: nowMs,
      job,
      isFirst,
    };
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
    this.#taken++;
    this.#chance.take(ticket);
    if (this.refusals > 0 && ticket.number > this.#cutAt) {
      this.#pace.goOn(ticket.startMs, { usualMs: this.#trials.times.usualMs, atOnce: this.#limit });
      this.#nextAt = Math.max(this.#nextAt, ticket.startMs + this.#pace.spacingMs);
      if (this.#wasAway) this.#back = this.#before.limit;
      this.#wasAway = false;
    }
    this.#pace.take(this.#trials.times.usualMs, MOST_AT_ONCE);
    this.#trials.add(ticket, nowMs - ticket.startMs, ticket.number > this.#cutAt);
    if (ticket.number <= this.#cutAt) return;
    this.#takenAt[ticket.atOnce] = (this.#takenAt[ticket.atOnce] ?? 0) + 1;
    this.#takenSince++;
    const end = this.#trials.judge();
    if (end !== undefined) this.#set(end.to, end.why, nowMs);
    if (this.#trials.isTrying || !this.#isUsed) return;
    const isQuick = this.#trials.isDoubling && !this.#wasRefused;
    if (this.#takenSince < (isQuick ? this.#limit / 2 : this.#limit)) return;
    this.#takenSince = 0;
    this.#isUsed = false;
    this.#set(
      this.#trials.begin((stride) => this.#above(nowMs, stride)),
      'it was used',
      nowMs,
    );
  }

  /** Returns the next number to try. */
  #above(nowMs: number, stride: number): number {
    if (nowMs >= this.#ceilingUntil && this.#limit >= this.#ceiling) this.#ceiling = Infinity;
    // half of the way to what was taken, and one by one beyond
    const known = this.#ceiling === Infinity ? 0 : Math.floor((this.#limit + this.#ceiling) / 2);
    const step = this.#wasRefused ? 0 : Math.floor(this.#limit * stride);
    const wanted = Math.max(this.#limit + 1, step, known, Math.min(this.#limit * 2, this.#back));
    return Math.min(wanted, this.#ceiling, this.#most);
  }

  #refuse(ticket: LimitTicket, refusal: Refusal, nowMs: number): void {
    this.#refused++;
    const retryAfterMs = refusal.retryAfterMs ?? this.#quota.resetOf(refusal.facts.quotas);
    if (ticket.number <= this.#cutAt) {
      // of the same burst: the API may name a later time
      if (retryAfterMs !== undefined) this.#pace.pause(retryAfterMs, nowMs);
      return;
    }
    const isFirst = this.refusals === 0;
    const isByChance = this.#isByChance(ticket, refusal);
    if (isFirst && isByChance) return this.#pace.doubt();
    const { isOfRate, why } = refusal;
    const isRate = this.#isRate(ticket);
    const fewest = this.#chance.settle();
    if (isFirst) this.#before = { limit: this.#limit, ceiling: this.#ceiling };
    if (!isRate) this.#stayBelow(fewest - 1, isOfRate ? (retryAfterMs ?? 0) : 0, nowMs);
    this.#pace.refuse({ isRate, isOfRate, retryAfterMs, underWay: this.#underWay }, nowMs);
    const told = retryAfterMs === undefined ? '' : `, Retry-After ${Math.ceil(retryAfterMs / 1000)} s`;
    const isStillRate = isRate && !isFirst;
    // the number that was held at first to be refused was not
    if (isStillRate) this.#ceiling = this.#before.ceiling;
    this.#wasAway = isStillRate && !isOfRate;
    this.#cut(isStillRate ? this.#limit : Math.floor(this.#limit / 2), `${why}${told}`, nowMs);
  }

  /** Tells whether a refusal says nothing of what the API takes. */
  #isByChance(ticket: LimitTicket, { isAgain }: Refusal): boolean {
    const mayBe = this.#chance.refuse(ticket, this.#sent, isAgain);
    // what is refused when the API says that nothing is left is not by chance
    return mayBe && this.#quota.known?.isSpent !== true;
  }

  /** Tells whether their rate is refused and not their number: as many at once were taken before, or it was alone. */
  #isRate({ atOnce }: LimitTicket): boolean {
    if (atOnce === 1 || (this.refusals > 0 && this.#pace.isRate)) return true;
    return this.#takenWith(atOnce) >= 3 * atOnce;
  }

  /** Goes on with fewer, and counts anew. */
  #cut(wanted: number, why: string, nowMs: number): void {
    this.#cutAt = this.#sent;
    this.#sinceCut = 0;
    this.#wasRefused = true;
    this.#back = 0;
    this.#takenSince = 0;
    this.#isUsed = false;
    this.#force(Math.max(1, Math.min(wanted, this.#ceiling)), why, nowMs);
  }

  /** Stays below a number that was refused: longer where the same one was refused before, or the API names a time. */
  #stayBelow(most: number, toldMs: number, nowMs: number): void {
    const { ms, most: before } = this.#below;
    const wantedMs = ms > 0 && most >= before ? Math.max(BELOW_MS, 2 * ms) : Math.max(FIRST_BELOW_MS, ms);
    this.#below = { most, ms: Math.max(BELOW_TOLD * toldMs, wantedMs) };
    this.#ceiling = Math.max(1, most);
    this.#takenAt.splice(most + 1);
    this.#ceilingUntil = nowMs + this.#below.ms;
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
      if (this.#limit > this.#most) this.#force(this.#most, 'the API says so', nowMs);
    }
    const isTaken = kind === 'taken';
    const told = this.#quota.take({ number, isFirst, isTaken, quotas, underWay: this.#underWay }, nowMs);
    if (told !== undefined) this.#tell(this.#limit, told, nowMs);
  }

  /** Goes on from another number, whatever was tried. */
  #force(limit: number, why: string, nowMs: number): void {
    this.#trials.restart(limit);
    this.#set(limit, why, nowMs);
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
    this.#limit = limit;
    this.#changes.push(change);
    this.#news = [...this.#news, change];
    if (this.#changes.length > MOST_CHANGES) this.#changes.shift();
  }
}
