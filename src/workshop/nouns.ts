import type { Scope } from '../encryption/index.ts';
import type { ConfigurationProblem } from '../storage/protocol/workshop.ts';
import type { Finding, FromDocument } from '../init/index.ts';

/** What a process of the workshop is asked for: one line of JSON on its stdin. No secret is in its arguments or environment. */
export type Asked = AskedToExplore | AskedToInspect | AskedToTry;

/** Look at an API, and find out how to get all of a list. */
export interface AskedToExplore {
  readonly kind: 'explore';
  /** An address, a curl command, or the text of a HAR file, an OpenAPI document or a Postman collection. */
  readonly source: string;
  /** As `--auth` of `gex init`, with the secret itself. */
  readonly auth?: string | undefined;
  /** `Name: value`. */
  readonly headers?: readonly string[] | undefined;
  /** Of a text with several lists, those that have this in their address. */
  readonly select?: string | undefined;
  readonly maxRequests: number;
}

/** Tell what is wrong with the text of a configuration. */
export interface AskedToInspect {
  readonly kind: 'inspect';
  readonly text: string;
  /** The keys of encrypted values, as a key file has them, and where the configuration belongs. */
  readonly keys: string;
  readonly scope: Scope;
}

/** Run a configuration for a few pages, or over the answers of an earlier trial. */
export interface AskedToTry {
  readonly kind: 'try';
  /** What `config.json` would hold, JSON. */
  readonly document: string;
  /** Only this row of it. */
  readonly row?: string | undefined;
  /** Of each job. */
  readonly pages: number;
  /** A recording of an earlier trial, in base64: the API is not asked then. */
  readonly recording?: string | undefined;
  /** The keys of encrypted values, as a key file has them, and where the configuration belongs. */
  readonly keys: string;
  readonly scope: Scope;
}

/** What it says: a line of JSON each on its stdout, the last one with what came of it. */
export type Said =
  | { readonly step: string }
  | { readonly found: Found }
  | { readonly tried: Tried }
  | { readonly problems: readonly ConfigurationProblem[] }
  | { readonly error: ToldError };

export interface ToldError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly audience: string;
}

/** Secrets are in `configuration` alone, in the values of `#` keys; whoever gets it encrypts them. */
export type Found =
  | (Omit<Finding, 'configuration'> & {
      readonly form: 'list';
      /** JSON, as it was found. */
      readonly configuration: string;
      /** The first answer, JSON; long lists and texts of it are cut. */
      readonly answer: string;
      readonly sent: readonly SentRequest[];
      /** Other lists of a text with several, by what `select` takes. */
      readonly choices: readonly string[];
    })
  | (Omit<FromDocument, 'configuration'> & { readonly form: 'document'; readonly configuration: string });

export interface SentRequest {
  readonly method: string;
  /** Without secrets. */
  readonly url: string;
}

export interface Tried {
  readonly tables: readonly TriedTable[];
  /** By row and job, as `gex explain --json` tells them. */
  readonly recordings: readonly object[];
  /** What `gex run` would report of the jobs. */
  readonly jobs: readonly object[];
  /** To try changed settings with, without asking the API again; null when it is too large for that. */
  readonly recording: string | null;
  /** Why it ended early; what had come by then is there. */
  readonly error?: ToldError | undefined;
}

export interface TriedTable {
  /** Of the configuration; undefined when it has none. */
  readonly row?: string | undefined;
  readonly name: string;
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  readonly incremental: boolean;
  /** The first ones. */
  readonly rows: readonly (readonly string[])[];
  readonly rowsCount: number;
}
