/** Answers whose times are compared. */
const TIMES = 16;
/** Answers of a job until its best time is known. */
const LEAST = 4;
/** Time in which the best times are allowed to double. */
const FORGET_MS = 300_000;

interface JobTimes {
  recent: number[];
  bestMs: number;
}

/** Times of answers, beside the best ones of the same job: one job's answers may take longer than another's. */
export class AnswerTimes {
  readonly #jobs = new Map<string, JobTimes>();
  #recent: number[] = [];
  #slowness: number[] = [];

  /** Takes the time of an answer. @param isJudged it was asked for beside as many as are at once now */
  add(job: string, ms: number, isJudged: boolean): void {
    const known = this.#jobs.get(job) ?? { recent: [], bestMs: Infinity };
    this.#jobs.set(job, known);
    if (isJudged) this.#slowness = another(this.#slowness, ms / Math.min(ms, known.bestMs));
    this.#recent = another(this.#recent, ms);
    known.recent = another(known.recent, ms);
    if (known.recent.length >= LEAST) known.bestMs = Math.min(known.bestMs, median(known.recent));
  }

  /** Median of the last answers. */
  get usualMs(): number {
    return median(this.#recent);
  }

  /** How many times as long as the best of their jobs the judged answers took; undefined where none was judged. */
  get slowness(): number | undefined {
    return this.#slowness.length === 0 ? undefined : median(this.#slowness);
  }

  /** Enough was judged to go back by it. */
  get isKnown(): boolean {
    return this.#slowness.length >= LEAST;
  }

  /** Judges anew. */
  judge(): void {
    this.#slowness = [];
  }

  /** Forgets in minutes what was the best at the beginning: pages differ. */
  forget(ms: number): void {
    for (const known of this.#jobs.values()) known.bestMs *= 2 ** (ms / FORGET_MS);
  }
}

function another(values: readonly number[], value: number): number[] {
  return [...values.slice(1 - TIMES), value];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
