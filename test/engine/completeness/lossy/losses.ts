import type { Page, Style } from './styles.ts';
import { SIZE } from './styles.ts';

/** Gives the page that begins with a row, `nth` by the count of the requests from 1. */
export type Serve = (from: number, nth: number, token: string | undefined) => Page;

/** Something that APIs do, over an honest one. */
export interface Deed {
  readonly name: string;
  readonly of?: (style: Style) => boolean;
  /** It may end in an error. */
  readonly isAlone?: boolean;
  /** Requests until it is told of; few by default. */
  readonly most?: number;
  readonly serve: (honest: Serve, style: Style) => Serve;
}

export const COUNT = 23;
const rows = (from: number, to: number): readonly object[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: from + i + 1, name: `user ${from + i}` }));

/** Pages of {@link SIZE} of a list. */
const pagesOf =
  (count: number): Serve =>
  (from) => ({
    rows: rows(from, Math.min(count, from + SIZE)),
    from,
    next: from + SIZE < count ? String(from + SIZE) : undefined,
  });
export const honest: Serve = pagesOf(COUNT);

const hasEnvelope = ({ isBare }: Style): boolean => isBare !== true;
const isCounted = ({ kind }: Style): boolean => kind === 'count';
/** Ids make the way: what leads on is not the API's to say. */
const isLed = ({ kind, pagination }: Style): boolean =>
  kind === 'follow' &&
  'method' in pagination &&
  pagination.method !== 'cursor' &&
  pagination.method !== 'pagenum';
/** Styles that stand for all others: the same loss has the same cause there. */
const isOfFew = ({ name, isBare }: Style): boolean =>
  isBare === true || ['offset', 'token', 'GraphQL'].includes(name);
const both =
  (...tests: readonly ((style: Style) => boolean)[]) =>
  (style: Style): boolean =>
    tests.every((test) => test(style));

/** Another body in the place of the third page. */
function inPlaceOfThird(name: string, body: unknown): Deed {
  return {
    name: `the third page is ${name}`,
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from === 2 * SIZE ? { body, next: undefined } : {}),
    }),
  };
}

/** Fields beside the rows of every page. */
function beside(name: string, fields: (page: Page, nth: number) => object, of = hasEnvelope): Deed {
  return {
    name,
    of,
    serve: (serve) => (from, nth, token) => {
      const page = serve(from, nth, token);
      return { ...page, more: { ...page.more, ...fields(page, nth) } };
    },
  };
}

const clock = (nth: number): object => ({ request_id: `r-${nth}`, took: nth });
/** Rows as a page without an end of its own has them, cut short behind the second page. */
const cut =
  (serve: Serve): Serve =>
  (from, nth, token) => {
    const page = serve(from, nth, token);
    if (from < SIZE) return page;
    return from === SIZE ? { ...page, next: undefined } : { ...page, rows: [], next: undefined };
  };
const cutWith = (name: string, fields: object, of = hasEnvelope, headers = {}): Deed => ({
  name,
  of,
  serve: (serve) => (from, nth, token) => ({ ...cut(serve)(from, nth, token), more: fields, headers }),
});

/** Each loses rows, or brings some twice. */
export const losses: readonly Deed[] = [
  inPlaceOfThird('an error', { error: 'the shard is gone' }),
  ...[
    inPlaceOfThird('an error with its status', { error: 'too many requests', status: 429 }),
    inPlaceOfThird('a list of errors', { errors: [{ message: 'internal', code: 'E17' }] }),
    inPlaceOfThird('an error that is an object', { error: { code: 503, message: 'overloaded' } }),
    inPlaceOfThird('a failure', { success: false, message: 'try again later' }),
    inPlaceOfThird('not ok', { ok: false, error: 'ratelimited' }),
    inPlaceOfThird('a code and a message', { code: 500, message: 'internal error' }),
    inPlaceOfThird('a bad state', { status: 'error', message: 'timed out' }),
    inPlaceOfThird('a fault with an id', { id: 'f-1', fault: { faultstring: 'quota' } }),
    inPlaceOfThird('an error under the rows', { items: { error: 'boom' } }),
    inPlaceOfThird('a message alone', { message: 'upstream request timeout' }),
    inPlaceOfThird('an answer of another kind', { resultInfo: 'E17', serial: 7 }),
    inPlaceOfThird('a text', 'rate limit reached'),
    inPlaceOfThird('a failure by its code', { resultCode: 'FAILED', resultMessage: 'busy' }),
    { ...inPlaceOfThird('not JSON', undefined), isAlone: true },
  ].map((deed) => ({ ...deed, of: isOfFew })),
  {
    name: 'the third page is an error, and so are those behind it',
    isAlone: true,
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from >= 2 * SIZE ? { body: { error: 'maintenance', at: nth } } : {}),
    }),
  },
  beside('an error beside the rows of the second page', ({ from }) =>
    from === SIZE ? { errors: [{ message: 'one shard failed' }] } : {},
  ),
  {
    name: 'the third page is empty, and the API is asked too often',
    of: both(isOfFew, hasEnvelope),
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from === 2 * SIZE ? { rows: [], more: { throttled: true }, next: undefined } : {}),
    }),
  },
  {
    name: 'the third page is empty, and has a code below zero',
    of: both(isOfFew, hasEnvelope),
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from === 2 * SIZE ? { rows: [], more: { code: -1, msg: 'system busy' }, next: undefined } : {}),
    }),
  },
  {
    name: 'the third page was not modified, although nobody asked',
    of: isOfFew,
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from === 2 * SIZE ? { status: 304 } : {}),
    }),
  },
  {
    name: 'the third page ends with an error as a row',
    of: isOfFew,
    serve: (serve) => (from, nth, token) => {
      const page = serve(from, nth, token);
      const rows = [...page.rows.slice(0, 2), { error: 'the shard is gone' }];
      return from === 2 * SIZE ? { ...page, rows, next: undefined } : page;
    },
  },
  {
    ...inPlaceOfThird('a list that became an object', { items: { 3: { id: 13 }, 4: { id: 14 } } }),
    of: ({ name }) => ['offset', 'token'].includes(name),
  },
  beside('a page that is a part', ({ from }) => (from === SIZE ? { timed_out: true } : {})),
  {
    name: 'every page is the first one',
    isAlone: true,
    serve: (serve) => (_from, nth) => ({ ...serve(0, nth, undefined), next: `0~${nth}` }),
    of: ({ pagination }) => !('limitStop' in pagination),
  },
  {
    name: 'every page is the first one but for a clock',
    isAlone: true,
    of: both(hasEnvelope, ({ pagination }) => !('limitStop' in pagination)),
    serve: (serve) => (_from, nth) => ({ ...serve(0, nth, undefined), next: `0~${nth}`, more: clock(nth) }),
  },
  {
    name: 'every page is the first one in another order',
    isAlone: true,
    serve: (serve) => (_from, nth) => {
      const page = serve(0, nth, undefined);
      const at = nth % SIZE;
      return { ...page, rows: [...page.rows.slice(at), ...page.rows.slice(0, at)], next: `0~${nth}` };
    },
  },
  {
    name: 'the third page is a list of an error',
    of: isOfFew,
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from === 2 * SIZE ? { rows: [{ error: 'session expired', status: 401 }], next: undefined } : {}),
    }),
  },
  {
    name: 'the third page is accepted, and not there yet',
    of: isOfFew,
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from >= 2 * SIZE ? { status: 202, rows: [], next: undefined } : {}),
    }),
  },
  {
    name: 'every page is the first one but for a clock in its rows',
    isAlone: true,
    serve: (serve) => (_from, nth) => {
      const page = serve(0, nth, undefined);
      return { ...page, rows: page.rows.map((row) => ({ ...row, seen_at: `t${nth}` })), next: `0~${nth}` };
    },
  },
  {
    name: 'the third page comes again and again',
    isAlone: true,
    serve: (serve) => (from, nth, token) => {
      const page = serve(Math.min(from, 2 * SIZE), nth, token);
      return from >= 2 * SIZE ? { ...page, next: String(2 * SIZE) } : page;
    },
  },
  {
    name: 'the third page comes again and again by new tokens',
    isAlone: true,
    serve: (serve) => (from, nth, token) => {
      const page = serve(Math.min(from, 2 * SIZE), nth, token);
      return from >= 2 * SIZE ? { ...page, next: `${2 * SIZE}~${nth}` } : page;
    },
  },
  {
    name: 'the third page comes again and again but for a clock',
    isAlone: true,
    of: hasEnvelope,
    serve: (serve) => (from, nth, token) => {
      const page = serve(Math.min(from, 2 * SIZE), nth, token);
      return { ...page, more: clock(nth), ...(from >= 2 * SIZE ? { next: `${2 * SIZE}~${nth}` } : {}) };
    },
  },
  {
    name: 'the first pages come again, in a circle, by new tokens',
    isAlone: true,
    of: ({ pagination }) => !('limitStop' in pagination),
    serve: (serve) => (_from, nth) => ({
      ...serve(((nth - 1) % 3) * SIZE, nth, undefined),
      next: `${(nth % 3) * SIZE}~${nth}`,
      more: clock(nth),
    }),
  },
  {
    name: 'the first pages come again, in a circle, with a clock in their rows',
    isAlone: true,
    of: ({ pagination }) => !('limitStop' in pagination),
    serve: (serve) => (_from, nth) => {
      const page = serve(((nth - 1) % 3) * SIZE, nth, undefined);
      return {
        ...page,
        rows: page.rows.map((row) => ({ ...row, seen_at: `t${nth}` })),
        next: `${(nth % 3) * SIZE}~${nth}`,
      };
    },
  },
  cutWith('two pages come of those that a total says', { total: COUNT }),
  {
    name: 'two pages come of those that a header says',
    serve: (serve) => (from, nth, token) => ({
      ...cut(serve)(from, nth, token),
      headers: { 'x-total-count': String(COUNT) },
    }),
    of: ({ pagination }) => !('limitStop' in pagination),
  },
  cutWith('two pages come of five', { total_pages: 5 }),
  cutWith('two pages come, and a flag of more', { has_more: true }),
  cutWith('two pages come, and a flag against the end', { is_last: false }),
  cutWith('two pages come, and a flag of the end beside a link', { is_last: true, next_url: '/items?p=3' }),
  cutWith('two pages come, and a flag of the end beside a flag of more', { is_last: true, more_items: true }),
  cutWith('two pages come, and a flag of the end beside a total', { is_last: true, total_count: COUNT }),
  cutWith('two pages come, and a flag of the end beside a link header', { is_last: true }, hasEnvelope, {
    link: '<https://api.example.com/items?p=3>; rel="next"',
  }),
  {
    name: 'each page begins with the last row of the one before',
    of: ({ pagination }) => !('limitStop' in pagination) && !('advance' in pagination),
    serve: (serve) => (from, nth, token) => {
      const page = serve(from, nth, token);
      const before = Math.max(0, from - 1);
      return { ...page, rows: rows(before, Math.min(COUNT, before + SIZE)).slice(0, page.rows.length) };
    },
  },
  {
    name: 'a row moves to the next page while they are read',
    of: ({ pagination }) => !('limitStop' in pagination),
    serve: (serve) => (from, nth, token) =>
      from < 2 * SIZE
        ? serve(from, nth, token)
        : { ...serve(from, nth, token), rows: rows(from - 1, Math.min(COUNT, from - 1 + SIZE)) },
  },
  {
    name: 'a row moves to the page before while they are read, by a total',
    of: both(hasEnvelope),
    serve: (serve) => (from, nth, token) => {
      const page = serve(from, nth, token);
      if (from < 2 * SIZE) return { ...page, more: { total: COUNT } };
      const left = rows(from + 1, Math.min(COUNT, from + 1 + SIZE));
      return { ...page, rows: left, more: { total: COUNT - 1 } };
    },
  },
  {
    name: 'the API gives three rows at most, and has a total',
    of: both(hasEnvelope, isCounted, ({ pagination }) => !('advance' in pagination)),
    serve: (serve) => (from, nth, token) => {
      const page = serve(from, nth, token);
      return { ...page, rows: page.rows.slice(0, 3), more: { total: COUNT } };
    },
  },
  {
    name: 'the API gives three rows at most, and says so',
    of: both(hasEnvelope, isCounted, ({ pagination }) => 'limit' in pagination),
    serve: (serve) => (from, nth, token) => {
      const page = serve(from, nth, token);
      return { ...page, rows: page.rows.slice(0, 3), more: { per_page: 3 } };
    },
  },
  {
    name: 'the second page is some of the bytes that there are',
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from === SIZE ? { status: 206, headers: { 'content-range': 'bytes 0-99/5000' } } : {}),
    }),
  },
  {
    name: 'the third page has no body, and there is a total',
    of: hasEnvelope,
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      more: { total: COUNT },
      ...(from === 2 * SIZE ? { status: 204 } : {}),
    }),
  },
  {
    name: 'the third page is an empty list, and there is a total',
    of: both(hasEnvelope, isCounted),
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      more: { total: COUNT },
      ...(from >= 2 * SIZE ? { rows: [] } : {}),
    }),
  },
  {
    name: 'what leads on is gone on the second page, and there is a total',
    of: both(hasEnvelope, isLed),
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      more: { total: COUNT },
      ...(from === SIZE ? { next: undefined } : {}),
    }),
  },
  {
    name: 'a page is left out, and there is a total',
    of: both(hasEnvelope, isLed),
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      more: { total: COUNT },
      ...(from === SIZE ? { next: String(3 * SIZE) } : {}),
    }),
  },
  {
    name: 'pages lead back to the second one',
    isAlone: true,
    of: isLed,
    serve: (serve) => (from, nth, token) => ({
      ...serve(from, nth, token),
      ...(from === 3 * SIZE ? { next: String(SIZE) } : {}),
    }),
  },
  {
    name: 'pages have no rows, and lead on for ever',
    isAlone: true,
    most: 1010,
    // most of them take a thousand requests to end
    of: both(isLed, ({ name, isBare }) => isBare === true || name === 'token'),
    serve: (serve) => (from, nth, token) => {
      const page = serve(from, nth, token);
      return from < 2 * SIZE ? page : { ...page, rows: [], next: `${2 * SIZE}~${nth}`, more: clock(nth) };
    },
  },
];

/** Each has all rows, once. */
export const sound: readonly Deed[] = [
  { name: 'nothing else', serve: (serve) => serve },
  beside('a total', () => ({ total: COUNT })),
  beside('a clock', (_page, nth) => clock(nth)),
  beside('no errors', () => ({ error: null, success: true, status: 'ok', code: 200 })),
  beside('a message', () => ({ message: 'here you are' })),
  beside('a size', () => ({ per_page: SIZE })),
  beside('no part', () => ({ timed_out: false, incomplete_results: false })),
  beside('a flag of more', ({ from }) => ({ has_more: from + SIZE < COUNT })),
  beside('a flag of the end', ({ from }) => ({ is_last: from + SIZE >= COUNT })),
  beside('a flag of the end with a token beside it', ({ from }) => ({
    is_last: from + SIZE >= COUNT,
    cursor: `c${from}`,
  })),
  beside('a number of pages', () => ({ total_pages: 5 })),
  beside('a count of the page', (page) => ({ count: page.rows.length })),
  {
    name: 'a status of a part, with its rows',
    serve: (serve) => (from, nth, token) => {
      const page = serve(from, nth, token);
      return {
        ...page,
        status: 206,
        headers: { 'content-range': `items ${from}-${from + page.rows.length - 1}/${COUNT}` },
      };
    },
    of: ({ pagination }) =>
      'limit' in pagination || !('method' in pagination) || pagination.method !== 'pagenum',
  },
  {
    name: 'a page without rows in the middle, and the way on',
    of: isLed,
    serve: (serve) => (from, nth, token) =>
      from === SIZE && token?.includes('~') !== true
        ? { ...serve(from, nth, token), rows: [], next: `${SIZE}~again` }
        : serve(from, nth, token),
  },
  {
    name: 'the last page again and again, and a total',
    of: both(hasEnvelope, isCounted),
    serve: (serve) => (from, nth, token) => ({
      ...serve(Math.min(from, 4 * SIZE), nth, token),
      more: { total: COUNT },
    }),
  },
  {
    name: 'the last, short page again and again',
    of: both(isCounted, ({ pagination }) => !('advance' in pagination)),
    serve: (serve) => (from, nth, token) => serve(Math.min(from, 4 * SIZE), nth, token),
  },
  ...[{}, { items: null }, 'no more pages'].map((body): Deed => ({
    name: `${JSON.stringify(body)} behind the last page`,
    of: ({ kind, pagination, job, isBare }) =>
      isBare !== true && 'dataField' in job && kind === 'count' && !('limit' in pagination),
    serve: (serve) => (from, nth, token) =>
      from < COUNT ? serve(from, nth, token) : { ...serve(from, nth, token), body },
  })),
  {
    name: 'an error behind the last page',
    of: ({ kind, pagination }) => kind === 'count' && !('limit' in pagination),
    serve: (serve) => (from, nth, token) =>
      from < COUNT
        ? serve(from, nth, token)
        : { ...serve(from, nth, token), rows: [], more: { message: 'no more pages' } },
  },
];
