import { idOf, wholeDigest } from '../completeness/index.ts';
import { entriesOf, isNumber, isObject, numberOf, type Json } from '../../lib/json/index.ts';
import type { Window } from '../jobs/index.ts';

/**
 * Rows that are remembered of each end of a window: sorted rows have at an end those that another window may bring, too,
 * and others that come again are many.
 */
const MOST = 1000;
/** Rows without any time that are no accident in two windows, wherever they stand. */
const MANY = 100;
/** The same, where one of the windows has no others. */
const SOME = 3;
const DAY_MS = 86_400_000;

/** Rows of one window of time, as far as they are remembered: the first ones and the last ones. */
export class WindowRows {
  readonly text: string;
  readonly #from: number;
  readonly #to: number;
  readonly #seen = new Map<number, Seen>();
  #taken = 0;
  /** The last rows, looked at when the window ends. */
  #last: (readonly Json[])[] = [];
  #lastCount = 0;

  constructor({ text, from, to }: Pick<Window, 'text' | 'from' | 'to'>) {
    this.text = text;
    this.#from = from;
    this.#to = to;
  }

  take(rows: readonly Json[]): void {
    const first = Math.min(rows.length, MOST - this.#taken);
    for (let i = 0; i < first; i++) this.#note(rows[i] ?? null);
    this.#taken += Math.max(0, first);
    if (first >= rows.length) return;
    const rest = first > 0 ? rows.slice(first) : rows;
    this.#last.push(rest);
    this.#lastCount += rest.length;
    for (let [oldest] = this.#last; oldest !== undefined; [oldest] = this.#last) {
      if (this.#lastCount - oldest.length < MOST) break;
      this.#last.shift();
      this.#lastCount -= oldest.length;
    }
  }

  /** All rows came. */
  end(): void {
    for (const row of this.#last.flat().slice(-MOST)) this.#note(row);
    this.#last = [];
  }

  /** Forgets all: nobody asks any more. */
  clear(): void {
    this.#seen.clear();
  }

  /** The rows that another window brought, too. */
  sharedWith(other: WindowRows): SharedRows {
    const ids = new Map<number | string, number>();
    let isThing = false;
    for (const seen of [this.#seen, other.#seen])
      for (const [digest, { id }] of seen) {
        if (id === undefined) continue;
        // an id with several rows is that of a thing which has one for each day
        isThing ||= ids.has(id) && ids.get(id) !== digest;
        ids.set(id, digest);
      }
    let [timed, dated, bare] = [0, 0, 0];
    for (const [digest, { id, isTimed, isDated }] of other.#seen) {
      const same = this.#seen.get(digest);
      if (same === undefined) continue;
      if (id !== undefined && isDated) dated++;
      else if (id !== undefined) bare++;
      if (isTimed || same.isTimed) timed++;
    }
    const rows = dated + (bare > 0 && this.#isOneBlockOf(bare, other) ? bare : 0);
    return { rows, timed, isThing };
  }

  /**
   * Tells whether shared rows stand where those of windows that overlap do: at the end of one and at the beginning of the
   * other, or as all rows of one. A sum of a few things, such as those that were sold, may be the same on two days.
   */
  #isOneBlockOf(count: number, other: WindowRows): boolean {
    const [before, after] = [[...this.#seen.keys()], [...other.#seen.keys()]];
    const least = Math.min(before.length, after.length);
    if (count >= MANY || count === least) return count >= SOME;
    const isBorder = (ending: number[], beginning: number[]): boolean =>
      new Set([...ending.slice(-count), ...beginning.slice(0, count)]).size === count;
    return isBorder(before, after) || isBorder(after, before);
  }

  #note(row: Json): void {
    const moments = isObject(row) ? entriesOf(row).flatMap(([, value]) => momentOf(value) ?? []) : [];
    this.#seen.set(wholeDigest(row), {
      id: idOf(row),
      isTimed: moments.some((ms) => ms >= this.#from && ms <= this.#to + DAY_MS),
      isDated: moments.length > 0,
    });
  }
}

/** Rows that two windows have in common. */
export interface SharedRows {
  /** Rows that have an id, and a time or the place of rows that are shared by windows which overlap. */
  readonly rows: number;
  /** Rows that have a time of one of the windows. */
  readonly timed: number;
  /** Several rows may have one id. */
  readonly isThing: boolean;
}

interface Seen {
  readonly id: number | string | undefined;
  /** A time in the row is one of the window, or of the day behind it. */
  readonly isTimed: boolean;
  /** The row has any time. */
  readonly isDated: boolean;
}

/** Milliseconds since 1970 of an ISO time, or of seconds or milliseconds since then. */
function momentOf(value: Json): number | undefined {
  if (typeof value === 'string') {
    if (!/^\d{4}-\d\d-\d\d(?:$|[T ]\d)/.test(value)) return undefined;
    const ms = Date.parse(value.includes(':') && !/[Z+]|-\d\d:?\d\d$/.test(value) ? `${value}Z` : value);
    return Number.isNaN(ms) ? undefined : ms;
  }
  const number = isNumber(value) ? numberOf(value) : 0;
  if (number < 1e8) return undefined;
  return number < 1e11 ? number * 1000 : number;
}
