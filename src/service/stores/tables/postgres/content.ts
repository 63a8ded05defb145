import { checkCsv, type CsvCheck } from '../../../../lib/csv/check.ts';
import { CsvError } from '../../../../lib/csv/csv-error.ts';
import { decompressed } from '../../../../lib/csv/decompress.ts';
import { createDialect, type CsvDialect } from '../../../../lib/csv/dialect.ts';
import { recordsOf } from '../../../../lib/csv/records.ts';
import { rowLine } from '../../../../lib/csv/write.ts';
import { MAX_COLUMNS } from '../import-plan.ts';
import { sliceError, type ImportSource } from '../import-source.ts';
import { isWide, MAX_ROW_BYTES, rowBytes } from './row-size.ts';
import type { ByteSlice } from '../engine.ts';

/** Slices as one stream of CSV that the database reads as our scanner does. */
export interface CsvContent {
  readonly header: readonly string[] | undefined;
  /** Cells of a record; 0 when there is none. */
  readonly columns: number;
  /** How the chunks are written. */
  readonly dialect: CsvDialect;
  /** Checked while they are read, once. @throws TableError with the physical line of what is wrong */
  chunks(): AsyncGenerator<Uint8Array>;
  /** Counts of the content read so far. */
  readonly counted: { readonly records: number; readonly bytes: number };
  /** Gives up what has not been read. */
  close(): Promise<void>;
}

interface OpenSlice {
  readonly index: number;
  readonly check: CsvCheck;
  readonly data: AsyncGenerator<Uint8Array>;
}

/** Looks into the slices until a record, or a header, says how many columns there are. */
export async function openContent(
  slices: AsyncIterable<ByteSlice>,
  source: ImportSource,
): Promise<CsvContent> {
  const all = slices[Symbol.asyncIterator]();
  const opened: OpenSlice[] = [];
  const seen: Uint8Array[] = [];
  let header: readonly string[] | undefined;
  let columns = source.columns;
  const counted = { records: 0, bytes: 0 };
  try {
    while (columns === undefined || (opened.length === 0 && source.hasHeader !== false)) {
      if (!(await look())) break;
    }
  } catch (error) {
    await close();
    throw error;
  }
  const isRewritten = mustRewrite(source.dialect, columns ?? 0);

  return {
    header,
    columns: columns ?? 0,
    dialect: isRewritten ? createDialect() : source.dialect,
    chunks,
    counted,
    close,
  };

  /** Reads the first slice that has something; false when there is none. */
  async function look(): Promise<boolean> {
    const slice = opened.at(-1) ?? (await next());
    if (slice === undefined) return false;
    const result = await slice.data.next();
    const report = slice.check.report();
    header ??= report.header;
    if (report.columns > 0) columns = report.columns;
    if (result.done !== true) seen.push(result.value);
    else if (columns === undefined && (await next()) === undefined) return false;
    return true;
  }

  async function next(): Promise<OpenSlice | undefined> {
    const result = await all.next();
    if (result.done === true) return undefined;
    const index = opened.length;
    const check = checkCsv(decompressed(result.value), {
      dialect: source.dialect,
      hasHeader: index === 0 && source.hasHeader,
      ignoredLines: index === 0 ? source.ignoredLines : 0,
      columns,
      maxColumns: MAX_COLUMNS,
      endsWithLf: true,
    });
    const slice = { index, check, data: told(check, index) };
    opened.push(slice);
    return slice;
  }

  async function* told(check: CsvCheck, index: number): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of check.data) {
        counted.bytes += chunk.length;
        yield chunk;
      }
      counted.records += check.report().records;
    } catch (error) {
      throw sliceError(error, index);
    }
  }

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let i = 0; ; i++) {
      const slice = opened[i] ?? (await next());
      if (slice === undefined) return;
      const isLast = i === opened.length - 1;
      const data = isLast ? chain(seen.splice(0), slice.data) : slice.data;
      yield* isRewritten ? rewritten(slice, data, source.dialect) : data;
    }
  }

  async function close(): Promise<void> {
    for (const { data } of opened) await data.return(undefined);
    await all.return?.();
  }
}

const BACKSLASH = 0x5c;

/**
 * The database knows no file without quotes and no escapes outside of them, and takes a line of `\.` for the end: it
 * can be a record of one cell, or of two around a backslash. Wide rows are looked at cell by cell.
 */
function mustRewrite({ delimiter, enclosure, escape }: CsvDialect, columns: number): boolean {
  return (
    enclosure === undefined ||
    escape !== undefined ||
    delimiter === BACKSLASH ||
    enclosure === BACKSLASH ||
    columns === 1 ||
    isWide(columns)
  );
}

/** The same records with every cell quoted. */
async function* rewritten(
  { check, index }: OpenSlice,
  data: AsyncIterable<Uint8Array>,
  dialect: CsvDialect,
): AsyncGenerator<Uint8Array> {
  let record = check.report().header === undefined ? 0 : 1;
  for await (const records of recordsOf(data, dialect, () => check.report().firstLine)) {
    let text = '';
    for (const { cells, line } of records) {
      record++;
      if (isWide(cells.length)) refuseLarge(cells, { line, record });
      text += rowLine(cells);
    }
    yield Buffer.from(text);
  }

  function refuseLarge(cells: readonly string[], place: { line: number; record: number }): void {
    const bytes = rowBytes(cells);
    if (bytes <= MAX_ROW_BYTES) return;
    const what =
      `Line ${place.line} (record ${place.record}): the row takes ${bytes} bytes in the database, which keeps at most ${MAX_ROW_BYTES} ` +
      'of one row even with long values elsewhere; use fewer columns, or shorter values.';
    throw sliceError(new CsvError('tooLong', what, place), index);
  }
}

export async function* chain(
  head: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head;
  yield* rest;
}
