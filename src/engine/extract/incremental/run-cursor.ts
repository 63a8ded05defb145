import { compareMarks, type Incremental, type Mark, type MarkKind } from '../../jobs/index.ts';
import { isScalar, toText, type Json } from '../../../lib/json/index.ts';
import type { Contexts } from '../../shared/evaluate.ts';
import { markOfRow, rowDigest } from './row-limits.ts';

/** Facts about the state from the rows of one run. */
export interface CursorFacts {
  readonly rows: number;
  /** The newest value; undefined where there is none, or they cannot be compared. */
  readonly newest: Mark | undefined;
  /** Digests of the rows at the newest value; none where they are not asked for, or are too many. */
  readonly equal: readonly string[];
  /** The newest value below that. */
  readonly below: Mark | undefined;
  /** Rows without the cursor. */
  readonly missing: number;
  /** Rows whose cursor cannot be compared. */
  readonly odd: Examples;
  /** Rows whose time is ahead of the clock. */
  readonly future: Examples;
  /** Values of several kinds came, so that none of them is the newest. */
  readonly isMixed: boolean;
  /** Each row is at or behind the one before, as far as they can be compared. */
  readonly isInOrder: boolean;
}

export interface Examples {
  readonly count: number;
  readonly first: string;
}

/** Rows at the newest value that are known again in the next run; where there are more, all of them come again. */
export const MOST_EQUAL = 1000;

interface Newest {
  newest: Mark;
  below: Mark | undefined;
  /** The first rows at `newest`, one more than are stored. */
  rows: Json[];
}

/** A clock may be wrong by so much. */
const AHEAD_MS = 86_400_000;

/** Looks at the cursor of each row of a run. Of bounded size. */
export class RunCursor {
  readonly #settings: Incremental;
  readonly #contexts: Contexts;
  readonly #part: string;
  readonly #since: Mark | undefined;
  readonly #newest = new Map<MarkKind, Newest>();
  #last: Mark | undefined;
  #isInOrder = true;
  #rows = 0;
  #missing = 0;
  #odd: Examples = { count: 0, first: '' };
  #future: Examples = { count: 0, first: '' };

  /**
   * @param part names the part of the job that the rows are of
   * @param since rows before it are dropped, and do not count: in a first run the state would be before its beginning
   */
  constructor(settings: Incremental, contexts: Contexts, part: string, since: Mark | undefined) {
    this.#settings = settings;
    this.#since = since;
    this.#part = part;
    this.#contexts = contexts;
  }

  /**
   * Takes decoded rows, in their order.
   *
   * @param now milliseconds since 1970 when they came
   */
  take(rows: readonly Json[], now: number): void {
    for (const row of rows) this.#take(row, now);
  }

  facts(): CursorFacts {
    const [only, second] = this.#newest.values();
    const isMixed = second !== undefined;
    return {
      rows: this.#rows,
      newest: isMixed ? undefined : only?.newest,
      equal: isMixed ? [] : this.#equal(only?.rows ?? []),
      below: isMixed ? undefined : only?.below,
      missing: this.#missing,
      odd: this.#odd,
      future: this.#future,
      isMixed,
      isInOrder: this.#isInOrder,
    };
  }

  #take(row: Json, now: number): void {
    this.#rows++;
    const { value, mark } = markOfRow(this.#settings, row, this.#contexts);
    if (value === undefined) {
      this.#missing++;
      return;
    }
    if (mark === undefined) {
      this.#odd = another(this.#odd, value);
      return;
    }
    this.#checkOrder(mark);
    if (this.#since !== undefined && (compareMarks(mark, this.#since) ?? 0) < 0) return;
    if (isAhead(mark, now) && !this.#settings.takesFuture) {
      this.#future = another(this.#future, value);
      return;
    }
    const known = this.#newest.get(mark.kind);
    const rows = this.#settings.dropsKnown ? [row] : [];
    if (known === undefined) {
      this.#newest.set(mark.kind, { newest: mark, below: undefined, rows });
      return;
    }
    const order = compareMarks(mark, known.newest) ?? 0;
    if (order > 0) this.#newest.set(mark.kind, { newest: mark, below: known.newest, rows });
    else if (order === 0) {
      if (known.rows.length <= MOST_EQUAL) known.rows.push(...rows);
    } else if (known.below === undefined || (compareMarks(mark, known.below) ?? 0) > 0) known.below = mark;
  }

  #equal(rows: readonly Json[]): readonly string[] {
    return rows.length > MOST_EQUAL ? [] : [...new Set(rows.map((row) => rowDigest(row, this.#part)))];
  }

  #checkOrder(mark: Mark): void {
    const { order } = this.#settings;
    if (order === 'none') return;
    const difference = this.#last === undefined ? 0 : (compareMarks(mark, this.#last) ?? 0);
    if (order === 'ascending' ? difference < 0 : difference > 0) this.#isInOrder = false;
    this.#last = mark;
  }
}

/** Returns the newer of two marks; the first of two that cannot be compared. */
export function newer(a: Mark | undefined, b: Mark | undefined): Mark | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (compareMarks(b, a) ?? 0) > 0 ? b : a;
}

/** Tells whether it is a time so far ahead of the clock (milliseconds since 1970) that the clock is no excuse. */
export function isAhead(mark: Mark, now: number): boolean {
  return mark.kind === 'time' && mark.instant.seconds * 1000 > now + AHEAD_MS;
}

const SHOWN = 60;

/** Adds a value, of which the first is kept as an example. */
export function another({ count, first }: Examples, value: Json): Examples {
  const text = isScalar(value) ? `“${toText(value).slice(0, SHOWN)}”` : 'a list or an object';
  return { count: count + 1, first: count === 0 ? text : first };
}
