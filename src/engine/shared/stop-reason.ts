/**
 * Reason why the pages of a job ended: a code with its values. The same exchanges give the same reason, also in a run
 * that is resumed or replayed. The words are made in one place, {@link reasonText}.
 */
export type Reason =
  | { readonly code: 'noPagination' }
  | { readonly code: 'emptyResponse' }
  | { readonly code: 'noRows' }
  | { readonly code: 'shortPage'; readonly rows: number; readonly size: number }
  /** The link of `urlKey` is absent or empty. */
  | { readonly code: 'noLink'; readonly path: string }
  /** No link of that relation in the `Link` header. */
  | { readonly code: 'noLinkHeader'; readonly rel: string }
  | { readonly code: 'noValue'; readonly path: string }
  | { readonly code: 'endValue'; readonly path: string }
  | { readonly code: 'recentStart' }
  /** `value` is absent when the flag is not set. */
  | { readonly code: 'flag'; readonly field: string; readonly value?: boolean }
  /** `limitStop.field`; `found` is false when the response does not have it. */
  | {
      readonly code: 'total';
      readonly field: string;
      readonly rows: number;
      readonly total: number;
      readonly found: boolean;
    }
  /** `limitStop.count`. */
  | { readonly code: 'rowLimit'; readonly rows: number; readonly count: number }
  | { readonly code: 'forcePages'; readonly pages: number }
  | { readonly code: 'forceTime'; readonly seconds: number }
  | { readonly code: 'forceVolume'; readonly bytes: number; readonly limit: number }
  /** All rows of a page are older than the state of the job, which the API sorts by. */
  | { readonly code: 'olderRows'; readonly state: string }
  /** All files of an export were read. */
  | { readonly code: 'export'; readonly files: number }
  /** `--limit`. */
  | { readonly code: 'limit'; readonly pages: number }
  /** A response rule of the configuration skips the subject of this answer; `text` is the evidence. */
  | { readonly code: 'skipped'; readonly page: number; readonly at: string; readonly text: string }
  /** The body is that of an earlier page, which is not written again. */
  | { readonly code: 'sameResponse'; readonly page: number }
  | { readonly code: 'repeatedRequest'; readonly page: number }
  | { readonly code: 'repeatedRows'; readonly page: number }
  | ConditionReason
  /** A pagination method of a user of the library. */
  | { readonly code: 'other'; readonly text: string };

/** `stopWhen` held of the page. */
export interface ConditionReason {
  readonly code: 'condition';
  /** The condition, and what was seen. */
  readonly text: string;
  readonly evidence: string;
  /**
   * Meaning of the condition: the answer marks the end; or the configuration cuts; or it is a rule such as a short
   * page.
   */
  readonly meaning: 'said' | 'cut' | 'rule';
}

export type ReasonCode = Reason['code'];

/** Returns the meaning of a reason, in half a sentence. */
export function reasonText(reason: Reason): string {
  switch (reason.code) {
    case 'noPagination':
      return 'the job has no pagination';
    case 'emptyResponse':
      return 'the response is empty';
    case 'noRows':
      return 'the page has no rows';
    case 'shortPage':
      return `the page has fewer rows (${reason.rows}) than the page size (${reason.size})`;
    case 'noLink':
      return `the response has no link in ${named(reason.path)}`;
    case 'noLinkHeader':
      return `the response has no link with the relation "${reason.rel}"`;
    case 'noValue':
      return `the response has no ${named(reason.path)}`;
    case 'endValue':
      return `${named(reason.path)} of the response is an end value`;
    case 'recentStart':
      return 'the start_time of the next page is less than six minutes ago';
    case 'flag':
      return `nextPageFlag: \`${reason.field}\` is ${reason.value === undefined ? 'not set' : String(reason.value)}`;
    case 'total':
      return reason.found
        ? `limitStop: ${reason.rows} of ${reason.total} rows have come`
        : `limitStop: the response has no total in \`${reason.field}\``;
    case 'rowLimit':
      return `limitStop: ${reason.rows} of ${reason.count} rows have come`;
    case 'condition':
      return `stopWhen: ${reason.evidence}`;
    case 'forcePages':
      return `forceStop: page ${reason.pages} is the last one allowed`;
    case 'forceTime':
      return `forceStop: ${reason.seconds} seconds have passed`;
    case 'forceVolume':
      return `forceStop: ${reason.bytes} bytes have come, more than ${reason.limit}`;
    case 'olderRows':
      return `all rows of the page are older than the state, ${reason.state}`;
    case 'export':
      return reason.files === 0
        ? 'the export has no rows'
        : `the export has ${reason.files === 1 ? 'one file' : `${reason.files} files`}`;
    case 'limit':
      return `the limit of ${reason.pages} ${reason.pages === 1 ? 'page' : 'pages'} is reached`;
    case 'skipped':
      return `the answer is skipped by \`${reason.at}\`: ${reason.text}`;
    case 'sameResponse':
      return `the response equals that of page ${reason.page}`;
    case 'repeatedRequest':
      return `the request of page ${reason.page} was repeated and brought no rows`;
    case 'repeatedRows':
      return `a repeated request brought the rows of page ${reason.page} again`;
    default:
      return reason.text;
  }
}

/** Quotes a path; a source described in words is not quoted again. */
function named(path: string): string {
  return /^the |[“”]/.test(path) ? path : `\`${path}\``;
}
