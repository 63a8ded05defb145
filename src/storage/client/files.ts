import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { StorageError } from '../../lib/errors.ts';
import type { File } from '../protocol/index.ts';
import type { Api } from './api.ts';
import { createFileOperations, FILE } from './file-operations.ts';
import type { DownloadToOptions, Files, UploadOptions } from './file-types.ts';
import { uploadByImporter } from './importer.ts';
import { shaped } from './shape.ts';
import { gzipBody } from './transfer/body.ts';
import { readManifest, type FileSource } from './transfer/download.ts';
import { readFile } from './transfer/read-file.ts';
import { noPlace, type S3, type S3Place } from './transfer/s3.ts';
import { resumeAt, saveStream, sizeOf } from './transfer/save.ts';
import { paramsOf, sendFile, sendSlices } from './transfer/send-file.ts';

export function createFiles(api: Api, s3: S3): Files {
  const operations = createFileOperations(api);
  const files: Files = {
    ...operations,
    async upload(given, options) {
      const body = options.gzip === true ? gzipBody(given) : given;
      const file = await prepareFor(options, { sizeBytes: body.bytes, isSliced: false });
      await sendFile(api, s3, file, body, options);
      return file;
    },
    async uploadSliced(given, options) {
      checkSliceNames(given.map(({ name }) => name));
      const slices =
        options.gzip === true ? given.map(({ name, body }) => ({ name, body: gzipBody(body) })) : given;
      const sizes = slices.map(({ body }) => body.bytes);
      const sizeBytes = sizes.every((bytes) => bytes !== undefined)
        ? sizes.reduce((sum, bytes) => sum + bytes, 0)
        : undefined;
      const file = await prepareFor(options, { sizeBytes, isSliced: true });
      await sendSlices(api, s3, file, slices, options);
      return file;
    },
    uploadByImporter: async (body, options) => await uploadByImporter(api, body, options),
    async read(id, options = {}) {
      const { file, source } = await openFile(id, options.signal);
      return streamOf(readFile(api, file, source, options));
    },
    async downloadTo(id, target, options = {}) {
      const { file, source } = await openFile(id, options.signal);
      const signal = api.signalOf(options.signal);
      if (canResume(file, options)) {
        const partName = partNameOf(target, file);
        const save = async (startAt: number): Promise<boolean> => {
          const bytes = readFile(api, file, source, startAt > 0 ? { ...options, start: startAt } : options);
          return await saveStream(bytes, target, signal, { partName, startAt });
        };
        if (!(await save(await resumeAt(partName)))) await save(0);
      } else await saveStream(readFile(api, file, source, options), target, signal);
      return { bytes: await sizeOf(target) };
    },
    async slices(id) {
      const { file, source } = await openFile(id, undefined);
      if (!file.isSliced) return [];
      return (await readManifest(api, source, api.signalOf(undefined))).map(({ suffix }) => suffix);
    },
    async readSlice(id, name, options = {}) {
      const { file, source } = await openFile(id, options.signal);
      const below: FileSource = {
        ...source,
        place: async (isRefused) => {
          const place = await source.place(isRefused);
          return { ...place, key: place.key + name };
        },
      };
      const slice = { ...file, name: `${file.name}/${name}`, isSliced: false, sizeBytes: null };
      return streamOf(readFile(api, slice, below, options));
    },
  };

  async function prepareFor(
    options: UploadOptions,
    { sizeBytes, isSliced }: { readonly sizeBytes: number | undefined; readonly isSliced: boolean },
  ): Promise<File> {
    const { name, tags, isEncrypted = true, isPermanent, isPublic, notify, contentType, gzip } = options;
    const prepared = {
      name: gzip === true && !name.endsWith('.gz') ? `${name}.gz` : name,
      sizeBytes,
      contentType,
      federationToken: true,
      isSliced,
      isEncrypted,
      isPermanent,
      isPublic,
      notify,
      tags,
    };
    const json = await api.call({
      method: 'POST',
      path: 'files/prepare',
      body: prepared,
      key: options.key,
      signal: options.signal,
    });
    const file = shaped<File>(json, 'file', FILE);
    paramsOf(file);
    await options.onPrepared?.(file);
    return file;
  }

  async function openFile(
    id: number,
    signal: AbortSignal | undefined,
  ): Promise<{ file: File; source: FileSource }> {
    const file = await files.detail(id, { credentials: true, signal });
    let first: File | undefined = file;
    const source: FileSource = {
      name: file.name,
      s3,
      // The credentials that came with the file are used until they expire.
      place: async (isRefused = false) => {
        if (isRefused) first = undefined;
        const detail = first ?? (await files.detail(id, { credentials: true, signal }));
        const place = placeOf(detail);
        first =
          detail.credentials !== undefined &&
          Date.parse(detail.credentials.Expiration) - api.env.now() < NEARLY_MS
            ? undefined
            : detail;
        return place;
      },
    };
    return { file, source };
  }

  return files;
}

function placeOf(file: File): S3Place {
  const { region, url, s3Path, credentials } = file;
  if (s3Path === undefined || credentials === undefined) throw noPlace(file, 'read');
  return { ...s3Path, region, url, credentials };
}

const NEARLY_MS = 60_000;

function canResume(file: File, { resume, gunzip, header, start, end }: DownloadToOptions): boolean {
  const isPlain = header === undefined && start === undefined && end === undefined;
  return resume !== false && !file.isSliced && gunzip !== true && isPlain;
}

/** A file of another service may have the same id, and must not be gone on with. */
function partNameOf(target: string, { id, created, s3Path }: File): string {
  const place = JSON.stringify([s3Path, created]);
  return `${target}.${id}-${createHash('sha256').update(place).digest('hex').slice(0, 8)}.part`;
}

function checkSliceNames(names: readonly string[]): void {
  const wrong = names.find(
    (name, i) => name === '' || name === 'manifest' || name.includes('/') || names.indexOf(name) !== i,
  );
  if (wrong !== undefined)
    throw new StorageError('storage.refused', `A slice cannot be named “${wrong}”.`, {
      hint: 'Give each slice a name of its own without a slash; “manifest” is taken.',
    });
}

function streamOf(bytes: AsyncGenerator<Uint8Array, void>): Readable {
  return Readable.from(bytes, { objectMode: false });
}
