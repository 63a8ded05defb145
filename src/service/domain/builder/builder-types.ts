import type { Scope } from '../../../lib/encryption/index.ts';
import type { ConfigurationProblem } from '../../../storage/protocol/workshop.ts';
import type { WorkshopLine } from '../../../storage/protocol/workshop-answers.ts';

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
  /** Empty; whoever asks removes it afterwards, however the process ends. */
  readonly folder: string;
}

/** What it says: a line of JSON each on its stdout, the last one with what came of it. Whoever gets `found` encrypts its secrets. */
export type Said = WorkshopLine | { readonly problems: readonly ConfigurationProblem[] };

export type {
  Found,
  SentRequest,
  ToldError,
  Tried,
  TriedRecording,
  TriedRows,
  TriedTable,
} from '../../../storage/protocol/workshop-answers.ts';
