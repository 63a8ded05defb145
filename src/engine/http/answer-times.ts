/** Answers whose times are compared. */
const TIMES = 16;
/** Answers of a job until its best time is known. */
const LEAST = 3;
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
  #judged: { readonly slowness: number; readonly speed: number }[] = [];

  /** Takes the time of an answer. @param atOnce requests under way, where it is to be judged */
  add(job: string, ms: number, atOnce: number | undefined): void {
    const known = this.#jobs.get(job) ?? { recent: [], bestMs: Infinity };
    this.#jobs.set(job, known);
    if (atOnce !== undefined) {
      const slowness = ms / Math.min(ms, known.bestMs);
      this.#judged = another(this.#judged, { slowness, speed: atOnce / slowness });
    }
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
    return this.#judged.length === 0 ? undefined : median(this.#judged.map((each) => each.slowness));
  }

  /** Answers in the time of the best. */
  get speed(): number {
    return median(this.#judged.map((each) => each.speed));
  }

  /** Enough was judged to go back by it. */
  get isKnown(): boolean {
    return this.#judged.length >= LEAST;
  }

  /** Judges anew. */
  judge(): void {
    this.#judged = [];
  }

  /** Forgets in minutes what was the best at the beginning: pages differ. */
  forget(ms: number): void {
    for (const known of this.#jobs.values()) known.bestMs *= 2 ** (ms / FORGET_MS);
  }
}

function another<T>(values: readonly T[], value: T): T[] {
  return [...values.slice(1 - TIMES), value];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
