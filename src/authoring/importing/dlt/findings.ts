import { StreamFindings } from '../findings.ts';
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
