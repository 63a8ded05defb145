import type { Json } from '../../../lib/json/index.ts';
import { ApiError } from '../../domain/api-error.ts';
import { formDecoded } from '../../../lib/percent.ts';

/** Most fields of one form. */
export const MAX_FIELDS = 100_000;

/** Most lists and objects, with the values in them, that the names of one form may make. */
const MAX_NODES = 4 * MAX_FIELDS;

/** Most brackets of a name that count; the text after them is the last name. */
const MAX_DEPTH = 32;

/** Largest index of a list; a greater number is taken for a name. */
const MAX_INDEX = 10_000;

/** Values at a name, so far. */
interface Node {
  readonly texts: string[];
  readonly inner: Map<string, Node>;
}

/**
 * Turns names with brackets into lists and objects: `tags[]=a`, `tags[0]=a`, `whereFilters[0][values][]=x`. A name
 * may be any text; `__proto__` is left out. The time depends on the length of the fields only, whatever numbers they
 * have.
 *
 * @throws {ApiError} 413 for more than {@link MAX_FIELDS}: none is left out in silence
 */
export function nest(pairs: Iterable<readonly [string, string]>): Record<string, Json> {
  const top: Node['inner'] = new Map();
  let fields = 0;
  let nodes = 0;
  const at = (inner: Node['inner'], name: string): Node => {
    const known = inner.get(name);
    if (known !== undefined) return known;
    if (++nodes > MAX_NODES) throw tooMany('names in its fields', MAX_NODES);
    const made: Node = { texts: [], inner: new Map() };
    inner.set(name, made);
    return made;
  };
  for (const [name, text] of pairs) {
    if (++fields > MAX_FIELDS) throw tooMany('fields', MAX_FIELDS);
    const [first = '', ...more] = namesIn(name);
    if (first === '' || first === '__proto__' || more.includes('__proto__')) continue;
    let node = at(top, first);
    for (const inner of more) node = at(node.inner, inner);
    node.texts.push(text);
  }
  return objectOf(top);
}

const tooMany = (what: string, most: number): ApiError =>
  new ApiError(413, 'requestTooLarge', `The body of the request has more than ${most} ${what}.`);

/** Splits a name: `a[b][]` is `a`, `b` and an empty name. Brackets that are not closed are ordinary characters. */
function namesIn(name: string): string[] {
  let from = name.indexOf('[');
  if (from === -1) return [name];
  const names = from === 0 ? [] : [name.slice(0, from)];
  while (from !== -1) {
    const end = closing(name, from);
    if (end === undefined || names.length > MAX_DEPTH) return [...names, name.slice(from)];
    names.push(name.slice(from + 1, end));
    from = name.indexOf('[', end);
  }
  return names;
}

function closing(name: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < name.length; at++) {
    if (name[at] === '[') depth += 1;
    else if (name[at] === ']' && --depth === 0) return at;
  }
  return undefined;
}

function valueOf({ texts, inner }: Node): Json {
  if (inner.size === 0) return texts.length === 1 ? (texts[0] ?? '') : texts;
  const value = isList(inner) ? listOf(inner) : objectOf(inner);
  if (texts.length === 0) return value;
  return Array.isArray(value) ? [...texts, ...value] : [...texts, value];
}

const isList = (inner: Node['inner']): boolean =>
  inner
    .keys()
    .every((name) => name === '' || (/^(?:0|[1-9]\d{0,4})$/.test(name) && Number(name) <= MAX_INDEX));

/** Returns the values in the order of their numbers, without gaps. */
function listOf(inner: Node['inner']): Json[] {
  return [...inner]
    .toSorted(([one], [other]) => Number(one) - Number(other))
    .flatMap(([name, node]) => (name === '' && node.inner.size === 0 ? node.texts : [valueOf(node)]));
}

function objectOf(inner: Node['inner']): Record<string, Json> {
  return Object.fromEntries(inner.entries().map(([name, node]) => [name === '' ? '0' : name, valueOf(node)]));
}

/** Parses a query string, or a form; text that isn't percent-encoding stays as it is. */
export function parseQuery(text: string): Record<string, Json> {
  return nest(formPairs(text));
}

/**
 * Yields the fields of a form. A name ends at the first `=`: text with brackets in a value, such as JSON that was not
 * encoded, never becomes a name.
 */
function* formPairs(text: string): Generator<[string, string]> {
  for (let from = 0; from < text.length;) {
    const next = text.indexOf('&', from);
    const end = next === -1 ? text.length : next;
    const part = text.slice(from, end);
    from = end + 1;
    if (part === '') continue;
    const at = part.indexOf('=');
    yield at === -1
      ? [formDecoded(part), '']
      : [formDecoded(part.slice(0, at)), formDecoded(part.slice(at + 1))];
  }
}
