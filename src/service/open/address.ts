import { StorageError } from '../../lib/errors.ts';
import type { OpenOptions, OpenStorage } from '../../storage/client/open-options.ts';
import { clientOf, productionOf, steadyOf, shown, verify } from './reach.ts';

/** Opens the service at an address, with the token of `KBC_TOKEN`. */
export async function openAddress(options: OpenOptions): Promise<OpenStorage> {
  const { storage, environment, log, purpose } = options;
  const address = shown(storage);
  const token = (environment['KBC_TOKEN'] ?? '').trim();
  if (token === '')
    throw new StorageError(
      'storage.unauthorized',
      `There is no token for the storage service at ${address}.`,
      {
        hint: 'Set the environment variable KBC_TOKEN to the token that “gex serve” printed at its first start.',
      },
    );
  const reach = { url: storage, token };
  const verified = await verify(reach, options);
  log.debug(`Using the storage service at ${address} to ${purpose}`);
  const client = clientOf(reach, options);
  return {
    client,
    production: productionOf(reach, options),
    steady: steadyOf(reach, options),
    address,
    isLocal: false,
    isServed: true,
    ...verified,
    encryptionKeys: undefined,
    close: () => Promise.resolve(client.close()),
  };
}
