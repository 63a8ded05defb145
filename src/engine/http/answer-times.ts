/** Answers whose median is the usual time. */
const RECENT = 16;
/** Answers over which a mean is taken: earlier ones fade. */
export const MOST_COUNTED = 32;
/** Squared deviation of the logarithm of a time that is taken for granted, and how many answers it stands for. */
const FIRST_VARIANCE = { is: 0.01, count: 4 };
const MOST_DEVIATIONS = 100;

/** Answers of a job to requests that were sent at one number at once. */
interface Mean {
  readonly count: number;
  /** Mean of the logarithms of their times. */
  readonly log: number;
}

/** Number at once that an answer is counted for. */
export type Side = 'base' | 'trial';

/** Times of answers with one number at once, beside those with another. */
export interface TimesBeside {
  /** Logarithm of how many times as long answers take with the trial. */
  readonly longer: number;
  /** Its standard error. */
  readonly error: number;
  /** Answers with the trial. */
  readonly count: number;
}

/**
 * Times of answers with one number of requests at once, and with another that is tried. They are compared within each
 * job, as one job's answers may take longer than another's, and by logarithms: times vary by factors.
 */
export class AnswerTimes {
  #means: Record<Side, Map<string, Mean>> = { base: new Map(), trial: new Map() };
  #recent: number[] = [];
  #variance = FIRST_VARIANCE;

  /** Takes the time of an answer. @param side what it is counted for; undefined for neither */
  add(job: string, ms: number, side: Side | undefined): void {
    this.#recent = [...this.#recent.slice(1 - RECENT), ms];
    if (side === undefined) return;
    const means = this.#means[side];
    const { count, log } = means.get(job) ?? { count: 0, log: 0 };
    const off = Math.log(ms + 1) - log;
    if (count > 0) this.#deviate((off ** 2 * count) / (count + 1));
    const counted = Math.min(count + 1, MOST_COUNTED);
    means.set(job, { count: counted, log: log + off / counted });
  }

  /** Median of the last answers. */
  get usualMs(): number {
    return this.#recent.toSorted((a, b) => a - b)[Math.floor(this.#recent.length / 2)] ?? 0;
  }

  /** Compares the trial with the base; undefined where no job has answers of both. */
  compare(): TimesBeside | undefined {
    let [sum, weights, count] = [0, 0, 0];
    for (const [job, trial] of this.#means.trial) {
      count += trial.count;
      const base = this.#means.base.get(job);
      if (base === undefined) continue;
      const weight = (base.count * trial.count) / (base.count + trial.count);
      sum += weight * (trial.log - base.log);
      weights += weight;
    }
    if (weights === 0) return undefined;
    return { longer: sum / weights, error: Math.sqrt(this.#variance.is / weights), count };
  }

  /** Returns how many answers are counted. */
  count(side: Side): number {
    return [...this.#means[side].values()].reduce((sum, { count }) => sum + count, 0);
  }

  /** Ends a trial. @param isTaken its times are those of the base from now on */
  endTrial(isTaken: boolean): void {
    const { base, trial } = this.#means;
    this.#means = { base: isTaken ? trial : base, trial: new Map() };
  }

  /** Begins anew, with another base. */
  restart(): void {
    this.#means = { base: new Map(), trial: new Map() };
  }

  #deviate(square: number): void {
    const count = Math.min(this.#variance.count + 1, MOST_DEVIATIONS);
    this.#variance = { is: this.#variance.is + (square - this.#variance.is) / count, count };
  }
}
