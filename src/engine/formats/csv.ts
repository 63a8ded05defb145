import { CsvError } from '../../lib/csv/csv-error.ts';
import { LF, type CsvDialect } from '../../lib/csv/dialect.ts';
import { CsvScanner } from '../../lib/csv/scan.ts';
import { splitRecord } from '../../lib/csv/split.ts';
import { Utf8Checker } from '../../lib/csv/utf8.ts';
import type { Json } from '../../lib/json/index.ts';
import { utf8Pieces, type BodyBytes } from './body.ts';
import { cellsIn, rowMaker, type RowMaker } from './csv-rows.ts';
import { broken, type FormatRows, type Measured } from './rows.ts';
import { dialectOf, type CsvSettings } from './format-settings.ts';

export interface CsvOptions {
  readonly settings: CsvSettings;
  readonly format: 'csv' | 'tsv';
  /** Encoding that the response declares; the settings override it. */
  readonly charset: string | undefined;
}

/** Whole records as bytes, and their number. */
interface Block {
  readonly bytes: Uint8Array;
  readonly records: number;
}

/**
 * Reads the records of CSV as rows: an object of texts for each. The rules are those of RFC 4180, as for the files of a
 * storage: a quote that stays open, a record with too few or too many cells, a blank line and bytes that are no UTF-8
 * are errors that name the line. An empty cell is an empty text, quoted or not.
 */
export function csvRows(body: BodyBytes, options: CsvOptions): FormatRows {
  return new CsvRows(body, options);
}

class CsvRows implements FormatRows {
  readonly #body: BodyBytes;
  readonly #options: CsvOptions;
  readonly #dialect: CsvDialect;

  constructor(body: BodyBytes, options: CsvOptions) {
    this.#body = body;
    this.#options = options;
    this.#dialect = dialectOf(options.settings, options.format);
  }

  *chunks(): Generator<readonly Json[]> {
    let make: RowMaker | undefined;
    for (const { bytes, records } of this.#blocks()) {
      const cells = cellsIn(bytes, this.#dialect);
      if (make === undefined) {
        const width = cells.length / records;
        const { names, isRow } = this.#head(cells.slice(0, width));
        make = rowMaker(names);
        const rest = isRow ? cells : cells.slice(width);
        if (rest.length > 0) yield make(rest, rest.length / width);
      } else yield make(cells, records);
    }
  }

  *measure(): Generator<undefined, Measured> {
    let header: readonly string[] | undefined;
    let rows = 0;
    for (const { bytes, records } of this.#blocks()) {
      rows += records;
      if (header === undefined) {
        const { names, isRow } = this.#head(splitRecord(bytes, this.#dialect));
        header = names;
        if (!isRow) rows--;
      }
      yield;
    }
    return { rows, envelope: null, header };
  }

  /** Returns the names of the columns, and whether the first record is a row. */
  #head(first: readonly string[]): { readonly names: readonly string[]; readonly isRow: boolean } {
    const { header } = this.#options.settings;
    if (header === 'none') return { names: first.map((_, i) => positional(i)), isRow: true };
    if (header !== 'first') return { names: header, isRow: !header.every((name, i) => first[i] === name) };
    const names = namesOf(first);
    this.#checkDelimiter(names);
    return { names, isRow: false };
  }

  /** Throws for a single column whose name contains another delimiter: the delimiter was misunderstood. */
  #checkDelimiter(names: readonly string[]): void {
    const [only = ''] = names;
    if (names.length > 1 || this.#options.settings.delimiter !== undefined) return;
    const other = [';', '\t', '|', ','].find((mark) => only.includes(mark));
    if (other === undefined) return;
    const shown = other === '\t' ? '\\t' : other;
    throw broken(
      `The CSV has one column, and its header “${only.slice(0, 100)}” has “${shown}” in it.`,
      `Set “csv.delimiter” of the job to "${shown}"; or, if there is only this one column, to ",".`,
    );
  }

  /** Yields the records in blocks, checked. */
  *#blocks(): Generator<Block> {
    const { settings, charset } = this.#options;
    const { header } = settings;
    const scanner = new CsvScanner({
      dialect: this.#dialect,
      columns: typeof header === 'string' ? undefined : header.length,
      firstLine: settings.skip + 1,
    });
    let end = 0;
    scanner.onRecord = (offset) => (end = offset);
    const utf8 = new Utf8Checker();
    let pending: Uint8Array[] = [];
    let before = 0;
    try {
      for (const piece of withoutLines(utf8Pieces(this.#body, settings.encoding ?? charset), settings.skip)) {
        const badLine = utf8.push(piece);
        end = 0;
        scanner.push(badLine < 0 ? piece : piece.subarray(0, badLine));
        if (badLine >= 0) throw notUtf8(scanner);
        if (end > 0) {
          const whole = piece.subarray(0, end);
          yield {
            bytes: pending.length === 0 ? whole : Buffer.concat([...pending, whole]),
            records: scanner.records - before,
          };
          before = scanner.records;
          pending = [];
        }
        if (end < piece.length) pending.push(piece.subarray(end));
      }
      if (!utf8.end()) throw notUtf8(scanner);
      scanner.end();
    } catch (error) {
      throw error instanceof CsvError
        ? brokenCsv(error)
        : isDecoding(error)
          ? wrongEncoding(settings.encoding ?? charset, scanner.line)
          : error;
    }
    if (pending.length > 0) yield { bytes: Buffer.concat(pending), records: scanner.records - before };
  }
}

function notUtf8(scanner: CsvScanner): CsvError {
  return scanner.error('encoding', 'the text is not UTF-8');
}

function brokenCsv(error: CsvError): Error {
  const hint =
    error.problem === 'encoding'
      ? 'Set “csv.encoding” of the job to the encoding of the file, such as "windows-1252".'
      : error.problem === 'unterminated'
        ? 'The answer was cut, or a quote is not closed: ask again, or look at that line with gex explain.'
        : 'If the file has another form, set “csv” of the job: delimiter, quote, header, skip.';
  return broken(`The CSV of the response is broken. ${error.message}`, hint, error);
}

function isDecoding(error: unknown): boolean {
  return error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
}

function wrongEncoding(encoding: string | undefined, line: number): Error {
  return broken(
    `The CSV of the response is not ${encoding ?? 'what its byte order mark says'}, on line ${line} or soon behind it.`,
    'Set “csv.encoding” of the job to the encoding of the file.',
  );
}

/** Returns the name of a column that has none. */
function positional(index: number): string {
  return `column_${index + 1}`;
}

function namesOf(cells: readonly string[]): readonly string[] {
  const names = cells.map((name, i) => (name === '' ? positional(i) : name));
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice === undefined) return names;
  throw broken(
    `The CSV has two columns that are called “${twice}”.`,
    'Give the columns names by “csv.header” of the job, and leave the line of the header out by "skip": 1.',
  );
}

function* withoutLines(pieces: Iterable<Uint8Array>, count: number): Generator<Uint8Array> {
  let left = count;
  for (const piece of pieces) {
    let start = 0;
    while (left > 0 && start < piece.length) {
      const feed = piece.indexOf(LF, start);
      start = feed < 0 ? piece.length : feed + 1;
      if (feed >= 0) left--;
    }
    if (start < piece.length) yield piece.subarray(start);
  }
}
