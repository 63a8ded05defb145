import type { Reason } from '../report.ts';
import { shownValue, type Value } from './value.ts';

/** Something that has no counterpart; the message says what. */
export class Untaken extends Error {
  readonly value: Value | undefined;

  constructor(message: string, value?: Value) {
    super(message);
    this.value = value;
  }
}

/** Reasons, columns and notes for the report of one resource. */
export class Findings {
  readonly #reasons: Reason[] = [];
  readonly #columns = new Set<string>();
  readonly #notes = new Set<string>();

  /** Something that makes other rows, or none. */
  not(path: string, message: string, value?: Value): void {
    if (this.#reasons.some((known) => known.path === path && known.message === message)) return;
    this.#reasons.push({ path, message, ...(value === undefined ? {} : { template: shownValue(value) }) });
  }

  /** Something that changes columns alone. */
  column(text: string): void {
    this.#columns.add(text);
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  /** Does the work; what has no counterpart is a reason, and nothing is given. */
  attempt<T>(path: string, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Untaken)) throw error;
      this.not(path, `No counterpart: ${error.message}`, error.value);
      return undefined;
    }
  }

  get reasons(): readonly Reason[] {
    return this.#reasons;
  }

  get columns(): readonly string[] {
    return [...this.#columns];
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }
}
