/** Metrics that the parts of the service report, for monitoring. Labels are few and fixed: never an id. */
export interface Metrics {
  request(request: {
    readonly method: string;
    /** Its pattern, such as `/v2/storage/tables/:table`. */
    readonly route: string;
    readonly status: number;
    readonly seconds: number;
  }): void;
  /** A request that was turned away to keep the service in its bounds. */
  refused(reason: Refusal): void;
  /** A job of the storage that ended. */
  job(job: {
    readonly operation: string;
    readonly status: 'error' | 'success';
    readonly seconds: number;
  }): void;
  /** Rows that an import or an export moved; bytes are those of an import as CSV, of an export as they were written. */
  moved(moved: Moved): void;
  /** A run of a configuration that ended, with its verdict: `complete`, `ended`, `cut`, `doubtful` or `none`. */
  run(run: {
    readonly status: 'cancelled' | 'error' | 'success';
    readonly verdict: string;
    readonly seconds: number;
  }): void;
  /** A run that was interrupted so often that it is not tried again. */
  runGivenUp(): void;
  /** A message of an alert that was written: its event is a kind of alerts, `recovered` or `test`. */
  alert(message: { readonly event: string; readonly severity: string }): void;
  /** Entities that retention removed because their time was over. */
  removed(kind: string, count: number): void;
}

export interface Moved {
  readonly direction: 'export' | 'import';
  readonly rows: number;
  readonly bytes: number;
}

/** Why a request was turned away: its token or its address asked too often, or the process has enough to do. */
export type Refusal = 'address' | 'busy' | 'token';

/** Counts nothing. */
export const noMetrics: Metrics = {
  request() {},
  refused() {},
  job() {},
  moved() {},
  run() {},
  runGivenUp() {},
  alert() {},
  removed() {},
};
