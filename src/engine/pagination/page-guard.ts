import { PaginationError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json/index.ts';
import type { Reason } from '../shared/stop-reason.ts';
import { MOST_ALIKE } from '../shared/paginator-capabilities.ts';

/** Pages that a job may have unless `maxPages` says otherwise: more than any known job needs. */
export const DEFAULT_MAX_PAGES = 1_000_000;

/** Pages back that are compared one by one; longer circles are found by a checkpoint. */
const WINDOW = 100;

/** Pages in a row without a row, each by another request: more than filters of an API leave. */
const MOST_EMPTY = 1000;

export interface GuardOptions {
  /** Pages that the job may have; {@link DEFAULT_MAX_PAGES} by default. */
  readonly maxPages?: number;
  /** An empty page is no end, even where it is the same as the one before. */
  readonly emptyGoesOn?: boolean;
}

/** A page that came, by digests: equal text means equal content. */
export interface GuardInput {
  /** Page of the job, from 1. */
  readonly page: number;
  /** Of the whole request: method, address, parameters, headers that the job sets. */
  readonly requestDigest: string;
  /** Of the raw bytes of the body. */
  readonly bodyDigest: string;
  /** Of the rows, after `dataField` and `responseFilter`. */
  readonly rowsDigest: string;
  /** Number of rows. */
  readonly rows: number;
  /** The request in words, redacted; asked for only when a message needs it. */
  readonly describeRequest: () => string;
}

/** `stop`: the job ends and this page is not written. */
export interface GuardVerdict {
  readonly verdict: 'keep' | 'stop';
  readonly reason?: Reason;
  readonly warning?: string;
  /** The earlier page whose rows a page that is kept brings again. */
  readonly repeats?: number;
  readonly state: Json;
}

/** Keeps a job from running in circles. Pure: what it has seen is in its state, which is JSON of bounded size. */
export interface Guard {
  /** Pages that the job may have. */
  readonly maxPages: number;
  readonly initial: Json;
  /**
   * To be called once for each page, in order, before the page is written.
   *
   * @throws {PaginationError} `pagination.loop` when the API answers in a circle, `pagination.budget` when the job has
   *   more pages than allowed
   */
  check(input: GuardInput, state: Json): GuardVerdict;
}

/**
 * The guards around every pagination, in this order:
 *
 * 1. more than `maxPages` pages: an error;
 * 2. the body of the page before: the job ends, unless it is an empty page and those are no end;
 * 3. a repeated request without rows: the job ends;
 * 4. a repeated request with the rows of the page before: the job ends;
 * 5. a repeated request with the rows of an earlier page: a circle, an error;
 * 6. rows that came before, by another request or in another body: one warning for each job, and an error after
 *    {@link MOST_ALIKE} such pages in a row;
 * 7. very many pages in a row without rows, unless those are no end: an error.
 *
 * A repeated request with new rows is how scrolling on the side of the server works, and is kept.
 */
export function createGuard(options: GuardOptions = {}): Guard {
  const maxPages = options.maxPages ?? DEFAULT_MAX_PAGES;
  return {
    maxPages,
    initial: NOTHING_SEEN,
    check(input, state) {
      if (input.page > maxPages) throw overBudget(maxPages, input);
      // The state is what `initial` or an earlier call gave, perhaps read again from a saved position.
      const memory = state as Memory;
      const stop = (reason: Reason): GuardVerdict => ({ verdict: 'stop', reason, state });

      const previous = memory.recent.at(-1);
      const isAnother = previous?.request !== input.requestDigest;
      const goesOn = options.emptyGoesOn === true && input.rows === 0 && isAnother;
      if (previous !== undefined && memory.body === input.bodyDigest && !goesOn) {
        return stop({ code: 'sameResponse', page: previous.page });
      }
      const asked = lastSeen(memory, 'request', input.requestDigest);
      if (asked !== undefined && input.rows === 0) {
        return stop({ code: 'repeatedRequest', page: asked.page });
      }
      const same = input.rows === 0 ? undefined : lastSeen(memory, 'rows', input.rowsDigest);
      if (asked !== undefined && same !== undefined) {
        if (same.page !== previous?.page) throw circle(asked.page, same.page, input);
        return stop({ code: 'repeatedRows', page: same.page });
      }
      const alike = same === undefined ? 0 : memory.alike + 1;
      if (same !== undefined && alike >= MOST_ALIKE) throw standstill(alike, same.page, input);
      const empty = input.rows === 0 && options.emptyGoesOn !== true ? memory.empty + 1 : 0;
      if (empty >= MOST_EMPTY) throw nothingComes(empty, input);
      const isNews = same !== undefined && !memory.hasWarned;
      return {
        verdict: 'keep',
        ...(same === undefined ? {} : { repeats: same.page }),
        ...(isNews ? { warning: repeatedRows(same.page, input) } : {}),
        state: remember(memory, input, { alike, empty, hasWarned: memory.hasWarned || isNews }),
      };
    },
  };
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

/** Type aliases, as an interface is not JSON to the compiler. */
type Seen = {
  readonly page: number;
  readonly request: string;
  readonly rows: string;
};

type Memory = {
  /** The last pages, oldest first. */
  readonly recent: readonly Seen[];
  /** The page of the last power of two: any circle meets it in the end, however long (Brent's algorithm). */
  readonly checkpoint: Seen | null;
  /** Digest of the last body. */
  readonly body: string;
  /** Pages in a row, up to the last one, whose rows had come, or that have none. */
  readonly alike: number;
  readonly empty: number;
  readonly hasWarned: boolean;
};

const NOTHING_SEEN: Memory = {
  recent: [],
  checkpoint: null,
  body: '',
  alike: 0,
  empty: 0,
  hasWarned: false,
};

/** The nearest page that is like this. */
function lastSeen(
  { recent, checkpoint }: Memory,
  what: 'request' | 'rows',
  digest: string,
): Seen | undefined {
  for (let i = recent.length - 1; i >= 0; i--) if (recent[i]?.[what] === digest) return recent[i];
  return checkpoint?.[what] === digest ? checkpoint : undefined;
}

function remember(
  memory: Memory,
  input: GuardInput,
  counts: Pick<Memory, 'alike' | 'empty' | 'hasWarned'>,
): Memory {
  const seen: Seen = { page: input.page, request: input.requestDigest, rows: input.rowsDigest };
  return {
    recent: [...memory.recent.slice(1 - WINDOW), seen],
    checkpoint: Number.isInteger(Math.log2(input.page)) ? seen : memory.checkpoint,
    body: input.bodyDigest,
    ...counts,
  };
}
