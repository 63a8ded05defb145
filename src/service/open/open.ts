import { openAddress } from './address.ts';
import type { OpenOptions, OpenStorage } from '../../storage/client/open-options.ts';
import { readPlace } from './place.ts';

/**
 * Connects with a storage and verifies it: the service at an address, with the token of `KBC_TOKEN`; a folder, by the
 * service that runs over it, else by one in this process; or a database, by one in this process.
 *
 * @throws {StorageError} `storage.unauthorized`, `storage.unreachable`, `storage.unexpected`
 * @throws {RunError} `run.locked` for a folder that another command holds, `command.invalid` for a name of no storage,
 *   `database.…`
 */
export async function openStorage(options: OpenOptions): Promise<OpenStorage> {
  const place = readPlace(options);
  if (place.kind === 'service') return await openAddress(options);
  if (place.kind === 'database') {
    const { openDatabaseStorage } = await import('./database.ts');
    return await openDatabaseStorage(place, options);
  }
  const { openFolder } = await import('./folder.ts');
  return await openFolder({ ...options, storage: place.dir }, place.tables);
}
