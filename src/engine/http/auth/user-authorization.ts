import type { SendOptions } from '../../shared/message.ts';

/** Authorization by a user in a browser (the authorization code grant, RFC 6749 4.1). */
export interface UserAuthorization {
  /** JSON path of the authentication. */
  readonly at: string;
  /** Address that the provider redirects the user to, as registered there; undefined for any loopback port. */
  readonly redirectUri: string | undefined;
  /** True when PKCE (RFC 7636) is used. */
  readonly usesPkce: boolean;
  /** Returns the address that the user opens. */
  readonly address: (asked: AuthorizationRequest) => string;
  /** Exchanges the code for tokens and keeps them. @throws {HttpError} auth.failed, auth.notKept */
  readonly exchange: (code: AuthorizationCode, options: SendOptions) => Promise<ExchangedLogin>;
}

export interface AuthorizationRequest {
  readonly redirectUri: string;
  /** Value that the provider must send back. */
  readonly state: string;
  /** S256 challenge of PKCE; undefined if it is not used. */
  readonly challenge: string | undefined;
}

export interface AuthorizationCode {
  readonly code: string;
  readonly redirectUri: string;
  /** Verifier of PKCE. */
  readonly verifier: string | undefined;
}

/** Result of the code exchange, without any secret of it. */
export interface ExchangedLogin {
  /** Location of the kept login. */
  readonly place: string;
  /** False when the provider gave none: the login ends with its access token. */
  readonly hasRefreshToken: boolean;
  /** Unix seconds of the end of the access token; undefined when the provider did not say. */
  readonly renewAt: number | undefined;
}
