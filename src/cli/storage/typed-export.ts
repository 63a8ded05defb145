import { StorageError } from '../../lib/errors.ts';
import type { ParquetTarget } from '../../runner/parquet-files.ts';
import type { RowsQuery } from '../../storage/client/index.ts';
import { saveStream } from '../../storage/client/transfer/save.ts';
import { saveConverted } from '../converted.ts';
import type { StorageContext } from './storage-command.ts';

/**
 * Saves rows of a table with its types: the storage exports them as Parquet, whose slices become one file.
 *
 * @param query columns and rows of the export
 * @param file appears when it is whole
 */
export async function saveTyped(
  { client, io: { signal } }: Pick<StorageContext, 'client' | 'io'>,
  table: string,
  query: RowsQuery,
  { file, format }: { readonly file: string; readonly format: ParquetTarget },
): Promise<void> {
  const { fileId } = await client.tables.export(table, { ...query, fileType: 'parquet' }, { signal });
  const names = await client.files.slices(fileId);
  const [first, ...others] = names.map(
    (name) => async () => await client.files.readSlice(fileId, name, { signal }),
  );
  if (first === undefined)
    throw new StorageError('storage.unexpected', `The export of ${table} as Parquet has no slices.`, {
      hint: 'Export it as CSV.',
    });
  if (format === 'parquet' && others.length === 0) await saveStream(await first(), file, signal);
  else await saveConverted([first, ...others], { file, format, signal });
}
