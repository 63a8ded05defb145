import { PaginationError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import { MOST_ALIKE } from '../shared/paginator-capabilities.ts';

/** Default limit of pages for a job without `maxPages`: more than any known job needs. */
export const DEFAULT_MAX_PAGES = 1_000_000;

/** Number of earlier pages that are compared one by one; a checkpoint detects longer circles. */
const WINDOW = 100;

/** Maximum of consecutive pages without rows, each by another request: more than filters of an API leave. */
const MOST_EMPTY = 1000;

export interface GuardOptions {
  /** Maximum of pages for the job; {@link DEFAULT_MAX_PAGES} by default. */
  readonly maxPages?: number;
  /** True when an empty page is no end, even if it equals the page before. */
  readonly emptyGoesOn?: boolean;
  /** True when the second page may be the first one again, as where an API that counts from 1 takes 0 for 1. */
  readonly firstMayRepeat?: boolean;
}

/** A page as the guard compares it: equal digests mean equal content. */
export interface GuardInput {
  /** Number of the page in the job, from 1. */
  readonly page: number;
  /** Digest of the whole request: method, address, parameters, headers that the job sets. */
  readonly requestDigest: string;
  /** Digest of the raw bytes of the body. */
  readonly bodyDigest: string;
  /** Digest of the rows, after `dataField` and `responseFilter`. */
  readonly rowsDigest: string;
  /** Number of rows. */
  readonly rows: number;
  /** Returns the request in words, redacted; called only when a message needs it. */
  readonly describeRequest: () => string;
}

/** Decision about a page. `stop`: the job ends and this page is not written; `pass`: it is not written, and the job goes on. */
export interface GuardVerdict {
  readonly verdict: 'keep' | 'pass' | 'stop';
  readonly reason?: Reason;
  readonly warning?: string;
  /** Number of the earlier page whose rows this page repeats, when it is written all the same. */
  readonly repeats?: number;
  readonly state: Json;
}

/** Detects a job that runs in circles. Pure: its memory is its state, JSON of bounded size. */
export interface Guard {
  /** Maximum of pages for the job. */
  readonly maxPages: number;
  readonly initial: Json;
  /**
   * Checks one page; call it for every page, in order, before the page is written.
   *
   * @throws {PaginationError} `pagination.loop` when the API answers in a circle, `pagination.budget` when the job has
   *   more pages than allowed
   */
  check(input: GuardInput, state: Json): GuardVerdict;
}

/**
 * Creates the guard around every pagination. It checks, in this order:
 *
 * 1. more than `maxPages` pages: an error;
 * 2. a second page with the body of the first one, where that may come: it is passed over;
 * 3. a page with the body of the page before: the job ends, unless it is an empty page and those are no end;
 * 4. a repeated request without rows: the job ends;
 * 5. a repeated request with the rows of the page before: the job ends;
 * 6. a repeated request with the rows of an earlier page: a circle, an error;
 * 7. rows that came before, by another request or in another body: one warning for each job, and an error after
 *    {@link MOST_ALIKE} such pages in a row;
 * 8. very many pages in a row without rows, unless those are no end: an error.
 *
 * A repeated request with new rows is how server-side scrolling works, and passes.
 */
export function createGuard(options: GuardOptions = {}): Guard {
  const maxPages = options.maxPages ?? DEFAULT_MAX_PAGES;
  return {
    maxPages,
    initial: NOTHING_SEEN,
    check(input, state) {
      if (input.page > maxPages) throw overBudget(maxPages, input);
      // The state comes from `initial` or an earlier call, perhaps reloaded from a saved position.
      const memory = state as Memory;
      const stop = (reason: Reason): GuardVerdict => ({ verdict: 'stop', reason, state });

      const previous = memory.page === 0 ? undefined : memory.page;
      const isAnother = memory.requests.digests[memory.requests.last] !== input.requestDigest;
      if (options.firstMayRepeat === true && isFirstAgain(input, memory))
        return {
          verdict: 'pass',
          state: remember(memory, input, { alike: 0, empty: 0, hasWarned: memory.hasWarned }),
        };
      const goesOn = options.emptyGoesOn === true && input.rows === 0 && isAnother;
      if (previous !== undefined && memory.body === input.bodyDigest && !goesOn)
        return stop({ code: 'sameResponse', page: previous });
      const asked = lastSeen(memory, 'requests', input.requestDigest);
      if (asked !== undefined && input.rows === 0) return stop({ code: 'repeatedRequest', page: asked });
      const same = input.rows === 0 ? undefined : lastSeen(memory, 'rows', input.rowsDigest);
      if (asked !== undefined && same !== undefined) {
        if (same !== previous) throw circle(asked, same, input);
        return stop({ code: 'repeatedRows', page: same });
      }
      const alike = same === undefined ? 0 : memory.alike + 1;
      if (same !== undefined && alike >= MOST_ALIKE) throw standstill(alike, same, input);
      const empty = input.rows === 0 && options.emptyGoesOn !== true ? memory.empty + 1 : 0;
      if (empty >= MOST_EMPTY) throw nothingComes(empty, input);
      const isNews = same !== undefined && !memory.hasWarned;
      return {
        verdict: 'keep',
        ...(same === undefined ? {} : { repeats: same }),
        ...(isNews ? { warning: repeatedRows(same, input) } : {}),
        state: remember(memory, input, { alike, empty, hasWarned: memory.hasWarned || isNews }),
      };
    },
  };
}

function isFirstAgain({ page, rows, bodyDigest, requestDigest }: GuardInput, memory: Memory): boolean {
  const isAnother = lastSeen(memory, 'requests', requestDigest) === undefined;
  return page === 2 && rows > 0 && memory.body === bodyDigest && isAnother;
}

function overBudget(maxPages: number, input: GuardInput): PaginationError {
  return new PaginationError('pagination.budget', `The job asked for more than ${maxPages} pages.`, {
    where: { page: input.page },
    hint: 'If the API really has that many, set `maxPages` in the pagination higher; if it never ends, add `limitStop`, `nextPageFlag` or `forceStop`.',
    details: { maxPages },
  });
}

function circle(askedPage: number, samePage: number, input: GuardInput): PaginationError {
  const request = `page ${input.page} repeats the request of page ${askedPage} (${input.describeRequest()})`;
  const message = `The API answers in a circle: ${request} and brings the rows of page ${samePage} again.`;
  return new PaginationError('pagination.loop', message, {
    where: { page: input.page },
    hint: 'Check that the pagination reads the token of the next page, and not that of this or an earlier one; or end it with `nextPageFlag`, `limitStop` or `forceStop`.',
    details: { page: input.page, earlierPage: samePage, sameRequestAsPage: askedPage },
  });
}

function standstill(alike: number, earlierPage: number, input: GuardInput): PaginationError {
  const pages = `Pages ${input.page - alike + 1} to ${input.page}`;
  return new PaginationError(
    'pagination.loop',
    `${pages} bring only rows of pages before them, although something else is asked for each time: page ${input.page} (${input.describeRequest()}) has those of page ${earlierPage}.`,
    {
      where: { page: input.page },
      hint: 'If the API does not know the parameters of the pagination, correct them; if it has no further pages, end it with `nextPageFlag`, `stopWhen` or `limitStop`.',
      details: { page: input.page, earlierPage, pages: alike },
    },
  );
}

function nothingComes(empty: number, input: GuardInput): PaginationError {
  return new PaginationError(
    'pagination.loop',
    `Pages ${input.page - empty + 1} to ${input.page} have no rows, and each leads on to another one (${input.describeRequest()}).`,
    {
      where: { page: input.page },
      hint: 'End it at a page without rows: `"emptyPage": "stop"`; or let it go on as far as `maxPages`: `"emptyPage": "goOn"`.',
      details: { page: input.page, pages: empty },
    },
  );
}

function repeatedRows(earlierPage: number, input: GuardInput): string {
  return `Page ${input.page} brings the same rows as page ${earlierPage}, so the table will have them twice. If the API does not know the parameters of the pagination, correct them; if it has no further pages, end it with \`nextPageFlag\`, \`limitStop\` or \`forceStop\`.`;
}

/** Type aliases, because an interface is not assignable to JSON. */
type Digests = {
  /** Those of the last pages; when there are as many as are kept, each new one takes the place of the oldest. */
  readonly digests: readonly string[];
  /** A number of each, the same for the same digest: numbers lie side by side, and a hundred texts all over the memory. */
  readonly marks: readonly number[];
  /** Place of the last one; −1 where there is none. */
  readonly last: number;
};

type Memory = {
  /** The last page; 0 before the first one. */
  readonly page: number;
  readonly requests: Digests;
  readonly rows: Digests;
  /** The page of the last power of two: every circle reaches it in the end, however long it is (Brent's algorithm). */
  readonly checkpoint: { readonly page: number; readonly requests: string; readonly rows: string } | null;
  /** Digest of the last body. */
  readonly body: string;
  /** Number of consecutive pages, up to the last one, that had no rows or only rows that had come before. */
  readonly alike: number;
  readonly empty: number;
  readonly hasWarned: boolean;
};

const NO_DIGESTS: Digests = { digests: [], marks: [], last: -1 };

const NOTHING_SEEN: Memory = {
  page: 0,
  requests: NO_DIGESTS,
  rows: NO_DIGESTS,
  checkpoint: null,
  body: '',
  alike: 0,
  empty: 0,
  hasWarned: false,
};

/** Returns the number of the most recent page that equals this one. */
function lastSeen(memory: Memory, what: 'requests' | 'rows', digest: string): number | undefined {
  const { page, checkpoint } = memory;
  const { digests, marks, last } = memory[what];
  if (marks.includes(markOf(digest)))
    for (let back = 0; back < digests.length; back++)
      if (digests[(last - back + digests.length) % digests.length] === digest) return page - back;
  return checkpoint?.[what] === digest ? checkpoint.page : undefined;
}

function remember(
  memory: Memory,
  { page, requestDigest, rowsDigest, bodyDigest }: GuardInput,
  counts: Pick<Memory, 'alike' | 'empty' | 'hasWarned'>,
): Memory {
  return {
    page,
    requests: withDigest(memory.requests, requestDigest),
    rows: withDigest(memory.rows, rowsDigest),
    checkpoint: Number.isInteger(Math.log2(page))
      ? { page, requests: requestDigest, rows: rowsDigest }
      : memory.checkpoint,
    body: bodyDigest,
    ...counts,
  };
}

function withDigest(seen: Digests, digest: string): Digests {
  // one that is pushed to a copy would have it copied again
  const digests = seen.digests.slice();
  const marks = seen.marks.slice();
  const last = (seen.last + 1) % WINDOW;
  digests[last] = digest;
  marks[last] = markOf(digest);
  return { digests, marks, last };
}

/** Returns a number of 30 bits that the beginning of a digest gives. */
function markOf(digest: string): number {
  let mark = 0;
  const { length } = digest;
  for (let i = 0; i < length && i < 8; i++) mark = ((mark << 4) ^ digest.charCodeAt(i)) & 0x3fffffff;
  return mark;
}
