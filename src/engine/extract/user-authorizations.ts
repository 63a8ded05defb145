import { parseExtractorConfig } from '../config/extractor-config.ts';
import { collectSecrets } from '../config/secrets.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { UserAuthorization } from '../http/auth/index.ts';
import { openConfig } from './open-config.ts';
import type { ProbeOptions } from './probe.ts';
import { timeContext } from './time.ts';

/** User authorizations of a configuration, with the connection to their provider. */
export interface UserAuthorizations {
  /** One for each authentication with `authorizationUrl` that is in use, in their order. */
  readonly authorizations: readonly UserAuthorization[];
  /** Closes the connection; called once, whatever happened. */
  close(): Promise<void>;
}

/**
 * Creates the authentication as a run does, of the first iteration; no request is sent before a code is exchanged.
 *
 * @throws {ConfigError} when a key is wrong, or there is nothing that a user could authorize
 */
export function openUserAuthorizations(
  options: Omit<ProbeOptions, 'job' | 'maxCalls' | 'methods' | 'signal'>,
): UserAuthorizations {
  for (const secret of collectSecrets(options.configuration)) options.secrets.add(secret);
  const config = parseExtractorConfig(options.configuration);
  const [effective] = config.configs;
  if (effective === undefined) throw new Error('a configuration has at least one iteration');
  const authorizations: UserAuthorization[] = [];
  const { connection } = openConfig({
    ...options,
    config: { ...config, cache: undefined },
    effective,
    time: timeContext(options.state, Math.floor(options.env.now() / 1000)),
    cacheFolder: '',
    onUserAuthorization: (each) => authorizations.push(each),
  });
  if (authorizations.length === 0)
    throw new ConfigError(
      'config.invalid',
      'There is nothing in this configuration that a person logs in to.',
      {
        where: { path: 'parameters.api.authentication' },
        hint: 'A person logs in to "type": "oauth20.refreshToken" with "authorizationUrl". Any other authentication has what it needs in the configuration.',
      },
    );
  return { authorizations, close: async () => await connection.close() };
}
