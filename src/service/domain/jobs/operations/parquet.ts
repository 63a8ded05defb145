import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeTempFolder } from '../../../../lib/temp-folder.ts';
import { badRequest } from '../../api-error.ts';
import type { DataContext } from '../../data-context.ts';
import type { ByteSlice, ImportRequest } from '../../../stores/tables/engine.ts';
import {
  encrypted,
  KIND_BYTES,
  kindOf,
  openParquet,
  type ParquetColumn,
  type ParquetRows,
} from '../../../stores/tables/parquet/read.ts';
import { TableError } from '../../../stores/tables/table-error.ts';
import type { StoredDefinition } from '../../../stores/metadata/stored-tables.ts';
import { definitionsOf } from './parquet-types.ts';
import type { FileContent } from './slices.ts';

/** Rows for an engine to import. */
interface Read {
  readonly request: ImportRequest;
  readonly slices: AsyncIterable<ByteSlice>;
  /** Definitions of the columns by the types of the file; undefined for one without types. */
  readonly definitions?: ReadonlyMap<string, StoredDefinition>;
}

/**
 * Calls `work` with what is to be imported: a file of Parquet, by its content, as the rows in it; any other as it is. A
 * slice is a file of this machine while it is read, and no other is.
 *
 * @throws {ApiError | TableError} for a file that cannot be read
 */
export async function withParquet<T>(
  context: Pick<DataContext, 'objects'>,
  { content, request, signal }: { content: FileContent; request: ImportRequest; signal: AbortSignal },
  work: (read: Read) => Promise<T>,
): Promise<T> {
  if (/\.parquet\.gz$/i.test(content.name))
    throw badRequest(
      'csvImport.invalidCsv',
      'Load error: the file is Parquet and compressed once more. Send it as it is: it is compressed within.',
    );
  const [first] = content.keys;
  const isParquet = first !== undefined && (await startsAsParquet(context, first, content.name));
  if (!isParquet) return await work({ request, slices: content.slices });
  const folder = makeTempFolder('parquet');
  const opened: ParquetRows[] = [];
  const open = async (key: string): Promise<ParquetRows> => {
    const file = join(folder.path, 'slice.parquet');
    await pipeline(await context.objects.read(key), createWriteStream(file, { mode: 0o600 }), { signal });
    const rows = await openParquet(file);
    opened.push(rows);
    return rows;
  };
  try {
    const rows = await open(first);
    const columns = namesOf(rows.columns, request.columns);
    return await work({
      request: asCsv(
        request,
        columns.map(({ name }) => name),
      ),
      slices: slicesOf(rows),
      definitions: definitionsOf(columns),
    });
  } catch (error) {
    throw ofParquet(error);
  } finally {
    for (const rows of opened) rows.close();
    folder.remove();
  }

  async function* slicesOf(firstRows: ParquetRows): AsyncGenerator<ByteSlice> {
    for (const [i, key] of content.keys.entries()) {
      signal.throwIfAborted();
      if (i > 0 && !(await startsAsParquet(context, key, content.name))) throw otherColumns(i);
      const rows = i === 0 ? firstRows : await open(key);
      if (nameList(rows) !== nameList(firstRows)) throw otherColumns(i);
      yield rows.bytes;
      rows.close();
      opened.length = 0;
      await rm(join(folder.path, 'slice.parquet'), { force: true });
    }
  }
}

/** Returns an error of columns that are missing without the advice about CSV. */
function ofParquet(error: unknown): unknown {
  if (!(error instanceof TableError) || error.code !== 'csvImport.columnsNotMatch') return error;
  const { missingColumns, expectedColumns } = error.results;
  return new TableError(
    error.code,
    `Some columns are missing in the Parquet file. Missing columns: ${String(missingColumns)}. Expected columns: ${String(expectedColumns)}.`,
    { results: error.results, cause: error },
  );
}

async function startsAsParquet(
  { objects }: Pick<DataContext, 'objects'>,
  key: string,
  name: string,
): Promise<boolean> {
  const bytes = (await objects.head(key))?.bytes ?? 0;
  const isNamed = /\.parquet$/i.test(name);
  if (bytes === 0) return false;
  const head: Buffer[] = [];
  // Without an encoding a stream gives buffers.
  for await (const chunk of await objects.read(key, { start: 0, end: Math.min(bytes, KIND_BYTES) - 1 }))
    head.push(chunk as Buffer);
  const kind = kindOf(Buffer.concat(head));
  if (kind === 'encrypted') throw encrypted();
  if (kind === 'other' && isNamed)
    throw badRequest(
      'csvImport.invalidCsv',
      'Load error: the name of the file ends in .parquet, but the file is no Parquet.',
    );
  return kind === 'parquet';
}

/** @throws {ApiError} for another number of names than the file has columns */
function namesOf(
  columns: readonly ParquetColumn[],
  given: readonly string[] | undefined,
): readonly ParquetColumn[] {
  if (given === undefined || given.length === 0) return columns;
  if (given.length === columns.length)
    return columns.map((column, i) => ({ ...column, name: given[i] ?? column.name }));
  throw badRequest(
    'csvImport.columnsNotMatch',
    `Load error: the Parquet file has ${columns.length} columns, and ${given.length} are named in "columns".`,
  );
}

const nameList = ({ columns }: ParquetRows): string => JSON.stringify(columns.map(({ name }) => name));

function otherColumns(index: number): Error {
  return badRequest(
    'csvImport.columnsNotMatch',
    `Load error: slice ${index + 1} of the Parquet file has other columns than the first one.`,
  );
}

/** Returns the request for the rows as CSV: what it says of the form of its file means nothing for Parquet. */
function asCsv(
  {
    delimiter: _delimiter,
    enclosure: _enclosure,
    escapedBy: _escape,
    ignoredLinesCount: _lines,
    ...request
  }: ImportRequest,
  columns: readonly string[],
): ImportRequest {
  return { ...request, columns, withoutHeaders: true, isSliced: true };
}
