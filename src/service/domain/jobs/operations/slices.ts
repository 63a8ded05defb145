import { addAbortSignal, type Readable } from 'node:stream';
import { ApiError, badRequest } from '../../api-error.ts';
import { findFileRow } from '../../../stores/metadata/files.ts';
import type { FileRow } from '../../../stores/metadata/tables.ts';
import { ObjectError } from '../../../stores/objects/errors.ts';
import { checkKey } from '../../../stores/objects/keys.ts';
import type { ObjectStore } from '../../../stores/objects/store.ts';
import type { ByteSlice } from '../../../stores/tables/engine.ts';
import type { DataContext } from '../../data-context.ts';

/** Bytes of a file that are to be imported. */
export interface FileContent {
  readonly slices: AsyncIterable<ByteSlice>;
  readonly count: number;
  /** As stored. */
  readonly bytes: number;
  /** Size that it was made with; 0 when that was not known then. */
  readonly notedBytes: number;
  readonly isSliced: boolean;
  readonly isCompressed: boolean;
  /** Name of the file. */
  readonly name: string;
  /** Keys of the objects with the slices. */
  readonly keys: readonly string[];
}

/**
 * Finds the bytes of a file, those of a sliced one by its manifest.
 *
 * @param signal ends the reading
 * @param options.isAsStored true for the bytes as they are, without unpacking. Default: false
 * @throws {ApiError} when a part is missing, or lies outside of the file
 */
export async function contentOf(
  { meta, objects }: DataContext,
  fileId: number,
  signal: AbortSignal,
  { isAsStored = false }: { readonly isAsStored?: boolean } = {},
): Promise<FileContent> {
  const file = await findFileRow(meta, fileId);
  if (file === undefined) throw new ApiError(404, 'storage.files.notFound', 'File not found');
  const isSliced = file.is_sliced === 1;
  const keys = isSliced ? await manifestKeys(objects, file) : [file.object_key];
  const parts: { key: string; bytes: number }[] = [];
  for (const { key, isMandatory } of keys.map(asEntry)) {
    const found = await objects.head(key);
    if (found !== undefined) parts.push({ key, bytes: found.bytes });
    else if (!isSliced)
      throw badRequest('storage.fileNotUploaded', `The file "${file.name}" was not uploaded.`);
    else if (isMandatory)
      throw badRequest(
        'storage.importFileMissing',
        `The slice "${nameOf(key)}" of the manifest does not exist.`,
      );
  }
  const isNamedGzip = file.name.toLowerCase().endsWith('.gz');
  return {
    name: file.name,
    keys: parts.map(({ key }) => key),
    count: parts.length,
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    notedBytes: file.size_bytes,
    isSliced,
    isCompressed: isNamedGzip,
    slices: readSlices(
      objects,
      parts.map(({ key }) => key),
      { mustBeGzip: !isAsStored && !isSliced && isNamedGzip, signal },
    ),
  };
}

type Entry = { readonly key: string; readonly isMandatory: boolean };

const asEntry = (entry: Entry | string): Entry =>
  typeof entry === 'string' ? { key: entry, isMandatory: true } : entry;

async function manifestKeys(objects: ObjectStore, file: FileRow): Promise<Entry[]> {
  const text = await readManifest(objects, `${file.object_key}manifest`);
  const entries = entriesOf(text);
  if (entries === undefined)
    throw badRequest(
      'storage.manifestFileInvalid',
      'The manifest is not JSON with a list "entries" of {"url"}.',
    );
  return entries.map(({ url, mandatory }) => {
    const start = `s3://${objects.bucket}/${objects.root}`;
    const key = url.startsWith(start) ? url.slice(start.length) : '';
    if (!key.startsWith(file.object_key) || CLIMBS.test(key))
      throw badRequest(
        'storage.unauthorizedAccess',
        `The manifest names "${url}", which is not a slice of its own file.`,
      );
    return { key: requireKey(key), isMandatory: mandatory !== false };
  });
}

/** To S3 dots are names like any others, but what stands in front of a store may take them for a way up. */
const CLIMBS = /\/\.\.?(?:\/|$)/;

function requireKey(key: string): string {
  try {
    return checkKey(key);
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    throw badRequest(
      'storage.manifestFileInvalid',
      `The manifest names a slice that cannot be. ${error.message}`,
    );
  }
}

/** A manifest of a million slices is smaller. */
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

async function readManifest(objects: ObjectStore, key: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of (await objects.read(key)) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_MANIFEST_BYTES)
        throw badRequest('storage.manifestFileInvalid', 'The manifest is larger than 256 MB.');
      chunks.push(chunk);
    }
  } catch (error) {
    if (!(error instanceof ObjectError) || error.code !== 'NoSuchKey') throw error;
    throw badRequest('storage.manifestFileMissing', 'The manifest of the sliced file was not uploaded.');
  }
  return Buffer.concat(chunks).toString('utf8');
}

function entriesOf(text: string): { url: string; mandatory?: unknown }[] | undefined {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof manifest !== 'object' || manifest === null || !('entries' in manifest)) return undefined;
  const { entries } = manifest;
  if (!Array.isArray(entries)) return undefined;
  return entries.every(isEntry) ? entries : undefined;
}

function isEntry(entry: unknown): entry is { url: string; mandatory?: unknown } {
  return typeof entry === 'object' && entry !== null && 'url' in entry && typeof entry.url === 'string';
}

async function* readSlices(
  objects: ObjectStore,
  keys: readonly string[],
  { mustBeGzip, signal }: { readonly mustBeGzip: boolean; readonly signal: AbortSignal },
): AsyncGenerator<ByteSlice> {
  for (const key of keys) {
    signal.throwIfAborted();
    const stream = addAbortSignal(signal, await objects.read(key));
    try {
      yield mustBeGzip ? gzipOnly(stream) : (stream as AsyncIterable<Buffer>);
    } finally {
      stream.destroy();
    }
  }
}

/** A name that ends in `.gz` promises gzip: anything else was damaged on its way. */
async function* gzipOnly(stream: Readable): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (isFirst && (chunk[0] !== 0x1f || (chunk.length > 1 && chunk[1] !== 0x8b)))
      throw badRequest(
        'csvImport.invalidCsv',
        'Load error: the name of the file ends in .gz, but the file is not gzip.',
      );
    isFirst = false;
    yield chunk;
  }
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}
