const LEAST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Pause after refusals of more at once than were taken before. */
const FEWER_MS = 250;
/** Periods in which APIs count, with what a clock may be late. */
const USUAL_PERIODS_MS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60].map((s) => s * 1020);
/** Part of the time of all pauses after which it is asked again: of a period that is not usual, and of an API that is away. */
const AGAIN = 1 / 2;
const AGAIN_AWAY = 1 / 8;
/** Part by which each answer makes the pace faster, and times that a refusal makes it slower. */
const FASTER = 0.0005;
const SLOWER = 1.02;
/** Answers between refusals after which a refusal makes the pace slower by half. */
const SLOWER_FEW = 5;
/** Answers that are added to those that a pace was learned from, where it becomes faster by one part of so many. */
const LEAST_GUESS = 2;
/** Part of that after a refusal. */
const LESS_GUESSED = 1 / 4;
/** A pace that is learned again differs by less. */
const SURE = 2;
/** Answers between refusals that are too few, and after which the pace becomes faster twice as much. */
const FEW = 20;
const HURRIED = 200;

/** A refusal that is no chance. */
export interface RateRefusal {
  /** As many at once were taken before: it is not for their number. */
  readonly isRate: boolean;
  /** Tells that it may be for the number of requests in a time; an API that has too much to do takes fewer. */
  readonly isOfRate: boolean;
  readonly retryAfterMs: number | undefined;
  /** Requests that are under way still. */
  readonly underWay: number;
}

/** How fast an API answers, and how many at once. */
interface Speed {
  readonly usualMs: number;
  readonly atOnce: number;
}

/**
 * Time between requests, and in which none is sent: after a refusal, and where their rate is refused and not their number.
 * The pace is that of what was taken from one pause to the end of the next.
 */
export class RequestPace {
  readonly #random: () => number;
  /** Bursts of refusals without an answer between them. */
  #refusals = 0;
  /** The last refusal was of a rate. */
  #isRate = false;
  /** How the last refusal looked, and the one before that, with answers between them. */
  #kind: 'rate' | 'away' | undefined;
  #kindBefore: 'rate' | 'away' | undefined;
  #pausedUntil = 0;
  /** Pauses since the last answer. */
  #pausedMs = 0;
  /** When requests were taken again after the last pause, and how many since. */
  #openedMs = 0;
  #isOpened = false;
  #takenSince = 0;
  /** Answers since the last refusal, be it by chance. */
  #unrefused = 0;
  /** Time between requests, where their rate was refused. */
  #paceMs = 0;
  /** Pace that was learned last. */
  #learnedMs = 0;
  /** Part by which each answer makes it faster at least: it was learned from few of them. */
  #guessed = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  get refusals(): number {
    return this.#refusals;
  }

  /** Pauses since the last answer, in milliseconds. */
  get pausedMs(): number {
    return this.#pausedMs;
  }

  get isRate(): boolean {
    return this.#isRate;
  }

  get spacingMs(): number {
    return this.#paceMs;
  }

  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** Begins to count, with the first request. */
  open(nowMs: number): void {
    this.#openedMs = nowMs;
  }

  /** Goes on, as a request is taken after refusals. @param startMs when it was sent */
  goOn(startMs: number, speed: Speed): void {
    this.#learn(startMs, speed);
    this.#kindBefore = this.#kind;
    this.#refusals = 0;
    this.#pausedMs = 0;
    this.#openedMs = startMs;
    this.#isOpened = true;
    this.#takenSince = this.#unrefused = 0;
  }

  /** Makes the pace faster with each answer, the more the longer none was refused. */
  take(usualMs: number, mostAtOnce: number): void {
    this.#takenSince++;
    this.#unrefused++;
    this.#paceMs *= 1 - Math.max(this.#guessed, FASTER * (1 + this.#unrefused / HURRIED));
    if (this.#paceMs * mostAtOnce < usualMs) this.#paceMs = 0;
  }

  /** Takes a refusal that may be by chance: the pace may be too fast. */
  doubt(): void {
    if (this.#paceMs === 0) return;
    this.#paceMs *= SLOWER;
    this.#guessed *= LESS_GUESSED;
    this.#unrefused = 0;
  }

  /** Pauses after the first refusal of a burst. */
  refuse(refusal: RateRefusal, nowMs: number): void {
    this.#kind = !refusal.isRate ? undefined : refusal.isOfRate ? 'rate' : 'away';
    // an API that is away says the same as one that counts: it is not away again and again
    this.#isRate = refusal.isRate && (refusal.isOfRate || this.#kind === this.#kindBefore);
    this.#refusals++;
    const waitMs = refusal.retryAfterMs ?? this.#ownPause(refusal, nowMs);
    this.#pausedMs += waitMs;
    this.pause(waitMs, nowMs);
  }

  /** Sends nothing for a time. */
  pause(waitMs: number, nowMs: number): void {
    const jitterMs = Math.min(500, waitMs * 0.02) * this.#random();
    if (nowMs + waitMs > this.#pausedUntil) this.#pausedUntil = nowMs + waitMs + jitterMs;
  }

  /** Returns the pause where the API names none: until a usual period is over, or shortly where the pace is known. */
  #ownPause({ isRate, underWay }: RateRefusal, nowMs: number): number {
    // fewer at once may be all that is asked for: the answer to one of the others tells
    if (this.#refusals === 1 && !isRate) return underWay > 0 ? 0 : FEWER_MS;
    const goneMs = nowMs - this.#openedMs;
    const isCounted = this.#isRate && this.#paceMs === 0;
    const usualMs = isCounted ? USUAL_PERIODS_MS.find((ms) => ms - goneMs >= LEAST_PAUSE_MS) : undefined;
    const again = this.#isRate ? AGAIN : AGAIN_AWAY;
    const wantedMs = usualMs === undefined ? this.#pausedMs * again : usualMs - goneMs;
    return Math.min(Math.max(wantedMs, LEAST_PAUSE_MS), LONGEST_PAUSE_MS);
  }

  /** Learns a pace from what was taken from the last pause to the end of this one. */
  #learn(nowMs: number, { usualMs, atOnce }: Speed): void {
    if (!this.#isRate) return;
    const isFew = this.#takenSince < FEW;
    const isNew = this.#paceMs === 0;
    this.#guessed = 0;
    // a request alone was refused in the pause: it is no chance; a run may begin with what another one has left
    if (
      (this.#refusals > 1 || (isNew && this.#kind === this.#kindBefore)) &&
      this.#isOpened &&
      this.#takenSince > 0
    ) {
      const learnedMs = (nowMs - this.#openedMs) / this.#takenSince;
      const isSure = learnedMs < SURE * this.#learnedMs && this.#learnedMs < SURE * learnedMs;
      if (isFew && !isSure) this.#guessed = 1 / (LEAST_GUESS + this.#takenSince);
      this.#paceMs = this.#learnedMs = learnedMs;
    } else if (!isNew) this.#paceMs *= isFew ? 1 + SLOWER_FEW / (SLOWER_FEW + this.#takenSince) : SLOWER;
    else if (isFew) {
      this.#paceMs = usualMs / atOnce;
      this.#guessed = 1 / (LEAST_GUESS + this.#takenSince);
    }
  }
}
