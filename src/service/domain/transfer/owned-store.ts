import type { Env } from '../../../lib/env.ts';
import type { Log } from '../../../lib/log.ts';
import { ownerOf, storedOwner } from '../storage-identity.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { ownerError } from '../../stores/objects/bucket-owner.ts';
import type { ExternalStore, ExternalStoreOptions } from '../../stores/objects/external-store.ts';

export interface OwnedStoreOptions {
  readonly role: 'source' | 'target';
  readonly objects: Omit<ExternalStoreOptions, 'env'>;
  /** The bucket of a target may be that of another storage, which is gone: it is this one's from now on. Default: false. */
  readonly takesOver?: boolean | undefined;
  readonly env: Env;
  readonly log: Log;
}

/**
 * Opens the object store of one end of a copy: the bucket of a target is marked, that of a source is only looked at.
 *
 * @param name the database or the folder, as people know it
 * @throws {RunError} `database.otherFiles` for the bucket of another storage
 */
export async function openOwnedStore(
  meta: Meta,
  name: string,
  options: OwnedStoreOptions,
): Promise<ExternalStore> {
  const { role, env } = options;
  const { createExternalStore } = await import('../../stores/objects/external-store.ts');
  const owner = role === 'target' ? await ownerOf(meta, name, env) : await storedOwner(meta, name);
  const store = await createExternalStore({ ...options.objects, owner, env });
  try {
    if (role === 'target') await prepare(store, name, options);
    else await store.requireOwner();
    return store;
  } catch (error) {
    store.close();
    throw ownerError(error, role === 'target' ? OF_TARGET : OF_SOURCE);
  }
}

async function prepare(store: ExternalStore, name: string, options: OwnedStoreOptions): Promise<void> {
  if (options.takesOver !== true) return await store.ready();
  const before = await store.takeOver();
  if (before !== undefined)
    options.log.warn('The bucket is taken over; objects of the earlier storage stay in it', {
      before,
      now: name,
    });
}

const OF_TARGET = [
  'Name another bucket with --to-s3-bucket, or a prefix of its own in this one with --to-s3-prefix NAME/.',
  'When the other storage is gone for good, and no service runs over it: add --to-s3-take-over.',
];
const OF_SOURCE = 'Check --from-s3-bucket and --from-s3-prefix: they are to be those of its service.';
