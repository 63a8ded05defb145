import { calculatePKCECodeChallenge } from 'oauth4webapi';
import type {
  ExchangedLogin,
  LoginKeeper,
  NamedLogin,
  UserAuthorization,
} from '../../engine/http/auth/index.ts';
import { systemEnv, type Env } from '../../lib/env.ts';
import { ConfigError } from '../../lib/errors.ts';
import { withRedaction } from '../../lib/redact.ts';
import { makePlan, type RunPlanOptions, type SecretPlanOptions } from '../plan.ts';
import { codeOf } from './answer.ts';

/** Options of a login whose browser comes back to another program, such as a service. */
export interface AuthorizeOptions extends Omit<RunPlanOptions, 'rows'> {
  /** The row whose login is made; the first one by default. */
  readonly row?: string | undefined;
  readonly logins: LoginKeeper;
  readonly env?: Env;
}

export interface Authorizing {
  /** Address that the provider sends the browser back to. */
  readonly redirectUri: string;
  /** Value that the provider must send back. */
  readonly state: string;
  /** Verifier of PKCE. */
  readonly verifier: string;
}

/**
 * Returns the address at which a person logs in; no request is sent.
 *
 * @throws {ConfigError} when there is nothing that a person logs in to
 */
export async function authorizationAddress(
  options: AuthorizeOptions,
  { redirectUri, state, verifier }: Authorizing,
): Promise<string> {
  return await withAuthorization(options, async ({ address, usesPkce }) => {
    const challenge = usesPkce ? await calculatePKCECodeChallenge(verifier) : undefined;
    return address({ redirectUri, state, challenge });
  });
}

/**
 * Exchanges the code in the address that the browser came back with, and keeps the tokens.
 *
 * @throws {ExtractorError} `auth.failed` with the words of the provider
 */
export async function finishAuthorization(
  options: AuthorizeOptions & { readonly signal: AbortSignal },
  { redirectUri, state, verifier }: Authorizing,
  answer: string,
): Promise<ExchangedLogin> {
  const code = codeOf(new URL(answer), state, 'client');
  return await withAuthorization(
    options,
    async ({ exchange, usesPkce }) =>
      await exchange(
        { code, redirectUri, verifier: usesPkce ? verifier : undefined },
        { signal: options.signal },
      ),
  );
}

/** Lists the logins of a configuration and its rows that are kept between runs. */
export async function keptLoginsOf(options: Omit<AuthorizeOptions, 'row'>): Promise<readonly RowLogin[]> {
  return await withRedaction(options, async (known) => {
    const { listKeptLogins } = await import('../../engine/extract/user-authorizations.ts');
    const { ready } = await makePlan({ ...known, rows: [] }, 'warn');
    const found: RowLogin[] = [];
    for (const { row, configuration } of ready) {
      const listed = await listKeptLogins({ ...shared(known), configuration });
      for (const login of listed)
        // rows with the same login share it
        if (!found.some(({ name }) => name === login.name)) found.push({ row: row.id, ...login });
    }
    return found;
  });
}

export interface RowLogin extends NamedLogin {
  /** The first row that uses it; undefined for a configuration without rows. */
  readonly row: string | undefined;
}

async function withAuthorization<T>(
  options: AuthorizeOptions,
  work: (login: UserAuthorization) => Promise<T>,
): Promise<T> {
  return await withRedaction(options, async (known) => {
    const { openUserAuthorizations } = await import('../../engine/extract/user-authorizations.ts');
    const { row } = known;
    const { ready } = await makePlan({ ...known, rows: row === undefined ? [] : [row] }, 'warn');
    const [first] = ready;
    if (first === undefined)
      throw new ConfigError('config.invalid', 'All rows are disabled, so there is nothing to log in for.');
    const opened = openUserAuthorizations({ ...shared(known), configuration: first.configuration });
    try {
      const [login] = opened.authorizations;
      if (login === undefined) throw new Error('openUserAuthorizations refuses a configuration without one');
      return await work(login);
    } finally {
      await opened.close();
    }
  });
}

function shared({ env = systemEnv, log, secrets, logins, authTypes }: AuthorizeOptions & SecretPlanOptions) {
  return { state: {}, env, log, secrets, logins, authTypes };
}
