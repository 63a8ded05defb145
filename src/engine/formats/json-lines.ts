import { isAscii } from 'node:buffer';
import {
  isEmpty,
  isList,
  JsonSyntaxError,
  parseExact,
  scanPage,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import { shownText } from '../../lib/shown-text.ts';
import { Utf8Checker } from '../../lib/csv/utf8.ts';
import { piecesOf, utf8Pieces, type BodyBytes } from './body.ts';
import {
  isTellable,
  joinedRemarks,
  markedEncoding,
  otherThanUtf8,
  replacedIn,
  validUtf8,
  type TextRemarks,
} from './charset.ts';
import { broken, type FormatRows, type Measured } from './rows.ts';

export interface JsonLinesOptions {
  /** Path to the rows in a line; undefined when the line is the row. */
  readonly dataField: Path | undefined;
  /** Encoding that the answer declares. */
  readonly charset?: string | undefined;
  readonly isExact: boolean;
  /** Hides secrets in a text before it is shown. */
  readonly redact: (text: string) => string;
}

const LF = 0x0a;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** Whole lines, and the number of the first of them. */
interface Block {
  readonly bytes: Uint8Array;
  readonly line: number;
  readonly remarks?: TextRemarks | undefined;
}

/**
 * Reads JSON lines as rows: one JSON value per line. Blank lines are skipped. A line that is no JSON, or only half of a
 * value at the end, is an error that names the line.
 */
export function jsonLines(body: BodyBytes, options: JsonLinesOptions): FormatRows {
  const { dataField, charset } = options;
  let known: Encoding | undefined;
  const blocks = (): Generator<Block> => blocksOf(body, (known ??= encodingOf(body, charset)));
  return {
    *chunks() {
      for (const block of blocks()) {
        const values = valuesOf(block, options);
        const rows = dataField === undefined ? values : values.flatMap((value) => rowsIn(value, dataField));
        if (rows.length > 0) yield rows;
      }
    },
    *measure() {
      const measured = yield* dataField === undefined
        ? countLines(blocks(), options)
        : countRows(blocks(), dataField, options);
      const contradicted = known?.contradicted;
      return contradicted === undefined
        ? measured
        : { ...measured, text: { ...measured.text, contradicted } };
    },
  };
}

function rowsIn(value: Json, dataField: Path): readonly Json[] {
  const found = dataField.find(value);
  if (found === undefined || isEmpty(found, 'response')) return [];
  return isList(found) ? found : [found];
}

/** Counts without parsing; only the last lines are parsed, because they may be cut off. */
function* countLines(blocks: Iterable<Block>, options: JsonLinesOptions): Generator<undefined, Measured> {
  let rows = 0;
  let last: Block | undefined;
  let text: TextRemarks | undefined;
  for (const block of blocks) {
    text = joinedRemarks(text, block.remarks);
    for (const [from, end] of linesIn(block.bytes)) if (!isBlank(block.bytes, from, end)) rows++;
    last = block;
    yield;
  }
  if (last !== undefined) valuesOf(last, options);
  return { rows, envelope: null, text };
}

function* countRows(
  blocks: Iterable<Block>,
  dataField: Path,
  options: JsonLinesOptions,
): Generator<undefined, Measured> {
  let [rows, lines, without] = [0, 0, 0];
  // the last line may hold a total, or the reason why there are no more rows
  let beside: Json = null;
  let text: TextRemarks | undefined;
  for (const block of blocks) {
    text = joinedRemarks(text, block.remarks);
    for (const value of valuesOf(block, options)) {
      const found = rowsIn(value, dataField).length;
      rows += found;
      lines++;
      if (found > 0) continue;
      without++;
      beside = value;
    }
    yield;
  }
  const warning =
    without === 0
      ? undefined
      : `${without} of ${lines} lines of the response have nothing at “${dataField.text}” and give no row`;
  return { rows, envelope: beside, text, warning };
}

/** Decision how the bytes of a body are read. */
interface Encoding {
  /** Undefined: UTF-8. */
  readonly other: string | undefined;
  /** A declared encoding that the body does not have. */
  readonly contradicted?: string;
}

/**
 * Returns the encoding, as for a JSON document: a body that is UTF-8 throughout is UTF-8, unless it may be so by
 * chance.
 */
function encodingOf(body: BodyBytes, charset: string | undefined): Encoding {
  const first = body.read(0, 64);
  const other = otherThanUtf8(markedEncoding(first) ?? charset);
  if (other === undefined || !isTellable(other, first)) return { other };
  const utf8 = new Utf8Checker();
  let hasOnlyAscii = true;
  for (const piece of piecesOf(body)) {
    if (utf8.push(piece) >= 0) return { other };
    hasOnlyAscii &&= isAscii(piece);
  }
  if (!utf8.end()) return { other };
  return hasOnlyAscii ? { other: undefined } : { other: undefined, contradicted: other };
}

function* blocksOf(body: BodyBytes, { other }: Encoding): Generator<Block> {
  for (const { bytes, line } of rawBlocks(body, other)) {
    if (other === undefined) {
      // no character contains LF: lines are judged separately
      const clean = validUtf8(bytes);
      yield { bytes: clean.bytes, line, remarks: behind(clean.remarks, line) };
    } else {
      const invalid = replacedIn(Buffer.from(bytes).toString('utf8'), other);
      yield { bytes, line, remarks: behind(invalid && { invalid }, line) };
    }
  }
}

function behind(remarks: TextRemarks | undefined, line: number): TextRemarks | undefined {
  const invalid = remarks?.invalid;
  return invalid && { invalid: { ...invalid, line: invalid.line + line - 1 } };
}

/** Yields blocks of lines, split at the end of a piece; a line longer than a piece is gathered. */
function* rawBlocks(body: BodyBytes, other: string | undefined): Generator<Block> {
  let pending: Uint8Array[] = [];
  let line = 1;
  for (const piece of utf8Pieces(body, other, false)) {
    const end = piece.lastIndexOf(LF) + 1;
    if (end === 0) {
      pending.push(piece);
      continue;
    }
    const whole = piece.subarray(0, end);
    const bytes = pending.length === 0 ? whole : Buffer.concat([...pending, whole]);
    yield { bytes, line };
    line += countLf(bytes);
    pending = end === piece.length ? [] : [piece.subarray(end)];
  }
  if (pending.length > 0) yield { bytes: Buffer.concat(pending), line };
}

/** Parses the values of a block: all at once when all lines are full and good, and one by one otherwise. */
function valuesOf(block: Block, options: JsonLinesOptions): readonly Json[] {
  return listed(block.bytes, options) ?? oneByOne(block, options);
}

/**
 * Parses all lines as one list when a single scan finds that the quick parser reads them exactly; undefined otherwise.
 */
function listed(bytes: Uint8Array, { isExact }: JsonLinesOptions): readonly Json[] | undefined {
  const list = Buffer.allocUnsafe(bytes.length + 2);
  list[0] = OPEN;
  list.set(bytes, 1);
  let lines = 0;
  for (let at = list.indexOf(LF, 1); at >= 0 && at <= bytes.length; at = list.indexOf(LF, at + 1)) {
    list[at] = COMMA;
    lines++;
  }
  let end = bytes.length + 1;
  // on the bytes: a comma at the end of the list may have been there
  if (bytes.at(-1) === LF) end--;
  else lines++;
  list[end] = CLOSE;
  const text = list.subarray(0, end + 1);
  try {
    const [found] = scanPage(text, []).lists.values();
    if (found?.rows !== lines || found.end !== text.length) return undefined;
    const isPlain = !isExact && found.chunks.every(({ plain }) => plain);
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const decoded = all.toString(isAscii(all) ? 'latin1' : 'utf8');
    // each line separately: values that span lines could also make up a list of the same length
    return decoded
      .split('\n', lines)
      .map((line) => (isPlain ? (JSON.parse(line) as Json) : parseExact(line))); // JSON.parse gives nothing but Json
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function oneByOne({ bytes, line }: Block, { redact }: JsonLinesOptions): Json[] {
  const values: Json[] = [];
  let number = line;
  for (const [from, end] of linesIn(bytes)) {
    if (!isBlank(bytes, from, end)) {
      const text = Buffer.from(bytes.subarray(from, end)).toString('utf8');
      values.push(lineValue(text, number, redact));
    }
    number++;
  }
  return values;
}

function lineValue(text: string, line: number, redact: (text: string) => string): Json {
  try {
    return parseExact(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const start = shownText(redact(text).trim());
    const shown = start.length > 200 ? `${start.slice(0, 200).toWellFormed()} …` : start;
    throw broken(
      `Line ${line} of the response is no JSON: ${shownText(error.message)}. It begins with: ${shown}`,
      'Each line must be one JSON value. If the whole answer is one, leave “format” out; if only its end is missing, it was cut: ask again.',
      error,
    );
  }
}

/** Yields the offsets of the lines, without their line ends. */
function* linesIn(bytes: Uint8Array): Generator<readonly [from: number, end: number]> {
  for (let from = 0; from < bytes.length;) {
    const feed = bytes.indexOf(LF, from);
    const end = feed < 0 ? bytes.length : feed;
    yield [from, end];
    from = end + 1;
  }
}

function isBlank(bytes: Uint8Array, from: number, end: number): boolean {
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}

function countLf(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}
