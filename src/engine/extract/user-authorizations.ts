import { parseExtractorConfig } from '../config/extractor-config.ts';
import { collectSecrets } from '../config/secrets.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { NamedLogin, UserAuthorization } from '../http/auth/index.ts';
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

type AuthorizationOptions = Omit<ProbeOptions, 'job' | 'maxCalls' | 'methods' | 'signal'>;

/**
 * Creates the authentication as a run does, of the first iteration; no request is sent before a code is exchanged.
 *
 * @throws {ConfigError} when a key is wrong, or there is nothing that a user could authorize
 */
export function openUserAuthorizations(options: AuthorizationOptions): UserAuthorizations {
  const authorizations: UserAuthorization[] = [];
  const { connection } = openFirst(options, { onUserAuthorization: (each) => authorizations.push(each) });
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

/** Lists the logins of a configuration that are kept between runs. @throws {ConfigError} when a key is wrong */
export async function listKeptLogins(options: AuthorizationOptions): Promise<readonly NamedLogin[]> {
  const logins: NamedLogin[] = [];
  const { connection } = openFirst(options, { onKeptLogin: (login) => logins.push(login) });
  await connection.close();
  return logins;
}

function openFirst(
  options: AuthorizationOptions,
  listeners: Pick<Parameters<typeof openConfig>[0], 'onKeptLogin' | 'onUserAuthorization'>,
): ReturnType<typeof openConfig> {
  for (const secret of collectSecrets(options.configuration)) options.secrets.add(secret);
  const config = parseExtractorConfig(options.configuration);
  const [effective] = config.configs;
  if (effective === undefined) throw new Error('a configuration has at least one iteration');
  return openConfig({
    ...options,
    config: { ...config, cache: undefined },
    effective,
    time: timeContext(options.state, Math.floor(options.env.now() / 1000)),
    cacheFolder: '',
    ...listeners,
  });
}
