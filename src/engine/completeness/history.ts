import type { Traits } from '../shared/paginator-capabilities.ts';
import type { AskedSize } from './asked-sizes.ts';
import type { Sign } from './sign.ts';
import type { RowsFacts } from './identity.ts';
import { END_MESSAGE, NO_ROWS_MESSAGE } from './signs.ts';

/** One page, when it has been seen. */
export interface PageFacts {
  readonly page: number;
  readonly rows: number;
  readonly signs: readonly Sign[];
  /** Names at the root of the answer. */
  readonly around: readonly string[];
  /** The rows are one object, and no list. */
  readonly isSingle: boolean;
  /** The rows stand in one list of the answer. */
  readonly isList: boolean;
  /** The rows are the whole answer. */
  readonly isWhole: boolean;
  /** The status is that of an error, which the configuration takes as data. */
  readonly isErrorStatus: boolean;
  /** The place of the rows is not there. */
  readonly isMissing: boolean;
  /** Sizes that the request names; of the first page. */
  readonly asked: readonly AskedSize[];
  /** The same rows come again with the next page, with more in them. */
  readonly isPartOfBatch: boolean;
  /** The query of the request has a number that counts pages or rows. */
  readonly isNumbered: boolean;
  /** The guard ended the job at this page, so that its rows are not written. */
  readonly isDropped: boolean;
  /** The earlier page whose rows came again, by another request. */
  readonly repeats: number | undefined;
}

export interface HistoryNote {
  readonly page: number;
  readonly path: string;
  readonly value: number;
  readonly expected: number;
}

/** A total or number of pages at one path, over all pages. */
export interface Course {
  readonly path: string;
  readonly strength: Sign['strength'];
  readonly first: number;
  readonly last: number;
  /** The highest and the lowest so far. */
  readonly top: number;
  readonly least: number;
  readonly shrank: HistoryNote | undefined;
  /** Each value was the first one less the rows that had come. */
  readonly isRemaining: boolean;
  /** Each value was the number of rows of its page. */
  readonly isOfPage: boolean;
  /** Each value was the number of rows so far, on several pages. */
  readonly isSoFar: boolean;
  readonly isOnce: boolean;
  /** A total of at least so many. */
  readonly isBound: boolean;
}

/** All that a verdict needs of the pages of a job: JSON of bounded size. */
export interface History {
  readonly pages: number;
  readonly rows: number;
  /** A page had a list, with rows or without. */
  readonly hadList: boolean;
  /** A page had a list without rows. */
  readonly hadEmptyList: boolean;
  /** Names at the root of the first answer with a list. */
  readonly around: readonly string[] | undefined;
  /** The last page came behind a part of its batch. */
  readonly isBehindPart: boolean;
  /** Pages in a row, up to the last one, that have only rows of one earlier page. */
  readonly alike: number;
  /** The same, of errors in the place of rows. */
  readonly broken: number;
  /** Paths of links and tokens of a next page on the pages before the last one that did not say the end. */
  readonly nextBefore: readonly string[];
  /** Pages that have rows and are written. */
  readonly pagesWithRows: number;
  readonly largestPage: number;
  readonly isNumbered: boolean;
  readonly first: PageFacts | undefined;
  readonly last: PageFacts | undefined;
  readonly totals: readonly Course[];
  readonly pageCounts: readonly Course[];
  /** First of: a page that came again; in which way. */
  readonly samePage:
    | { readonly page: number; readonly of: number; readonly how: 'rows' | 'ids' | 'values' }
    | undefined;
  /** Page that repeats only the ids of an earlier one, with other rows. */
  readonly otherRows: number | undefined;
  readonly onlyKnown: number | undefined;
  /** Rows whose ids came before. */
  readonly twice:
    | {
        readonly rows: number;
        readonly page: number;
        readonly of: number;
        readonly pages: number;
        /** By more than their ids. */
        readonly isSure: boolean;
      }
    | undefined;
  readonly hasIds: boolean;
  /** A page that begins behind or before what had come. */
  readonly gap: HistoryNote | undefined;
  readonly overlap: HistoryNote | undefined;
  /** First page with an error, or of which only a part came. */
  readonly error:
    | { readonly page: number; readonly path: string; readonly text: string; readonly isRow?: true }
    | undefined;
  readonly partial: { readonly page: number; readonly path: string } | undefined;
  /** Path of an offset that counts the rows behind the page, and so says nothing. */
  readonly lastMask: { readonly rows: number; readonly mask: () => string | undefined } | undefined;
}

export const NO_HISTORY: History = {
  pages: 0,
  rows: 0,
  hadList: false,
  hadEmptyList: false,
  around: undefined,
  isBehindPart: false,
  alike: 0,
  broken: 0,
  nextBefore: [],
  pagesWithRows: 0,
  largestPage: 0,
  isNumbered: false,
  first: undefined,
  last: undefined,
  totals: [],
  pageCounts: [],
  samePage: undefined,
  otherRows: undefined,
  onlyKnown: undefined,
  twice: undefined,
  hasIds: false,
  gap: undefined,
  overlap: undefined,
  error: undefined,
  partial: undefined,
  lastMask: undefined,
};

/** The history with one more page, as it came and before its rows were looked at. */
export function withPage(history: History, page: PageFacts, traits: Traits): History {
  const before = history.rows + (traits.start ?? 0);
  const written = !page.isDropped;
  const hasRows = page.rows > 0;
  const counted = hasRows && written;
  const isBehindPart = history.last?.isPartOfBatch === true;
  const error = errorOf(page, history.hadList) ?? (history.hadList ? noListOf(page) : undefined);
  return {
    ...history,
    hadList: history.hadList || hasList(page),
    hadEmptyList: history.hadEmptyList || (page.rows === 0 && hasList(page)),
    around: history.around ?? (hasList(page) ? page.around.slice(0, MAX_NAMES) : undefined),
    isBehindPart,
    pages: history.pages + 1,
    rows: history.rows + (written ? page.rows : 0),
    pagesWithRows: history.pagesWithRows + (counted && page.repeats === undefined ? 1 : 0),
    largestPage: Math.max(history.largestPage, page.rows),
    isNumbered: history.isNumbered || page.isNumbered,
    first: history.first ?? page,
    last: page,
    totals:
      counted || history.pages === 0 ? courses(history.totals, page, 'total', history.rows) : history.totals,
    pageCounts:
      counted || history.pages === 0
        ? courses(history.pageCounts, page, 'pages', history.rows)
        : history.pageCounts,
    samePage:
      history.samePage ??
      (page.repeats === undefined || !counted || isBehindPart
        ? undefined
        : { page: page.page, of: page.repeats, how: 'rows' }),
    gap:
      history.gap ?? (counted ? placeNote(page, before, (value, base) => value > before + base) : undefined),
    overlap: history.overlap ?? (counted ? placeNote(page, before, (value) => value < before) : undefined),
    error: history.error ?? error,
    broken: error !== undefined && (!hasRows || page.isSingle) ? history.broken + 1 : 0,
    partial: history.partial ?? partialOf(page),
    nextBefore: withNext(history.nextBefore, history.last),
  };
}

/** Returns the history with the facts about the rows of its last page. */
export function withRows(history: History, facts: RowsFacts, page: number, hasIds: boolean): History {
  // a batch that comes in parts brings the same rows again by nature
  if (history.isBehindPart) return { ...history, hasIds, alike: 0 };
  const { rows, known, are, from, isPage, isAlike, isSure, mask } = facts;
  const again = are === 'others' ? 0 : known;
  const isAll = known === rows && known > 0;
  const isOther = isAll && again === 0 && !isAlike;
  const isSameByValues = !hasIds && isSameMask(history.lastMask, { rows, mask });
  const same = isPage !== undefined && !isOther ? 'ids' : isSameByValues ? 'values' : undefined;
  const of = isPage ?? page - 1;
  const { twice } = history;
  return {
    ...history,
    hasIds,
    alike:
      isSameByValues || (isAll && isSure) || (isPage !== undefined && isAlike && rows > 1)
        ? history.alike + 1
        : 0,
    samePage: history.samePage ?? (same === undefined || rows < 2 ? undefined : { page, of, how: same }),
    otherRows: history.otherRows ?? (isOther ? page : undefined),
    onlyKnown: history.onlyKnown ?? (isAll && again > 0 ? page : undefined),
    twice:
      again === 0 || from === undefined
        ? twice
        : twice === undefined
          ? { rows: again, page, of: from, pages: 1, isSure: are === 'same' }
          : {
              ...twice,
              rows: twice.rows + again,
              pages: twice.pages + 1,
              isSure: twice.isSure || are === 'same',
            },
    lastMask: { rows, mask },
  };
}

function isSameMask(before: History['lastMask'], { rows, mask }: Pick<RowsFacts, 'rows' | 'mask'>): boolean {
  if (before?.rows !== rows) return false;
  const text = mask();
  return text !== undefined && before.mask() === text;
}

const MAX_COURSES = 20;
export const MAX_NAMES = 100;

function withNext(before: readonly string[], last: PageFacts | undefined): readonly string[] {
  // what contradicted a page that led on all the same is not what led on
  if (last === undefined || last.signs.some(({ kind }) => kind === 'end')) return before;
  const more = last.signs.flatMap(({ kind, path }) =>
    kind === 'next' && !before.includes(path) ? [path] : [],
  );
  return more.length === 0 ? before : [...before, ...more].slice(0, MAX_COURSES);
}

function courses(
  before: readonly Course[],
  page: PageFacts,
  kind: 'total' | 'pages',
  rowsBefore: number,
): readonly Course[] {
  const next = [...before];
  for (const sign of page.signs) {
    if (sign.kind !== kind) continue;
    const { path, strength, value } = sign;
    const i = next.findIndex((course) => course.path === path);
    const course = next[i];
    const isOfPage = value === page.rows;
    const isBound = sign.kind === 'total' && sign.isBound === true;
    if (course === undefined) {
      if (next.length < MAX_COURSES)
        next.push({
          path,
          strength,
          first: value,
          last: value,
          top: value,
          least: value,
          shrank: undefined,
          isRemaining: true,
          isOfPage,
          isSoFar: value === rowsBefore + page.rows,
          isOnce: true,
          isBound,
        });
      continue;
    }
    const isRemaining = course.isRemaining && value === course.first - rowsBefore;
    next[i] = {
      ...course,
      last: value,
      top: Math.max(course.top, value),
      least: Math.min(course.least, value),
      shrank:
        course.shrank ??
        (value < course.last ? { page: page.page, path, value, expected: course.last } : undefined),
      isRemaining,
      isOfPage: course.isOfPage && isOfPage,
      isSoFar: course.isSoFar && value === rowsBefore + page.rows,
      isOnce: false,
      isBound,
    };
  }
  return next;
}

/** Returns the position that the answer states for the page, if it is wrong. */
function placeNote(
  page: PageFacts,
  before: number,
  isWrong: (value: number, base: number) => boolean,
): HistoryNote | undefined {
  if (page.page === 1) return undefined;
  for (const sign of page.signs) {
    if (sign.kind !== 'offset' && sign.kind !== 'position') continue;
    // the place of the next page is given by some
    if (sign.value === before + page.rows) continue;
    if (isWrong(sign.value, sign.kind === 'position' ? 1 : 0))
      return { page: page.page, path: sign.path, value: sign.value, expected: before };
  }
  return undefined;
}

function hasList({ isSingle, isMissing }: Pick<PageFacts, 'isSingle' | 'isMissing'>): boolean {
  return !isSingle && !isMissing;
}

/** @param isBehindList a page before it had a list */
export function errorOf(
  { signs, rows, page, isMissing, isSingle, isWhole }: PageFacts,
  isBehindList: boolean,
): History['error'] {
  if (isSingle) {
    const sign =
      signs.find(({ kind }) => kind === 'error') ??
      (isBehindList && isWhole ? signs.find(({ kind }) => kind === 'message') : undefined);
    return sign !== undefined && 'text' in sign
      ? { page, path: sign.path, text: sign.text, isRow: true }
      : undefined;
  }
  for (const sign of signs) {
    const counts =
      (sign.kind === 'error' &&
        (isListed(sign.path, sign.text) || (rows === 0 && !isHonestEnd(sign.text, page)))) ||
      (sign.kind === 'message' && isMissing && !NO_ROWS_MESSAGE.test(sign.text));
    if (counts && 'text' in sign) return { page, path: sign.path, text: sign.text };
  }
  return undefined;
}

/** Returns the error of an object in the place of the list that was the whole answer. */
function noListOf({ page, isSingle, isWhole, isErrorStatus }: PageFacts): History['error'] {
  return isSingle && isWhole && !isErrorStatus
    ? { page, path: '.', text: 'no list', isRow: true }
    : undefined;
}

/** Tells whether an error marks the end: some APIs answer so for a page behind the last one. */
function isHonestEnd(text: string, page: number): boolean {
  return page > 1 && END_MESSAGE.test(text);
}

/** Tells whether a text is about an end, and not about an error. */
export function saysNoRows(text: string): boolean {
  return NO_ROWS_MESSAGE.test(text) || END_MESSAGE.test(text);
}

/** Tells whether an error counts beside rows: only an unambiguous one does. */
function isListed(path: string, text: string): boolean {
  return /(?:^|\.)errors?$/i.test(path) || (text === 'false' && /^(?:ok|success)$/i.test(path));
}

function partialOf({ signs, page }: PageFacts): History['partial'] {
  const sign = signs.find(({ kind }) => kind === 'partial');
  return sign === undefined ? undefined : { page, path: sign.path };
}
