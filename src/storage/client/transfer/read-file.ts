import { StorageError } from '../../../lib/errors.ts';
import { csvText } from '../../../lib/csv/write.ts';
import type { File } from '../../protocol/index.ts';
import type { Api } from '../api.ts';
import { gunzip, readManifest, readObject, type Slice, type FileSource } from './download.ts';
import type { TransferOptions } from './progress.ts';

/** Parts of a file to read, and how. */
export interface ReadFileOptions extends TransferOptions {
  /** Takes the compression off; each slice has its own. Default: false. */
  readonly gunzip?: boolean | undefined;
  /**
   * Writes a CSV line with these names in front: slices of a table have none. A table that was exported into
   * one whole file has its own, which stays; an empty list takes it off.
   */
  readonly header?: readonly string[] | undefined;
  /** First byte, from 0. For whole files only. */
  readonly start?: number | undefined;
  /** Last byte, itself included. For whole files only. */
  readonly end?: number | undefined;
}

/** The content of a file: whole, or its slices one behind the other in the order of the manifest. */
export async function* readFile(
  api: Api,
  file: File,
  source: FileSource,
  options: ReadFileOptions,
): AsyncGenerator<Uint8Array, void> {
  const signal = api.signalOf(options.signal);
  const { start, end, header } = options;
  if ((start !== undefined || end !== undefined) && (file.isSliced || options.gunzip === true))
    throw new StorageError('storage.refused', `A part of “${file.name}” cannot be read by its positions.`, {
      hint: 'Positions are for whole files, as they are stored.',
    });
  const meter = progressOf(api, file, options);
  const read = (suffix: string): AsyncGenerator<Uint8Array, void> => {
    const bytes = readObject(api, source, suffix, { start, end, signal, onBytes: meter.at(suffix) });
    return options.gunzip === true ? gunzip(bytes, file.name, { api, signal }) : bytes;
  };
  if (!file.isSliced && hasHeader(file)) {
    yield* header?.length === 0 ? withoutRecord(read('')) : read('');
    return;
  }
  if (header !== undefined && header.length > 0) yield Buffer.from(csvText([header]));
  if (!file.isSliced) {
    yield* read('');
    return;
  }
  for (const slice of await readManifest(api, source, signal)) yield* readSlice(slice, read);
}

/** An older back end exported into whole files, with a header. */
function hasHeader({ tags }: { readonly tags?: readonly string[] }): boolean {
  return tags?.includes('table-export') === true;
}

/** CSV without its first record. */
async function* withoutRecord(bytes: AsyncGenerator<Uint8Array, void>): AsyncGenerator<Uint8Array, void> {
  let isQuoted = false;
  let hasEnded = false;
  for await (const chunk of bytes) {
    let at = 0;
    for (; !hasEnded && at < chunk.length; at++) {
      if (chunk[at] === QUOTE) isQuoted = !isQuoted;
      hasEnded = chunk[at] === LF && !isQuoted;
    }
    if (at < chunk.length) yield chunk.subarray(at);
  }
}

const QUOTE = 0x22;
const LF = 0x0a;

async function* readSlice(
  { suffix, isMandatory }: Slice,
  read: (suffix: string) => AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* read(suffix);
  } catch (error) {
    const isMissing = error instanceof StorageError && error.code === 'storage.notFound';
    if (!isMissing || isMandatory) throw error;
  }
}

/** Counts the bytes of all slices together. */
function progressOf(
  api: Api,
  file: File,
  { onProgress, start = 0 }: ReadFileOptions,
): { at(suffix: string): (bytes: number) => void } {
  let done = 0;
  return {
    at(suffix) {
      let last = start;
      return (position) => {
        done += position - last;
        last = position;
        const progress = {
          direction: 'download' as const,
          name: suffix === '' ? file.name : `${file.name}/${suffix}`,
          fileId: file.id,
          bytes: done,
          totalBytes: file.isSliced ? undefined : (file.sizeBytes ?? undefined),
        };
        api.options.onProgress?.(progress);
        onProgress?.(progress);
      };
    },
  };
}
