import { entriesOf, isList, isObject, parseExact, toText, type Json } from '../../lib/json/index.ts';
import type { ExchangeRequest } from '../recording/exchange.ts';
import { HIDDEN, Secrets } from '../../lib/secrets.ts';
import type { ExplainNote, ExplainedParameter } from './note.ts';

/** Origin of a part of a request. JSON. */
export type Lead =
  /** The address is that of a link in the answer before; `from` is a path in it, or `header link`. */
  | { readonly how: 'link'; readonly from: string }
  /** A parameter has a value that was found there. */
  | { readonly how: 'value'; readonly to: string; readonly value: string; readonly from: string }
  /** A parameter was counted on. */
  | {
      readonly how: 'count';
      readonly to: string;
      readonly value: string;
      readonly before: string | undefined;
    }
  /** A parameter has the highest or lowest id of the rows so far. */
  | {
      readonly how: 'id';
      readonly to: string;
      readonly value: string;
      readonly from: string;
      readonly which: 'highest' | 'lowest';
    }
  /** A placeholder has a value of the row above. */
  | { readonly how: 'row'; readonly to: string; readonly value: string; readonly from: string };

/** Returns the origins of the values that the next request took from an answer: only the known ones. */
export function leadOf(request: ExchangeRequest, note: ExplainNote, next: ExchangeRequest): readonly Lead[] {
  const { asks } = note;
  if (asks?.kind === 'none') return [];
  const before = paramsOf(request);
  const changed = [...paramsOf(next)].filter(([name, value]) => before.get(name) !== value);
  if (asks?.kind === 'count') return counts(changed, before, asks.size);
  const link = linkLead(note, next.url);
  if (link !== undefined) return [link];
  const values = seenValues(note);
  const found = changed.flatMap(
    ([to, value]) =>
      valueLead(to, value, values) ??
      idLead(to, value, note) ??
      partLead(to, value, before.get(to), values) ??
      [],
  );
  if (found.length > 0) return found;
  const hidden = hiddenLead(next, values);
  // an older recording does not say how the next page was asked for
  const mayCount = hidden.length === 0 && asks === undefined && values.length === 0;
  return mayCount ? counts(changed, before, undefined) : hidden;
}

/** Returns the origins of the first request of a child. */
export function parentLead(parameters: readonly ExplainedParameter[] = []): readonly Lead[] {
  return parameters.map(({ name, path, value }) => ({
    how: 'row',
    to: name,
    value: toText(value),
    from: path,
  }));
}

const shown = new Secrets();

function linkLead({ values = new Map(), headers = new Map() }: ExplainNote, url: string): Lead | undefined {
  for (const [path, value] of values) {
    // of a link in a header, the header is the source
    if (typeof value !== 'string' || value.length < 2 || path.startsWith('the link ')) continue;
    const link = shown.redactUrl(value);
    if (/^https?:|[/?]/i.test(link) && (isOf(url, link) || sameQuery(url, link)))
      return { how: 'link', from: path };
    if (/^[^/?=]+=/.test(link) && sameQuery(url, `?${link}`)) return { how: 'link', from: path };
  }
  for (const [name, value] of headers) {
    const links = [...value.matchAll(/<([^<>]*)>/g)].map(([, target = '']) => shown.redactUrl(target));
    if (links.some((link) => link !== '' && isOf(url, link))) return { how: 'link', from: `header ${name}` };
  }
  return undefined;
}

/** Tells whether the URL is that of a link. The link may be relative, and parameters may be added to it. */
function isOf(url: string, link: string): boolean {
  return url === link || url.endsWith(link) || url.startsWith(link);
}

function sameQuery(url: string, link: string): boolean {
  const [wanted, sent] = [queryOf(link), new Map(queryOf(url))];
  return wanted.length > 0 && wanted.every(([name, value]) => sent.get(name) === value);
}

/** Value that the pagination read, and its path. */
type Seen = readonly [from: string, value: string];

/** Returns texts and numbers, also those inside an object, which may be put into a request as a whole. */
function seenValues({ values = new Map(), headers = new Map() }: ExplainNote): readonly Seen[] {
  return [
    ...[...values].flatMap(([from, value]) => scalarsIn(value, from)),
    ...[...headers].map(([name, value]) => [`header ${name}`, value] as const),
  ].filter(([, value]) => value !== '');
}

function scalarsIn(value: Json, from: string): readonly Seen[] {
  if (isList(value)) return value.flatMap((item, i) => scalarsIn(item, `${from}.${i}`));
  if (isObject(value)) return entriesOf(value).flatMap(([key, item]) => scalarsIn(item, `${from}.${key}`));
  return value === null || typeof value === 'boolean' ? [] : [[from, toText(value)]];
}

function valueLead(to: string, value: string, values: readonly Seen[]): Lead | undefined {
  const found = values.find(([, seen]) => seen === value);
  return found && { how: 'value', to, value, from: found[0] };
}

function idLead(to: string, value: string, { ids }: ExplainNote): Lead | undefined {
  if (ids === undefined || !isNumeral(value)) return undefined;
  const far = (id: string): number => Math.abs(Number(id) - Number(value));
  const which = far(ids.max) <= far(ids.min) ? 'highest' : 'lowest';
  return { how: 'id', to, value, from: ids.path, which };
}

/** Finds the origin of a value inside a text: a query language, the path of the address. */
function partLead(
  to: string,
  value: string,
  before: string | undefined,
  values: readonly Seen[],
): Lead | undefined {
  if (before === undefined) return undefined;
  const found = values.find(([, part]) => isIn(value, part) && !isIn(before, part));
  return found && { how: 'value', to, value: found[1], from: found[0] };
}

/** Returns the parameters that the method increases; the size of a page, which it may add, is none. */
function counts(
  changed: readonly (readonly [string, string])[],
  before: ReadonlyMap<string, string>,
  size: number | undefined,
): readonly Lead[] {
  const all = changed.flatMap(([to, value]) => countLead(to, value, before.get(to)) ?? []);
  return all.length < 2
    ? all
    : all.filter((lead) => lead.before !== undefined || lead.value !== String(size));
}

type Count = Extract<Lead, { how: 'count' }>;

function countLead(to: string, value: string, before: string | undefined): Count | undefined {
  if (before === undefined || isNumeral(before))
    return isNumeral(value) ? { how: 'count', to, value, before } : undefined;
  const [now, then] = [value, before].map((text) => text.match(/\d+/g) ?? []);
  if (now === undefined || then === undefined || now.length !== then.length) return undefined;
  const at = now.findIndex((number, i) => number !== then[i]);
  const number = now[at];
  return number === undefined ? undefined : { how: 'count', to, value: number, before: then[at] };
}

/** Tells whether the part is in the text as a word of its own. */
function isIn(text: string, part: string): boolean {
  const at = text.indexOf(part);
  return at >= 0 && !/\w/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(at + part.length));
}

/**
 * Returns the origin of a parameter that is secret by its name, such as `token`. It can't be compared: a value that is
 * the only one read is its source.
 */
function hiddenLead(next: ExchangeRequest, values: readonly Seen[]): readonly Lead[] {
  const [to] = [...paramsOf(next)]
    .filter(([name, value]) => value === HIDDEN && !name.startsWith('header '))
    .map(([name]) => name);
  const [source, second] = values;
  return to === undefined || source === undefined || second !== undefined
    ? []
    : [{ how: 'value', to, value: HIDDEN, from: source[0] }];
}

function isNumeral(text: string): boolean {
  return /^-?\d+$/.test(text);
}

/** Returns the path, parameters of the query, of a form and of a JSON body (`page.offset`), and headers, as text. */
function paramsOf({ url, headers, body }: ExchangeRequest): ReadonlyMap<string, string> {
  return new Map([
    ['path', url.split(/[?#]/, 1)[0] ?? ''],
    ...queryOf(url),
    ...(body === undefined ? [] : bodyParams(body)),
    ...Object.entries(headers).map(([name, value]) => [`header ${name}`, value] as const),
  ]);
}

function queryOf(url: string): (readonly [string, string])[] {
  const mark = url.indexOf('?');
  return mark < 0 ? [] : [...new URLSearchParams(url.slice(mark + 1).split('#', 1)[0])];
}

function bodyParams(body: string): readonly (readonly [string, string])[] {
  if (!/^\s*[[{]/.test(body)) return [...new URLSearchParams(body)];
  try {
    return flat(parseExact(body), '');
  } catch {
    return [];
  }
}

function flat(value: Json, at: string): readonly (readonly [string, string])[] {
  const items = isList(value)
    ? value.map((item, i) => [String(i), item] as const)
    : isObject(value)
      ? entriesOf(value)
      : undefined;
  if (items === undefined) return [[at, toText(value)]];
  return items.flatMap(([key, item]) => flat(item, at === '' ? key : `${at}.${key}`));
}
