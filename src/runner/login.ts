import { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomState } from 'oauth4webapi';
import { systemEnv, type Env } from '../lib/env.ts';
import { ConfigError, describeError, RunError } from '../lib/errors.ts';
import type { ExchangedLogin, LoginKeeper, UserAuthorization } from '../engine/http/auth/index.ts';
import { withRedaction } from '../lib/redact.ts';
import { lockFolder } from './lock.ts';
import { folderLogins } from './logins/folder-logins.ts';
import { codeOf } from './login/answer.ts';
import { isLoopback, listenForRedirect, type RedirectTarget } from './login/redirect.ts';
import { makePlan, type RunPlanOptions, type SecretPlanOptions } from './plan.ts';

export interface LoginOptions extends Omit<RunPlanOptions, 'rows'> {
  /** The row whose login is made; the first one by default. Rows with the same login share it. */
  readonly row?: string | undefined;
  /** Keeps the login; in the data folder by default. */
  readonly logins?: LoginKeeper | undefined;
  /** Shows the address to the person, and opens it if it can. */
  readonly show: (address: string, ask: { readonly isPasted: boolean }) => void;
  /** Resolves with the address that the person pasted; never, where there is nobody to ask. */
  readonly pasted: (signal: AbortSignal) => Promise<string>;
  /** Milliseconds that the person may take. Default: 5 minutes. */
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly env?: Env;
  /** How this process is called, for others who find the folder locked. */
  readonly command?: string;
}

/** A login that a person has made. */
export interface LoginResult extends ExchangedLogin {
  /** JSON path of the authentication. */
  readonly at: string;
}

const TIMEOUT_MS = 300_000;

/**
 * Logs a person in for a configuration (RFC 6749 4.1 with PKCE, RFC 8252): the browser is sent to the provider, comes
 * back to a port of this machine, and the tokens are kept, encrypted, where runs keep them.
 *
 * @throws {ExtractorError} `auth.failed` with the words of the provider, `command.invalid` when nobody came back in time
 */
export async function login(options: LoginOptions): Promise<readonly LoginResult[]> {
  return await withRedaction(options, logAllIn);
}

async function logAllIn(options: LoginOptions & SecretPlanOptions): Promise<readonly LoginResult[]> {
  const { dataFolder, environment = process.env, env = systemEnv, log, secrets, row, authTypes } = options;
  const { ready } = await makePlan({ ...options, rows: row === undefined ? [] : [row] }, 'refuse');
  const [first] = ready;
  if (first === undefined)
    throw new ConfigError('config.invalid', 'All rows are disabled, so there is nothing to log in for.', {
      hint: 'Name a row with --row.',
    });
  const lock = lockFolder(dataFolder, options.command ?? 'gex login', env.now());
  try {
    const keeper = options.logins ?? folderLogins({ dataFolder, environment, env, log });
    const { openUserAuthorizations } = await import('../engine/extract/user-authorizations.ts');
    const { configuration } = first;
    const opened = openUserAuthorizations({
      configuration,
      state: {},
      env,
      log,
      secrets,
      logins: keeper,
      authTypes,
    });
    try {
      const results: LoginResult[] = [];
      for (const each of opened.authorizations)
        results.push({ at: each.at, ...(await logIn(each, options)) });
      return results;
    } finally {
      await opened.close();
    }
  } finally {
    lock.release();
  }
}

async function logIn(
  login: UserAuthorization,
  { show, pasted, signal, timeoutMs = TIMEOUT_MS, secrets }: LoginOptions & SecretPlanOptions,
): Promise<ExchangedLogin> {
  const own = login.redirectUri;
  const target = own === undefined || isLoopback(own) ? await listenForRedirect(own) : undefined;
  const redirectUri = target?.redirectUri ?? own ?? '';
  const state = generateRandomState();
  const verifier = login.usesPkce ? generateRandomCodeVerifier() : undefined;
  const challenge = verifier === undefined ? undefined : await calculatePKCECodeChallenge(verifier);
  if (verifier !== undefined) secrets.add(verifier);
  try {
    show(login.address({ redirectUri, state, challenge }), { isPasted: target === undefined });
    const url = await answerOf(target, pasted, signal, timeoutMs);
    const code = codeOf(url, state, 'client');
    const done = await login.exchange({ code, redirectUri, verifier }, { signal });
    await target?.end({ title: 'Logged in', text: 'You can close this page and go back to the terminal.' });
    return done;
  } catch (error) {
    const text = secrets.redactMessage(describeError(error));
    await target?.end({ title: 'Not logged in', text });
    throw error;
  }
}

/** Waits for the redirect of the browser or for an address that the user pasted, whichever comes first. */
async function answerOf(
  target: RedirectTarget | undefined,
  pasted: LoginOptions['pasted'],
  signal: AbortSignal,
  timeoutMs: number,
): Promise<URL> {
  const late = AbortSignal.timeout(timeoutMs);
  const done = new AbortController();
  const ended = AbortSignal.any([signal, late, done.signal]);
  const aborted = new Promise<never>((_resolve, reject) => {
    ended.addEventListener('abort', () => reject(ended.reason as Error), { once: true });
  });
  const byHand = pasted(ended).then((text) => {
    if (URL.canParse(text.trim())) return new URL(text.trim());
    throw new RunError('auth.failed', 'What was pasted is no address.', {
      hint: 'Paste the whole address that the browser shows at the end, from http on.',
    });
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([...(target === undefined ? [] : [target.arrived]), byHand, aborted]);
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
    throw new RunError('auth.failed', `Nobody has logged in within ${timeoutMs / 1000} seconds.`, {
      hint: 'Did the browser show an error of the provider? Then compare "clientId", "scope" and "redirectUri" with what is registered there: many providers want the redirect address to be registered as it is sent. --timeout gives more time.',
    });
  } finally {
    done.abort();
    byHand.catch(() => undefined);
  }
}
