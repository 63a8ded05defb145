import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { recordingsOf } from '../../../storage/protocol/recordings.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { FileRow, RunRow } from '../../stores/metadata/tables.ts';
import type { ObjectStore } from '../../stores/objects/store.ts';
import { inParallel } from './pulled.ts';
import { readStep, saveStep } from './steps.ts';
import type { Moving, ObjectReader } from './storage.ts';

/**
 * Owner of objects: a file, or a run with its checkpoint. The objects of a run are all below its key, as those of a
 * sliced file.
 */
export type Owner = Pick<FileRow, 'id' | 'is_sliced' | 'name' | 'object_key'>;

/** The objects of some owners, one after another in the order of their ids. */
export interface ObjectBatch {
  readonly first: number;
  readonly objects: number;
  readonly bytes: number;
  /** Owners without any: files that were never uploaded. */
  readonly empty: number;
  /** SHA-256 of the keys, sizes and SHA-256s of all objects. */
  readonly digest: string;
}

/** Owners of a step, and objects on their way at a time. */
export const PAGE = 100;
const OBJECTS = 4;

/** Owners behind an id, in the order of their ids. */
export type OwnersAfter = (meta: Meta, id: number, limit: number) => Promise<Owner[]>;

const OWNERS = { files: filesAfter, runs: runsAfter } as const satisfies Record<string, OwnersAfter>;
type OwnerKind = keyof typeof OWNERS;

/** Copies the objects of all files, or runs, that are not there yet; what they are goes along. */
export async function copyObjects(kind: OwnerKind, moving: Moving): Promise<void> {
  const { from, to, signal, told } = moving;
  const done = (await readStep(to.meta, kind)) as number | undefined; // saved below
  const count = await countOf(from.meta, kind);
  for (let last = done ?? 0; ;) {
    const owners = await OWNERS[kind](from.meta, last, PAGE);
    if (owners.length === 0) return;
    const batch = await batchOf(from.objects, owners, async (key, owner) => {
      signal.throwIfAborted();
      told({ work: 'copy', what: 'file', name: owner.name, count });
      return await copyObject(from.objects, to.objects, key, owner);
    });
    last = owners.at(-1)?.id ?? last;
    const end = last;
    await to.meta.transaction().execute(async (tx) => {
      await saveStep(tx, `${kind}/${end}`, batch);
      await saveStep(tx, kind, end);
    });
  }
}

/** @returns files, or runs, whose objects are not what they were copied from, for people; and how much there is */
export async function compareObjects(
  kind: OwnerKind,
  { to, signal, told }: Moving,
): Promise<{ readonly differences: string[] } & Pick<ObjectBatch, 'bytes' | 'empty' | 'objects'>> {
  const differences: string[] = [];
  const sum = { objects: 0, bytes: 0, empty: 0 };
  const count = await countOf(to.meta, kind);
  for (let last = 0; ;) {
    const owners = await OWNERS[kind](to.meta, last, PAGE);
    const end = owners.at(-1)?.id;
    if (end === undefined) return { ...sum, differences };
    const found = await batchOf(to.objects, owners, async (key, owner) => {
      signal.throwIfAborted();
      told({ work: 'compare', what: 'file', name: owner.name, count });
      return await readObject(to.objects, key);
    });
    const wanted = (await readStep(to.meta, `${kind}/${end}`)) as ObjectBatch | undefined; // saved above
    if (wanted?.digest !== found.digest)
      differences.push(`${kind} ${owners[0]?.id} to ${end}: other objects or bytes than in the source`);
    sum.objects += found.objects;
    sum.bytes += found.bytes;
    sum.empty += found.empty;
    last = end;
  }
}

async function countOf(meta: Meta, kind: OwnerKind): Promise<number> {
  const { count } = await meta
    .selectFrom(kind)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export async function filesAfter(meta: Meta, id: number, limit: number): Promise<Owner[]> {
  return await meta
    .selectFrom('files')
    .select(['id', 'name', 'object_key', 'is_sliced'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Lists runs with recordings and explanations; for a run that has not succeeded, also with the checkpoint that the
 * next one continues from.
 */
async function runsAfter(meta: Meta, id: number, limit: number): Promise<Owner[]> {
  const runs = await meta
    .selectFrom('runs')
    .select('id')
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute();
  return runs.map(ownerOfRun);
}

/** Lists runs that have ended: nothing is added to these. */
export async function endedRunsAfter(meta: Meta, id: number, limit: number): Promise<Owner[]> {
  const runs = await meta
    .selectFrom('runs')
    .select('id')
    .where('id', '>', id)
    .where('ended', 'is not', null)
    .orderBy('id')
    .limit(limit)
    .execute();
  return runs.map(ownerOfRun);
}

function ownerOfRun({ id }: Pick<RunRow, 'id'>): Owner {
  return { id, name: `run ${id}`, object_key: recordingsOf(String(id)), is_sliced: 1 };
}

interface Content {
  readonly bytes: number;
  readonly sha256: string;
}

/** Works on all objects of some owners. */
async function batchOf(
  store: ObjectReader,
  owners: readonly Owner[],
  work: (key: string, owner: Owner) => Promise<Content | undefined>,
): Promise<ObjectBatch> {
  const lines: string[] = [];
  const withBytes = new Set<number>();
  let bytes = 0;
  await inParallel(keysOf(store, owners), OBJECTS, async ({ key, owner }) => {
    const content = await work(key, owner);
    if (content === undefined) return;
    lines.push(`${key}\n${content.bytes} ${content.sha256}\n`);
    withBytes.add(owner.id);
    bytes += content.bytes;
  });
  const digest = createHash('sha256').update(lines.toSorted().join('')).digest('hex');
  const empty = owners.length - withBytes.size;
  return { first: owners[0]?.id ?? 0, objects: lines.length, bytes, empty, digest };
}

/** The objects of their owners; that of a file that is not sliced may be missing. */
export async function* keysOf(
  store: ObjectReader,
  owners: readonly Owner[],
): AsyncGenerator<{ readonly key: string; readonly owner: Owner }> {
  for (const owner of owners) {
    if (owner.is_sliced === 0) yield { key: owner.object_key, owner };
    else for await (const { key } of store.list(owner.object_key)) yield { key, owner };
  }
}

/** @returns undefined when there is no such object: the file was not uploaded */
async function copyObject(
  from: ObjectReader,
  to: ObjectStore,
  key: string,
  owner: Owner,
): Promise<Content | undefined> {
  const found = await from.head(key);
  if (found === undefined) return undefined;
  const hash = createHash('sha256');
  let bytes = 0;
  const manifest = await manifestFor(owner, key, from, to);
  const body = manifest === undefined ? await from.read(key) : Readable.from([manifest]);
  const counted = body.map((chunk: Uint8Array) => {
    hash.update(chunk);
    bytes += chunk.length;
    return chunk;
  });
  await to.write(key, counted, found.attributes);
  return { bytes, sha256: hash.digest('hex') };
}

/** A manifest names its slices with the bucket, and the place in it, that they are in: the text of it there. Undefined for what is none. */
export async function manifestFor(
  file: Pick<FileRow, 'is_sliced' | 'object_key'>,
  key: string,
  from: ObjectReader,
  to: Pick<ObjectReader, 'bucket' | 'root'>,
): Promise<Buffer | undefined> {
  const isManifest = file.is_sliced === 1 && key === `${file.object_key}manifest`;
  if (!isManifest || (from.bucket === to.bucket && from.root === to.root)) return undefined;
  const text = Buffer.concat(await (await from.read(key)).toArray()).toString();
  const [here, there] = [from, to].map(({ bucket, root }) =>
    JSON.stringify(`s3://${bucket}/${root}`).slice(0, -1),
  );
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
