import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Meta } from '../meta/database.ts';
import type { FileRow } from '../meta/tables.ts';
import type { ObjectStore } from '../objects/store.ts';
import { inParallel } from './pulled.ts';
import { readStep, saveStep } from './steps.ts';
import type { Moving, ObjectReader } from './storage.ts';

type File = Pick<FileRow, 'id' | 'is_sliced' | 'name' | 'object_key'>;

/** The objects of some files, one after another in the order of their ids. */
export interface Batch {
  readonly first: number;
  readonly objects: number;
  readonly bytes: number;
  /** Files without any: they were never uploaded. */
  readonly empty: number;
  /** SHA-256 of the keys, sizes and SHA-256s of all objects. */
  readonly digest: string;
}

/** Files of a step, and objects on their way at a time. */
export const PAGE = 100;
const OBJECTS = 4;

/** Copies the objects of all files that are not there yet; what they are goes along. */
export async function copyFiles(moving: Moving): Promise<void> {
  const { from, to, signal, told } = moving;
  const done = (await readStep(to.meta, 'files')) as number | undefined; // saved below
  const count = await countFiles(from.meta);
  for (let last = done ?? 0; ;) {
    const files = await filesAfter(from.meta, last, PAGE);
    if (files.length === 0) return;
    const batch = await batchOf(from.objects, files, async (key, file) => {
      signal.throwIfAborted();
      told({ work: 'copy', what: 'file', name: file.name, count });
      return await copyObject(from.objects, to.objects, key, file);
    });
    last = files.at(-1)?.id ?? last;
    const end = last;
    await to.meta.transaction().execute(async (tx) => {
      await saveStep(tx, `files/${end}`, batch);
      await saveStep(tx, 'files', end);
    });
  }
}

/** @returns files that are not what they were copied from, for people; and how much there is */
export async function compareFiles({
  to,
  signal,
  told,
}: Moving): Promise<{ readonly differences: string[] } & Pick<Batch, 'bytes' | 'empty' | 'objects'>> {
  const differences: string[] = [];
  const sum = { objects: 0, bytes: 0, empty: 0 };
  const count = await countFiles(to.meta);
  for (let last = 0; ;) {
    const files = await filesAfter(to.meta, last, PAGE);
    const end = files.at(-1)?.id;
    if (end === undefined) return { ...sum, differences };
    const found = await batchOf(to.objects, files, async (key, file) => {
      signal.throwIfAborted();
      told({ work: 'compare', what: 'file', name: file.name, count });
      return await readObject(to.objects, key);
    });
    const wanted = (await readStep(to.meta, `files/${end}`)) as Batch | undefined; // saved above
    if (wanted?.digest !== found.digest)
      differences.push(`files ${files[0]?.id} to ${end}: other objects or bytes than in the source`);
    sum.objects += found.objects;
    sum.bytes += found.bytes;
    sum.empty += found.empty;
    last = end;
  }
}

async function countFiles(meta: Meta): Promise<number> {
  const { files } = await meta
    .selectFrom('files')
    .select(({ fn }) => fn.countAll<number>().as('files'))
    .executeTakeFirstOrThrow();
  return files;
}

/** Files behind an id, in the order of their ids. */
export async function filesAfter(meta: Meta, id: number, limit: number): Promise<File[]> {
  return await meta
    .selectFrom('files')
    .select(['id', 'name', 'object_key', 'is_sliced'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute();
}

interface Content {
  readonly bytes: number;
  readonly sha256: string;
}

/** Works on all objects of some files. */
async function batchOf(
  store: ObjectReader,
  files: readonly File[],
  work: (key: string, file: File) => Promise<Content | undefined>,
): Promise<Batch> {
  const lines: string[] = [];
  const withBytes = new Set<number>();
  let bytes = 0;
  await inParallel(keysOf(store, files), OBJECTS, async ({ key, file }) => {
    const content = await work(key, file);
    if (content === undefined) return;
    lines.push(`${key}\n${content.bytes} ${content.sha256}\n`);
    withBytes.add(file.id);
    bytes += content.bytes;
  });
  const digest = createHash('sha256').update(lines.toSorted().join('')).digest('hex');
  const empty = files.length - withBytes.size;
  return { first: files[0]?.id ?? 0, objects: lines.length, bytes, empty, digest };
}

/** The objects of files; that of one that is not sliced may be missing. */
export async function* keysOf(
  store: ObjectReader,
  files: readonly File[],
): AsyncGenerator<{ readonly key: string; readonly file: File }> {
  for (const file of files) {
    if (file.is_sliced === 0) yield { key: file.object_key, file };
    else for await (const { key } of store.list(file.object_key)) yield { key, file };
  }
}

/** @returns undefined when there is no such object: the file was not uploaded */
async function copyObject(
  from: ObjectReader,
  to: ObjectStore,
  key: string,
  file: File,
): Promise<Content | undefined> {
  const found = await from.head(key);
  if (found === undefined) return undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  const manifest = await manifestFor(file, key, from, to.bucket);
  const body = manifest === undefined ? await from.read(key) : Readable.from([manifest]);
  const counted = body.map((chunk: Uint8Array) => {
    hash.update(chunk);
    bytes += chunk.length;
    return chunk;
  });
  await to.write(key, counted, found.attributes);
  return { bytes, sha256: hash.digest('hex') };
}

/** A manifest names its slices with the bucket that they are in: the text of it there. Undefined for what is none. */
export async function manifestFor(
  file: Pick<FileRow, 'is_sliced' | 'object_key'>,
  key: string,
  from: ObjectReader,
  bucket: string,
): Promise<Buffer | undefined> {
  const isManifest = file.is_sliced === 1 && key === `${file.object_key}manifest`;
  if (!isManifest || from.bucket === bucket) return undefined;
  const text = Buffer.concat(await (await from.read(key)).toArray()).toString();
  const [here, there] = [from.bucket, bucket].map((name) => JSON.stringify(`s3://${name}/`).slice(0, -1));
  return Buffer.from(text.replaceAll(here ?? '', there ?? ''));
}

async function readObject(store: ObjectReader, key: string): Promise<Content | undefined> {
  if ((await store.head(key)) === undefined) return undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of (await store.read(key)) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
