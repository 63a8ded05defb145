import { StreamFindings } from '../findings.ts';
import type { ConversionOutcome } from '../report.ts';
import { shownValue, type Value } from './value.ts';

/** Something that has no counterpart; the message says what. */
export class Untaken extends Error {
  readonly value: Value | undefined;

  constructor(message: string, value?: Value) {
    super(message);
    this.value = value;
  }
}

/** Findings about a resource of a source. */
export class SourceFindings extends StreamFindings {
  /** Adds something that makes other rows, or none. */
  not(path: string, message: string, value?: Value): void {
    this.addReason(`${path}\n${message}`, path, message, value === undefined ? undefined : shownValue(value));
  }

  #hasMoreRows = false;
  #hasOtherRows = false;

  /** The degree to which it is taken over, as far as there is no reason against it. */
  get outcome(): Exclude<ConversionOutcome, 'not'> {
    if (this.#hasOtherRows) return 'other rows';
    if (this.#hasMoreRows) return 'more rows';
    return this.columns.length > 0 ? 'equal rows, other columns' : 'exact';
  }

  /** Adds rows that are written here, and left out by the library. */
  moreRows(text: string): void {
    this.note(text);
    this.#hasMoreRows = true;
  }

  /** Adds a way in which the API may answer so that the rows are others than those of the library. */
  otherRows(text: string): void {
    this.note(text);
    this.#hasOtherRows = true;
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
}
