import { reasonOf, HttpError } from '../../../lib/errors.ts';
import type { AnyObject } from '../../../lib/json/index.ts';
import type { SendOptions } from '../../shared/message.ts';
import { randomHex, secondsOf, type AuthContext } from './auth.ts';
import type { KeptLogin, LoginKeeper, PendingRefresh, Tokens } from './kept-login.ts';
import { factsOf } from './answer-facts.ts';
import type { ExchangedLogin } from './user-authorization.ts';
import { findText, readToken, type AccessToken, type TokenPaths } from './tokens.ts';

/** A login whose access token is refreshed, and whose refresh token may be for one use. */
export interface RefreshOptions {
  /** Names the login in the keeper: another client, token endpoint or first token is another login. */
  readonly name: string;
  readonly keeper: LoginKeeper;
  /** The tokens of the configuration, until others are kept; without a refresh token where a person logs in. */
  readonly first: () => Tokens;
  readonly paths: RefreshPaths;
  /** Sends a refresh token to the token endpoint. */
  readonly request: (refreshToken: string, options: SendOptions) => Promise<AnyObject>;
}

export interface RefreshPaths extends TokenPaths {
  readonly refreshToken: string;
}

/** Seconds that another process is given to end a refresh. */
const OTHERS_SECONDS = 60;
/** Milliseconds that a refresh is given to end when the run is interrupted. */
const GRACE_MS = 10_000;

/**
 * Gives the access token that is kept, or refreshes it. The order is what makes it safe (decision 024):
 *
 * 1. "a refresh is under way" is kept,
 * 2. the refresh token is sent,
 * 3. what came is kept,
 * 4. and only then used.
 *
 * A run that is stopped between 2 and 3 leaves the mark of 1, and the next one tries the same token again.
 */
export function refreshing(
  options: RefreshOptions,
  context: AuthContext,
): (send: SendOptions, isRefused: boolean) => Promise<AccessToken> {
  const { name, keeper } = options;
  const { env } = context;
  const me = randomHex(env, 8);
  const keep = keeping(options, context);
  let given: string | undefined;

  const use = (tokens: Tokens, value: string): AccessToken => {
    given = value;
    return { value, renewAt: tokens.renewAt };
  };

  return async (send, isRefused) => {
    for (;;) {
      const kept = await keeper.read(name);
      const tokens = kept?.tokens ?? options.first();
      hide(tokens, context);
      const usable = usableToken(tokens, secondsOf(env));
      // a token that was refused is not used again; another process may have put a newer one there
      if (usable !== undefined && !(isRefused && usable === given)) return use(tokens, usable);
      if (await isElsewhere(kept?.pending)) {
        await env.sleep(2000, send.signal);
        continue;
      }
      const fresh = await uninterrupted(send, context, async (grace) => await refresh(kept, grace));
      if (fresh !== undefined) return use(fresh, fresh.accessToken);
      isRefused = true;
    }
  };

  async function isElsewhere(pending: PendingRefresh | undefined): Promise<boolean> {
    if (pending === undefined || !keeper.isShared || pending.by === me) return false;
    return await Promise.resolve(secondsOf(env) - pending.at < OTHERS_SECONDS);
  }

  /** Refreshes the tokens; undefined when another process was faster, and its tokens are to be read. */
  async function refresh(kept: KeptLogin | undefined, send: SendOptions): Promise<FreshTokens | undefined> {
    const sent = kept?.tokens.refreshToken ?? options.first().refreshToken;
    if (sent === undefined) throw noLogin(kept !== undefined, context);
    const stopped = kept?.pending;
    if (stopped !== undefined)
      context.log.warn(
        `A run was stopped while it refreshed its login, at ${moment(stopped.since)}. Its refresh token is tried again`,
      );
    // the older mark stays until a refresh has ended: it says since when the token may have been replaced
    const at = secondsOf(env);
    const pending = { since: stopped?.since ?? at, at, by: me };
    await keeper.write(name, { tokens: kept?.tokens ?? {}, pending });
    if (keeper.isShared && (await keeper.read(name))?.pending?.by !== me) return undefined;
    const answer = await options.request(sent, send).catch(async (error: unknown) => {
      const now = keeper.isShared ? await keeper.read(name) : undefined;
      if (now?.tokens.refreshToken !== undefined && now.tokens.refreshToken !== sent) return undefined;
      throw await refused(error, kept, context);
    });
    return answer === undefined ? undefined : await keep(answer, { ...kept?.tokens, refreshToken: sent });
  }

  /**
   * Returns the error of a refused token, and keeps that it was refused. The mark of a run that was stopped stays; that
   * of this refresh goes, for a refusal is no crash.
   */
  async function refused(error: unknown, kept: KeptLogin | undefined, { at }: AuthContext): Promise<unknown> {
    if (!(error instanceof HttpError) || error.code !== 'auth.failed' || !isRefusal(error)) return error;
    const ofClient = clientFault(error);
    if (ofClient !== undefined) return ofClient;
    const stopped = kept?.pending;
    const refusal = { tokens: kept?.tokens ?? {}, pending: stopped, refusedAt: secondsOf(env) };
    await keeper.write(name, refusal).catch(() => undefined);
    const why =
      stopped === undefined
        ? ''
        : ` A run was stopped at ${moment(stopped.since)}, after it had sent this token and before it had kept what came: the API may have replaced it then.`;
    return new HttpError('auth.loginEnded', `The refresh token was refused.${why} ${error.message}`, {
      where: { ...error.where, path: at },
      hint: `${stopped === undefined ? 'It may have expired, been taken back, or been used elsewhere. ' : ''}${LOG_IN_AGAIN}`,
      cause: error,
      details: error.details,
    });
  }
}

type FreshTokens = Tokens & { readonly accessToken: string };
type KeepOptions = Pick<RefreshOptions, 'name' | 'keeper' | 'paths'>;

/**
 * Reads the tokens of an answer and keeps them.
 *
 * @returns a function of the answer and of the tokens before it: what the answer lacks stays
 */
function keeping(
  { name, keeper, paths }: KeepOptions,
  context: AuthContext,
): (answer: AnyObject, before: Tokens) => Promise<FreshTokens> {
  return async (answer, older) => {
    const before = older.refreshToken;
    const { value, renewAt } = readToken(answer, context, paths);
    const next = findText(answer, paths.refreshToken);
    const refreshToken = next === undefined || next === '' ? before : next;
    const { refreshUntil, account = older.account } = factsOf(answer, secondsOf(context.env));
    const tokens = {
      accessToken: value,
      refreshToken,
      renewAt,
      refreshUntil: refreshUntil ?? (refreshToken === before ? older.refreshUntil : undefined),
      account,
    };
    hide(tokens, context);
    try {
      await insist(async () => await keeper.write(name, { tokens }), context);
    } catch (error) {
      if (refreshToken !== before || before === undefined) throw notKept(error, keeper);
      context.log.warn(`The access token is not kept for the next run: ${reasonOf(error)}`);
    }
    if (!keeper.isLasting && before !== undefined && refreshToken !== before)
      context.log.warn(
        'The API gave a new refresh token, and nothing keeps it for the next run. If the API takes each once, the next run is refused: leave “keep” out of the authentication',
        { path: context.at },
      );
    return tokens;
  };
}

/** Keeps the tokens that a person's login gave. */
export function keepTokens(
  options: KeepOptions,
  context: AuthContext,
): (answer: AnyObject) => Promise<ExchangedLogin> {
  const keep = keeping(options, context);
  return async (answer) => {
    const { refreshToken, renewAt } = await keep(answer, {});
    return { place: options.keeper.place, hasRefreshToken: refreshToken !== undefined, renewAt };
  };
}

const LOG_IN_AGAIN =
  'Log in again with gex login, or in the console on the page of the source; or authorize the application anew and set its new refresh token.';

/** Tells whether the API refused the token, and did not just have a problem of its own. */
function isRefusal({ details: { status } }: HttpError): boolean {
  return typeof status !== 'number' || (status >= 400 && status < 500 && status !== 429 && status !== 408);
}

/** Errors of a token endpoint that are about the client, and not about the login (RFC 6749 5.2). */
const OF_CLIENT =
  /"error"\s*:\s*"(?:invalid_client|unauthorized_client|unsupported_grant_type|invalid_scope|invalid_request)"/;

/** Returns the error for a client that the provider does not accept; undefined when its answer says no such thing. */
function clientFault(error: HttpError): HttpError | undefined {
  const { body } = error.details;
  if (typeof body !== 'string' || !OF_CLIENT.test(body)) return undefined;
  return new HttpError('auth.failed', `The token endpoint does not accept the client. ${error.message}`, {
    where: error.where,
    hint: 'Check "clientId", "#clientSecret", "authStyle" and "scope": the login itself was not refused.',
    cause: error,
    details: error.details,
  });
}

/** Returns the access token; undefined when there is none, or it is due for renewal. */
function usableToken(tokens: Tokens, now: number): string | undefined {
  if (tokens.accessToken === undefined) return undefined;
  // how long it holds is not known: with a refresh token it is better asked for anew
  if (tokens.renewAt === undefined) return tokens.refreshToken === undefined ? tokens.accessToken : undefined;
  return now < tokens.renewAt ? tokens.accessToken : undefined;
}

function hide({ accessToken, refreshToken }: Tokens, { secrets }: AuthContext): void {
  for (const token of [accessToken, refreshToken]) if (token !== undefined) secrets?.add(token);
}

/** Completes a refresh that was sent, so that Ctrl-C does not lose the new tokens. */
async function uninterrupted<T>(
  { signal }: SendOptions,
  { env, hold }: AuthContext,
  work: (options: SendOptions) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const grace = new AbortController();
  const done = new AbortController();
  const abort = (): void =>
    void env.sleep(GRACE_MS, done.signal).then(
      () => grace.abort(signal.reason),
      () => undefined,
    );
  signal.addEventListener('abort', abort, { once: true });
  const working = work({ signal: grace.signal }).finally(() => {
    signal.removeEventListener('abort', abort);
    done.abort();
  });
  hold?.(working);
  return await working;
}

const WAITS_MS = [500, 1000, 2000, 4000];

/**
 * Retries a write that fails for a passing reason, such as a full disk or a busy service: the new token exists nowhere
 * else.
 */
async function insist(write: () => Promise<void>, { env, log }: AuthContext): Promise<void> {
  for (const waitMs of WAITS_MS) {
    try {
      await write();
      return;
    } catch (error) {
      log.warn(`The login cannot be kept, and it is tried again: ${reasonOf(error)}`);
      await env.sleep(waitMs);
    }
  }
  await write();
}

function notKept(cause: unknown, { place }: LoginKeeper): HttpError {
  return new HttpError(
    'auth.notKept',
    `The API gave a new refresh token, and it could not be kept in ${place}: ${reasonOf(cause)}`,
    {
      hint: `See that ${place} can be written. The token before it is tried by the next run; an API that takes each once refuses it. Then: ${LOG_IN_AGAIN}`,
      cause,
    },
  );
}

function noLogin(isKept: boolean, { at }: AuthContext): HttpError {
  return new HttpError(
    'auth.loginEnded',
    isKept ? 'The access token has ended, and there is no refresh token.' : 'Nobody has logged in yet.',
    {
      where: { path: at },
      hint: 'Log in with gex login, or in the console on the page of the source; or set "#refreshToken" to one that the API gave.',
    },
  );
}

function moment(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
