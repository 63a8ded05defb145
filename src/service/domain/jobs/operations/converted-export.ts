import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SinkError } from '../../../../lib/errors.ts';
import { makeTempFolder } from '../../../../lib/temp-folder.ts';
import { convertParquet } from '../../../../runner/parquet-files.ts';
import type { ExportOutcome, TableReader, TakeSlice } from '../../../stores/tables/engine.ts';
import { badRequest } from '../../api-error.ts';
import { exportParquet, type TypedRows } from './parquet-export.ts';

/**
 * Exports a table as one file of lines of JSON or a workbook, which is made of its export as Parquet.
 *
 * @throws {ApiError} for a value that does not fit its type, and for one that the file cannot hold
 */
export async function exportConverted(
  engine: Pick<TableReader, 'export'>,
  rows: TypedRows,
  format: 'jsonl' | 'xlsx',
  { take, signal }: { readonly take: TakeSlice; readonly signal: AbortSignal },
): Promise<ExportOutcome> {
  const folder = makeTempFolder('export');
  try {
    const parts: string[] = [];
    const outcome = await exportParquet(engine, rows, async (slice, index) => {
      // An export as Parquet gives files alone, in a folder of its own.
      if (slice.kind !== 'file') throw new Error('A slice of Parquet is no file.');
      signal.throwIfAborted();
      const part = join(folder.path, `${index}.parquet`);
      await rename(slice.path, part);
      parts.push(part);
    });
    const file = join(folder.path, 'rows');
    await convertParquet(parts, file, format, signal).catch((error: unknown) => {
      // An error of the engine has the place of a file in it; any other is about a value.
      if (!(error instanceof SinkError) || error.cause !== undefined) throw error;
      const message = [error.message, error.hint].flat().filter(Boolean).join(' ');
      throw badRequest('storage.tables.export.unfit', message);
    });
    const { size } = await stat(file);
    await take({ kind: 'file', path: file, bytes: size }, 0);
    return { rows: outcome.rows, bytes: size, slices: 1 };
  } finally {
    folder.remove();
  }
}
