import { CR, LF, type CsvDialect } from './dialect.ts';
import { CsvScanner } from './scan.ts';
import { inPieces, withoutBom, withoutLines } from './source.ts';
import { splitRecord } from './split.ts';
import { Utf8Checker } from './utf8.ts';

export interface CsvCheckOptions {
  readonly dialect: CsvDialect;
  /**
   * True when the first record holds the names of the columns; or a function that decides it by them. Default false.
   */
  readonly hasHeader?: boolean | ((names: readonly string[]) => boolean);
  /** Physical lines skipped at the start. Default 0. */
  readonly ignoredLines?: number;
  /** Cells that every record must have. Default: as many as the first record. */
  readonly columns?: number | undefined;
  /**
   * Most columns that a header may name; a header with more is refused before any name is checked. Default: any number.
   */
  readonly maxColumns?: number | undefined;
  /** True when every record of `data` is to end with LF, the last one too, whatever its line end was. Default false. */
  readonly endsWithLf?: boolean;
}

/** Report about a file; complete when `data` has ended. */
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
  /** True when there are line ends inside quotes: not every line end is that of a record. */
  readonly hasQuotedLineEnds: boolean;
  /** Physical line of the first record of `data`, from 1; complete when `data` has given something. */
  readonly firstLine: number;
}

export interface CsvCheck {
  /**
   * Bytes of the records as they came, without BOM, ignored lines and header. Readable once, to the end. Throws
   * CsvError at the first byte that breaks a rule.
   */
  readonly data: AsyncIterable<Uint8Array>;
  report(): CsvReport;
}

/**
 * Checks CSV while it passes through: structure, column count and encoding (UTF-8). Works in pieces of 1 MiB, so that a
 * server can answer meanwhile.
 */
export function checkCsv(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CsvCheckOptions,
): CsvCheck {
  const { dialect, hasHeader = false, ignoredLines = 0, columns, maxColumns = Infinity } = options;
  const scanner = new CsvScanner({ dialect, columns, firstLine: ignoredLines + 1 });
  let header: string[] | undefined;
  let secondLine = ignoredLines + 1;
  let ends: number[] = [];
  scanner.onRecord = (end) => {
    if (scanner.records === 1) secondLine = scanner.line;
    ends.push(end);
  };
  const pieces = options.endsWithLf === true ? withLineFeeds : checked;

  return {
    data: hasHeader === false ? bytesOf(pieces()) : withoutHeader(),
    report: () => ({
      header,
      records: scanner.records - (header === undefined ? 0 : 1),
      columns: scanner.columns,
      longestRecord: scanner.longestRecord,
      lineEnd: scanner.hasCrlfEnds ? (scanner.hasLfEnds ? 'mixed' : 'crlf') : 'lf',
      hasQuotedLineEnds: scanner.hasQuotedLineEnds,
      firstLine: header === undefined ? ignoredLines + 1 : secondLine,
    }),
  };

  async function* checked(): AsyncGenerator<Piece> {
    const encoding = new Utf8Checker();
    for await (const chunk of withoutLines(withoutBom(inPieces(source)), ignoredLines)) {
      ends = [];
      const badLine = encoding.push(chunk);
      if (badLine >= 0) {
        // An error before that line is reported first.
        scanner.push(chunk.subarray(0, badLine));
        throw scanner.error('encoding', 'the text is not UTF-8; save the file as UTF-8');
      }
      scanner.push(chunk);
      yield { bytes: chunk, ends };
    }
    if (!encoding.end()) throw scanner.error('encoding', 'the text is not UTF-8; save the file as UTF-8');
    ends = [];
    scanner.end();
    // A last record without line end ends here.
    if (ends.length > 0) yield { bytes: NOTHING, ends: [0] };
  }

  async function* withLineFeeds(): AsyncGenerator<Piece> {
    // A CR at the end of a chunk waits for what follows.
    let held = NOTHING;
    for await (const piece of checked()) {
      const isLast = piece.bytes.length === 0;
      const whole = behind(held, piece);
      const end = whole.bytes.length - (whole.bytes.at(-1) === CR && !isLast ? 1 : 0);
      const bytes = whole.bytes.subarray(0, end);
      held = whole.bytes.subarray(end);
      if (isLast) yield { bytes: Buffer.concat([bytes, LINE_FEED]), ends: [bytes.length + 1] };
      else yield scanner.hasCrlfEnds ? withoutReturns(bytes, whole.ends) : { ...whole, bytes };
    }
  }

  async function* withoutHeader(): AsyncGenerator<Uint8Array> {
    const parts: Uint8Array[] = [];
    let isOver = false;
    for await (const { bytes, ends: found } of pieces()) {
      const end = isOver ? 0 : found[0];
      if (end === undefined) {
        parts.push(bytes);
        continue;
      }
      if (!isOver) yield* firstRecord([...parts, bytes.subarray(0, end)]);
      isOver = true;
      if (end < bytes.length) yield bytes.subarray(end);
    }
  }

  /** Returns nothing for a header, else the record as it came. */
  function firstRecord(parts: readonly Uint8Array[]): readonly Uint8Array[] {
    const isLong = parts.reduce((sum, { length }) => sum + length, 0) > MAX_HEADER_BYTES;
    if (isLong && typeof hasHeader === 'function') return parts;
    if (isLong) throw scanner.error('tooLong', TOO_LONG, ignoredLines + 1, 1);
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

/** A chunk with the offsets behind the records that end in it. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly ends: readonly number[];
}

/** More than names of columns ever have. */
const MAX_HEADER_BYTES = 4 * 1024 * 1024;
const TOO_LONG = `the header has more than ${MAX_HEADER_BYTES} bytes; a closing quote may be missing`;

const NOTHING: Uint8Array = new Uint8Array(0);
const LINE_FEED = Uint8Array.of(LF);

async function* bytesOf(pieces: AsyncIterable<Piece>): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of pieces) if (bytes.length > 0) yield bytes;
}

function behind(held: Uint8Array, { bytes, ends }: Piece): Piece {
  if (held.length === 0) return { bytes, ends };
  return { bytes: Buffer.concat([held, bytes]), ends: ends.map((end) => end + held.length) };
}

/** Replaces CRLF at the ends of the records by LF: no other record has a CR in front of its last byte. */
function withoutReturns(bytes: Uint8Array, ends: readonly number[]): Piece {
  const kept = new Uint8Array(bytes.length);
  const keptEnds: number[] = [];
  let length = 0;
  let start = 0;
  for (const end of ends) {
    const isCrlf = bytes[end - 2] === CR;
    kept.set(bytes.subarray(start, isCrlf ? end - 2 : end), length);
    length += end - start - (isCrlf ? 1 : 0);
    if (isCrlf) kept[length - 1] = LF;
    keptEnds.push(length);
    start = end;
  }
  kept.set(bytes.subarray(start), length);
  return { bytes: kept.subarray(0, length + bytes.length - start), ends: keptEnds };
}
