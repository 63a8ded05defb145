import type { CsvDialect } from './dialect.ts';
import { CsvScanner } from './scan.ts';
import { inPieces, withoutBom, withoutLines } from './source.ts';
import { splitRecord } from './split.ts';
import { Utf8Checker } from './utf8.ts';

export interface CheckOptions {
  readonly dialect: CsvDialect;
  /** The first record holds the names of the columns; or what tells whether it does. Default false. */
  readonly hasHeader?: boolean | ((names: readonly string[]) => boolean);
  /** Physical lines left out unread at the start. Default 0. */
  readonly ignoredLines?: number;
  /** Cells that every record must have. Default: as many as the first record. */
  readonly columns?: number | undefined;
  /** Most columns that a header may name; more are refused before one of them is looked at. Default: any number. */
  readonly maxColumns?: number | undefined;
}

/** What is known of a file; complete when `data` has ended. */
export interface CsvReport {
  /** Names in the header; `undefined` when none was asked for, or the file is empty. */
  readonly header: readonly string[] | undefined;
  /** Records without the header. */
  readonly records: number;
  readonly columns: number;
  /** Bytes of the longest record. */
  readonly longestRecord: number;
  /** Line ends of all records; `lf` when there is none. */
  readonly lineEnd: 'lf' | 'crlf' | 'mixed';
  /** There are line ends inside quotes: not every line end is that of a record. */
  readonly hasQuotedLineEnds: boolean;
}

export interface CsvCheck {
  /**
   * The bytes of the records as they came, without BOM, ignored lines and header. To be read once, to the end.
   * Throws CsvError at the first byte that breaks a rule.
   */
  readonly data: AsyncIterable<Uint8Array>;
  report(): CsvReport;
}

/**
 * Checks CSV while it passes through: structure, column count and encoding (UTF-8).
 * Takes its time in pieces of 1 MiB, so a server can answer meanwhile.
 */
export function checkCsv(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CheckOptions,
): CsvCheck {
  const { dialect, hasHeader = false, ignoredLines = 0, columns, maxColumns = Infinity } = options;
  const scanner = new CsvScanner({ dialect, columns, firstLine: ignoredLines + 1 });
  let header: string[] | undefined;

  return {
    data: hasHeader === false ? checked() : withoutHeader(),
    report: () => ({
      header,
      records: scanner.records - (header === undefined ? 0 : 1),
      columns: scanner.columns,
      longestRecord: scanner.longestRecord,
      lineEnd: scanner.hasCrlfEnds ? (scanner.hasLfEnds ? 'mixed' : 'crlf') : 'lf',
      hasQuotedLineEnds: scanner.hasQuotedLineEnds,
    }),
  };

  async function* checked(): AsyncGenerator<Uint8Array> {
    const encoding = new Utf8Checker();
    for await (const chunk of withoutLines(withoutBom(inPieces(source)), ignoredLines)) {
      const badLine = encoding.push(chunk);
      if (badLine >= 0) {
        // What is wrong before that line is told first.
        scanner.push(chunk.subarray(0, badLine));
        throw scanner.error('encoding', 'the text is not UTF-8; save the file as UTF-8');
      }
      scanner.push(chunk);
      yield chunk;
    }
    if (!encoding.end()) throw scanner.error('encoding', 'the text is not UTF-8; save the file as UTF-8');
    scanner.end();
  }

  async function* withoutHeader(): AsyncGenerator<Uint8Array> {
    const parts: Uint8Array[] = [];
    let isOver = false;
    let end: number | undefined;
    scanner.onRecord = (offset) => {
      end = offset;
      scanner.onRecord = undefined;
    };
    for await (const chunk of checked()) {
      if (isOver) {
        yield chunk;
        continue;
      }
      parts.push(end === undefined ? chunk : chunk.subarray(0, end));
      if (end === undefined) continue;
      isOver = true;
      yield* firstRecord(parts);
      if (end < chunk.length) yield chunk.subarray(end);
    }
    // A header without line end: its record was complete only at the end.
    if (!isOver && parts.length > 0) yield* firstRecord(parts);
  }

  /** Nothing when it is a header, else the record as it came. */
  function firstRecord(parts: readonly Uint8Array[]): readonly Uint8Array[] {
    const names = namesIn(parts);
    if (typeof hasHeader === 'function' && !hasHeader(names)) return parts;
    header = names;
    return [];
  }

  function namesIn(record: readonly Uint8Array[]): string[] {
    if (scanner.columns <= maxColumns) return splitRecord(Buffer.concat(record), dialect);
    const what = `the header has ${scanner.columns} columns, the limit is ${maxColumns}`;
    throw scanner.error('tooManyColumns', what, ignoredLines + 1, 1);
  }
}
