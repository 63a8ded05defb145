const LEAST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** Pause after refusals of more at once than were taken before. */
const FEWER_MS = 250;
/** Periods in which APIs count, with what a clock may be late. */
const USUAL_PERIODS_MS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60].map((s) => s * 1020);
/** Part of the time of all pauses after which it is asked again: of a period that is not usual, and of an API that is away. */
const AGAIN = 1 / 2;
const AGAIN_AWAY = 1 / 8;
/** Bounds of the step of a pace. As an answer makes it faster by its square, the least is the part that is refused in the end. */
const LEAST_STEP = 1 / 48;
const MOST_STEP = 1 / 2;
/** Answers between two refusals, in parts of those that a step leads to, below which the pace was far too fast. */
const EARLY = 1 / 10;

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
  /** Part by which a refusal makes the pace slower; its square is that by which an answer makes it faster. */
  #step = 0;

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

  /** Makes the pace faster with each answer. */
  take(usualMs: number, mostAtOnce: number): void {
    this.#takenSince++;
    this.#unrefused++;
    this.#paceMs *= 1 - this.#step ** 2;
    if (this.#paceMs * mostAtOnce < usualMs) this.#paceMs = 0;
  }

  /**
   * Takes a refusal that may be by chance: the pace may be too fast. It becomes slower once for each burst: by more where
   * requests are refused early, and by ever less where they are not.
   */
  doubt(): void {
    if (this.#unrefused === 0) return;
    const isEarly = this.#unrefused * this.#step < EARLY;
    this.#step = stepOf(isEarly ? this.#step * 2 : this.#step / 2);
    this.#paceMs *= 1 + this.#step;
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
    const isMeasured = this.#isOpened && this.#takenSince > 0;
    const measuredMs = isMeasured ? (nowMs - this.#openedMs) / this.#takenSince : Infinity;
    if (this.#paceMs > 0) {
      if (this.#unrefused > 0) this.#step = stepOf(this.#step / 2);
      // one that was refused in the pause tells how long it had to be, the more the more were taken; else it may be shorter
      const part = this.#refusals > 1 ? 1 - 1 / (1 + this.#takenSince ** 2) : 1 / 2;
      const wantedMs = this.#paceMs ** (1 - part) * measuredMs ** part;
      const slowerMs = this.#paceMs * (1 + this.#step);
      this.#paceMs = isMeasured ? Math.min(Math.max(slowerMs, wantedMs), measuredMs) : slowerMs;
    } else if (isMeasured && (this.#refusals > 1 || this.#kind === this.#kindBefore)) {
      // a request alone was refused in the pause: it is no chance; a run may begin with what another one has left
      this.#paceMs = measuredMs;
      this.#step = stepOf(2 / this.#takenSince);
    } else {
      this.#paceMs = usualMs / atOnce;
      this.#step = MOST_STEP;
    }
  }
}

/** Keeps a step in its bounds. */
function stepOf(wanted: number): number {
  return Math.min(MOST_STEP, Math.max(LEAST_STEP, wanted));
}
