import { CsvError } from './csv-error.ts';
import type { CsvProblem } from './csv-error.ts';
import { CR, LF, NUL } from './dialect.ts';
import type { CsvDialect } from './dialect.ts';

export interface ScanOptions {
  readonly dialect: CsvDialect;
  /** Cells that every record must have. Default: as many as the first record. */
  readonly columns?: number | undefined;
  /** Physical line of the first byte, from 1. Default 1. */
  readonly firstLine?: number | undefined;
}

/** The longest record accepted, in bytes: more is a forgotten quote. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

// Plain numbers: the loop below compares them for every cell. A record is pending in all but the first.
const RECORD_START = 0;
const CELL_START = 1;
const UNQUOTED = 2;
const QUOTED = 3;
const QUOTE_SEEN = 4;
const CR_SEEN = 5;
const ESCAPED = 6;
const ESCAPED_CR = 7;

/**
 * Scanner of strict RFC 4180 over bytes, chunk by chunk, without an object per cell or record.
 *
 * A record ends with LF or CRLF, the last one with or without. CR alone is data only in quotes (RFC 4180 leaves it out
 * of TEXTDATA): elsewhere it is an error, so that a file with old line ends isn't taken for one long record. A blank
 * line is a record of one empty cell. NUL is an error. Encoding and BOM are not checked here: see `check.ts`.
 */
export class CsvScanner {
  /**
   * Called with the offset in the current chunk behind each record (-1 for a last record without line end), and the
   * physical line on which the record started.
   */
  onRecord: ((end: number, line: number) => void) | undefined;
  /** Complete records so far. */
  records = 0;
  /** Cells of a record; 0 before the first one. */
  columns: number;
  /** Physical line of the next byte, from 1. */
  line: number;
  /** Bytes of the longest record, line end included. */
  longestRecord = 0;
  hasLfEnds = false;
  hasCrlfEnds = false;
  /** True when there were line ends (LF or CR) inside quotes. */
  hasQuotedLineEnds = false;

  readonly #dialect: CsvDialect;
  /** 1 for each byte that ends a run of plain bytes. */
  readonly #stopsPlain = new Uint8Array(256);
  readonly #stopsQuoted = new Uint8Array(256);
  #state = RECORD_START;
  #cells = 1;
  #quoteLine = 0;
  /** Line on which the current record starts. */
  #recordLine: number;
  /** Bytes of the current record in earlier chunks. */
  #recordBytes = 0;

  constructor({ dialect, columns, firstLine }: ScanOptions) {
    this.#dialect = dialect;
    this.columns = columns ?? 0;
    this.line = firstLine ?? 1;
    this.#recordLine = this.line;
    for (const byte of [dialect.delimiter, dialect.enclosure, dialect.escape, LF, CR, NUL]) {
      if (byte !== undefined) this.#stopsPlain[byte] = 1;
    }
    for (const byte of [dialect.enclosure, LF, CR, NUL]) {
      if (byte !== undefined) this.#stopsQuoted[byte] = 1;
    }
  }

  /** @throws CsvError at the first byte that breaks a rule; the scanner can't be used afterwards */
  push(chunk: Uint8Array): void {
    const { delimiter, enclosure, escape } = this.#dialect;
    const stopsPlain = this.#stopsPlain;
    const stopsQuoted = this.#stopsQuoted;
    const length = chunk.length;
    let state = this.#state;
    let recordStart = -this.#recordBytes;
    let i = 0;
    // Every index is below `length`, and the tables have 256 entries: the casts only drop `undefined`.
    while (i < length) {
      if (state === QUOTED) {
        while (i < length && stopsQuoted[chunk[i] as number] === 0) i++;
        if (i === length) break;
        const byte = chunk[i++] as number;
        if (byte === enclosure) state = QUOTE_SEEN;
        else if (byte === NUL) throw this.#nul();
        else {
          this.hasQuotedLineEnds = true;
          if (byte === LF) this.line++;
        }
        continue;
      }
      if (state <= CELL_START && chunk[i] === enclosure) {
        this.#quoteLine = this.line;
        state = QUOTED;
        i++;
        continue;
      }
      if (state <= UNQUOTED) {
        state = UNQUOTED;
        while (i < length && stopsPlain[chunk[i] as number] === 0) i++;
        if (i === length) break;
      }
      const byte = chunk[i++] as number;
      if (state === ESCAPED || state === ESCAPED_CR) {
        // An escaped CRLF is escaped as a whole.
        if (state === ESCAPED_CR && byte !== LF) {
          i--;
          state = UNQUOTED;
          continue;
        }
        if (byte === NUL) throw this.#nul();
        if (byte === LF) this.line++;
        state = state === ESCAPED && byte === CR ? ESCAPED_CR : UNQUOTED;
      } else if (byte === LF) {
        if (state === CR_SEEN) this.hasCrlfEnds = true;
        else this.hasLfEnds = true;
        this.#endRecord(i - recordStart, state === CR_SEEN ? 2 : 1);
        const startLine = this.#recordLine;
        this.#recordLine = ++this.line;
        this.onRecord?.(i, startLine);
        recordStart = i;
        state = RECORD_START;
      } else if (state === CR_SEEN) {
        throw this.#bareReturn();
      } else if (byte === delimiter) {
        this.#cells++;
        state = CELL_START;
      } else if (byte === CR) {
        state = CR_SEEN;
      } else if (byte === enclosure) {
        if (state === UNQUOTED)
          throw this.error(
            'quote',
            'there is a quote inside a cell that is not quoted; quote the cell and double the quote',
          );
        state = QUOTED;
      } else if (state === QUOTE_SEEN) {
        throw this.error(
          'quote',
          'there is text after the closing quote of a cell; a quote inside a quoted cell must be doubled',
        );
      } else if (byte === escape) {
        state = ESCAPED;
      } else {
        throw this.#nul();
      }
    }
    this.#state = state;
    this.#recordBytes = length - recordStart;
    if (this.#recordBytes > MAX_RECORD_BYTES) this.#refuseLength(this.#recordBytes);
  }

  /** After the last chunk. @throws CsvError when the last record is not complete */
  end(): void {
    const state = this.#state;
    if (state === RECORD_START) return;
    if (state === QUOTED)
      throw this.error(
        'unterminated',
        'a quoted cell starts here and never ends; its closing quote is missing',
        this.#quoteLine,
      );
    if (state === CR_SEEN) throw this.#bareReturn();
    if (state === ESCAPED) throw this.error('unterminated', 'the file ends with an escape character');
    this.#endRecord(this.#recordBytes, 0);
    this.#state = RECORD_START;
    this.#recordBytes = 0;
    this.onRecord?.(-1, this.#recordLine);
  }

  /** Creates an error at the current place, or at the given one. */
  error(problem: CsvProblem, what: string, line = this.line, record = this.records + 1): CsvError {
    return new CsvError(problem, `Line ${line} (record ${record}): ${what}.`, { line, record });
  }

  #endRecord(bytes: number, lineEndBytes: number): void {
    const isBlank = bytes === lineEndBytes;
    if (this.columns === 0) this.columns = this.#cells;
    if (this.#cells !== this.columns) this.#refuseColumns(isBlank);
    if (bytes > this.longestRecord) {
      if (bytes > MAX_RECORD_BYTES) this.#refuseLength(bytes);
      this.longestRecord = bytes;
    }
    this.records++;
    this.#cells = 1;
  }

  #refuseColumns(isBlank: boolean): never {
    const expected = `${this.columns} ${this.columns === 1 ? 'column was' : 'columns were'} expected`;
    const found = isBlank
      ? 'the line is blank'
      : `there ${this.#cells === 1 ? 'is 1 column' : `are ${this.#cells} columns`}`;
    throw this.error('columns', `${found}, but ${expected}`, this.#recordLine);
  }

  #refuseLength(bytes: number): never {
    throw this.error(
      'tooLong',
      `the record has ${bytes} bytes or more, the limit is ${MAX_RECORD_BYTES}; a closing quote may be missing`,
      this.#recordLine,
    );
  }

  #bareReturn(): CsvError {
    return this.error(
      'lineEnd',
      'there is a carriage return without a line feed outside quotes; end lines with LF or CRLF',
    );
  }

  #nul(): CsvError {
    return this.error('nul', 'there is a NUL byte, which text can not hold');
  }
}
