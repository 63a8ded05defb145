import type { AnyObject, Json } from '../../../lib/json/index.ts';

/** How a job comes to its rows by an export: it is asked for, waited for, and downloaded. */
export interface ExportSettings<Request> {
  /** JSON path of the definition. */
  readonly at: string;
  /** Asks for the export; absent where there is one already. */
  readonly create: Request | undefined;
  readonly poll: ExportPoll<Request> | undefined;
  /** Asks for the address of the file, where the poll does not say it. */
  readonly address: Request | undefined;
  readonly download: ExportDownload<Request>;
}

/** Conditions and sources are as written, and checked. */
export interface ExportPoll<Request> {
  readonly request: Request;
  readonly until: Json;
  readonly failWhen: Json | undefined;
  readonly emptyWhen: Json | undefined;
  /** Source of the API's own error message. */
  readonly message: Json | undefined;
  readonly pace: ExportPace;
  readonly deadlineMs: number;
}

/** The first pause between two polls, what each next one is longer by, and the longest. Milliseconds. */
export interface ExportPace {
  readonly fromMs: number;
  readonly times: number;
  readonly mostMs: number;
}

/**
 * `address`: what the last answer says, one address or a list of them. `request`: a request, or one for each item of a
 * list in the last answer, which is then its placeholder `{item}`. `own`: the job's own request.
 */
export type ExportDownload<Request> =
  | { readonly kind: 'address'; readonly from: Json; readonly headers: AnyObject }
  | { readonly kind: 'request'; readonly request: Request; readonly each: Json | undefined }
  | { readonly kind: 'own' };
