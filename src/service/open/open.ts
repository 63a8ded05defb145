import { RunError } from '../../lib/errors.ts';
import { openAddress } from './address.ts';
import type { OpenOptions, OpenStorage } from '../../storage/client/open-options.ts';

/**
 * Connects with a storage and verifies it: the service at an address, with the token of `KBC_TOKEN`; or a folder, by
 * the service that runs over it, else by one in this process.
 *
 * @throws {StorageError} `storage.unauthorized`, `storage.unreachable`, `storage.unexpected`
 * @throws {RunError} `run.locked` for a folder that another command holds, `command.invalid` for a name of no storage
 */
export async function openStorage(options: OpenOptions): Promise<OpenStorage> {
  const { storage } = options;
  if (/^https?:\/\//i.test(storage)) return await openAddress(options);
  if (/^\w+:\/\//.test(storage) || /^[\w.-]+:\d+(?:\/|$)/.test(storage))
    throw new RunError('command.invalid', `“${storage}” is neither a folder nor the address of a service.`, {
      hint: 'An address begins with http:// or https://, such as http://127.0.0.1:8080.',
    });
  const { openFolder } = await import('./folder.ts');
  return await openFolder(options);
}
