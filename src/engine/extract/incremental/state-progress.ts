import {
  boundsOf,
  compareMarks,
  markOf,
  type Bounds,
  type BoundsOptions,
  type Incremental,
  type Mark,
} from '../../jobs/index.ts';
import { isScalar, toJsonText, toText, type Json } from '../../../lib/json/index.ts';
import { MOST_EQUAL, newer, type CursorFacts } from './run-cursor.ts';

/** The state of one job, or of one parent row of it, as it is stored. */
export interface StoredValue {
  readonly cursor: Json;
  /** Digests of the rows at the cursor, where they are to be known again. */
  readonly rows?: readonly string[];
  /** Seconds since 1970: the start of the run that had the parent row last. Of parent rows only. */
  readonly at?: number;
}

/** How one run of a job ended: the job as a whole, one window of it, or what one parent row started. */
export interface EndedInvocation {
  readonly facts: CursorFacts;
  /** The value that is kept. */
  readonly kept: Json | undefined;
  /** It saw all that it asked for. */
  readonly isComplete: boolean;
}

export interface ProgressOptions {
  readonly key?: string;
  /** Several parent rows share the state. */
  readonly isShared: boolean;
  /** The newest window comes first. */
  readonly isBackward: boolean;
}

/**
 * Progress of the state of one job, or of one parent row of it, while its runs end one after another.
 *
 * It moves as far as everything before was read: windows in ascending order move it one by one up to the first that may
 * be incomplete; in descending order, or if several parent rows share the state, all must be complete.
 */
export class StateProgress {
  readonly stored: Json | undefined;
  /** Digests of the rows at the stored value that were there before. */
  readonly storedRows: readonly string[];
  /** Names the part of the job that it is about; undefined for the job as a whole. */
  readonly key: string | undefined;
  readonly #settings: Incremental;
  readonly #isOneByOne: boolean;
  readonly #takesFirst: boolean;
  #newest: Mark | undefined;
  /** Digests of the rows at {@link #newest}. */
  #rows: readonly string[] = [];
  #kept: Json | undefined;
  #isStopped = false;
  #isVoid = false;

  constructor(
    settings: Incremental,
    stored: Omit<StoredValue, 'at'> | undefined,
    { key, isShared, isBackward }: ProgressOptions,
  ) {
    this.key = key;
    this.#settings = settings;
    this.stored = stored?.cursor;
    this.storedRows = stored?.rows ?? [];
    this.#isOneByOne = !isShared && !isBackward;
    this.#takesFirst = isBackward;
  }

  bounds(options: Omit<BoundsOptions, 'stored'>): Bounds {
    return boundsOf(this.#settings, { ...options, stored: this.stored });
  }

  end({ facts, kept, isComplete }: EndedInvocation): void {
    if (this.#isStopped) return;
    if (isComplete) {
      this.#take(facts.newest, facts.equal);
      if (kept !== undefined && !(this.#takesFirst && this.#kept !== undefined)) this.#kept = kept;
      return;
    }
    this.#isStopped = true;
    if (!this.#isOneByOne) this.#isVoid = true;
    // rows that are equal to the last one may be on a page that was not asked for
    else if (this.#settings.order === 'ascending' && facts.isInOrder) this.#take(facts.below, []);
  }

  #take(mark: Mark | undefined, rows: readonly string[]): void {
    const before = this.#newest;
    this.#newest = newer(before, mark);
    if (mark === undefined) return;
    const order = before === undefined ? 1 : compareMarks(mark, before);
    if (order === 0) this.#rows = together(this.#rows, rows);
    else if (this.#newest === mark) this.#rows = rows;
  }

  /** Takes a run that was skipped. */
  skip(): void {
    this.#isStopped = true;
    if (!this.#isOneByOne) this.#isVoid = true;
  }

  /** A run was not complete. */
  get isHeld(): boolean {
    return this.#isStopped;
  }

  /** The value to be stored; undefined where there is none. It never moves back. */
  get next(): Json | undefined {
    if (this.#settings.keep !== undefined && !this.#isVoid) return this.#kept ?? this.stored;
    const newest = this.#newest;
    return newest !== undefined && this.#moves > 0 ? newest.value : this.stored;
  }

  /** Digests of the rows at {@link next}. */
  get nextRows(): readonly string[] {
    if (!this.#settings.dropsKnown) return [];
    if (this.#moves > 0) return this.#rows;
    return this.#moves === 0 ? together(this.storedRows, this.#rows) : this.storedRows;
  }

  /** Compares the newest value with the stored one: above 0 where the state moves; below 0 also where nothing is known. */
  get #moves(): number {
    const newest = this.#newest;
    if (this.#isVoid || newest === undefined) return -1;
    const before = this.stored === undefined ? undefined : markOf(this.stored, this.#settings.as);
    // nobody knows whether one of another kind is newer
    return before === undefined ? 1 : (compareMarks(newest, before) ?? -1);
  }

  /** The newest value, where it is of another kind than the stored one, as a number and a time are. */
  get ofOtherKind(): Json | undefined {
    const { as, keep } = this.#settings;
    const before = this.stored === undefined || keep !== undefined ? undefined : markOf(this.stored, as);
    const newest = this.#newest;
    const isOther = before !== undefined && newest !== undefined && before.kind !== newest.kind;
    return isOther ? newest.value : undefined;
  }
}

/** Joins digests; where they are too many, none are known. */
function together(a: readonly string[], b: readonly string[]): readonly string[] {
  const all = new Set([...a, ...b]);
  return all.size > MOST_EQUAL ? [] : [...all];
}

export function valueText(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  return isScalar(value) ? toText(value) : toJsonText(value);
}
