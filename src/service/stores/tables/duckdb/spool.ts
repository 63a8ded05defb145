import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { checkCsv } from '../../../../lib/csv/check.ts';
import { decompressed } from '../../../../lib/csv/decompress.ts';
import { createDialect } from '../../../../lib/csv/dialect.ts';
import { readRows } from '../../../../lib/csv/read-csv.ts';
import { csvParts, rowLine } from '../../../../lib/csv/write.ts';
import { MAX_COLUMNS } from '../import-plan.ts';
import { sliceError } from '../import-source.ts';
import type { FileHandle } from 'node:fs/promises';
import type { CsvReport } from '../../../../lib/csv/check.ts';
import type { CsvDialect } from '../../../../lib/csv/dialect.ts';
import type { ByteSlice } from '../engine.ts';
import type { ImportSource } from '../import-source.ts';

/** Checked files that the database reads, each with one line in front that is not data. */
export interface Spool {
  readonly paths: readonly string[];
  readonly dialect: CsvDialect;
  readonly header: readonly string[] | undefined;
  /** Cells of a record; 0 when there is none. */
  readonly columns: number;
  readonly records: number;
  readonly longestRecord: number;
  /** Every line end in the files is that of a record. */
  readonly isLineWise: boolean;
  /** Bytes of all records. */
  readonly bytes: number;
}

interface SpooledFile {
  readonly path: string;
  readonly report: CsvReport;
  readonly bytes: number;
}

/** The first line of a spooled file, whatever it holds. */
const HEAD_BYTES = 8192;

/**
 * Checks the slices and puts them into files under `folder` for `work`, then removes the files.
 * @throws TableError when a slice is no strict CSV: the message has the physical line
 */
export async function withSpool<T>(
  folder: string,
  slices: AsyncIterable<ByteSlice>,
  options: ImportSource,
  work: (spool: Spool) => Promise<T>,
): Promise<T> {
  const own = join(folder, randomUUID());
  await mkdir(own, { mode: 0o700 });
  try {
    return await work(await fill(own, slices, options));
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function fill(folder: string, slices: AsyncIterable<ByteSlice>, options: ImportSource): Promise<Spool> {
  const files: SpooledFile[] = [];
  let header: readonly string[] | undefined;
  let columns = options.columns;
  for await (const slice of slices) {
    const isFirst = files.length === 0;
    const check = checkCsv(decompressed(slice), {
      dialect: options.dialect,
      hasHeader: isFirst && options.hasHeader,
      ignoredLines: isFirst ? options.ignoredLines : 0,
      columns,
      maxColumns: MAX_COLUMNS,
    });
    const path = join(folder, `${files.length}.csv`);
    const bytes = await write(path, check.data).catch((error: unknown) => {
      throw sliceError(error, files.length);
    });
    const report = check.report();
    header ??= report.header;
    columns = report.columns === 0 ? columns : report.columns;
    files.push({ path, report, bytes });
  }
  const filled = files.filter(({ report }) => report.records > 0);
  const isRewritten = needsRewrite(filled, options.dialect);
  const dialect = isRewritten ? createDialect() : options.dialect;
  const sizes: number[] = [];
  for (const file of filled) {
    sizes.push(isRewritten ? await rewrite(file, options.dialect) : file.report.longestRecord);
    await writeHead(file.path, columns ?? 1, dialect, !isRewritten && file.report.lineEnd === 'crlf');
  }
  return {
    paths: filled.map(({ path }) => path),
    dialect,
    header,
    columns: columns ?? 0,
    records: files.reduce((sum, { report }) => sum + report.records, 0),
    longestRecord: Math.max(0, ...sizes),
    isLineWise:
      files.every(({ report }) => !report.hasQuotedLineEnds) && options.dialect.escape === undefined,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  };
}

/**
 * Tells whether the files have valid CSV that the reader of the database refuses, as found by comparing it with our
 * scanner: line ends of both kinds (in one file or among files) and escapes without quotes.
 */
function needsRewrite(files: readonly SpooledFile[], dialect: CsvDialect): boolean {
  const lineEnds = new Set(files.map(({ report }) => report.lineEnd));
  return dialect.escape !== undefined || lineEnds.size > 1 || lineEnds.has('mixed');
}

/** Writes the chunks behind the place of the first line, each while the next one is being checked; gives their size. */
async function write(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, 'w', 0o600);
  let size = 0;
  let writing: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of chunks) {
      await writing;
      writing = writeAll(file, chunk, HEAD_BYTES + size);
      // Awaited in the next round, or below: until then a failure has no other handler.
      writing.catch(() => undefined);
      size += chunk.length;
    }
    await writing;
  } finally {
    await writing.catch(() => undefined);
    await file.close();
  }
  return size;
}

async function writeAll(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    done += (await file.write(chunk, done, chunk.length - done, position + done)).bytesWritten;
  }
}

/** The same records with every cell quoted and LF; gives the size of the longest. */
async function rewrite({ path }: SpooledFile, dialect: CsvDialect): Promise<number> {
  let longest = 0;
  const plain = `${path}.plain`;
  async function* lines(): AsyncGenerator<Uint8Array> {
    let batch: Buffer[] = [];
    let size = 0;
    for await (const row of readRows(
      createReadStream(path, { start: HEAD_BYTES, highWaterMark: 256 * 1024 }),
      dialect,
    )) {
      const line = await lineOf(row);
      longest = Math.max(longest, line.length);
      batch.push(line);
      size += line.length;
      if (size < 256 * 1024) continue;
      yield Buffer.concat(batch);
      batch = [];
      size = 0;
    }
    yield Buffer.concat(batch);
  }
  await write(plain, lines());
  await rename(plain, path);
  return longest;
}

async function lineOf(row: readonly string[]): Promise<Buffer> {
  if (!row.some(({ length }) => length > LONG_CELL)) return Buffer.from(rowLine(row));
  const parts: Buffer[] = [];
  for await (const part of csvParts([row])) parts.push(part);
  return Buffer.concat(parts);
}

/** Characters of a cell from which on others need a turn while it is written. */
const LONG_CELL = 1024 * 1024;

/**
 * The database takes the first line end of a file, even one in quotes, as that of all its records:
 * the line in front shows it the right one.
 */
async function writeHead(path: string, columns: number, dialect: CsvDialect, isCrlf: boolean): Promise<void> {
  const end = isCrlf ? '\r\n' : '\n';
  const delimiters = Math.min(columns, MAX_COLUMNS) - 1;
  const filler =
    ['x', 'y', 'z'].find((byte) => ![dialect.delimiter, dialect.enclosure].includes(byte.charCodeAt(0))) ??
    '';
  const cell = filler.repeat(HEAD_BYTES - delimiters - end.length);
  const file = await open(path, 'r+');
  try {
    const line = cell + String.fromCharCode(dialect.delimiter).repeat(delimiters) + end;
    await writeAll(file, Buffer.from(line), 0);
  } finally {
    await file.close();
  }
}
