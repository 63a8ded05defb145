import {
  compilePath,
  equalJson,
  getKey,
  isObject,
  toText,
  type Json,
  type JsonObject,
} from '../../lib/json/index.ts';
import type { Candidate, Observed } from './candidate.ts';
import { signOf, valueOf } from './signs.ts';
import type { Trial, TriedPage } from './trial.ts';

/** Tells whether a status is one that APIs use for a page that does not exist. */
export function isRefusal(status: unknown): status is number {
  return typeof status === 'number' && [400, 404, 410, 416, 422].includes(status);
}

/** A rule that ends a pagination, beside its method. */
export interface Ending {
  readonly says: string;
  readonly pagination: JsonObject;
  readonly job?: JsonObject;
  /** Why there may be more behind it, where nothing else says that these are all rows. */
  readonly doubt?: string;
}

/** Ways to end, the least first: what ends by itself needs no rule. */
export function endingsOf(candidate: Candidate, seen: Observed): readonly Ending[] {
  const from1 = seen.signs.all.find(({ kind, path }) => kind === 'offset' && inBody(path));
  if (candidate.counts?.first !== 1 || candidate.kind !== 'offset' || valueOf(from1) !== 1)
    return rulesOf(candidate, seen);
  // an offset of 1 in the first answer would be a row that was skipped
  const job = { completeness: { notSigns: [from1?.path ?? ''] } };
  return rulesOf(candidate, seen).map((ending) => ({ ...ending, job }));
}

function rulesOf({ kind, counts }: Candidate, { signs }: Observed): readonly Ending[] {
  const endings: Ending[] = [{ says: '', pagination: {} }];
  const more = signOf(signs, 'more');
  const end = signOf(signs, 'end');
  if (inBody(more?.path) && kind !== 'row')
    endings.push({
      says: `, until \`${more.path}\` is false`,
      pagination: { stopWhen: { value: more.path, is: 'false' } },
    });
  if (inBody(end?.path))
    endings.push({
      says: `, until \`${end.path}\` is true`,
      pagination: { stopWhen: { value: end.path, is: 'true' } },
    });
  if (counts === undefined)
    return [...endings, { says: ', until a page is empty', pagination: { emptyPage: 'stop' } }];
  const [total, pages] = [signOf(signs, 'total'), signOf(signs, 'pages')];
  if (pages !== undefined)
    endings.push({
      says: `, up to page \`${pages.path}\``,
      pagination: { stopWhen: { value: { answer: 'page' }, is: 'atLeast', than: sourceAt(pages.path) } },
    });
  if (total !== undefined)
    endings.push({
      says: `, until \`${total.path}\` rows have come`,
      pagination: { limitStop: { field: inBody(total.path) ? total.path : sourceAt(total.path) } },
    });
  if (kind === 'page')
    endings.push({
      says: ', until a page is short',
      pagination: { limit: counts.size, limitParam: false },
    });
  return endings;
}

function inBody(path: string | undefined): path is string {
  return path !== undefined && !path.startsWith('header ');
}

/** Returns the source of a value in the body, or in a header. */
function sourceAt(path: string): JsonObject {
  const header = /^header (.*)$/.exec(path)?.[1];
  return header === undefined ? { path } : { header };
}

/** Returns another ending to try after a run that failed or did not end well, depending on how it ended. */
export function endingAfter(
  trial: Trial,
  { kind, counts, pagination }: Candidate,
  { signs }: Observed,
): Ending | undefined {
  const { failure, repeated, pages } = trial;
  const status = failure?.details['status'];
  // the last resort: an error behind the last page is the end
  if (counts !== undefined && isRefusal(status)) {
    // some APIs give only so many rows, and refuse what is behind them
    const isLimit = (status === 400 || status === 422) && (pages.at(-1)?.rows.length ?? 0) >= counts.size;
    return {
      says: `, until the API answers ${status}`,
      pagination: {},
      job: { reactions: [{ when: { status }, do: 'empty' }] },
      ...(isLimit
        ? {
            doubt: `Whether these are all rows: the API answers ${status} behind page ${pages.length}, which is as long as those before it. That may be the most that it gives. See its documentation.`,
          }
        : {}),
    };
  }
  const path = pagination['responseParam'] ?? pagination['urlKey'];
  const header = isObject(path) ? getKey(path, 'header') : undefined;
  const said = (page: TriedPage | undefined): Json | undefined => {
    if (typeof header === 'string') return page?.response.headers[header];
    return typeof path === 'string' && page !== undefined ? compilePath(path).find(page.envelope) : undefined;
  };
  const value = repeated === undefined ? undefined : said(pages[repeated.page - 2]);
  const isToken = kind === 'token' && value !== undefined;
  if (isToken && header === undefined && /^(?:0|-1)$/.test(toText(value)))
    return { says: `, where ${toText(value)} is the end`, pagination: { endValues: [value] } };
  // a header may lead from the last page to the first one
  if (isToken && typeof header === 'string' && /^[01]$/.test(toText(value)))
    return {
      says: `, where ${toText(value)} is the end`,
      pagination: { endValues: [value] },
      job: { completeness: { notSigns: [`header ${header}`] } },
    };
  const [before, last] = [said(pages.at(-2)), said(pages.at(-1))];
  const param = pagination['queryParam'];
  // without a total it may as well be stuck
  const hasTotal = signOf(signs, 'total') !== undefined;
  if (kind === 'token' && typeof path === 'string' && param !== undefined && hasTotal && isSame(before, last))
    return {
      says: `, until \`${path}\` is the value that was sent`,
      pagination: { stopWhen: { value: path, is: 'equals', than: { request: param } } },
      job: { completeness: { notSigns: [path] } },
    };
  const isEmpty = repeated !== undefined && pages[repeated.of - 1]?.rows.length === 0;
  // an empty page between others is no end
  const firstEmpty = pages.findIndex(({ rows }) => rows.length === 0);
  const isBehind = pages.slice(firstEmpty).every(({ rows }) => rows.length === 0);
  if (isEmpty && isBehind && (kind === 'token' || kind === 'url') && typeof path === 'string')
    return {
      says: `, until a page is empty (\`${path}\` is there behind the end, too)`,
      pagination: { emptyPage: 'stop' },
      job: { completeness: { notSigns: [path] } },
      ...(isSame(before, last)
        ? {}
        : {
            doubt: `Whether these are all rows: ${pages.length - firstEmpty} pages behind them are empty, each with another \`${path}\`, and an API that filters may have rows behind empty pages.`,
          }),
    };
  return undefined;
}

function isSame(before: Json | undefined, last: Json | undefined): boolean {
  return before !== undefined && last !== undefined && before !== null && equalJson(before, last);
}

/** Tells whether a failure says nothing about the configuration. */
export function isTrouble({ failure }: Trial): boolean {
  const status = failure?.details['status'];
  return typeof status === 'number' && (status === 429 || status >= 500);
}
