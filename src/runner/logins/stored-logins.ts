import type { Keys } from '../../lib/encryption/keys.ts';
import type { Scope } from '../../lib/encryption/scope.ts';
import type { Env } from '../../lib/env.ts';
import { EncryptionError } from '../../lib/errors.ts';
import type { LoginKeeper } from '../../engine/http/auth/index.ts';
import type { Json } from '../../lib/json/index.ts';
import type { StorageClient } from '../../storage/client/client.ts';
import { wholeState, wrappedState } from '../state-parts.ts';
import type { ConfigurationPlace } from '../stored-configuration.ts';
import { lateSealer, sealer, type Sealer } from './kept-json.ts';
import { stateLogins, withLogins } from './state-logins.ts';

export interface StoredLoginsOptions {
  /** One that an interruption of the run does not end: a login that came is stored all the same. */
  readonly client: StorageClient;
  readonly place: ConfigurationPlace;
  /** Asked for when a login is kept or read. */
  readonly keys: () => Keys;
  /** Without a configuration, as the service binds what it encrypts: a copy can be read, too. */
  readonly scope: Scope;
  readonly env: Env;
}

/**
 * Logins in the state of the stored configuration, also of one with rows: `component.logins`. They are encrypted here, so
 * that this process can read them again whatever keys the service has.
 */
export function storedLogins({ client, place, keys, scope, env }: StoredLoginsOptions): LoginKeeper {
  const configurations = client.configurations(place.component);
  const fetchState = async (): Promise<Json> =>
    (await configurations.detail(place.configuration)).state as Json; // as it was parsed
  return stateLogins({
    place: `the state of configuration ${place.configuration}`,
    isShared: true,
    sealer: lateSealer(() => withKey(keys(), scope, env)),
    env,
    readState: async () => wholeState(await fetchState()).component,
    async writeLogins(logins) {
      const { component, others } = wholeState(await fetchState());
      await configurations.updateState(
        place.configuration,
        wrappedState(withLogins(component, logins), others),
      );
    },
  });
}

/** Creates a sealer, or throws before anything is sent: a login that cannot be kept would be lost with the run. */
function withKey(keys: Keys, scope: Scope, env: Env): Sealer {
  const { seal, open } = sealer(keys, scope, env);
  return {
    open,
    seal: (text) => {
      if (keys.length > 0) return seal(text);
      throw new EncryptionError(
        'encryption.noKey',
        'The login cannot be kept: there is no key to encrypt it with.',
        {
          hint: 'Give a key with GEX_ENCRYPTION_KEY_FILE or GEX_ENCRYPTION_KEY, always the same for this configuration; gex encrypt --new-key FILE makes one. If the refresh token never changes, "keep": false in the authentication keeps nothing.',
        },
      );
    },
  };
}
