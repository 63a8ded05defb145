import { createWriteStream } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SinkError } from '../../../../lib/errors.ts';
import { makeTempFolder } from '../../../../lib/temp-folder.ts';
import { storedType } from './column-types.ts';
import { typeNamed, writeTypedFile } from '../../../../runner/typed-files.ts';
import { badRequest } from '../../api-error.ts';
import type { StoredTable } from '../../../stores/metadata/stored-tables.ts';
import type {
  ExportedSlice,
  ExportOutcome,
  TableId,
  TableReader,
  TakeSlice,
} from '../../../stores/tables/engine.ts';
import { TIMESTAMP_COLUMN } from '../../../stores/tables/import-plan.ts';
import type { RowQuery } from '../../../stores/tables/row-query.ts';

/** Bytes of a slice as CSV: some row groups of a table of usual width. */
const SLICE_BYTES = 256 * 1024 * 1024;

/** Rows of a table, and the types of their columns. */
export interface TypedRows {
  readonly place: TableId;
  readonly query: RowQuery;
  readonly columns: readonly string[];
  readonly types: ReadonlyMap<string, string>;
}

/** Returns the types of columns that are not text, as the definition of the table says them. */
export function typesOf({ columns }: StoredTable): ReadonlyMap<string, string> {
  const types = columns.flatMap(({ name, basetype, definition }): [string, string][] => {
    // Written by this service from a checked request.
    const said = (definition === null ? {} : JSON.parse(definition)) as { type?: unknown; length?: unknown };
    const length = typeof said.length === 'string' ? said.length : undefined;
    const type = typeof said.type === 'string' ? said.type : basetype;
    const stored = storedType({ basetype, definition });
    const known =
      (type === null ? undefined : typeNamed(type, length)) ?? (stored && typeNamed(stored, length));
    return known === undefined ? [] : [[name, known]];
  });
  return new Map([...types, [TIMESTAMP_COLUMN, 'TIMESTAMP']]);
}

/**
 * Exports a table as Parquet, each slice a whole file: the engine gives CSV, and DuckDB writes it anew, one slice at a
 * time. A table without rows is a file without rows.
 *
 * @throws {ApiError} for a value that does not fit the type that the table says
 */
export async function exportParquet(
  engine: Pick<TableReader, 'export'>,
  { place, query, columns, types }: TypedRows,
  take: TakeSlice,
): Promise<ExportOutcome> {
  const folder = makeTempFolder('parquet');
  const csv = join(folder.path, 'rows.csv');
  const file = join(folder.path, 'rows.parquet');
  let bytes = 0;
  const convert = async (index: number): Promise<void> => {
    await writeTypedFile({ csv, columns, file, format: 'parquet', types }).catch((error: unknown) => {
      throw error instanceof SinkError ? misfit(error) : error;
    });
    await rm(csv, { force: true });
    const { size } = await stat(file);
    bytes += size;
    await take({ kind: 'file', path: file, bytes: size }, index);
    await rm(file, { force: true });
  };
  try {
    const outcome = await engine.export(
      place,
      query,
      { gzip: false, targetBytes: SLICE_BYTES },
      async (slice, index) => {
        await save(slice, csv);
        await convert(index);
      },
    );
    if (outcome.slices > 0) return { ...outcome, bytes };
    await writeFile(csv, '');
    await convert(0);
    return { rows: 0, bytes, slices: 1 };
  } finally {
    folder.remove();
  }
}

async function save(slice: ExportedSlice, file: string): Promise<void> {
  if (slice.kind === 'stream') return await pipeline(slice.stream, createWriteStream(file, { mode: 0o600 }));
  await rename(slice.path, file).catch(async (error: unknown) => {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EXDEV') throw error;
    const { copyFile } = await import('node:fs/promises');
    await copyFile(slice.path, file);
  });
}

/** Returns what the writer says of a value, without the place of the file. */
function misfit({ message, cause }: SinkError): unknown {
  const said = cause instanceof Error ? cause.message : message;
  const reason = /Could not convert string [^!\n]*|Conversion Error: [^\n]*/.exec(said)?.[0];
  if (reason === undefined) return cause ?? new Error(message);
  return badRequest(
    'storage.tables.export.typeMismatch',
    `The table cannot be written with its types: a value does not fit the type of its column. ${reason.trim()}. Correct the type of the column, or export it as CSV.`,
  );
}
