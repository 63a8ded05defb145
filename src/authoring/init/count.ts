import { entriesOf, getKey, isObject, withKey, withoutKey, type AnyObject } from '../../lib/json/index.ts';
import { numericOf } from '../../lib/read-settings.ts';
import { bounded, boundsOf } from './bounds.ts';
import type { Candidate, Observed } from './candidate.ts';
import {
  besideName,
  besideSize,
  isOffsetName,
  isPageName,
  isSizeName,
  offsetNames,
  pageNames,
  sizeName,
} from './guesses.ts';
import { plain } from './names.ts';
import {
  leavesOf,
  paramOf,
  placeOfSize,
  queryOf,
  topNames,
  variablesOf,
  withoutAt,
  type ParameterPath,
} from './params.ts';
import { signOf, valueOf } from './signs.ts';

/** Returns candidates for page numbers and offsets that the answer, its links or the request contain. */
export function counted(seen: Observed): Candidate[] {
  const { signs, target } = seen;
  const given = leavesOf(target.params);
  const found = bounded(seen);
  const start = boundsOf(target.params)?.start.join('.');
  const page = signOf(signs, 'page');
  const offset = signOf(signs, 'offset') ?? signOf(signs, 'position');
  const beside = besideName(placeOfSize(target)[0]);
  for (const { keys, value } of given) {
    const name = keys.at(-1) ?? '';
    const number = numericOf(value);
    if (number !== undefined && beside.offsets.includes(name)) found.push(offsetCandidate(keys, 0, seen));
    if (isPageName(name) && number !== undefined)
      found.push(pageCandidate(keys, firstOf(valueOf(page), number), seen));
    if (isOffsetName(name) && number !== undefined && keys.join('.') !== start)
      found.push(offsetCandidate(keys, number === 1 && valueOf(offset) !== 0 ? 1 : 0, seen));
  }
  for (const { rel, url } of signs.links) {
    if (!/^next|^last/.test(rel)) continue;
    for (const [name, text] of queryOf(url)) {
      if (!/^\d+$/.test(text)) continue;
      if (isPageName(name) || plain(name) === 'page_page')
        found.push(pageCandidate([name], firstOf(valueOf(page), undefined), seen));
      else if (isOffsetName(name) && (!rel.startsWith('next') || Number(text) >= seen.rows))
        found.push(
          offsetCandidate([name], rel.startsWith('next') && Number(text) === seen.rows + 1 ? 1 : 0, seen),
        );
    }
  }
  for (const name of target.documented ?? []) {
    if (isPageName(name)) found.push(pageCandidate([name], firstOf(valueOf(page), undefined), seen));
    if (isOffsetName(name)) found.push(offsetCandidate([name], 0, seen));
  }
  if (page !== undefined && !page.path.startsWith('header '))
    for (const name of [...pageNames(page.name), ...inBrackets(page.path)])
      found.push(pageCandidate([name], firstOf(valueOf(page), undefined), seen));
  if (offset !== undefined && !offset.path.startsWith('header '))
    for (const name of [...offsetNames(offset.name, topNames(target.params)), ...inBrackets(offset.path)])
      found.push(offsetCandidate([name], offset.kind === 'position' && offset.value === 1 ? 1 : 0, seen));
  return found;
}

/** `meta.pagination.page` may be sent as `pagination[page]`. */
function inBrackets(path: string): string[] {
  const [above, name] = path.split('.').slice(-2);
  return name === undefined ? [] : [`${above}[${name}]`];
}

/** Returns candidates that many APIs know, for an answer without hints, or whose hints did not work. */
export function blind(seen: Observed): Candidate[] {
  const { body } = seen;
  if (variablesOf(seen.target) !== undefined) return [];
  const root = isObject(body) ? entriesOf(body).map(([key]) => key) : [];
  const isJsonApi = root.includes('jsonapi') || (root.includes('data') && root.includes('links'));
  const pages = isJsonApi ? ['page[number]', 'page'] : ['page'];
  const isOdata = root.some((key) => key.startsWith('@odata'));
  const given = topNames(seen.target.params);
  const beside = besideSize(given);
  const alike = (names: readonly string[]): string[] => (beside === undefined ? [] : names.map(beside));
  const offsets = isOdata
    ? ['$skip']
    : [
        ...alike(['offset', 'start', 'skip']),
        ...(isJsonApi ? ['page[offset]'] : []),
        // a search engine: its answer has nothing but these words
        ...(root.includes('hits') && root.includes('took') ? ['from'] : []),
        'offset',
        'skip',
        'start',
        'from',
        'startIndex',
      ];
  const size = placeOfSize(seen.target);
  const above = size.slice(0, -1);
  const own = besideName(size.at(-1));
  const inside = /\[[^[\]]+\]$/.test(size.at(-1) ?? '') ? ['currentPage'] : [];
  const byPage = (isOdata ? [] : [...own.pages, ...alike(['page', ...inside]), ...pages]).map((name) =>
    guessed(pageCandidate([...above, name], 1, seen), name, 2),
  );
  const byRows = [...own.offsets, ...offsets].map((name) =>
    guessed(offsetCandidate([...above, name], 0, seen), name, seen.rows),
  );
  return [
    ...(own.offsets.length > 0 || given.some((name) => ROWS_BESIDE.test(plain(name)))
      ? [...byRows, ...byPage]
      : [...byPage, ...byRows]),
    ...PAGE_GUESSES.map((name) => guessed(pageCandidate([...above, name], 1, seen), name, 2)),
  ];
}

/** Names of a size that stand beside rows to skip, and seldom beside page numbers. */
const ROWS_BESIDE = /^(?:limit|take|top|rows|max_results|page_limit)$/;

const PAGE_GUESSES = ['pageNumber', 'page_number', '_page', 'p', 'pageNo', 'pageIndex', 'start'];

/** @param first number of the first page */
export function pageCandidate(place: ParameterPath, first: number, seen: Observed): Candidate {
  const params = withSizeOfPage(withoutAt(seen.target.params, place), seen);
  const size = signOf(seen.signs, 'size');
  return {
    kind: 'page',
    says: `page numbers from ${first} in \`${place.join('.')}\``,
    pagination: {
      method: 'pagenum',
      ...(place.length === 1 && place[0] === 'page' ? {} : { pageParam: paramOf(place) }),
      ...(first === 1 ? {} : { firstPage: first }),
    },
    params,
    isGuess: false,
    counts: { param: place, first, size: seen.rows, sizeParam: sizeName(size?.name, topNames(params)) },
  };
}

/** Puts the number of rows that came in place of a larger one that was asked for: the API gives no more. */
function withSizeOfPage(params: AnyObject, { target, rows, signs }: Observed): AnyObject {
  const [name, ...deeper] = placeOfSize(target);
  const asked = name === undefined || deeper.length > 0 ? undefined : getKey(params, name);
  const number = asked === undefined ? undefined : numericOf(asked);
  const isMore = (valueOf(signOf(signs, 'total')) ?? 0) > rows;
  if (name === undefined || number === undefined || number <= rows || !isMore) return params;
  return withKey(params, name, typeof asked === 'string' ? String(rows) : rows);
}

/** @param first offset of the first row */
export function offsetCandidate(
  place: ParameterPath,
  first: number,
  seen: Observed,
  size = seen.rows,
): Candidate {
  const given = [...topNames(seen.target.params), ...(seen.target.documented ?? [])];
  const echo = signOf(seen.signs, 'size');
  const sized = seen.target.sizedBy ?? [];
  const sizeParam =
    sized.length === 1 && sized[0] !== undefined
      ? sized[0]
      : place[0] === 'from'
        ? sizeName(undefined, [...given, 'size'])
        : (place[0] ?? '').startsWith('$')
          ? (given.find((name) => name.startsWith('$') && isSizeName(name)) ??
            (echo === undefined ? '$top' : `$${echo.name}`))
          : place[0] === 'page[offset]'
            ? 'page[limit]'
            : sizeName(echo?.name, given);
  const bare = withoutAt(seen.target.params, place);
  return {
    kind: 'offset',
    says: `the number of rows to skip in \`${place.join('.')}\`, ${first} at first`,
    pagination: {
      method: 'offset',
      limit: size,
      // beside a place in the body the size stays where it is
      ...(place.length > 1 ? { limitParam: false } : sizeParam === 'limit' ? {} : { limitParam: sizeParam }),
      ...(place.length === 1 && place[0] === 'offset' ? {} : { offsetParam: paramOf(place) }),
      ...(first === 0 ? {} : { firstOffset: first }),
    },
    params: withoutKey(bare, sizeParam),
    isGuess: false,
    counts: { param: place, first, size, sizeParam },
  };
}

/** Returns the number of the first page, by the answer, else by the request. */
function firstOf(echo: number | undefined, given: number | undefined): number {
  if (echo === 0 || given === 0) return 0;
  if (echo !== undefined && given !== undefined && given === echo + 1) return 1;
  return 1;
}

function guessed(candidate: Candidate, name: string, value: number): Candidate {
  const isAlone = (candidate.counts?.param.length ?? 1) === 1;
  return {
    ...candidate,
    isGuess: true,
    ...(isAlone ? { group: 'guess', sends: [name, value] as const } : {}),
  };
}
