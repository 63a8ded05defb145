import { AnswerTimes, MOST_COUNTED } from './answer-times.ts';

/**
 * Part of what more at once could bring in answers in a time (1 where they take no longer, 0 where no more come), from
 * which it is worth it; and from which it goes on as fast.
 */
const WORTH = 0.2;
const FULLY = 0.65;
/** The same, below which a number is far too high. */
const STEEP = -0.5;
/** Standard errors from which a comparison is no chance. */
const SURE = 1.4;
/** Answers from which a number may be given up. */
const LEAST = 3;
/** Answers with a number from which others are compared that are not twice as many. */
const KNOWN = 8;
/** Answers until other numbers are tried again, the first time. */
const PATIENCE = 128;
const MOST_STRIDE = 2;
const LEAST_STRIDE = 2 ** (1 / 4);

/** A request whose answer came. */
interface Timed {
  readonly job: string;
  /** Requests that were under way when it was sent, itself included. */
  readonly atOnce: number;
  /** The limit then. */
  readonly limit: number;
  /** It was beside more than any before, and so may have opened a connection. */
  readonly isNew: boolean;
}

/** An end of a trial. */
export interface TrialEnd {
  /** The number to go on with. */
  readonly to: number;
  readonly why: string;
}

/**
 * Tries numbers of requests at once, one beside another: that which brings more answers in a time is gone on with. A
 * step is a doubling at first, and smaller after each that was not worth it.
 */
export class NumberTrials {
  readonly times = new AnswerTimes();
  #base: number;
  #trial: number | undefined;
  /** Answers with the base are asked for again during a trial. */
  #isBack = false;
  #stride = MOST_STRIDE;
  /** Answers became slower with more at once: fewer may be better. */
  #isSlow = false;
  #isDown = false;
  /** Directions in which the last trials were given up. */
  #givenUp = 0;
  /** Answers until the next trial. */
  #wait = 0;
  #patience = PATIENCE;

  constructor(base: number) {
    this.#base = base;
  }

  get isTrying(): boolean {
    return this.#trial !== undefined;
  }

  get isDoubling(): boolean {
    return this.#stride === MOST_STRIDE && !this.#isSlow;
  }

  /** Takes the time of an answer. @param isJudged it may be compared with others */
  add({ job, atOnce, limit, isNew }: Timed, ms: number, isJudged: boolean): void {
    this.#wait--;
    const [base, trial] = [this.#base, this.#trial];
    const isBase = limit === base && atOnce === base && !isNew;
    const isTrial = limit === trial && atOnce > Math.min(trial - 1, (base + trial) / 2);
    this.times.add(job, ms, !isJudged ? undefined : isBase ? 'base' : isTrial ? 'trial' : undefined);
  }

  /** Begins anew at a number that something else demands. */
  restart(base: number): void {
    this.#base = base;
    this.#trial = undefined;
    this.#isBack = false;
    this.#givenUp = 0;
    this.#wait = 0;
    this.times.restart();
  }

  /** Ends a trial that is decided. */
  judge(): TrialEnd | undefined {
    const [base, trial] = [this.#base, this.#trial];
    if (trial === undefined) return undefined;
    const span = Math.log(trial / base);
    const found = this.times.compare();
    if (found === undefined) return this.times.count('trial') >= trial ? this.#end(true, 1) : undefined;
    const share = 1 - found.longer / span;
    const doubt = (SURE * found.error) / Math.abs(span);
    const isFast = found.count >= 2 && trial > base && share - doubt > FULLY;
    const isSure = isFast || (found.count >= LEAST && Math.abs(share - WORTH) > doubt);
    if (!isSure && found.count < MOST_COUNTED) return this.#askMore(base, trial);
    return this.#end(share > WORTH === trial > base, share, Math.exp(found.longer));
  }

  /** Begins a trial. @param above the number to try where more is to be tried @returns the number */
  begin(above: (stride: number) => number): number {
    if (this.#wait > 0) return this.#base;
    if (this.#stride < MOST_STRIDE && this.times.count('base') < KNOWN) return this.#base;
    if (this.#isDown && !this.#isSlow) this.#turn();
    let wanted = this.#wanted(above);
    if (wanted === this.#base) {
      this.#turn();
      wanted = this.#isDown && !this.#isSlow ? this.#base : this.#wanted(above);
    }
    if (wanted === this.#base) return wanted;
    this.#trial = wanted;
    return wanted;
  }

  /** Goes back and forth between the numbers that are compared, where too little is known of one of them. */
  #askMore(base: number, trial: number): TrialEnd | undefined {
    const [known, tried] = [this.times.count('base'), this.times.count('trial')];
    const isBack = this.#isBack ? known < tried : tried > 4 * known;
    if (isBack === this.#isBack) return undefined;
    this.#isBack = isBack;
    return { to: isBack ? base : trial, why: 'times vary' };
  }

  #wanted(above: (stride: number) => number): number {
    return this.#isDown
      ? Math.min(this.#base - 1, Math.ceil(this.#base / this.#stride)) || this.#base
      : above(this.#stride);
  }

  #turn(): void {
    this.#isDown = !this.#isDown;
  }

  #end(isTaken: boolean, share: number, longer = 1): TrialEnd {
    const [base, trial = base] = [this.#base, this.#trial];
    this.#trial = undefined;
    this.#isBack = false;
    this.times.endTrial(isTaken);
    const isMore = trial > base;
    if (isTaken) {
      this.#base = trial;
      this.#givenUp = 0;
      if (isMore && share <= FULLY) this.#stride = Math.min(this.#stride, Math.SQRT2);
      else if (isMore && !this.#isSlow) this.#stride = Math.min(MOST_STRIDE, this.#stride ** 2);
      if (isMore) this.#isSlow = share <= FULLY;
    } else {
      if (isMore) this.#isSlow = true;
      // fewer are better than both where answers slow down by far more; else what is next to it is the last to be tried
      if (isMore && share < STEEP && this.#stride === MOST_STRIDE) this.#turn();
      else if (this.#stride <= LEAST_STRIDE || Math.abs(trial - base) === 1) {
        this.#turn();
        this.#givenUp++;
      }
      this.#stride = Math.max(LEAST_STRIDE, Math.sqrt(this.#stride));
      if (this.#givenUp >= 2) {
        this.#wait = this.#patience;
        this.#patience *= 2;
        this.#givenUp = 0;
      }
    }
    const why =
      isTaken && isMore
        ? 'it was used'
        : `answers take ${longer.toFixed(1)} times as long with ${trial} as with ${base}`;
    return { to: this.#base, why };
  }
}
