import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Env } from '../../../../lib/env.ts';
import { checksumTexts } from '../checksums.ts';
import { errnoOf, noSuchUpload } from '../errors.ts';
import { checkKey, compareKeys } from '../keys.ts';
import { syncDirectory } from './disk.ts';
import type { BodyOptions, PutOptions, FolderUpload, FolderUploadOptions } from './folder-store-options.ts';
import {
  checkParts,
  composeChecksums,
  joinParts,
  MIN_PART_BYTES,
  multipartEtag,
  readPart,
  type ChosenPart,
} from './parts.ts';
import type { Locks } from './locks.ts';
import type { ObjectMeta, PartMeta } from './meta.ts';
import { readObjectFile } from './object-file.ts';
import { stage } from './stage.ts';

/** Multipart uploads: `uploads/<id>/upload.json`, and one file for each part, named by its number. */
export interface Uploads {
  /** Gives the upload id. */
  createUpload(key: string, wanted: FolderUploadOptions): Promise<string>;
  /** Returns the parameters of the upload from its beginning. `NoSuchUpload` unless it is an upload of this key. */
  uploadOf(key: string, id: string): Promise<FolderUpload>;
  putPart(
    upload: FolderUpload,
    part: number,
    body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: BodyOptions,
  ): Promise<PartMeta>;
  /** By number. */
  listParts(upload: FolderUpload): Promise<readonly (PartMeta & { readonly part: number })[]>;
  /** Joins the parts to the object. May be asked again for the upload that became the object. */
  completeUpload(
    key: string,
    id: string,
    parts: readonly ChosenPart[],
    options: Pick<PutOptions, 'condition'> & {
      /** A checksum to be made although the upload began without one. */
      readonly checksum?: FolderUpload['checksum'];
      readonly verify?: (meta: ObjectMeta) => void;
    },
  ): Promise<ObjectMeta>;
  abortUpload(key: string, id: string): Promise<void>;
  /** All that are neither completed nor aborted, by key, then by id. */
  listUploads(): Promise<readonly FolderUpload[]>;
  /** Aborts all uploads that began before that time (milliseconds since 1970). */
  dropUploads(before: number): Promise<void>;
}

export function createUploads(context: {
  readonly root: string;
  readonly staging: string;
  readonly env: Env;
  readonly newName: () => string;
  readonly publish: (key: string, file: string, condition: PutOptions['condition']) => Promise<void>;
  readonly head: (key: string) => Promise<ObjectMeta | undefined>;
  readonly locks: Locks;
  readonly minPartBytes?: number | undefined;
}): Uploads {
  const { staging, env, newName, head, locks, minPartBytes = MIN_PART_BYTES } = context;
  const all = path.join(context.root, 'uploads');
  const directoryOf = (id: string): string => path.join(all, id);
  const partFile = (id: string, part: number): string => path.join(directoryOf(id), String(part));

  const uploads: Uploads = {
    async createUpload(key, wanted) {
      checkKey(key);
      const id = newName();
      const upload: FolderUpload = { ...wanted, id, key, created: env.now() };
      const made = path.join(staging, newName());
      await mkdir(made, { mode: 0o700 });
      try {
        await writeDurably(path.join(made, 'upload.json'), JSON.stringify(upload));
        await rename(made, directoryOf(id));
      } catch (error) {
        await rm(made, { recursive: true, force: true });
        throw error;
      }
      await syncDirectory(directoryOf(id));
      await syncDirectory(all);
      return id;
    },
    async uploadOf(key, id) {
      const upload = await readUpload(all, id);
      if (upload?.key !== key) throw noSuchUpload();
      return upload;
    },
    async putPart({ id }, part, body, { checksums, digests = [], verify }) {
      const modified = new Date(env.now()).toISOString();
      let meta: PartMeta | undefined;
      // Not synced one by one: the whole object is when it is completed, and a part that a loss of power has cut is
      // found then by its missing end.
      return stage(
        {
          directory: staging,
          name: newName(),
          body,
          digests: ['md5', ...checksums, ...digests],
          isDurable: false,
        },
        (staged) => {
          verify?.(staged);
          const etag = staged.digests.get('md5')?.toString('hex') ?? '';
          return (meta = {
            bytes: staged.bytes,
            etag,
            modified,
            checksums: checksumTexts(staged.digests, checksums),
          });
        },
        async (file) => {
          await rename(file, partFile(id, part)).catch((error: unknown) => {
            throw errnoOf(error) === 'ENOENT' ? noSuchUpload() : error;
          });
          if (meta === undefined) throw noSuchUpload();
          return meta;
        },
      );
    },
    async listParts({ id }) {
      const parts: (PartMeta & { part: number })[] = [];
      for (const part of await partNumbers(directoryOf(id))) {
        const meta = await readObjectFile<PartMeta>(partFile(id, part));
        if (meta !== undefined) parts.push({ part, ...meta });
      }
      return parts;
    },
    completeUpload: (key, id, chosen, { condition, checksum: asked, verify }) =>
      locks.run(`upload ${id}`, async () => {
        const upload = await readUpload(all, id);
        if (upload === undefined) {
          // The answer to an earlier call may have been lost: what it made is the answer to this one.
          const made = await head(key);
          if (made?.upload?.id === id) return made;
        }
        if (upload?.key !== key) throw noSuchUpload();
        const parts = await checkParts(
          chosen,
          upload,
          async (part) => await readPart(partFile(id, part)),
          minPartBytes,
        );
        const { checksum = asked, attributes } = upload;
        const full = checksum !== undefined && !checksum.isComposite ? [checksum.name] : [];
        let meta: ObjectMeta | undefined;
        await stage(
          { directory: staging, name: newName(), body: joinParts(parts), digests: full, isDurable: true },
          (staged) => {
            meta = {
              ...attributes,
              key,
              bytes: staged.bytes,
              etag: multipartEtag(parts),
              modified: new Date(env.now()).toISOString(),
              checksums: { ...checksumTexts(staged.digests, full), ...composeChecksums(checksum, parts) },
              upload: { id, partBytes: parts.map((part) => part.bytes) },
            };
            verify?.(meta);
            return meta;
          },
          (file) => context.publish(key, file, condition),
        );
        await rm(directoryOf(id), { recursive: true, force: true });
        if (meta === undefined) throw noSuchUpload();
        return meta;
      }),
    abortUpload: (key, id) =>
      locks.run(`upload ${id}`, async () => {
        await uploads.uploadOf(key, id);
        await rm(directoryOf(id), { recursive: true, force: true });
      }),
    async listUploads() {
      const found: FolderUpload[] = [];
      for (const id of await readdir(all)) {
        const upload = await readUpload(all, id);
        if (upload !== undefined) found.push(upload);
      }
      return found.sort((a, b) => compareKeys(a.key, b.key) || compareKeys(a.id, b.id));
    },
    async dropUploads(before) {
      for (const id of await readdir(all)) {
        const upload = await readUpload(all, id);
        if (upload === undefined || upload.created < before)
          await locks.run(`upload ${id}`, () => rm(directoryOf(id), { recursive: true, force: true }));
      }
    },
  };
  return uploads;
}

async function readUpload(all: string, id: string): Promise<FolderUpload | undefined> {
  // Ids are names of directories: anything else could lead out of the folder.
  if (!/^[0-9a-f]{32}$/.test(id)) return undefined;
  try {
    // Written by `createUpload` with this type.
    return JSON.parse(await readFile(path.join(all, id, 'upload.json'), 'utf8')) as FolderUpload;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function partNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(() => []);
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
