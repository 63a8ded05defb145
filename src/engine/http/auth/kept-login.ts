/** The tokens of a login. All of it is secret. */
export interface Tokens {
  readonly accessToken?: string | undefined;
  readonly refreshToken?: string | undefined;
  /** Unix seconds from which the access token is renewed; undefined when the API did not say how long it holds. */
  readonly renewAt?: number | undefined;
  /** Unix seconds at which the refresh token ends; undefined when the API did not say. */
  readonly refreshUntil?: number | undefined;
  /** Person who logged in, as the provider names them; not secret. */
  readonly account?: string | undefined;
}

/** A login that outlives the run. */
export interface KeptLogin {
  readonly tokens: Tokens;
  /** There while a refresh is under way: what is found afterwards was stopped in the middle of it. */
  readonly pending?: PendingRefresh | undefined;
  /** Unix seconds at which the API refused the refresh token. */
  readonly refusedAt?: number | undefined;
}

/** Login of a configuration that is kept between runs. */
export interface NamedLogin {
  /** JSON path of the authentication. */
  readonly at: string;
  /** Name under which a keeper has it. */
  readonly name: string;
  /** True when a person can log in. */
  readonly isOfPerson: boolean;
}

export interface PendingRefresh {
  /** Unix seconds since when the refresh token may have been replaced. */
  readonly since: number;
  /** Unix seconds of the last try. */
  readonly at: number;
  /** Tells the process that refreshes from others. */
  readonly by: string;
}

/** Keeps logins between runs, encrypted. */
export interface LoginKeeper {
  /** Location of the logins, for messages: `my-api/in/logins.json`. */
  readonly place: string;
  /** True where another process may refresh at the same time. */
  readonly isShared: boolean;
  /** False for what ends with the process. */
  readonly isLasting: boolean;
  /** @throws {ExtractorError} when there is one and it cannot be read: to begin anew would lose it */
  read(name: string): Promise<KeptLogin | undefined>;
  /**
   * Stores a login durably: on return it survives a power cut, and it stays however the run ends.
   *
   * @throws {ExtractorError} when it cannot be kept, or there is no key to encrypt it with
   */
  write(name: string, login: KeptLogin): Promise<void>;
}

/** Keeps nothing beyond the process. */
export function memoryLogins(): LoginKeeper {
  const kept = new Map<string, KeptLogin>();
  return {
    place: 'the memory of this process',
    isShared: false,
    isLasting: false,
    read: async (name) => await Promise.resolve(kept.get(name)),
    write: async (name, login) => {
      kept.set(name, login);
      await Promise.resolve();
    },
  };
}
