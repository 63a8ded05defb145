import {
  entriesOf,
  getKey,
  isInteger,
  isList,
  isNumber,
  isObject,
  numberOf,
  objectOf,
  toJsonText,
  type Json,
  type JsonObject,
} from '../../lib/json/index.ts';
import { meaningsOf } from '../../engine/completeness/classify.ts';
import { readSigns } from '../../engine/completeness/read-signs.ts';
import type { Sign, SignKind } from '../../engine/completeness/sign.ts';
import { plain, wordsOf } from './names.ts';
import type { RowsPlace } from './rows.ts';

/** A value of an answer that may lead to the next page. */
export interface Pointer {
  /** Keys in the body; undefined for a header. */
  readonly keys: readonly string[] | undefined;
  /** As a configuration has it, or `header NAME`. */
  readonly path: string;
  readonly name: string;
  readonly value: string | number;
  readonly isUrl: boolean;
  /** How a configuration takes it, where that is more than a path: of a list of links. */
  readonly source?: JsonObject;
  /** The name says clearly that it is of the next page. */
  readonly isStrong: boolean;
  /** Its name may as well mean something else. */
  readonly isVague?: true;
  /** It is an object, and `value` its JSON. */
  readonly isObject?: true;
}

/** An object of parameters for the next request. */
export interface Merge {
  readonly path: string;
  /** How a configuration takes it. */
  readonly source: Json;
  /** The answer says that it is the body of the next request. */
  readonly isBody: boolean;
}

/** Signals about pages in an answer. */
export interface Signs {
  readonly all: readonly Sign[];
  readonly pointers: readonly Pointer[];
  /** Objects whose values are all parameters of the next request. */
  readonly merges: readonly Merge[];
  /** Addresses in the answer of other pages of the same list: next, last, first, self. */
  readonly links: readonly { readonly rel: string; readonly url: string }[];
  /** The part of the list that came, by `Content-Range`; the unit is empty where it names none. */
  readonly range?: { readonly unit: string; readonly from: number; readonly to: number };
}

/**
 * Reads the signs of an answer, by the words of the verdict. Pure.
 *
 * @param given names of parameters of the request: `nextCursorMark` is the next value of `cursorMark`
 * @param address address of the request: one at the same place may be that of the next page, whatever its name
 */
export function signsOf(
  body: Json,
  place: Pick<RowsPlace, 'keys' | 'kind' | 'rows'>,
  headers: Readonly<Record<string, string>>,
  given: readonly string[] = [],
  address?: string,
): Signs {
  const envelope = without(body, place.keys, place.kind === 'values' ? {} : []);
  const isSingle = place.kind === 'one';
  const seen = {
    envelope: place.keys.length === 0 ? null : envelope,
    rowsAt: place.keys,
    rows: place.rows.length,
    isSingle,
    headers,
  };
  const all = readSigns(seen, NO_OWN);
  const own = {
    given: new Set(given.map((name) => `next_${plain(name)}`)),
    hasMore: all.some(({ kind }) => kind === 'more'),
    place: address === undefined ? undefined : placeOf(address),
    ofLastRow: scalarsIn(place.rows.at(-1) ?? null, 1),
  };
  const pointers = [...pointersIn(seen.envelope, [], false, own), ...pointersInHeaders(headers)];
  return {
    all,
    pointers,
    merges: [...mergesIn(seen.envelope, [])],
    links: [...linksIn(seen.envelope, ''), ...linksInHeader(headers['link'])],
    ...rangeIn(headers['content-range']),
  };
}

function rangeIn(header: string | undefined): Pick<Signs, 'range'> {
  const [, unit = '', from, to] = /^(?:(\w+) )?(\d{1,15})-(\d{1,15})\//.exec(header ?? '') ?? [];
  return from === undefined || unit === 'bytes'
    ? {}
    : { range: { unit, from: Number(from), to: Number(to) } };
}

/** Signs that a user adds: none. */
export const NO_OWN = { total: [], pages: [], next: [], more: [], end: [], not: [] };

/** Returns the first signal of a kind, a clear one before others, with the value and the name of its place. */
export function signOf(signs: Signs, kind: SignKind): (Sign & { readonly name: string }) | undefined {
  const found = signs.all.filter((sign) => sign.kind === kind);
  const best = ['strong', 'plain', 'weak'].flatMap((strength) =>
    found.filter((sign) => sign.strength === strength),
  )[0];
  return best === undefined ? undefined : { ...best, name: best.path.split('.').at(-1) ?? '' };
}

export function valueOf(sign: Sign | undefined): number | undefined {
  return sign !== undefined && 'value' in sign ? sign.value : undefined;
}

const MAX_DEPTH = 6;

/** Facts that make a value a pointer whose name alone is none. */
interface Hints {
  /** `next_` and the name of a parameter of the request. */
  readonly given: ReadonlySet<string>;
  readonly hasMore: boolean;
  /** Address of the request without its query. */
  readonly place: string | undefined;
  /** Values of the last row. */
  readonly ofLastRow: ReadonlySet<string | number>;
}

/** Values of a row, and of objects in it. */
function scalarsIn(row: Json, depth: number): ReadonlySet<string | number> {
  const found = new Set<string | number>();
  for (const [, item] of isObject(row) ? entriesOf(row) : []) {
    const scalar = scalarOf(item);
    if (scalar !== undefined) found.add(scalar);
    if (isObject(item) && depth > 0) for (const each of scalarsIn(item, depth - 1)) found.add(each);
  }
  return found;
}

function* pointersIn(value: Json, keys: readonly string[], isNext: boolean, hints: Hints): Iterable<Pointer> {
  if (!isObject(value) || keys.length > MAX_DEPTH) return;
  for (const [key, item] of entriesOf(value)) {
    const next =
      meaningsOf(key).find(({ topic }) => topic === 'next') ??
      (hints.given.has(plain(key)) ||
      NEXT_TOO.test(plain(key)) ||
      isOfLastRow(key, item, hints) ||
      isElsewhere(key, item, hints)
        ? CLEAR
        : undefined);
    const way = [...keys, key];
    const isStrong = isNext || (next !== undefined && next.strength !== 'weak');
    if (isList(item)) yield* nextOfLinks(item, way);
    const isToken =
      next !== undefined ||
      isNext ||
      isPlaceWithText(key, item) ||
      (hints.hasMore && plain(key) === 'marker' && typeof item === 'string');
    const isVague = !isToken && isLikeToken(key, item);
    const scalar = scalarOf(item);
    if ((isToken || isVague) && scalar !== undefined && scalar !== '')
      yield {
        keys: way,
        path: pathOf(way),
        name:
          isNext && next === undefined && /^(?:href|url|uri|link|value|token)$/i.test(key)
            ? (keys.at(-1) ?? key)
            : key,
        value: scalar,
        isUrl: isUrl(scalar),
        isStrong,
        ...(isVague ? { isVague } : {}),
      };
    // a token that is an object: the key of the last row
    if (isObject(item) && (next?.strength === 'strong' ? OBJECTS : CURSORS).test(key))
      yield {
        keys: way,
        path: pathOf(way),
        name: key,
        value: toJsonText(item),
        isUrl: false,
        isStrong: true,
        isObject: true,
      };
    yield* pointersIn(item, way, isNext || (next !== undefined && isObject(item)), hints);
  }
}

/** Names of tokens that may be objects. */
const OBJECTS = /(?:key|cursor|token|after|bookmark|position)$/i;
const CURSORS = /^(?:cursor|bookmark)$/i;

/** Yields the next link of `[{"rel": "self", "href": …}, {"rel": "next", "href": …}]`. */
function* nextOfLinks(list: readonly Json[], keys: readonly string[]): Iterable<Pointer> {
  for (const item of list) {
    if (!isObject(item)) continue;
    const rel = ['rel', 'relation', '@rel'].find((name) => getKey(item, name) === 'next');
    const take = ['href', 'url', 'uri', '@href'].find((name) => typeof getKey(item, name) === 'string');
    const value = take === undefined ? undefined : getKey(item, take);
    if (rel === undefined || take === undefined || typeof value !== 'string') continue;
    const path = pathOf(keys);
    const source = { path, where: { [rel]: 'next' }, take };
    yield { keys, path, source, name: 'next', value, isUrl: true, isStrong: true };
  }
}

/** Finds objects of parameters for the next request: `"continue": {"apcontinue": "B", "continue": "-||"}`. */
function* mergesIn(value: Json, keys: readonly string[]): Iterable<Merge> {
  if (!isObject(value) || keys.length > MAX_DEPTH) return;
  for (const [key, item] of entriesOf(value)) {
    if (isList(item)) yield* bodyOfLinks(item, pathOf([...keys, key]));
    if (!isObject(item)) continue;
    const values = entriesOf(item).map(([, each]) => scalarOf(each));
    const isNext = meaningsOf(key).some(({ topic, strength }) => topic === 'next' && strength !== 'weak');
    if (isNext && values.length > 1 && values.every((each) => each !== undefined && !isUrl(each)))
      yield { path: pathOf([...keys, key]), source: pathOf([...keys, key]), isBody: false };
    else yield* mergesIn(item, [...keys, key]);
  }
}

/** Yields the body that a link names: `[{"rel": "next", "method": "POST", "href": …, "body": {"token": "b7"}}]`. */
function* bodyOfLinks(list: readonly Json[], path: string): Iterable<Merge> {
  if (list.some(hasBodyOfNext))
    yield { path, source: { path, where: { rel: 'next' }, take: 'body' }, isBody: true };
}

function hasBodyOfNext(link: Json): boolean {
  return isObject(link) && getKey(link, 'rel') === 'next' && isObject(getKey(link, 'body'));
}

/** Names that say it in more words than the verdict knows. */
const NEXT_TOO =
  /_next_(?:page_)?(?:token|cursor|marker)$|^next_forward_token$|^next_\w+_marker$|^after_(?:url|link|uri)$/;
const CLEAR = { topic: 'next', strength: 'strong' } as const;

/** Names of a place where the next page begins, which other answers use for other things. */
const PLACE = /^(?:end|last_seq|last_evaluated_\w+)$/;

/** `last_id`, with the id of the last row of the page. */
const OF_LAST_ROW = /^last_(?:\w+_)?(?:\w*id|key|cursor|seq|sequence)$/;

function isOfLastRow(key: string, value: Json, { ofLastRow }: Hints): boolean {
  const scalar = OF_LAST_ROW.test(plain(key)) ? scalarOf(value) : undefined;
  return scalar !== undefined && ofLastRow.has(scalar);
}

/** Words of names of an address that leads on. */
const ONWARD = new Set(['next', 'more', 'continue', 'following', 'resume', 'forward', 'older']);

/** `"moreResultsUrl": "https://…/users?after=7"`: another query of the same list, under a name that leads on. */
function isElsewhere(key: string, value: Json, { place }: Hints): boolean {
  if (typeof value !== 'string' || place === undefined || !value.includes('?')) return false;
  return wordsOf(key).some((word) => ONWARD.has(word)) && placeOf(value, place) === place;
}

/** Returns an address without its query; that of a path is made with a base. */
function placeOf(address: string, base?: string): string | undefined {
  const url = URL.parse(address, base);
  return url === null ? undefined : `${url.origin}${url.pathname}`;
}

/** Names of a place in a list that other answers use for other things. */
const LIKE_TOKEN =
  /^(?:token|anchor|resume|checkpoint|seek|forward|position|state|(?:resume|start|seek|continue)_(?:after|at|from|token|key)|(?:next_?)?pos|(?:page|last)_key|(?:page_info|sync|list|state)_token)$/;

/** `"anchor": "YzozMw"`: a text that is no word, under such a name. */
function isLikeToken(key: string, value: Json): boolean {
  if (typeof value !== 'string' || isUrl(value) || !LIKE_TOKEN.test(plain(key))) return false;
  return value.length > 3 && /^[\w+/=:.-]+$/.test(value) && /\d|[A-Z].*[a-z]|[a-z].*[A-Z]/.test(value);
}

/** `"offset": "itr9/rec7"`: what else is a number is a token. */
function isPlaceWithText(key: string, value: Json): boolean {
  if (PLACE.test(plain(key))) return key !== 'end' || (typeof value === 'string' && !/^\d*$/.test(value));
  return (
    typeof value === 'string' &&
    !/^\d*$/.test(value) &&
    meaningsOf(key).some(({ topic }) => topic === 'offset' || topic === 'position')
  );
}

function* pointersInHeaders(headers: Readonly<Record<string, string>>): Iterable<Pointer> {
  for (const [name, value] of Object.entries(headers)) {
    // a maker's name stands in front: `x-nomad-nexttoken`
    const bare = name
      .replace(/^x-/, '')
      .replace(/^(?:pagination|paging|ms|opc|[a-z]+(?=-next))-(?=.*(?:next|cursor|contin))/, '');
    if (name === 'link' || value === '' || /rate|quota|cache|request|trace/.test(name)) continue;
    const next = bare === 'next-range' ? CLEAR : meaningsOf(bare).find(({ topic }) => topic === 'next');
    if (next === undefined || /^(?:true|false)$/i.test(value)) continue;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : value;
    yield {
      keys: undefined,
      path: `header ${name}`,
      name: bare,
      value: number,
      isUrl: isUrl(value),
      isStrong: next.strength !== 'weak',
    };
  }
}

function scalarOf(value: Json): string | number | undefined {
  if (typeof value === 'string') return value;
  return isInteger(value) && isNumber(value) ? numberOf(value) : undefined;
}

export function isUrl(value: string | number): boolean {
  return (
    typeof value === 'string' && /^(?:https?:)?\/\/\S+$|^\/[^\s]*$|^[\w./-]*\?\S[^\s=]*=\S*$/i.test(value)
  );
}

/** Returns a path for the configuration; JSONPath if a key has a dot or would be taken for something else. */
export function pathOf(keys: readonly string[]): string {
  if (keys.every((key) => /^[^.$[\]]+$/.test(key))) return keys.join('.');
  // a key with a dot is found as it stands
  if (keys.length === 1 && !/^[$[]/.test(keys[0] ?? '')) return keys[0] ?? '';
  return `$${keys.map((key) => `['${key.replace(/[\\']/g, '\\$&')}']`).join('')}`;
}

function* linksIn(value: Json, name: string, depth = 0): Iterable<{ rel: string; url: string }> {
  if (depth > MAX_DEPTH) return;
  if (typeof value === 'string') {
    if (/^(?:next|last|first|self|prev|previous)/i.test(name) && isUrl(value))
      yield { rel: name.toLowerCase(), url: value };
    return;
  }
  if (isList(value)) {
    for (const item of value) {
      if (!isObject(item)) continue;
      const [rel, url] = [
        getKey(item, 'rel') ?? getKey(item, 'relation') ?? getKey(item, '@rel'),
        getKey(item, 'href') ?? getKey(item, 'url') ?? getKey(item, 'uri') ?? getKey(item, '@href'),
      ];
      if (typeof rel === 'string' && typeof url === 'string') yield { rel: rel.toLowerCase(), url };
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [key, item] of entriesOf(value))
    yield* linksIn(item, /^(?:href|url|uri)$/i.test(key) ? name : key, depth + 1);
}

function* linksInHeader(header: string | undefined): Iterable<{ rel: string; url: string }> {
  for (const [, url = '', attributes = ''] of (header ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    const rel = /;\s*rel\s*=\s*"?([\w ]+)/i.exec(attributes)?.[1];
    if (rel !== undefined) yield { rel: rel.toLowerCase(), url };
  }
}

/** Returns a body with a replacement at a place. */
function without(value: Json, keys: readonly string[], replacement: Json): Json {
  const [key, ...rest] = keys;
  if (key === undefined) return replacement;
  if (isList(value))
    return value.map((item, i) => (String(i) === key ? without(item, rest, replacement) : item));
  if (!isObject(value)) return value;
  return objectOf(
    entriesOf(value).map(([name, item]) => [name, name === key ? without(item, rest, replacement) : item]),
  );
}
