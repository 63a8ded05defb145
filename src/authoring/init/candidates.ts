import {
  entriesOf,
  isObject,
  toText,
  type AnyObject,
  type Json,
  type JsonObject,
} from '../../lib/json/index.ts';
import { besideSize, isOffsetName, isPageName, ROW_NAMES, sentAs, TOKEN } from './guesses.ts';
import { plain } from './names.ts';
import { signOf, valueOf, type Merge, type Pointer } from './signs.ts';
import {
  leavesOf,
  paramOf,
  placeOfSize,
  queryOf,
  sentNames,
  topNames,
  unique,
  variablesOf,
  withoutAt,
  type ParameterPath,
} from './params.ts';
import type { Candidate, Observed } from './candidate.ts';
import { graph } from './graph.ts';
import { blind, counted } from './count.ts';
import { archived, behindKey, ranged, scrolled } from './protocols.ts';

/** Ways to the next page, the likeliest first. Pure. */
export function candidatesOf(seen: Observed): readonly Candidate[] {
  const strong = seen.signs.pointers.filter(({ isStrong }) => isStrong);
  const weak = seen.signs.pointers.filter(({ isStrong }) => !isStrong);
  const all = [
    ...headerLinks(seen),
    ...strong.filter(({ isUrl: is }) => is).flatMap((pointer) => urls(pointer, seen)),
    ...archived(strong, seen),
    ...scrolled(seen),
    ...ranged(seen),
    ...seen.signs.merges.map((merge) => merged(merge, seen)),
    ...together(strong, seen),
    ...strong.filter(({ isUrl: is }) => !is).flatMap((pointer) => tokens(pointer, seen)),
    ...graph(seen),
    ...behindKey(seen),
    ...(signOf(seen.signs, 'more') !== undefined && !hasEcho(seen) && weak.length === 0
      ? rowIds(seen, false)
      : []),
    ...counted(seen),
    ...weak.filter(({ isUrl: is }) => !is).flatMap((pointer) => tokens(pointer, seen)),
    ...strong.filter(({ isUrl: is }) => is).flatMap((pointer) => tokensInUrl(pointer, seen)),
    ...blind(seen),
    ...(variablesOf(seen.target) === undefined ? rowIds(seen, true) : []),
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
  const isQuery = typeof value === 'string' && /^\??[\w.[\]%-]+=[^/]*$/.test(value);
  const from = keys === undefined ? { header: path.replace(/^header /, '') } : path;
  const form = { method: 'response.url', urlKey: source ?? from };
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

/** Returns a candidate that sends all values of an object of the answer. */
function merged({ path, source, isBody }: Merge, { target }: Observed): Candidate {
  const to =
    target.method === 'GET' && target.paramsIn !== 'body' && !isBody ? { query: '*' } : { body: '*' };
  return {
    kind: 'token',
    says: isBody
      ? `the body that \`${path}\` has for the next page`
      : `all of \`${path}\` → parameters of the same names`,
    pagination: { method: 'response.param', merge: { from: source, to } },
    params: target.params,
    isGuess: false,
  };
}

/** Returns a candidate that sends several values, which are the place of the next page together. */
function together(strong: readonly Pointer[], { target }: Observed): Candidate[] {
  const parts = strong.filter(
    ({ isUrl, isObject: isWhole, keys }) => !isUrl && isWhole !== true && keys !== undefined,
  );
  const [first] = parts;
  const above = first?.keys?.slice(0, -1).join('.');
  const beside = besideSize(sentNames(target));
  if (parts.length < 2 || parts.some(({ keys }) => keys?.slice(0, -1).join('.') !== above)) return [];
  const set = parts.map(({ path, name }) => {
    const [likely = name] = sentAs(name, false);
    return { from: path, to: beside === undefined ? likely : beside(likely) };
  });
  return [
    {
      kind: 'token',
      says: set.map(({ from, to }) => `\`${from}\` → \`${to}\``).join(' and '),
      pagination: { method: 'response.param', set, includeParams: true },
      params: target.params,
      isGuess: false,
    },
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

const MOST_NAMES = 6;

function tokens(pointer: Pointer, { target, signs, rows }: Observed): Candidate[] {
  const { path, keys, value, name, isObject: isWhole } = pointer;
  const given = leavesOf(target.params).filter(({ keys: way }) => {
    const key = way.at(-1) ?? '';
    return TOKEN.test(plain(key)) || (typeof value === 'number' && (isPageName(key) || isOffsetName(key)));
  });
  const inLinks = signs.links.flatMap(({ url }) =>
    queryOf(url).flatMap(([param, text]) => (text === String(value) ? [param] : [])),
  );
  const isSnake = keys !== undefined && topNames(target.params).some((param) => /[a-z]_[a-z]/.test(param));
  const echoes = signs.all.flatMap(({ kind, path: at }) =>
    /^(?:page|offset|position)$/.test(kind) && !at.startsWith('header ') ? [at.split('.').at(-1) ?? ''] : [],
  );
  const guessed =
    typeof value === 'number' && /^next$/.test(plain(name))
      ? [
          ...new Set([
            ...echoes,
            ...(value === rows ? ['offset', 'start', 'skip'] : ['page', 'cursor', 'offset']),
          ]),
        ]
      : [
          ...new Set([
            ...(isSnake ? sentAs(plain(name), false).slice(0, 2) : []),
            ...sentAs(name, keys === undefined),
          ]),
        ];
  const beside = besideSize(topNames(target.params));
  const above = placeOfSize(target).slice(0, -1);
  const likely = guessed[0] ?? name;
  const places: ParameterPath[] = [
    ...given.map(({ keys: way }) => way),
    ...(target.documented ?? []).filter((param) => TOKEN.test(plain(param))).map((param) => [param]),
    ...inLinks.map((param) => [param]),
    ...(above.length > 0 ? guessed.slice(0, 2).map((param) => [...above, param]) : []),
    ...(beside === undefined ? [] : unique([[beside(name)], [beside(likely)]])),
    ...guessed.slice(0, keys === undefined ? 3 : MOST_NAMES).map((param) => [param]),
  ];
  const headers =
    keys === undefined
      ? [
          ...new Set([
            ...(name === 'next-range' ? ['range'] : []),
            ...[name.replace(/next-?/, ''), name].filter(Boolean).map((bare) => `x-${bare}`),
            path.replace(/^header /, ''),
          ]),
        ]
      : [];
  const isInQuery = target.method === 'GET' && target.paramsIn !== 'body';
  const from =
    keys === undefined
      ? { header: path.replace(/^header /, '') }
      : isWhole === true && isInQuery
        ? { function: 'json_encode', args: [{ path }] }
        : path;
  const make = (shown: string, queryParam: Json, params: AnyObject): Candidate => ({
    kind: 'token',
    says: `\`${path}\`${isWhole === true && isInQuery ? ', an object, as JSON' : ''} → \`${shown}\``,
    pagination: {
      method: 'response.param',
      responseParam: from,
      queryParam,
      ...included(params),
      ...(isObject(from) && 'function' in from ? { endValues: ['null'] } : {}),
    },
    params,
    isGuess: false,
  });
  // the value of the first page may be what lets an API name the next one: `cursorMark=*`
  const kept = given.filter(({ keys: way, value: first }) => way.length === 1 && toText(first ?? '') !== '');
  return [
    ...kept.map(({ keys: way }) => make(way.join('.'), paramOf(way), target.params)),
    ...unique(places)
      .slice(0, MOST_NAMES)
      .map((place) => ({
        ...make(place.join('.'), paramOf(place), withoutAt(target.params, place)),
        ...(place.length > 1 ? {} : { group: `token ${path}`, sends: [place[0] ?? '', value] as const }),
      })),
    ...headers.map((header) => make(`header ${header}`, { header }, target.params)),
  ];
}

/** Returns candidates that continue after the id of the last row. */
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
  return unique([...given, ...ROW_NAMES.map((name) => [name])]).map((place) => {
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

function hasEcho({ signs }: Observed): boolean {
  return signs.all.some(
    ({ kind, path }) => /^(?:page|offset|position)$/.test(kind) && !path.startsWith('header '),
  );
}

export function seesMore({ signs, rows }: Pick<Observed, 'signs' | 'rows'>): boolean {
  const total = valueOf(signOf(signs, 'total'));
  return signOf(signs, 'more') !== undefined || (total !== undefined && total > rows);
}

/** Returns the setting that sends the job's parameters along with a token, if there are any. */
function included(params: AnyObject): JsonObject {
  return entriesOf(params).length > 0 ? { includeParams: true } : {};
}
