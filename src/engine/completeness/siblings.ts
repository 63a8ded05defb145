import type { Doubt } from './doubt.ts';

/** The first page of one of several runs of a job, for different values. */
export interface SiblingPage {
  /** Address of the request, without the query. */
  readonly place: string;
  /** Digest of the whole request. */
  readonly request: string;
  readonly rows: number;
  /** Digest of the rows alone. */
  readonly rowsDigest: string;
  readonly isSingle: boolean;
}

/** Requests of one job that are remembered: those of so many runs back, and of twice as many at most. */
const GENERATION = 50_000;
/** So many rows that are the same are no accident in two runs; fewer must be the same in three. */
const MANY_ROWS = 20;
/** Rows of all runs together: less is a list of a few states, which many things share. */
const LEAST_ROWS = 9;

/** Tells whether so many runs, each with so many rows, are answered alike by no accident. */
export function isNoAccident(runs: number, rows: number): boolean {
  return runs >= (rows < MANY_ROWS ? 3 : 2) && runs * rows >= LEAST_ROWS;
}

/**
 * Sees whether the runs of a job for several values are answered differently, and whether some of them are the same run.
 * Bounded memory.
 */
export class Siblings {
  #place: string | undefined;
  #first: string | undefined;
  #rowsDigest: string | undefined;
  #rows = 0;
  #runs = 0;
  #isOneAnswer = true;
  #areOthersAsked = false;
  #young = new Set<number>();
  #old = new Set<number>();
  /** Runs that asked for what one before had asked for, and brought rows. */
  #again: { readonly runs: number; readonly rows: number } | undefined;

  see({ place, request, rows, rowsDigest, isSingle }: SiblingPage): void {
    this.#lookBack(request, rows);
    if (!this.#isOneAnswer) return;
    this.#place ??= place;
    this.#first ??= request;
    this.#rowsDigest ??= rowsDigest;
    this.#rows = rows;
    this.#runs++;
    this.#areOthersAsked ||= request !== this.#first;
    // an address of its own is no parameter that could be unknown, and what is shared by all may stand there
    this.#isOneAnswer = rows > 1 && !isSingle && place === this.#place && rowsDigest === this.#rowsDigest;
  }

  #lookBack(request: string, rows: number): void {
    const digest = Number.parseInt(request.slice(0, 13), 16);
    if (this.#young.has(digest) || this.#old.has(digest))
      this.#again = { runs: (this.#again?.runs ?? 0) + 1, rows: (this.#again?.rows ?? 0) + rows };
    this.#young.add(digest);
    if (this.#young.size < GENERATION) return;
    this.#old = this.#young;
    this.#young = new Set();
  }

  /** @param names of the values that tell the runs apart */
  doubts(names: readonly string[]): readonly Doubt[] {
    return this.#isOneAnswer && this.#areOthersAsked && isNoAccident(this.#runs, this.#rows)
      ? [{ code: 'sameRuns', page: 1, key: 'params', runs: this.#runs, names }]
      : [];
  }

  /** Rows that are there several times because the same was asked for, and runs that brought them. */
  get again(): { readonly runs: number; readonly rows: number } | undefined {
    return this.#again;
  }
}
