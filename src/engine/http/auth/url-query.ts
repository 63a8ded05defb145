import { isList, toText, type Json } from '../../../lib/json/index.ts';
import { buildQuery, parseQuery, type QueryPair, type DecodedQueryValue } from '../encode.ts';
import type { NamedValue } from './values.ts';

/** Splits a URL into the part before the `?` and the query; the fragment, which is never sent, is dropped. */
export function splitQuery(url: string): { readonly base: string; readonly query: string | undefined } {
  const whole = url.split('#', 1)[0] ?? '';
  const mark = whole.indexOf('?');
  return mark < 0
    ? { base: whole, query: undefined }
    : { base: whole.slice(0, mark), query: whole.slice(mark + 1) };
}

/** Returns the query of a URL, decoded. */
export function queryOf(url: string): readonly QueryPair[] {
  const { query } = splitQuery(url);
  return query === undefined || query === '' ? [] : parseQuery(query);
}

/**
 * Sets parameters: the same name is replaced in place, new names follow. The query is
 * written anew by encoder B, so that `a+b` becomes `a%20b`.
 */
export function overrideQuery(url: string, values: readonly NamedValue[]): string {
  const pairs = new Map(queryOf(url));
  for (const [name, value] of values) pairs.set(name, queryValue(value));
  return withQuery(url, [...pairs]);
}

/**
 * Adds the parameters of a login (login): where the name is there already, old and new values
 * become the list `name[0]`, `name[1]` at the end. A value that is there already is not added again, so a link
 * that carries the token stays as it is.
 */
export function mergeLoginQuery(url: string, values: readonly NamedValue[]): string {
  const pairs = new Map(queryOf(url));
  for (const [name, added] of values) {
    const value = queryValue(added);
    const all = [...new Set([...(pairs.has(name) ? listOf(pairs.get(name) ?? null) : []), ...listOf(value)])];
    const [only] = all;
    if (only !== undefined && all.length === 1 && !isList(value)) {
      pairs.set(name, only);
      continue;
    }
    pairs.delete(name);
    all.forEach((item, index) => pairs.set(`${name}[${index}]`, item));
  }
  return withQuery(url, [...pairs]);
}

function withQuery(url: string, pairs: readonly QueryPair[]): string {
  const query = buildQuery(pairs);
  const { base } = splitQuery(url);
  return query === '' ? base : `${base}?${query}`;
}

function queryValue(value: Json): DecodedQueryValue {
  if (isList(value)) return value.map((item) => (item === null ? null : toText(item)));
  return value === null ? null : toText(value);
}

function listOf(value: DecodedQueryValue): readonly (string | null)[] {
  return isList(value) ? value : [value];
}
