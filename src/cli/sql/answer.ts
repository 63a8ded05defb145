import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import { RunError } from '../../lib/errors.ts';
import type { SqlResult, StorageClient } from '../../storage/client/index.ts';
import { saveStream, sizeOf } from '../../storage/client/transfer/save.ts';
import type { Args, Io } from '../command.ts';
import { saveConverted } from '../converted.ts';
import { formatBytes, formatTable, plural } from '../format.ts';
import { countArg } from '../shared.ts';
import { withExcerpt } from './mistake.ts';
import { short } from '../storage/facts.ts';
import { writing } from '../storage/local-files.ts';
import { fitted, verticalRows } from '../storage/shown-rows.ts';

const FILE_FORMATS = ['csv', 'jsonl', 'json', 'parquet', 'xlsx'] as const;
type FileFormat = (typeof FILE_FORMATS)[number];
export type SqlFormat = FileFormat | 'table';

/** Rows of a JSON document: the command asks for all of them, which the service bounds. */
const ALL_ROWS = 1_000_000;

export interface AnswerOptions {
  readonly format: SqlFormat;
  /** File for the rows; undefined for stdout. */
  readonly out: string | undefined;
  readonly limit: number | undefined;
  /** True for rows as lines of column and value. */
  readonly isVertical: boolean;
}

export interface SqlPlace {
  readonly client: StorageClient;
  readonly io: Io;
}

/** Reads the options of an answer. @throws {RunError} for a file whose name says no format */
export function readAnswerOptions(args: Args): AnswerOptions {
  const out = args.text('out');
  const given = args.text('format');
  const named = [...FILE_FORMATS, 'table' as const].find((format) => format === given);
  const byOut = out === undefined ? 'table' : formatOf(out);
  return {
    format: args.isSet('json') ? 'json' : (named ?? byOut),
    out,
    limit: countArg(args, 'limit'),
    isVertical: false,
  };
}

/** Returns the format that the name of a file says. @throws {RunError} */
export function formatOf(file: string): FileFormat {
  const ending = extname(file).slice(1).toLowerCase();
  const format = FILE_FORMATS.find((each) => each === ending);
  if (format !== undefined) return format;
  throw new RunError('command.invalid', `The name of ${file} says no format.`, {
    hint: `Let it end in .csv, .jsonl, .json, .parquet or .xlsx, or say it with --format.`,
  });
}

/** Asks one query, and writes its rows. @throws {StorageError} for one that is wrong, with its line and its place there */
export async function askOnce(place: SqlPlace, query: string, options: AskOptions): Promise<void> {
  try {
    await ask(place, query, options);
  } catch (error) {
    throw withExcerpt(error, query, place.io.width);
  }
}

type AskOptions = AnswerOptions & { readonly signal: AbortSignal };

async function ask(
  { client, io }: SqlPlace,
  query: string,
  { format, out, limit, isVertical, signal }: AskOptions,
): Promise<void> {
  if (out === undefined && format === 'table') {
    const result = await client.sql.query(query, { limit, signal });
    io.print(shownRows(result, { isVertical, width: io.width }));
    io.note(
      result.hasMore
        ? `${plural(result.rows.length, 'row')}, and there are more: --limit shows others, --out writes all of them.`
        : plural(result.rows.length, 'row'),
    );
    return;
  }
  if (format === 'table')
    throw new RunError('command.invalid', 'A table is for the terminal, not for a file.', {
      hint: 'Give --format csv, jsonl, json, parquet or xlsx.',
    });
  const most = limit ?? (format === 'json' ? ALL_ROWS : undefined);
  const read = async (): Promise<Readable> =>
    await client.sql.read(query, format === 'xlsx' ? 'parquet' : format, { limit: most, signal });
  if (out === undefined) {
    if (format === 'xlsx')
      throw new RunError('command.invalid', 'A workbook needs a file to be written to.', {
        hint: 'Name it, such as --out rows.xlsx.',
      });
    await io.send(await read());
    return;
  }
  const bytes = await writing(out, async () => {
    if (format === 'xlsx') await saveConverted([read], { file: out, format, signal });
    else await saveStream(await read(), out, signal);
    return await sizeOf(out);
  });
  io.note(`${out}: ${formatBytes(bytes)}`);
}

/** Formats rows for a terminal; numbers stand at their right edge. */
function shownRows(
  { columns, rows }: SqlResult,
  { isVertical, width }: { readonly isVertical: boolean; readonly width: number | undefined },
): string {
  const names = columns.map(({ name }) => name);
  const cells = rows.map((row) => row.map((cell) => cell ?? 'NULL'));
  if (isVertical) return verticalRows(names, cells);
  const right = columns.filter(({ type }) => isNumber(type)).map(({ name }) => name);
  const table = formatTable(
    names,
    cells.map((row) => row.map((cell) => short(cell))),
    right,
  );
  return fitted(table, width, '\\x in the shell shows all of it, as --format json does.');
}

const isNumber = (type: string): boolean =>
  /^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DOUBLE|FLOAT|DECIMAL|BIGNUM)\b/.test(type);
