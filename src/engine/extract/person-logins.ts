import { parseExtractorConfig } from '../config/extractor-config.ts';
import { collectSecrets } from '../config/secrets.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { PersonLogin } from '../http/auth/index.ts';
import { openConfig } from './open-config.ts';
import type { ProbeOptions } from './probe.ts';
import { timeContext } from './time.ts';

/** The logins of a configuration that a person makes, with the way to their provider. */
export interface PersonLogins {
  /** One for each authentication with `authorizationUrl` that is in use, in their order. */
  readonly logins: readonly PersonLogin[];
  /** To be called once, whatever happened. */
  close(): Promise<void>;
}

/**
 * Makes the authentication as a run does, of the first iteration; nothing is sent before a login is exchanged.
 *
 * @throws {ConfigError} when a key is wrong, or there is nothing that a person could log in to
 */
export function openPersonLogins(
  options: Omit<ProbeOptions, 'job' | 'maxCalls' | 'methods' | 'signal'>,
): PersonLogins {
  for (const secret of collectSecrets(options.configuration)) options.secrets.add(secret);
  const config = parseExtractorConfig(options.configuration);
  const [effective] = config.configs;
  if (effective === undefined) throw new Error('a configuration has at least one iteration');
  const logins: PersonLogin[] = [];
  const { connection } = openConfig({
    ...options,
    config: { ...config, cache: undefined },
    effective,
    time: timeContext(options.state, Math.floor(options.env.now() / 1000)),
    cacheFolder: '',
    onPersonLogin: (login) => logins.push(login),
  });
  if (logins.length === 0)
    throw new ConfigError(
      'config.invalid',
      'There is nothing in this configuration that a person logs in to.',
      {
        where: { path: 'parameters.api.authentication' },
        hint: 'A person logs in to "type": "oauth20.refreshToken" with "authorizationUrl". Any other authentication has what it needs in the configuration.',
      },
    );
  return { logins, close: async () => await connection.close() };
}
