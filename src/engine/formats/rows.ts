import { RecordError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json/index.ts';
import type { TextRemarks } from './charset.ts';

/** Rows of a body that is no JSON page. They can be read any number of times, with the same result. */
export interface FormatRows {
  /** Yields the rows in chunks of bounded size, which depend on the bytes alone. */
  chunks(): Generator<readonly Json[]>;
  /**
   * Reads through the body without keeping its rows, and returns the measurements. It yields now and then, so that
   * other work can run meanwhile.
   */
  measure(): Generator<undefined, Measured>;
}

export interface Measured {
  readonly rows: number;
  /** The data beside the rows; null when there is none. */
  readonly envelope: Json;
  /** Names of the columns, where the body has a header. */
  readonly header?: readonly string[] | undefined;
  readonly warning?: string | undefined;
  readonly text?: TextRemarks | undefined;
}

/** Creates the error of a body that breaks off, or is not what it should be. */
export function broken(message: string, hint?: string, cause?: unknown): RecordError {
  return new RecordError('response.broken', message, { hint, cause });
}

/** Counts the rows by reading all of them. */
export function* countRows(chunks: Generator<readonly Json[]>): Generator<undefined, number> {
  let rows = 0;
  for (const chunk of chunks) {
    rows += chunk.length;
    yield;
  }
  return rows;
}
