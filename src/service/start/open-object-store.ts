import { join } from 'node:path';
import type { Env } from '../../lib/env.ts';
import type { Log } from '../../lib/log.ts';
import type { Context } from '../domain/context.ts';
import { databaseSecret, hasFilesInDatabase } from '../domain/storage-identity.ts';
import { findFileRow } from '../stores/metadata/files.ts';
import { findToken, isRevoked } from '../stores/metadata/tokens.ts';
import { ownerError } from '../stores/objects/bucket-owner.ts';
import type { ExternalStoreOptions } from '../stores/objects/external-store.ts';
import { createFolderStore, createOwnStore, type FolderStore } from '../stores/objects/folder-store.ts';
import { loadSecret } from '../stores/objects/secret.ts';
import type { KeyHolder, ObjectStore } from '../stores/objects/store.ts';
import type { ServiceOptions } from './service-options.ts';

/** Largest upload to the object store, in bytes (S3's own limit for one request). */
const MAX_UPLOAD_BYTES = 5 * 1024 ** 3;

interface OpenStore {
  readonly objects: ObjectStore;
  readonly folder?: FolderStore;
  close(): void;
}

/**
 * Tells whether both the file and the token still exist and have not expired, and that the token has not been
 * revoked.
 */
async function isHeld({ meta, env }: Context, { fileId, tokenId }: KeyHolder): Promise<boolean> {
  const isOver = (expires: string | null): boolean => expires !== null && Date.parse(expires) <= env.now();
  const [file, token] = [await findFileRow(meta, fileId), await findToken(meta, tokenId)];
  if (file === undefined || token === undefined || isRevoked(token)) return false;
  return !isOver(file.expires) && !isOver(token.expires);
}

/**
 * Marks the bucket as that of its owner, before anybody else uses it.
 *
 * @param options.takesOver the bucket may be that of the same storage in another database, which is gone
 * @throws {RunError} `database.otherFiles` for the bucket of another storage
 */
export async function claimObjects(
  objects: Omit<ExternalStoreOptions, 'env'>,
  { env, log, takesOver }: { readonly env: Env; readonly log: Log; readonly takesOver: boolean },
  work: (store: ObjectStore) => Promise<void>,
): Promise<void> {
  const { createExternalStore } = await import('../stores/objects/external-store.ts');
  const store = await createExternalStore({ ...objects, env });
  try {
    const before = takesOver ? await store.takeOverFromCopy() : undefined;
    if (before !== undefined) log.warn('The bucket is taken over from another database', { before });
    await store.ready();
    await work(store);
  } catch (error) {
    throw ownerError(error);
  } finally {
    store.close();
  }
}

/** Opens the object store that the options name, or the one in the database or in the folder. */
export async function openStore(
  context: Context,
  options: ServiceOptions,
  publicUrl: () => string | undefined,
): Promise<OpenStore> {
  const { dir, database, meta, env, log } = context;
  if (options.objects !== undefined) {
    const { createExternalStore } = await import('../stores/objects/external-store.ts');
    const objects = await createExternalStore({ ...options.objects, env });
    return { objects, close: () => objects.close() };
  }
  const own = {
    endpoint: () => publicUrl() ?? 'http://127.0.0.1',
    env,
    log,
    region: options.region ?? 'us-east-1',
    maxUploadBytes: MAX_UPLOAD_BYTES,
    isHeld: async (holder: KeyHolder) => await isHeld(context, holder),
  };
  if (database !== undefined && (await hasFilesInDatabase(meta))) {
    const { createDatabaseObjects } = await import('../stores/objects/database/objects.ts');
    const secret = await databaseSecret(meta, env);
    const store = createOwnStore(createDatabaseObjects(database, env), { secret, ...own });
    await store.open();
    return { objects: store, folder: store, close: () => undefined };
  }
  if (dir === undefined) throw new Error('There is neither an object store nor a folder.');
  const folder = createFolderStore({
    directory: join(dir, 'objects'),
    secret: await loadSecret(join(dir, 'objects.secret'), env),
    ...own,
  });
  await folder.open();
  return { objects: folder, folder, close: () => undefined };
}
