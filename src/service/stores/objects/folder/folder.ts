import { createReadStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Env } from '../../../../lib/env.ts';
import { checksumTexts } from '../checksums.ts';
import { errnoOf, ObjectError } from '../errors.ts';
import { checkKey } from '../keys.ts';
import type { ByteRange } from '../store.ts';
import { readBlocks } from './blocks.ts';
import { moveDurably, removeFile } from './disk.ts';
import { objectPath } from './layout.ts';
import { createLocks } from './locks.ts';
import type { ObjectAttributes, ObjectMeta } from './meta.ts';
import { openObjectFile, readObjectFile } from './object-file.ts';
import type { PutOptions } from './folder-store-options.ts';
import { createUploads, type Uploads } from './uploads.ts';
import { closeFile, stage } from './stage.ts';
import { walkObjects } from './walk.ts';

/**
 * Objects in a folder of one process:
 *
 *     objects/   one file for each object (layout.ts, object-file.ts)
 *     uploads/   parts of multipart uploads (uploads.ts); they outlive a restart
 *     staging/   bodies on their way; emptied at the start
 *
 * A write shows all at once or not at all, whatever happens to the process; what was acknowledged is on the disk.
 */
export interface ObjectFolder extends Uploads {
  /** Makes the folder and sweeps what a killed process left. Once, before anything else. */
  open(): Promise<void>;
  put(
    key: string,
    body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    options: PutOptions,
  ): Promise<ObjectMeta>;
  /**
   * Makes a file of this machine the object, without copying it when it lies on the same disk; it is read for its check
   * sums. The file is spoilt afterwards, also when this fails.
   */
  adopt(key: string, file: string, attributes: ObjectAttributes): Promise<ObjectMeta>;
  /** Undefined when there is no such object. The caller reads or closes it. */
  get(key: string): Promise<OpenObject | undefined>;
  head(key: string): Promise<ObjectMeta | undefined>;
  /** Keys that begin with `prefix` and lie after `after`, in the order of their bytes. */
  list(prefix: string, after?: Uint8Array): AsyncIterable<ObjectMeta>;
  /** Deletes objects written before that moment which `known` doesn't give back of their keys. */
  dropUnknown(
    before: number,
    known: (keys: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<void>;
  /** False when there was none. */
  delete(key: string): Promise<boolean>;
}

export interface OpenObject {
  readonly meta: ObjectMeta;
  /** Once. The file is closed at the end of the stream, or when it is destroyed. What doesn't fit its sum is a `DamagedObject`. */
  read(range?: ByteRange): Readable;
  close(): Promise<void>;
}

export function createObjectFolder(
  directory: string,
  env: Env,
  options: { minPartBytes?: number } = {},
): ObjectFolder {
  const root = path.resolve(directory);
  const objects = path.join(root, 'objects');
  const staging = path.join(root, 'staging');
  const locks = createLocks();
  const newName = (): string => Buffer.from(env.randomBytes(16)).toString('hex');
  const fileOf = (key: string): string => path.join(objects, objectPath(checkKey(key)));
  const head = async (key: string): Promise<ObjectMeta | undefined> =>
    readObjectFile<ObjectMeta>(fileOf(key));
  const publish = (key: string, file: string, condition: PutOptions['condition']): Promise<void> =>
    locks.run(key, async () => {
      if (condition !== undefined) condition(await head(key));
      await moveDurably(file, fileOf(key));
    });

  const folder: Omit<ObjectFolder, keyof Uploads> = {
    async open() {
      await rm(staging, { recursive: true, force: true });
      for (const part of [objects, staging, path.join(root, 'uploads')])
        await mkdir(part, { recursive: true, mode: 0o700 });
    },
    async put(key, body, { attributes, checksums, digests = [], verify, condition }) {
      checkKey(key);
      const modified = new Date(env.now()).toISOString();
      let meta: ObjectMeta | undefined;
      return stage(
        {
          directory: staging,
          name: newName(),
          body,
          digests: ['md5', ...checksums, ...digests],
          isDurable: true,
        },
        (staged) => {
          verify?.(staged);
          const etag = staged.digests.get('md5')?.toString('hex') ?? '';
          return (meta = {
            ...attributes,
            key,
            bytes: staged.bytes,
            etag,
            modified,
            checksums: checksumTexts(staged.digests, checksums),
          });
        },
        async (file) => {
          await publish(key, file, condition);
          return known(meta);
        },
      );
    },
    async adopt(key, file, attributes) {
      checkKey(key);
      const { size } = await stat(file);
      // The form in which S3 names objects whose MD5 it does not know: clients then don't compare it with theirs.
      const etag = `${newName()}-1`;
      const modified = new Date(env.now()).toISOString();
      const meta: ObjectMeta = { ...attributes, key, bytes: size, etag, modified, checksums: {} };
      await closeFile(file, meta);
      try {
        await publish(key, file, undefined);
      } catch (error) {
        if (errnoOf(error) !== 'EXDEV') throw error;
        const body = size === 0 ? [] : createReadStream(file, { end: size - 1 });
        return folder.put(key, body, { attributes, checksums: [] });
      }
      return meta;
    },
    head,
    async get(key) {
      const opened = await openObjectFile<ObjectMeta>(fileOf(key));
      if (opened === undefined) return undefined;
      const { handle, meta } = opened;
      const { bytes, blocks: sums } = meta;
      const all = { handle, start: 0, bytes, sums, name: fileOf(key), isClosed: true };
      return { meta, close: () => handle.close(), read: (range) => readBlocks(all, range) };
    },
    async *list(prefix, after = new Uint8Array()) {
      for await (const { file } of walkObjects(objects, Buffer.from(prefix), after)) {
        const meta = await readObjectFile<ObjectMeta>(file);
        if (meta !== undefined) yield meta;
      }
    },
    async dropUnknown(before, known) {
      let keys: string[] = [];
      const drop = async (): Promise<void> => {
        const kept = await known(keys);
        for (const key of keys) {
          if (kept.has(key)) continue;
          const meta = await head(key);
          if (meta !== undefined && Date.parse(meta.modified) < before) await folder.delete(key);
        }
        keys = [];
      };
      for await (const { key } of walkObjects(objects, new Uint8Array(), new Uint8Array())) {
        if (keys.push(key.toString()) === KEYS_AT_ONCE) await drop();
      }
      await drop();
    },
    delete: (key) => locks.run(key, () => removeFile(fileOf(key), objects)),
  };
  const uploads = createUploads({
    root,
    staging,
    env,
    newName,
    publish,
    head,
    locks,
    minPartBytes: options.minPartBytes,
  });
  return { ...folder, ...uploads };
}

const KEYS_AT_ONCE = 500;

function known<Value>(value: Value | undefined): Value {
  if (value === undefined)
    throw new ObjectError('InternalError', 'An object was published before it was described.');
  return value;
}
