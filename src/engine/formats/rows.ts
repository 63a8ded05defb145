import { RecordError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json/index.ts';
import type { TextRemarks } from './charset.ts';

/** The rows of a body that is no JSON page. They can be read any number of times, each time the same. */
export interface FormatRows {
  /** In chunks of bounded size, which depend on the bytes alone. */
  chunks(): Generator<readonly Json[]>;
  /**
   * Looks through the body without keeping its rows, and gives what is asked of it. It stops now and then, so that
   * others may work meanwhile.
   */
  measure(): Generator<undefined, Measured>;
}

export interface Measured {
  readonly rows: number;
  /** What is beside the rows; null where there is nothing. */
  readonly envelope: Json;
  /** Names of the columns, where the body has a header. */
  readonly header?: readonly string[] | undefined;
  readonly warning?: string | undefined;
  readonly text?: TextRemarks | undefined;
}

/** A body that breaks off, or is not what it should be. */
export function broken(message: string, hint?: string, cause?: unknown): RecordError {
  return new RecordError('response.broken', message, { hint, cause });
}

/** Reads all rows to count them. */
export function* countRows(chunks: Generator<readonly Json[]>): Generator<undefined, number> {
  let rows = 0;
  for (const chunk of chunks) {
    rows += chunk.length;
    yield;
  }
  return rows;
}
