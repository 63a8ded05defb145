import { RunError } from '../../../lib/errors.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { createDatabaseObjects } from '../../stores/objects/database/objects.ts';
import { createOwnStore } from '../../stores/objects/folder-store.ts';
import type { ObjectStore } from '../../stores/objects/store.ts';
import { agreeOnFiles, databaseSecret, hasFilesInDatabase, placeName } from '../storage-identity.ts';
import { openOwnedStore, type OwnedStoreOptions } from './owned-store.ts';

/** Options of the files of a database: they are in an object store, or in the database where none is named. */
export interface DatabaseFilesOptions extends Omit<OwnedStoreOptions, 'objects'> {
  readonly objects?: OwnedStoreOptions['objects'] | undefined;
}

export interface DatabaseFiles {
  readonly objects: ObjectStore;
  /** Secret of a database that has its files itself. */
  readonly secret: Uint8Array | undefined;
  close(): void;
}

/**
 * Opens the place with the files of one end of a copy. A target knows from then on where its files are.
 *
 * @throws {RunError} `command.invalid`, `database.otherFiles` for another place than the files are in
 */
export async function openFiles(
  database: Database,
  meta: Meta,
  options: DatabaseFilesOptions,
): Promise<DatabaseFiles> {
  const { role, objects, env } = options;
  const isInside = await hasFilesInDatabase(meta);
  if (role === 'source' && objects === undefined && !isInside)
    throw new RunError('command.invalid', 'The files of this database are not in it: --from-s3 is missing.', {
      where: { url: database.address },
      hint: 'Name the object store as for gex serve: --from-s3 URL --from-s3-bucket NAME.',
    });
  if (role === 'source' && objects !== undefined && isInside)
    throw new RunError('database.otherFiles', 'The files of this database are in the database itself.', {
      where: { url: database.address },
      hint: 'Leave --from-s3 out.',
    });
  if (objects !== undefined) {
    const store = await openOwnedStore(meta, placeName(database), { ...options, objects });
    const close = (): void => store.close();
    if (role === 'target') await agreeOnFiles(meta, { objects }, env).catch(closing(close));
    return { objects: store, secret: undefined, close };
  }
  if (role === 'target') await agreeOnFiles(meta, {}, env);
  const secret = await databaseSecret(meta, env);
  const store = createOwnStore(createDatabaseObjects(database, env), {
    secret,
    endpoint: () => 'http://127.0.0.1',
    env,
    log: silentLog,
  });
  await store.open();
  return { objects: store, secret, close: () => undefined };
}

/** Returns a handler that closes something before an error goes on. */
function closing(close: () => void): (error: unknown) => never {
  return (error) => {
    close();
    throw error;
  };
}
