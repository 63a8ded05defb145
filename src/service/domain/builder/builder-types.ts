import type { Scope } from '../../../lib/encryption/index.ts';
import type { ImportReport } from '../../../authoring/importing/report.ts';
import type { RowLogin } from '../../../runner/login/authorize.ts';
import type { ConfigurationProblem, ImportTool } from '../../../storage/protocol/workshop.ts';
import type { SentRequest, WorkshopLine } from '../../../storage/protocol/workshop-answers.ts';

/** Task of a process of the builder: one line of JSON on its stdin. No secret is in its arguments or environment. */
export type BuilderTask =
  | AskedToExplore
  | AskedToInspect
  | AskedToTry
  | AskedToImport
  | AskedToLogIn
  | AskedForLogins;

/** Task to probe an API, and find out how to get all of a list. */
export interface AskedToExplore {
  readonly kind: 'explore';
  /** An address, a curl command, or the text of a HAR file, an OpenAPI document or a Postman collection. */
  readonly source: string;
  /** Credentials as `--auth` of `gex init`, with the secret itself. */
  readonly auth?: string | undefined;
  /** `Name: value`. */
  readonly headers?: readonly string[] | undefined;
  /** Filter for a text with several lists: those that have this in their address. */
  readonly select?: string | undefined;
  readonly maxRequests: number;
  /** Asks for each list of a document. */
  readonly tries?: boolean | undefined;
  /**
   * Variables that name secrets. A secret itself is refused then, and the configuration that was found has the names.
   * Without them it has the secrets.
   */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Logins of persons, to go on with. */
  readonly held?: HeldLogins | undefined;
}

/** Logins that a page holds for a source that is not saved yet. */
export interface HeldLogins {
  /** JSON text, as a state has them: the tokens are encrypted. */
  readonly logins: string;
  readonly keys: string;
  readonly scope: Scope;
}

/** Task to report the problems in the text of a configuration. */
export interface AskedToInspect {
  readonly kind: 'inspect';
  readonly text: string;
  /** Keys of encrypted values, as a key file has them, and the scope of the configuration; empty for none. */
  readonly keys: string;
  readonly scope: Scope;
  /** Variables for `$env:NAME` values, which are known to be set; none by default. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** Task to run a configuration for a few pages, or over the answers of an earlier trial. */
export interface AskedToTry {
  readonly kind: 'try';
  /** JSON text of the `config.json`. */
  readonly document: string;
  /** Only this row of it. */
  readonly row?: string | undefined;
  /** Pages of each job. */
  readonly pages: number;
  /** A recording of an earlier trial, in base64: the API is not asked then. */
  readonly recording?: string | undefined;
  /** The keys of encrypted values, as a key file has them, and where the configuration belongs; empty for none. */
  readonly keys: string;
  readonly scope: Scope;
  /** Variables for `$env:NAME` values; none by default. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Requests after which it ends, with what had come by then; no end by default. */
  readonly maxRequests?: number | undefined;
  /** It ends before a request by a method that changes data. */
  readonly onlyReads?: true;
  /** Empty folder; the caller removes it afterwards, however the process ends. */
  readonly folder: string;
  /** Logins of persons, to go on with: JSON text, as a state has them. */
  readonly logins?: string | undefined;
}

/** Task to log a person in: to name the address for the browser, or to exchange what the browser came back with. */
export interface AskedToLogIn {
  readonly kind: 'login';
  /** JSON text of the `config.json`. */
  readonly document: string;
  readonly row?: string | undefined;
  readonly keys: string;
  readonly scope: Scope;
  readonly redirectUri: string;
  readonly state: string;
  /** Verifier of PKCE. */
  readonly verifier: string;
  /** Address that the browser came back with. */
  readonly answer?: string | undefined;
}

/** Result of an exchange. */
export interface LoggedIn {
  /** JSON text, as a state has them. */
  readonly logins: string;
  readonly hasRefreshToken: boolean;
  /** Unix seconds of the end of the access token. */
  readonly renewAt?: number | undefined;
}

/** Task to list the logins of a configuration that are kept between runs. */
export interface AskedForLogins {
  readonly kind: 'logins';
  readonly document: string;
  readonly keys: string;
  readonly scope: Scope;
}

/** Task to make a configuration from that of another tool. */
export interface AskedToImport {
  readonly kind: 'import';
  readonly tool: ImportTool;
  readonly text: string;
  /** Its file: the form follows from the name. */
  readonly file: string;
  /** Name of the source, for the configuration and the report. */
  readonly name: string;
  /** Settings of the connector as JSON or YAML. */
  readonly settings?: string | undefined;
  /** Files of Python beside a manifest, by their paths from its folder. */
  readonly beside?: Readonly<Record<string, string>> | undefined;
}

/** Result of an import. */
export interface ImportAnswer {
  /** JSON text. */
  readonly configuration: string;
  readonly report: ImportReport;
}

/**
 * Output of the process: a line of JSON each on its stdout, the last one with the result. The receiver of `found`
 * encrypts its secrets.
 */
export type Said =
  | WorkshopLine
  | { readonly problems: readonly ConfigurationProblem[] }
  /** A request that goes out; of a task with `environment`. */
  | { readonly sent: SentRequest }
  | { readonly imported: ImportAnswer }
  | { readonly opened: { readonly address: string } }
  | { readonly loggedIn: LoggedIn }
  | { readonly listed: readonly RowLogin[] };

export type {
  Found,
  SentRequest,
  ToldError,
  Tried,
  TriedRecording,
  TriedRows,
  TriedTable,
} from '../../../storage/protocol/workshop-answers.ts';
