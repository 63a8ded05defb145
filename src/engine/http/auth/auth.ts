import type { Env } from '../../../lib/env.ts';
import type { Evaluate } from '../../shared/evaluate.ts';
import type { OptionSchema } from '../../../lib/option.ts';
import type { AnyObject } from '../../../lib/json/index.ts';
import type { Log } from '../../../lib/log.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import type { ApiRequest, JobRequest, Send, SendWrapper } from '../../shared/message.ts';
import type { LoginKeeper, NamedLogin } from './kept-login.ts';
import type { UserAuthorization } from './user-authorization.ts';

/**
 * A kind of authentication (`api.authentication.type`): a value in a list that a library user may extend.
 *
 * The wrapper that `create` gives is asked anew for every retry and every redirect hop, always with the request
 * as it was before authentication, so nonces, timestamps and expiry are fresh each time.
 */
export interface AuthType {
  /** The word in `authentication.type`. */
  readonly type: string;
  /** An older word for the same; it works with a warning. */
  readonly deprecated?: string;
  /** JSON Schema of the whole `authentication` node of this type. */
  readonly options: OptionSchema;
  /**
   * @param node the `authentication` node of the configuration
   * @throws {ConfigError} when a key is missing or wrong
   */
  create(node: AnyObject, context: AuthTypeContext): SendWrapper;
}

/** Dependencies of an authentication. */
export interface AuthContext {
  readonly env: Env;
  readonly log: Log;
  readonly evaluate: Evaluate;
  /** Flattened `config`: the context `attr`. */
  readonly attributes: AnyObject;
  /** The effective `config`, for `username` and `password`. */
  readonly config: AnyObject;
  /** `authorization.oauth_api.credentials`. */
  readonly oauthCredentials: AnyObject | undefined;
  /** The chain for logins: no authentication, the status checked, retried like every request. */
  readonly login: Send;
  /** Base URL and default headers applied, no default options (login). */
  readonly buildRequest: (job: JobRequest) => ApiRequest;
  /** Unix seconds of a date text, absolute or relative to `baseSeconds`; false when it is no date. */
  readonly parseTime: (text: string, baseSeconds: number) => number | false;
  /** Learns the tokens that a login answers with, so that no log shows them. */
  readonly secrets?: Pick<Secrets, 'add'> | undefined;
  /** Keeps logins that outlive the run; by default nothing outlives the process. */
  readonly logins?: LoginKeeper | undefined;
  /** Is told of work that is to end before the connection is closed. */
  readonly hold?: ((work: Promise<unknown>) => void) | undefined;
  /** Called with each user authorization of the configuration, for `gex login`. */
  readonly onUserAuthorization?: ((login: UserAuthorization) => void) | undefined;
  /** Called with each login of the configuration that is kept. */
  readonly onKeptLogin?: ((login: NamedLogin) => void) | undefined;
  /** JSON path of the `authentication` node, for messages. */
  readonly at: string;
}

/** Context of {@link AuthType.create}: a type that wraps others creates these, too. */
export interface AuthTypeContext extends AuthContext {
  /**
   * The authentication of a node inside of this one; a node without `type` adds nothing.
   *
   * @param at its JSON path
   * @throws {ConfigError} when its type is unknown or its keys are wrong
   */
  readonly nested: (node: AnyObject, at: string) => SendWrapper;
}

/** Creates a wrapper that changes each request before it is sent. */
export function signing(sign: (request: ApiRequest) => ApiRequest): SendWrapper {
  return (next) => async (request, options) => next(sign(request), options);
}

/** Returns the present time in whole seconds since 1970. */
export function secondsOf(env: Env): number {
  return Math.floor(env.now() / 1000);
}

/** Returns random bytes as lower-case hexadecimal text. */
export function randomHex(env: Env, bytes: number): string {
  return Buffer.from(env.randomBytes(bytes)).toString('hex');
}
