import { createWriteStream } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeTempFolder } from '../lib/temp-folder.ts';
import type { ParquetTarget } from '../runner/parquet-files.ts';

/**
 * Saves the rows of some files of Parquet, in their order, as one file of a format.
 *
 * @param sources open the files, one after another
 * @param file appears when it is whole
 */
export async function saveConverted(
  sources: readonly (() => Promise<Readable>)[],
  {
    file,
    format,
    signal,
  }: { readonly file: string; readonly format: ParquetTarget; readonly signal: AbortSignal },
): Promise<void> {
  const folder = makeTempFolder('export');
  try {
    const parts = sources.map((_, i) => path.join(folder.path, `${i}.parquet`));
    for (const [i, open] of sources.entries())
      await pipeline(await open(), createWriteStream(parts[i] ?? '', { mode: 0o600 }), { signal });
    const { convertParquet } = await import('../runner/parquet-files.ts');
    await convertParquet(parts, file, format, signal);
  } finally {
    folder.remove();
  }
}
