/** Kinds of errors in a CSV file. */
export type CsvProblem =
  | 'dialect'
  | 'columns'
  | 'tooManyColumns'
  | 'quote'
  | 'unterminated'
  | 'lineEnd'
  | 'encoding'
  | 'nul'
  | 'tooLong'
  | 'compression';

/** Error in a file that does not follow RFC 4180. The message names the place; `line` is the physical line from 1. */
export class CsvError extends Error {
  override readonly name = 'CsvError';
  readonly problem: CsvProblem;
  readonly line: number | undefined;
  /** Record from 1; the header counts. */
  readonly record: number | undefined;

  constructor(
    problem: CsvProblem,
    message: string,
    place: { line?: number; record?: number; cause?: unknown } = {},
  ) {
    super(message, place.cause === undefined ? {} : { cause: place.cause });
    this.problem = problem;
    this.line = place.line;
    this.record = place.record;
  }
}
