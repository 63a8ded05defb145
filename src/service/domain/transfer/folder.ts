import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { keysFrom, readKeyFile } from '../../../lib/encryption/index.ts';
import { RunError } from '../../../lib/errors.ts';
import type { Env } from '../../../lib/env.ts';
import { silentLog, type Log } from '../../../lib/log.ts';
import { placeName } from '../storage-identity.ts';
import { lockFolder } from '../../stores/folder/lock.ts';
import { refuseLostMetadata } from '../../stores/folder/metadata-place.ts';
import { connectMeta, openMeta, type Meta } from '../../stores/metadata/database.ts';
import { missingMigrations } from '../../stores/metadata/migrate.ts';
import type { ExternalStoreOptions } from '../../stores/objects/external-store.ts';
import { createFolderStore } from '../../stores/objects/folder-store.ts';
import { loadSecret } from '../../stores/objects/secret.ts';
import type { ObjectStore } from '../../stores/objects/store.ts';
import { lazyEngine } from '../../stores/tables/lazy.ts';
import { agreeOnTables, extensionsFolder, tryTables, type TablesKind } from '../../stores/tables/kind.ts';
import { tablesOfFolder } from '../../stores/tables/open-engine.ts';
import { localTokenId } from '../../stores/folder/local-token.ts';
import { openOwnedStore } from './owned-store.ts';
import type { OpenedStorage } from './storage.ts';

export interface FolderOptions {
  /** A target is made when it is missing; a source must be there, and its metadata be of this version. */
  readonly role: 'source' | 'target';
  /** How the tables of a new target are kept. Default: in a file of the folder. */
  readonly tables?: TablesKind | undefined;
  /** The outside object store that the bytes of files are in; the folder when undefined. */
  readonly objects?: Omit<ExternalStoreOptions, 'env'> | undefined;
  /** Environment with `GEX_ENCRYPTION_KEY` and `GEX_ENCRYPTION_KEY_FILE`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** As with {@link openOwnedStore}. */
  readonly takesOver?: boolean | undefined;
  readonly env: Env;
  readonly log: Log;
}

/** Holds a folder. @throws {RunError} `run.locked` while a service runs over it */
export async function openFolderStorage(dir: string, options: FolderOptions): Promise<OpenedStorage> {
  const { role, env } = options;
  const lock = await lockFolder(dir, env.now());
  let meta: Meta | undefined;
  try {
    refuseLostMetadata(dir);
    meta = role === 'target' ? await openMeta(join(dir, 'meta.sqlite')) : await openSource(dir);
    const opened = meta;
    const extensions = extensionsFolder(options.environment);
    await tryTables(opened, options.tables, extensions);
    await agreeOnTables(opened, options.tables);
    const secret = await loadSecret(join(dir, 'objects.secret'), env);
    const store = await openObjects(dir, secret, opened, options);
    const limits = { memoryLimitMb: MEMORY_MB, threads: 1 };
    const lake = { extensions };
    const engine = lazyEngine(false, async () => await tablesOfFolder(opened, dir, lake, limits));
    return {
      name: dir,
      meta,
      engine,
      objects: store.objects,
      secret,
      localToken: await localTokenId(meta, secret),
      encryptionKey: keyOf(dir, options.environment),
      async close() {
        await engine.close();
        store.close();
        await opened.destroy();
        await lock.release();
      },
    };
  } catch (error) {
    await meta?.destroy();
    await lock.release();
    throw error;
  }
}

/** Returns the id of the first key, with which a service over the folder encrypts. */
export function keyOf(dir: string, environment: FolderOptions['environment']): string | undefined {
  const file = join(dir, 'encryption.key');
  return [...keysFrom(environment), ...(existsSync(file) ? readKeyFile(file) : [])][0]?.id;
}

/** Megabytes of memory of an engine of a copy: two tables are copied in it at a time, and a process has two engines. */
export const MEMORY_MB = 96;

/** Reads the secret of a folder; undefined when it has none. */
export async function loadedSecret(dir: string): Promise<Uint8Array | undefined> {
  const file = join(dir, 'objects.secret');
  return existsSync(file) ? await readFile(file) : undefined;
}

async function openSource(dir: string): Promise<Meta> {
  const meta = connectMeta(join(dir, 'meta.sqlite'));
  if ((await missingMigrations(meta)).length === 0) return meta;
  await meta.destroy();
  throw new RunError('command.invalid', `The storage folder is of an earlier version.`, {
    where: { file: dir },
    hint: 'Start “gex serve” of this version over it once, and stop it: that brings it up to date.',
  });
}

async function openObjects(
  dir: string,
  secret: Uint8Array,
  meta: Meta,
  options: FolderOptions,
): Promise<{ readonly objects: ObjectStore; close(): void }> {
  const { objects, env } = options;
  if (objects !== undefined) {
    const external = await openOwnedStore(meta, placeName(dir), { ...options, objects });
    return { objects: external, close: () => external.close() };
  }
  const folder = createFolderStore({
    directory: join(dir, 'objects'),
    secret,
    endpoint: () => 'http://127.0.0.1',
    env,
    log: silentLog,
  });
  await folder.open();
  return { objects: folder, close: () => undefined };
}

/** Files of a folder that a copy of it needs beside the data: only their owner may read them. */
const SECRETS = ['objects.secret', 'encryption.key'];

/** Gives a new folder the secrets of another one, unless it has its own. Before it is opened. */
export async function copySecrets(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of SECRETS) {
    if (!existsSync(join(from, name)) || existsSync(join(to, name))) continue;
    // For its owner alone, as the original is.
    await copyFile(join(from, name), join(to, `${name}.tmp`));
    await rename(join(to, `${name}.tmp`), join(to, name));
  }
}
