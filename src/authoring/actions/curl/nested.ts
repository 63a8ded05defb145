import { isEmpty, isIntegerLike, objectOf, type AnyObject, type Json } from '../../../lib/json/index.ts';

/** A name and a value, decoded. */
export type Pair = readonly [name: string, value: string];

/**
 * Returns the pairs of a query or a form.
 *
 * @returns undefined when a part has no `=` or is no UTF-8: parameters could not give it back
 */
export function pairsOf(query: string): readonly Pair[] | undefined {
  const pairs: Pair[] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    if (equals < 0) return undefined;
    try {
      pairs.push([decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))]);
    } catch {
      return undefined;
    }
  }
  return pairs;
}

/** Tells whether a name is that of an item of a list whose number is left out: `ids[]`. */
export function isItem([name]: Pair): boolean {
  return /\[\](?:\[|$)/.test(name);
}

type Node = string | Map<string, Node>;

/**
 * Parameters that are sent as these pairs again: `a[b]=1&c[]=2` becomes `{ a: { b: "1" }, c: ["2"] }`. Lists are sent
 * with their indexes (`c[0]=2`).
 *
 * @returns undefined when parameters cannot say it: a name that comes twice, a value and properties at one name, a
 *   name that is left out of a query (empty, or `0`)
 */
export function nestedParams(pairs: readonly Pair[]): AnyObject | undefined {
  const root = new Map<string, Node>();
  for (const [name, value] of pairs) {
    const keys = keysIn(name);
    if (isEmpty(keys[0] ?? '') || !put(root, keys, value)) return undefined;
  }
  return objectOf([...root].map(([key, node]) => [key, jsonOf(node)]));
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** Splits the name of a parameter: `a[b][]` has the keys a, b and none; unpaired brackets are part of the name. */
function keysIn(name: string): string[] {
  const [, first, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  return first === undefined ? [name] : [first, ...rest.slice(1, -1).split('][')];
}

function put(map: Map<string, Node>, [key = '', ...rest]: readonly string[], value: string): boolean {
  if (rest.length === 0) {
    if (map.has(key)) return false;
    map.set(key, value);
    return true;
  }
  const inner = map.get(key) ?? new Map<string, Node>();
  if (typeof inner === 'string') return false;
  map.set(key, inner);
  const [next = '', ...deeper] = rest;
  return put(inner, [next === '' ? String(inner.size) : next, ...deeper], value);
}

function jsonOf(node: Node): Json {
  if (typeof node === 'string') return node;
  const entries = [...node].map(([key, inner]) => [key, jsonOf(inner)] as const);
  const isList = entries.every(([key], index) => isIntegerLike(key) && Number(key) === index);
  return isList ? entries.map(([, value]) => value) : objectOf(entries);
}
