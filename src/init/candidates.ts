import {
  entriesOf,
  getKey,
  isInteger,
  isObject,
  isScalar,
  numberOf,
  objectOf,
  toText,
  withoutKey,
  type AnyObject,
  type Json,
  type JsonObject,
} from '../json/index.ts';
import { numericOf } from '../settings.ts';
import { OFFSET, offsetNames, PAGE, pageNames, ROW_NAMES, sentAs, SIZE, sizeName, TOKEN } from './guesses.ts';
import { plain } from './names.ts';
import { isUrl, signOf, valueOf, type Pointer, type Signs } from './signs.ts';
import type { Target } from './target.ts';

/** A way to the next page that may be the right one. */
export interface Candidate {
  readonly kind: 'link' | 'url' | 'token' | 'row' | 'page' | 'offset';
  /** What it does: “`meta.next` → `cursor`”. */
  readonly says: string;
  readonly pagination: JsonObject;
  /** Parameters of the job with it. */
  readonly params: AnyObject;
  /** Nothing in the answer speaks of it. */
  readonly isGuess: boolean;
  /** Candidates of one group differ in the name of a parameter alone. */
  readonly group?: string;
  /** The parameter for page 2, and its value. */
  readonly sends?: readonly [string, Json];
  /** Of one that counts: its parameter, where it begins, and the size of a page. */
  readonly counts?: Counting;
}

export interface Counting {
  readonly param: Place;
  readonly first: number;
  readonly size: number;
  readonly sizeParam: string;
}

/** Keys on the way to a parameter: one, or several in a body. */
export type Place = readonly string[];

/** What candidates are made of: the first answer. */
export interface Observed {
  readonly target: Target;
  readonly signs: Signs;
  readonly rows: number;
  /** Path of the id in the rows, where there is one. */
  readonly id: string | undefined;
  /** The id of the last row. */
  readonly lastId: Json | undefined;
  readonly body: Json;
}

/** Ways to the next page, the likeliest first. Pure. */
export function candidatesOf(seen: Observed): readonly Candidate[] {
  const strong = seen.signs.pointers.filter(({ isStrong }) => isStrong);
  const weak = seen.signs.pointers.filter(({ isStrong }) => !isStrong);
  const all = [
    ...headerLinks(seen),
    ...strong.filter(({ isUrl: is }) => is).flatMap((pointer) => urls(pointer, seen)),
    ...strong.filter(({ isUrl: is }) => !is).flatMap((pointer) => tokens(pointer, seen)),
    ...graph(seen),
    ...(signOf(seen.signs, 'more') !== undefined && !hasEcho(seen) && weak.length === 0
      ? rowIds(seen, false)
      : []),
    ...counted(seen),
    ...weak.filter(({ isUrl: is }) => !is).flatMap((pointer) => tokens(pointer, seen)),
    ...strong.filter(({ isUrl: is }) => is).flatMap((pointer) => tokensInUrl(pointer, seen)),
    ...blind(seen),
  ];
  const known = new Set<string>();
  return all.filter(({ pagination, params }) => {
    const text = JSON.stringify([pagination, params]);
    if (known.has(text)) return false;
    known.add(text);
    return true;
  });
}

function headerLinks({ signs, target }: Observed): Candidate[] {
  if (!signs.all.some(({ kind, path }) => kind === 'next' && path === 'header link')) return [];
  return [
    {
      kind: 'link',
      says: 'the header `Link` with rel="next"',
      pagination: { method: 'link' },
      params: target.params,
      isGuess: false,
    },
  ];
}

function urls({ path, keys, value, source }: Pointer, { target }: Observed): Candidate[] {
  if (keys === undefined) return [];
  const isQuery = typeof value === 'string' && /^\??[\w.[\]%-]+=[^/]*$/.test(value);
  const form = { method: 'response.url', urlKey: source ?? path };
  const make = (pagination: JsonObject, how: string): Candidate => ({
    kind: 'url',
    says: `the address in \`${path}\`${how}`,
    pagination,
    params: target.params,
    isGuess: false,
  });
  return isQuery
    ? [make({ ...form, paramIsQuery: true }, ', a query')]
    : [
        make(form, ''),
        ...(entriesOf(target.params).length > 0
          ? [make({ ...form, includeParams: true }, ' with the parameters')]
          : []),
      ];
}

/** The token in an address that cannot be followed as it is. */
function tokensInUrl({ path, keys, value, source }: Pointer, { target }: Observed): Candidate[] {
  if (keys === undefined || typeof value !== 'string') return [];
  const sent = leavesOf(target.params);
  return queryOf(value).flatMap(([name, text]): Candidate[] => {
    if (text === '' || sent.some(({ keys: [key], value: own }) => key === name && toText(own) === text))
      return [];
    return [
      {
        kind: 'token',
        says: `\`${name}\` of the address in \`${path}\` → \`${name}\``,
        pagination: {
          method: 'response.param',
          responseParam: { ...(source ?? { path }), param: name },
          queryParam: name,
          ...included(target.params),
        },
        params: target.params,
        isGuess: false,
      },
    ];
  });
}

const MOST_NAMES = 5;

function tokens(pointer: Pointer, { target, signs, rows }: Observed): Candidate[] {
  const { path, keys, value, name } = pointer;
  const given = leavesOf(target.params).filter(({ keys: way }) => {
    const key = plain(way.at(-1) ?? '');
    return TOKEN.test(key) || (typeof value === 'number' && (PAGE.test(key) || OFFSET.test(key)));
  });
  const inLinks = signs.links.flatMap(({ url }) =>
    queryOf(url).flatMap(([param, text]) => (text === String(value) ? [param] : [])),
  );
  const guessed =
    typeof value === 'number' && /^next$/.test(plain(name))
      ? value === rows
        ? ['offset', 'start', 'skip']
        : ['page', 'cursor', 'offset']
      : sentAs(name, keys === undefined);
  const places: Place[] = [
    ...given.map(({ keys: way }) => way),
    ...inLinks.map((param) => [param]),
    ...guessed.slice(0, keys === undefined ? 2 : MOST_NAMES).map((param) => [param]),
  ];
  const headers =
    keys === undefined
      ? [...new Set([name.replace(/next-?/, ''), name])].filter(Boolean).map((bare) => `x-${bare}`)
      : [];
  const from = keys === undefined ? { header: path.replace(/^header /, '') } : path;
  const make = (shown: string, queryParam: Json, params: AnyObject): Candidate => ({
    kind: 'token',
    says: `\`${path}\` → \`${shown}\``,
    pagination: { method: 'response.param', responseParam: from, queryParam, ...included(params) },
    params,
    isGuess: false,
  });
  return [
    ...unique(places)
      .slice(0, MOST_NAMES)
      .map((place) => ({
        ...make(place.join('.'), paramOf(place), withoutAt(target.params, place)),
        ...(place.length > 1 ? {} : { group: `token ${path}`, sends: [place[0] ?? '', value] as const }),
      })),
    ...headers.map((header) => make(`header ${header}`, { header }, target.params)),
  ];
}

/** Variables that a GraphQL query declares; undefined for any other request. */
function variablesOf({ params }: Target): readonly string[] | undefined {
  const query = getKey(params, 'query');
  if (typeof query !== 'string' || !/[{]/.test(query)) return undefined;
  return [...query.matchAll(/\$(\w+)\s*:/g)].map(([, name = '']) => name);
}

/** Why the pages of a GraphQL query cannot be followed; undefined where they can, or for any other request. */
export function graphAdvice({ target, body }: Observed): string | undefined {
  const variables = variablesOf(target);
  if (variables === undefined || variables.some((name) => /after|cursor|start|page|offset|skip/i.test(name)))
    return undefined;
  return pageInfosIn(body, []).length > 0
    ? 'The next page: the query declares no variable for the cursor. Add one, such as `query($after: String)` and `after: $after`.'
    : 'The next page: the query asks for no `pageInfo { hasNextPage endCursor }`, and declares no variable for a cursor or an offset.';
}

/** A cursor, a page or an offset among the variables of a GraphQL query. */
function graph(seen: Observed): Candidate[] {
  const { target, body } = seen;
  const variables = variablesOf(target);
  if (variables === undefined) return [];
  const infos = pageInfosIn(body, []);
  const counts = variables.flatMap((name) => {
    const place = ['variables', name];
    if (PAGE.test(plain(name))) return [pageCandidate(place, 1, seen)];
    return OFFSET.test(plain(name)) ? [offsetCandidate(place, 0, seen)] : [];
  });
  const cursors = infos.flatMap((keys) =>
    variables
      .filter((name) => /after|cursor|start|page/i.test(name))
      .map((name): Candidate => {
        const at = keys.join('.');
        const place = ['variables', name];
        return {
          kind: 'token',
          says: `\`${at}.endCursor\` → the variable \`${name}\``,
          pagination: {
            method: 'response.param',
            responseParam: `${at}.endCursor`,
            queryParam: paramOf(place),
            stopWhen: { value: `${at}.hasNextPage`, is: 'false' },
          },
          params: withoutAt(target.params, place),
          isGuess: false,
        };
      }),
  );
  return [...cursors, ...counts];
}

function pageInfosIn(value: Json, keys: readonly string[]): (readonly string[])[] {
  if (!isObject(value) || keys.length > 6) return [];
  return entriesOf(value).flatMap(([key, item]) => {
    const way = [...keys, key];
    return key === 'pageInfo' && isObject(item) && typeof getKey(item, 'endCursor') === 'string'
      ? [way]
      : pageInfosIn(item, way);
  });
}

/** The id of the last row leads on. */
function rowIds({ target, id, lastId, signs }: Observed, isGuess: boolean): Candidate[] {
  if (id === undefined) return [];
  const given = leavesOf(target.params).flatMap(({ keys }) =>
    TOKEN.test(plain(keys.at(-1) ?? '')) ? [keys] : [],
  );
  const more = signOf(signs, 'more');
  const stop =
    more === undefined || more.path.startsWith('header ')
      ? { emptyPage: 'stop' }
      : { stopWhen: { value: more.path, is: 'false' }, emptyPage: 'stop' };
  return unique([...given, ...ROW_NAMES.map((name) => [name])])
    .slice(0, isGuess ? 2 : ROW_NAMES.length)
    .map((place) => {
      const params = withoutAt(target.params, place);
      return {
        kind: 'row',
        says: `\`${id}\` of the last row → \`${place.join('.')}\``,
        pagination: {
          method: 'response.param',
          responseParam: { last: id },
          queryParam: paramOf(place),
          ...included(params),
          ...stop,
        },
        params,
        isGuess,
        ...(place.length > 1 || lastId === undefined
          ? {}
          : { group: 'row', sends: [place[0] ?? '', lastId] as const }),
      };
    });
}

/** Page numbers and offsets that the answer, its links or the request speak of. */
function counted(seen: Observed): Candidate[] {
  const { signs, target } = seen;
  const given = leavesOf(target.params);
  const found: Candidate[] = [];
  const page = signOf(signs, 'page');
  const offset = signOf(signs, 'offset') ?? signOf(signs, 'position');
  for (const { keys, value } of given) {
    const name = plain(keys.at(-1) ?? '');
    const number = numericOf(value);
    if (PAGE.test(name) && number !== undefined)
      found.push(pageCandidate(keys, firstOf(valueOf(page), number), seen));
    if (OFFSET.test(name) && number !== undefined)
      found.push(offsetCandidate(keys, number === 1 && valueOf(offset) !== 0 ? 1 : 0, seen));
  }
  for (const { rel, url } of signs.links) {
    if (!/^next|^last/.test(rel)) continue;
    for (const [name, text] of queryOf(url)) {
      const key = plain(name);
      if (!/^\d+$/.test(text)) continue;
      if (PAGE.test(key) || /^page_(?:number|page)$/.test(key))
        found.push(pageCandidate([name], firstOf(valueOf(page), undefined), seen));
      else if (OFFSET.test(key) && (!rel.startsWith('next') || Number(text) >= seen.rows))
        found.push(
          offsetCandidate([name], rel.startsWith('next') && Number(text) === seen.rows + 1 ? 1 : 0, seen),
        );
    }
  }
  if (page !== undefined && !page.path.startsWith('header '))
    for (const name of pageNames(page.name))
      found.push(pageCandidate([name], firstOf(valueOf(page), undefined), seen));
  if (offset !== undefined && !offset.path.startsWith('header '))
    for (const name of offsetNames(offset.name))
      found.push(offsetCandidate([name], offset.kind === 'position' && offset.value === 1 ? 1 : 0, seen));
  return found;
}

/** What many APIs know, tried where nothing else is said or worked. */
function blind(seen: Observed): Candidate[] {
  const { body } = seen;
  if (variablesOf(seen.target) !== undefined) return [];
  const root = isObject(body) ? entriesOf(body).map(([key]) => key) : [];
  const isJsonApi = root.includes('jsonapi') || (root.includes('data') && root.includes('links'));
  const pages = isJsonApi ? ['page[number]', 'page'] : ['page'];
  const isOdata = root.some((key) => key.startsWith('@odata'));
  const offsets: (readonly [string, number])[] = isOdata
    ? [['$skip', 0]]
    : [
        ...(isJsonApi ? [['page[offset]', 0] as const] : []),
        // a search engine: its answer has nothing but these words
        ...(root.includes('hits') && root.includes('took') ? [['from', 0] as const] : []),
        ['offset', 0],
        ['skip', 0],
        ['start', 0],
      ];
  const guessed = (candidate: Candidate, name: string, value: number): Candidate => ({
    ...candidate,
    isGuess: true,
    group: 'guess',
    sends: [name, value],
  });
  return [
    ...(isOdata ? [] : pages).map((name) => guessed(pageCandidate([name], 1, seen), name, 2)),
    ...offsets.map(([name, first]) => guessed(offsetCandidate([name], first, seen), name, seen.rows)),
    ...PAGE_GUESSES.map((name) => guessed(pageCandidate([name], 1, seen), name, 2)),
    ...rowIds(seen, true),
  ];
}

const PAGE_GUESSES = ['pageNumber', 'page_number', '_page', 'p', 'pageNo', 'pageIndex', 'start'];

/** @param first number of the first page */
export function pageCandidate(place: Place, first: number, seen: Observed): Candidate {
  const params = withoutAt(seen.target.params, place);
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

/** @param first offset of the first row */
export function offsetCandidate(place: Place, first: number, seen: Observed, size = seen.rows): Candidate {
  const given = topNames(seen.target.params);
  const echo = signOf(seen.signs, 'size');
  const sizeParam =
    place[0] === 'from'
      ? sizeName(undefined, [...given, 'size'])
      : (place[0] ?? '').startsWith('$')
        ? '$top'
        : place[0] === 'page[offset]'
          ? 'page[limit]'
          : sizeName(echo?.name, given);
  const bare = withoutAt(seen.target.params, place);
  return {
    kind: 'offset',
    says: `rows to skip from ${first} in \`${place.join('.')}\``,
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

/** The number of the first page, by what the answer says, else by what was asked for. */
function firstOf(echo: number | undefined, given: number | undefined): number {
  if (echo === 0 || given === 0) return 0;
  if (echo !== undefined && given !== undefined && given === echo + 1) return 1;
  return 1;
}

function hasEcho({ signs }: Observed): boolean {
  return signs.all.some(
    ({ kind, path }) => /^(?:page|offset|position)$/.test(kind) && !path.startsWith('header '),
  );
}

export function seesMore({ signs, rows }: Pick<Observed, 'signs' | 'rows'>): boolean {
  const total = valueOf(signOf(signs, 'total'));
  return signOf(signs, 'more') !== undefined || (total !== undefined && total > rows);
}

/** Scalars of the parameters, at any depth. */
export function leavesOf(
  params: AnyObject,
  above: Place = [],
): { readonly keys: Place; readonly value: Json }[] {
  return entriesOf(params).flatMap(([key, value]) => {
    const keys = [...above, key];
    if (isObject(value)) return getKey(value, 'attr') === undefined ? leavesOf(value, keys) : [];
    return isScalar(value) || value === null ? [{ keys, value }] : [];
  });
}

function topNames(params: AnyObject): string[] {
  return entriesOf(params).flatMap(([name, value]) => (isScalar(value) ? [name] : []));
}

export function paramOf(place: Place): Json {
  return place.length === 1 ? (place[0] ?? '') : { body: place.join('.') };
}

export function withoutAt(params: AnyObject, [key = '', ...rest]: Place): AnyObject {
  const inner = getKey(params, key);
  if (rest.length === 0) return withoutKey(params, key);
  return isObject(inner)
    ? objectOf(
        entriesOf(params).map(([name, value]) => [name, name === key ? withoutAt(inner, rest) : value]),
      )
    : params;
}

/** The job's parameters go along with a token where there are any. */
function included(params: AnyObject): JsonObject {
  return entriesOf(params).length > 0 ? { includeParams: true } : {};
}

export function queryOf(url: string): [string, string][] {
  const mark = url.indexOf('?');
  const query = mark < 0 ? (isUrl(url) ? '' : url) : url.slice(mark + 1);
  return [...new URLSearchParams(query.split('#', 1)[0])];
}

function unique(places: readonly Place[]): Place[] {
  const seen = new Set<string>();
  return places.filter((place) => {
    const text = place.join('.');
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}

/** The page size that was asked for, where it was. */
export function askedSize({ target }: Pick<Observed, 'target'>): number | undefined {
  for (const { keys, value } of leavesOf(target.params)) {
    if (!SIZE.test(plain(keys.at(-1) ?? ''))) continue;
    const size = isInteger(value) ? numberOf(value) : numericOf(value);
    if (size !== undefined && size > 0) return size;
  }
  return undefined;
}
