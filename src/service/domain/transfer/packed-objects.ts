import { createHash } from 'node:crypto';
import type { Env } from '../../../lib/env.ts';
import { OtherSize, type Tarball } from './backup/tarball.ts';
import { ObjectError } from '../../stores/objects/errors.ts';
import { blankSums, createBlockSums } from '../../stores/objects/folder/blocks.ts';
import { attributesOf } from '../../stores/objects/folder/described.ts';
import { objectPath } from '../../stores/objects/folder/layout.ts';
import type { ObjectMeta } from '../../stores/objects/folder/meta.ts';
import { trailerOf } from '../../stores/objects/folder/object-file.ts';
import { FOLDER_BUCKET } from '../../stores/objects/folder-store.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import {
  endedRunsAfter,
  filesAfter,
  keysOf,
  manifestFor,
  PAGE,
  type Owner,
  type OwnersAfter,
} from './files.ts';
import type { Moving, ObjectReader } from './storage.ts';

/** Path of the objects in a backup: as the folder of a service has them. */
export const OBJECTS = ['objects', 'objects'] as const;

interface Packing extends Pick<Moving, 'signal' | 'told'> {
  readonly objects: ObjectReader;
  readonly env: Env;
}

/** A store that is away for a moment is asked again; what was written of the object is taken back before. */
const ATTEMPTS = 4;
const PAUSE_MS = 1000;

/**
 * Puts the objects of all files, and of all runs that have ended, into a backup. One that is not there is left out: it was
 * never uploaded, or deleted meanwhile.
 */
export async function packObjects(meta: Meta, tarball: Tarball, packing: Packing): Promise<void> {
  await packOwned(filesAfter, meta, tarball, packing);
  await packOwned(endedRunsAfter, meta, tarball, packing);
}

async function packOwned(
  ownersAfter: OwnersAfter,
  meta: Meta,
  tarball: Tarball,
  packing: Packing,
): Promise<void> {
  const { objects, signal, told } = packing;
  for (let last = 0; ;) {
    const owners = await ownersAfter(meta, last, PAGE);
    for await (const { key, owner } of keysOf(objects, owners)) {
      signal.throwIfAborted();
      told({ work: 'copy', what: 'file', name: owner.name });
      await packObject(key, owner, tarball, packing);
    }
    const end = owners.at(-1)?.id;
    if (end === undefined) return;
    last = end;
  }
}

async function packObject(
  key: string,
  owner: Owner,
  tarball: Tarball,
  { objects, env }: Packing,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToPack(key, owner, tarball, { objects, env });
    } catch (error) {
      if (error instanceof ObjectError && error.code === 'NoSuchKey') return;
      // Another size: its uploader has just written it once more.
      const isPassing =
        error instanceof OtherSize || (error instanceof ObjectError && error.code === 'ServiceUnavailable');
      if (!isPassing || attempt === ATTEMPTS) throw error;
    }
    await env.sleep(PAUSE_MS * attempt);
  }
}

async function tryToPack(
  key: string,
  owner: Owner,
  tarball: Tarball,
  { objects, env }: { readonly objects: ObjectReader; readonly env: Env },
): Promise<void> {
  const found = await objects.head(key);
  if (found === undefined) return;
  const manifest = await manifestFor(owner, key, objects, { bucket: FOLDER_BUCKET, root: '' });
  const bytes = manifest?.length ?? found.bytes;
  const metaOf = (etag: string): ObjectMeta => ({
    ...attributesOf(found.attributes),
    key,
    bytes,
    etag,
    modified: new Date(env.now()).toISOString(),
    checksums: {},
  });
  // It is as long as the one that has the MD5 and the sums.
  const trailer = trailerOf(metaOf('0'.repeat(32)), blankSums(bytes));
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const md5 = createHash('md5');
    const sums = createBlockSums();
    const body = manifest === undefined ? await objects.read(key) : [manifest];
    for await (const chunk of body as AsyncIterable<Buffer> | Buffer[]) {
      md5.update(chunk);
      sums.update(chunk);
      yield chunk;
    }
    yield trailerOf(metaOf(md5.digest('hex')), sums.finish());
  }
  const name = [...OBJECTS, objectPath(key)].join('/');
  await tarball.addContent({ name, bytes: bytes + trailer.length, chunks: chunks() });
}
