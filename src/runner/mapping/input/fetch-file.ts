import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { File, StorageClient, TransferOptions } from '../../../storage/client/index.ts';
import { sliceNames } from './file-name.ts';
import { mapConcurrent } from './lanes.ts';

/** Slices of one file that are fetched at a time. */
const SLICES = 4;

/**
 * Writes a file of the storage, as it is stored. A sliced one becomes a folder with its slices, named so that in the order
 * of their names they are in the order of the manifest.
 */
export async function fetchFile(
  client: StorageClient,
  file: File,
  target: string,
  options: TransferOptions & { readonly signal: AbortSignal },
): Promise<{ readonly bytes: number }> {
  // A file left by an earlier attempt may come from another storage, so it is not resumed.
  if (!file.isSliced) return await client.files.downloadTo(file.id, target, { ...options, resume: false });
  await mkdir(target);
  const slices = await client.files.slices(file.id);
  const names = sliceNames(slices);
  const written = await mapConcurrent(
    [...slices.entries()],
    SLICES,
    options.signal,
    async ([i, slice], signal) => {
      const bytes = await client.files.readSlice(file.id, slice, { ...options, signal });
      const to = createWriteStream(path.join(target, names[i] ?? slice));
      await pipeline(bytes, to, { signal });
      return to.bytesWritten;
    },
  );
  return { bytes: written.reduce((sum, bytes) => sum + bytes, 0) };
}
