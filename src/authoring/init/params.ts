import type { FoundRequest } from './target.ts';
import {
  entriesOf,
  getKey,
  isObject,
  isScalar,
  objectOf,
  withoutKey,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { numericOf } from '../../lib/read-settings.ts';
import { isSizeName } from './guesses.ts';
import { plain } from './names.ts';
import { isUrl } from './signs.ts';

/** Keys on the way to a parameter: one, or several in a body. */
export type ParameterPath = readonly string[];

/** Scalars of the parameters, at any depth. */
export function leavesOf(
  params: AnyObject,
  above: ParameterPath = [],
): { readonly keys: ParameterPath; readonly value: Json }[] {
  return entriesOf(params).flatMap(([key, value]) => {
    const keys = [...above, key];
    if (isObject(value)) return getKey(value, 'attr') === undefined ? leavesOf(value, keys) : [];
    return isScalar(value) || value === null ? [{ keys, value }] : [];
  });
}

export function topNames(params: AnyObject): string[] {
  return entriesOf(params).flatMap(([name, value]) => (isScalar(value) ? [name] : []));
}

/** Returns the names of all parameters, those in the endpoint included. */
export function sentNames({ params, endpoint }: FoundRequest): readonly string[] {
  return [...topNames(params), ...queryOf(endpoint).map(([name]) => name)];
}

/** Returns the place of the page size in the request; empty where it has none. */
export function placeOfSize(target: FoundRequest): ParameterPath {
  const named = leavesOf(target.params).find(
    ({ keys, value }) => isSizeName(keys.at(-1) ?? '') && numericOf(value) !== 0,
  );
  return named?.keys ?? target.sizedBy ?? [];
}

/** Returns the parameter that asks for as many rows as came, where its name alone would not tell: `retmax`. */
export function sizedBy({ params }: FoundRequest, rows: number): ParameterPath | undefined {
  if (rows < FEWEST) return undefined;
  return leavesOf(params).find(
    ({ keys, value }) => numericOf(value) === rows && SIZE_ENDS.test(plain(keys.at(-1) ?? '')),
  )?.keys;
}

/** Fewer rows may be as many by chance. */
const FEWEST = 5;
const SIZE_ENDS = /(?:limit|max|count|size|rows|results|items|top|first|num|number|per|len|length|ps|pp)$/;

export function paramOf(place: ParameterPath): Json {
  return place.length === 1 ? (place[0] ?? '') : { body: place.join('.') };
}

export function withoutAt(params: AnyObject, [key = '', ...rest]: ParameterPath): AnyObject {
  const inner = getKey(params, key);
  if (rest.length === 0) return withoutKey(params, key);
  return isObject(inner)
    ? objectOf(
        entriesOf(params).map(([name, value]) => [name, name === key ? withoutAt(inner, rest) : value]),
      )
    : params;
}

export function queryOf(url: string): [string, string][] {
  const mark = url.indexOf('?');
  const query = mark < 0 ? (isUrl(url) ? '' : url) : url.slice(mark + 1);
  return [...new URLSearchParams(query.split('#', 1)[0])];
}

export function unique(places: readonly ParameterPath[]): ParameterPath[] {
  const seen = new Set<string>();
  return places.filter((place) => {
    const text = place.join('.');
    if (seen.has(text)) return false;
    seen.add(text);
    return true;
  });
}

/** Variables that a GraphQL query declares; undefined for any other request. */
export function variablesOf({ params }: FoundRequest): readonly string[] | undefined {
  const query = getKey(params, 'query');
  if (typeof query !== 'string' || !/[{]/.test(query)) return undefined;
  return [...query.matchAll(/\$(\w+)\s*:/g)].map(([, name = '']) => name);
}
