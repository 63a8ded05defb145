import type { Advice, OpenPoint } from './advice.ts';
import type { ConfigurationProblem } from './workshop.ts';

export type { Advice, OpenPoint } from './advice.ts';

/** A line of the answers of the workshop: steps, and at the end what came of it. */
export type WorkshopLine =
  | { readonly step: string }
  | { readonly found: Found }
  | { readonly tried: Tried }
  /** The logins that were given were renewed: these take their place. JSON text. */
  | { readonly logins: string }
  | { readonly error: ToldError };

/** Error as text. */
export interface ToldError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly audience: string;
  /** Status that the API answered with, when that was the error. */
  readonly status?: number | undefined;
  /** Possible remedies, as facts. */
  readonly advice?: Advice | undefined;
  /** The mistakes of a configuration. */
  readonly problems?: readonly ConfigurationProblem[] | undefined;
}

/** Findings about an API. Secrets are in `configuration` alone, encrypted when they leave the service. */
export type Found = FoundList | FoundDocument;

/** A list that was asked for. */
export interface FoundList {
  readonly form: 'list';
  readonly verdict: string;
  /** JSON, as it was found. */
  readonly configuration: string;
  /** The first answer, JSON; long lists and texts of it are cut. */
  readonly answer: string;
  /** How many items the cut lists of it have, by their paths. */
  readonly lengths: Readonly<Record<string, number>>;
  readonly sent: readonly SentRequest[];
  /** The lists of a text with several; the `what` of another one, given as `select`, looks at that. */
  readonly choices: readonly {
    readonly what: string;
    /** In the answer that was recorded. */
    readonly rows: number;
    readonly isTaken: boolean;
  }[];
  /** Location of the rows: an empty path is the answer itself. */
  readonly rows: { readonly path: string; readonly kind: string; readonly firstPage: number };
  /** Other lists of the answer. */
  readonly others: readonly { readonly path: string; readonly rows: number }[];
  readonly id: readonly string[];
  readonly time: string | null;
  readonly fields: readonly FoundField[];
  /** How the next page is asked for, in words. */
  readonly nextPage: string | null;
  readonly pages: number;
  readonly rowsRead: number;
  readonly report: ReportedJob | null;
  /** Observations that speak for it. */
  readonly evidence: readonly string[];
  readonly against: readonly string[];
  readonly tried: readonly { readonly what: string; readonly result: string }[];
  /** Unknown properties, and tasks for a person. */
  readonly open: readonly OpenPoint[];
  readonly requests: number;
}

export interface SentRequest {
  readonly method: string;
  /** Address without secrets. */
  readonly url: string;
}

export interface FoundField {
  readonly path: string;
  readonly kind: string;
  readonly filled: number;
  readonly distinct: number;
  readonly rows: number;
}

/** The lists of a document, each a row of the configuration. */
export interface FoundDocument {
  readonly form: 'document';
  /** Such as `OpenAPI 3.0.0`. */
  readonly kind: string;
  readonly title: string;
  readonly configuration: string;
  readonly lists: readonly DocumentedList[];
  readonly skipped: readonly { readonly what: string; readonly why: string }[];
  /** Variables to be set before a run. */
  readonly variables: readonly string[];
  readonly notes: readonly string[];
}

export interface DocumentedList {
  /** Id of the row of the configuration. */
  readonly row: string;
  readonly path: string;
  readonly table: string;
  /** Path of the list whose rows it is asked for. */
  readonly parent?: string | undefined;
  readonly rowsAt: string;
  readonly nextPage: string;
  /** Result of asking for the list; absent where it was not asked for. */
  readonly attempt?: DocumentedAttempt;
}

export interface DocumentedAttempt {
  /** As of any list; `empty`: it has no rows; `failed`: no list came; `untried`: it could not be asked for. */
  readonly verdict: string;
  /** Why, where no list came or something speaks against it. */
  readonly why: string;
  readonly rows: number;
  readonly pages: number;
  readonly requests: number;
  /** Number of all rows, where the API says it. */
  readonly total: number | undefined;
  readonly id: readonly string[];
  /** The way to the next page was tried, and is right. */
  readonly isProved: boolean;
}

/** Result of a trial. */
export interface Tried {
  readonly tables: readonly TriedTable[];
  /** By row and job, as `gex explain --json` tells them. */
  readonly recordings: readonly TriedRecording[];
  /** Report of the jobs, as `gex run` would give it. */
  readonly jobs: readonly ReportedJob[];
  /** Warnings of the run. */
  readonly warnings: readonly string[];
  /** Recording for trying changed settings without requests to the API; null when it is too large for that. */
  readonly recording: string | null;
  /** Why it ended early; what had come by then is there. */
  readonly error?: ToldError | undefined;
}

/** How a job ended: a part of what `report.json` has of it. */
export interface ReportedJob {
  /** Row of the configuration; absent when it has none. */
  readonly row?: string | undefined;
  readonly job: string;
  readonly verdict: string;
  readonly pages: number;
  readonly rows: number;
  readonly reasons: readonly { readonly text: string; readonly runs: number }[];
}

export interface TriedTable {
  /** Row of the configuration; undefined when it has none. */
  readonly row?: string | undefined;
  readonly name: string;
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
  readonly incremental: boolean;
  /** The first ones. */
  readonly rows: readonly (readonly string[])[];
  readonly rowsCount: number;
}

export interface TriedRecording {
  readonly row?: string | undefined;
  readonly jobs: readonly {
    readonly job: string;
    readonly runs: readonly { readonly pages: readonly TriedRequest[] }[];
  }[];
}

export interface TriedRequest {
  readonly page: number;
  readonly request: { readonly method: string; readonly url: string };
  readonly status: number;
  readonly ms: number;
  readonly retries: number;
  /** Absent when the answer was not looked at. */
  readonly rows?: number | undefined;
  /** Origin of the request. */
  readonly from: unknown;
  readonly end?: { readonly text: string } | undefined;
  /** The rows of its answer; absent when it was not read. */
  readonly took?: TriedRows | undefined;
  /** How its answer begins, where there are no rows to show. */
  readonly answer?: string | undefined;
}

/** Rows of an answer, before they become a table. */
export interface TriedRows {
  /** Their location in the answer, empty for the answer itself; absent when they do not stand there as one list. */
  readonly at?: string | undefined;
  readonly count: number;
  /** The first ones, a list as JSON; long lists and texts in it are cut. */
  readonly sample: string;
  /** The lines that they are in a table: the first one is line `from`, from 0. Absent when unknown. */
  readonly table?: { readonly name: string; readonly from: number } | undefined;
}
