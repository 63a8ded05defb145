/** A change of the limit, or what holds it where it is, for reports. */
export interface LimitChange {
  /** Milliseconds since the first request. */
  readonly atMs: number;
  /** Requests sent so far. */
  readonly sent: number;
  readonly from: number;
  /** The same as before where answers became slow, or the API declares that little is left. */
  readonly to: number;
  /** `429, Retry-After 12 s`, `it was used`, `the API says so`. */
  readonly why: string;
}

/** The requests that a limit counts: those to a host with the same credentials. */
export interface LimitSubject {
  readonly origin: string;
  /** Names the credentials without telling them; absent where there are none. */
  readonly credential?: string | undefined;
}

/** The limit of an origin at the end of a run, and how it came about. */
export interface LimitTrace extends LimitSubject {
  /** When the first request was sent. */
  readonly since: string;
  readonly limit: number;
  readonly sent: number;
  /** Requests that the API refused. */
  readonly refused: number;
  readonly changes: readonly LimitChange[];
}

/** Beginning of a limit by an earlier run. */
export interface LimitStart {
  readonly limit: number;
  /** More was refused then, so that it grows one by one. */
  readonly wasRefused: boolean;
}

/** Keeps limits from run to run. */
export interface LimitKeeper {
  /** Returns what to begin with; undefined for a host that is not known. */
  startOf(subject: LimitSubject): LimitStart | undefined;
  /** Names credentials without telling them: the same name in each run. */
  nameOf(credentials: string): string;
  keep(traces: readonly LimitTrace[]): void;
}
