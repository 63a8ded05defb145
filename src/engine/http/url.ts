import { HttpError } from '../../lib/errors.ts';
import { isEmpty, objectOf, entriesOf, type AnyObject, type Json } from '../../lib/json/index.ts';
import { remember } from '../../lib/remember.ts';
import { encodeForm, hasParams, queryEntries, rawQueryEntries, type ListStyle } from './encode.ts';

/**
 * Resolves an endpoint against the base URL (RFC 3986 section 5). Done here and not by `URL`,
 * so that what the configuration says arrives byte for byte: only characters that may not stand in an address are
 * percent-encoded, `%XX` stays, the fragment is dropped.
 *
 * | base | endpoint | result |
 * |---|---|---|
 * | `http://h/v1/` | `users` | `http://h/v1/users` |
 * | `http://h/v1/x` | `users?a=1` | `http://h/v1/users?a=1` |
 * | `http://h/v1/x` | `?q=1` | `http://h/v1/x?q=1` |
 * | `https://h/v1/` | `//other/x` | `https://other/x` |
 *
 * @throws {HttpError} `job.invalid` when the result is no http or https address
 */
export function resolveUrl(base: string, endpoint: string): string {
  // pages of a job differ in their query
  const mark = endpoint.indexOf('?');
  const fragment = endpoint.indexOf('#');
  const end = fragment < 0 ? endpoint.length : fragment;
  const start = placesBelow(base)(endpoint.slice(0, mark < 0 || mark > end ? end : mark));
  if (start === undefined)
    throw new HttpError('job.invalid', `“${shown(endpoint)}” gives no http or https address.`, {
      hint: 'Give an endpoint relative to api.baseUrl, or a whole URL that starts with http:// or https://.',
    });
  const query = mark < 0 || mark > end ? start.query : endpoint.slice(mark + 1, end);
  return query === undefined ? start.address : `${start.address}?${query.replace(NOT_IN_QUERY, encode)}`;
}

/** Bases and endpoints whose addresses are remembered: those of a run, and the last ones of its children. */
const MOST_BASES = 20;
const MOST_ENDPOINTS = 100;

/** An address without its query, and the query of the base where the endpoint stands for all of it. */
interface Place {
  readonly address: string;
  readonly query: string | undefined;
}

/** Returns what resolves endpoints without a query against a base; undefined is no http or https address. */
const placesBelow = remember((base) => {
  const from = split(base);
  return remember((endpoint): Place | undefined => {
    const to = split(endpoint);
    const { scheme, authority } =
      to.authority === undefined ? from : { ...to, scheme: to.scheme ?? from.scheme };
    if ((scheme !== 'http' && scheme !== 'https') || authority === undefined || hostOf(authority) === '')
      return undefined;
    return {
      address: `${scheme}://${authority}${pathOf(from, to).replace(NOT_IN_PATH, encode)}`,
      query: to.authority === undefined && to.path === '' ? from.query : undefined,
    };
  }, MOST_ENDPOINTS);
}, MOST_BASES);

/**
 * Puts parameters into the query of an endpoint. The endpoint's own parameters come first and
 * keep their place; all are encoded anew by encoder A. Without parameters the endpoint is given back untouched.
 */
export function mergeParams(endpoint: string, params: AnyObject | undefined, lists?: ListStyle): string {
  if (!hasParams(params)) return endpoint;
  const { path, query } = cut(endpoint);
  const own: [string, Json][] = query === '' ? [] : rawQueryEntries(query);
  return joined(path, encodeForm(objectOf([...own, ...paramsIn(params)]), lists));
}

/**
 * Merges parameters into the link of a response, whose names are encoded already: `page%5Bafter%5D` is the parameter
 * `page[after]`, and no other one. A name that occurs twice there stays so.
 */
export function mergeIntoLink(link: string, params: AnyObject | undefined, lists?: ListStyle): string {
  if (!hasParams(params)) return link;
  const { path, query } = cut(link);
  const added = new Map(
    paramsIn(params).map(([key, value]) => [key, encodeForm(objectOf([[key, value]]), lists)]),
  );
  const keys = new Map<string, string>();
  for (const [key, text] of added)
    for (const name of [key, ...queryEntries(text).map(([inner]) => inner)]) keys.set(name, key);
  const parts = queryEntries(query).map(([name, value]) => {
    const key = keys.get(name);
    if (key === undefined) return encodeForm(objectOf([[name, value]]));
    const text = added.get(key) ?? '';
    added.set(key, ''); // in the place of the first
    return text;
  });
  return joined(path, [...parts, ...added.values()].filter((part) => part !== '').join('&'));
}

function cut(endpoint: string): { readonly path: string; readonly query: string } {
  const [beforeFragment = ''] = endpoint.split('#', 1);
  const mark = beforeFragment.indexOf('?');
  if (mark === -1) return { path: beforeFragment, query: '' };
  return { path: beforeFragment.slice(0, mark), query: beforeFragment.slice(mark + 1) };
}

function paramsIn(params: AnyObject): readonly (readonly [string, Json])[] {
  return entriesOf(params).filter(([key]) => !isEmpty(key));
}

function joined(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** Returns `scheme://host[:port]` in lower case, without user and without the scheme's own port. */
export function originOf(url: string): string {
  const { scheme = '', authority = '' } = split(url);
  const host = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase();
  return `${scheme}://${scheme === 'https' ? host.replace(/:(?:443)?$/, '') : host.replace(/:(?:80)?$/, '')}`;
}

/** Creates the pattern of an address whose host has such characters, beside dots, hyphens and underscores. */
function httpUrl(letters: string, flags: string): RegExp {
  const host = String.raw`[${letters}_](?:[${letters}._-]*[${letters}_.])?|\[[0-9a-f:.]+\]`;
  return new RegExp(String.raw`^https?:\/\/(?:[^\s/?#@]*@)?(?:${host})(?::\d{1,5})?(?:[/?#][^\s]*)?$`, flags);
}

const ASCII_URL = httpUrl(String.raw`a-z\d`, 'i');
/** Made for the first address that is not in ASCII: the tables of letters take the runtime a millisecond. */
let anyUrl: RegExp | undefined;

/**
 * Tells whether a text is an absolute http or https URL. Single-label hosts, underscores, IPv4, [IPv6], port and user
 * are fine.
 */
export function isHttpUrl(text: string): boolean {
  return ASCII_URL.test(text) || (anyUrl ??= httpUrl(String.raw`\p{L}\p{N}`, 'iu')).test(text);
}

interface Parts {
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string | undefined;
}

/** A scheme counts only in front of `//`: the first segment of a relative endpoint may hold a colon. */
const REFERENCE = /^(?:(?:([a-z][a-z0-9+.-]*):)?\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/is;

function split(reference: string): Parts {
  const [, scheme, authority, path = '', query] = REFERENCE.exec(reference) ?? [];
  return {
    scheme: scheme?.toLowerCase(),
    authority: authority === undefined ? undefined : lowerHost(authority),
    path,
    query,
  };
}

function lowerHost(authority: string): string {
  const at = authority.lastIndexOf('@') + 1;
  return authority.slice(0, at) + authority.slice(at).toLowerCase();
}

function hostOf(authority: string): string {
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '');
}

function pathOf(from: Parts, to: Parts): string {
  if (to.authority !== undefined) return removeDots(to.path) || '/';
  if (to.path === '') return from.path || '/';
  if (to.path.startsWith('/')) return removeDots(to.path);
  return removeDots((from.path === '' ? '/' : from.path.slice(0, from.path.lastIndexOf('/') + 1)) + to.path);
}

/** Removes dot segments (RFC 3986 section 5.2.4). */
function removeDots(path: string): string {
  if (!path.includes('.')) return path;
  const out: string[] = [];
  const segments = path.split('/');
  segments.forEach((segment, index) => {
    const last = index === segments.length - 1;
    if (segment === '..') {
      if (out.length > 1) out.pop();
    } else if (segment !== '.') {
      out.push(segment);
      return;
    }
    if (last) out.push('');
  });
  return out.join('/');
}

// Characters that RFC 3986 forbids in a path and in a query; a percent sign is allowed only before two hexadecimal
// digits.
const NOT_IN_PATH = /[^\w\-.~!$&'()*+,;=:@/%]+|%(?![0-9a-f]{2})/gi;
const NOT_IN_QUERY = /[^\w\-.~!$&'()*+,;=:@/%?]+|%(?![0-9a-f]{2})/gi;

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function shown(endpoint: string): string {
  return endpoint.replace(/\/\/[^/?#]*@/, '//').slice(0, 200);
}
