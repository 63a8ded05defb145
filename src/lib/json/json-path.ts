import { createRequire } from 'node:module';
import type { JSONPath as JsonPathEvaluator } from 'jsonpath-plus';
import { ConfigError } from '../errors.ts';
import { entriesOf, getKey, isList, isObject, JsonNumber, type Json } from './value.ts';

/** Compiled JSONPath (RFC 9535). */
export interface JsonPath {
  /** Keys and indexes to one place; an index below 0 counts from the end of a list. */
  readonly head: readonly (string | number)[];
  /** Collects the values behind that place; absent where the path ends there. */
  readonly gather?: (value: Json) => readonly Json[];
}

/** Tells whether a path is JSONPath: `$` followed by `.` or `[`. */
export function isJsonPath(path: string): boolean {
  return path.startsWith('$.') || path.startsWith('$[');
}

/**
 * Compiles a JSONPath of names, indexes, wildcards, slices and `..`. A segment that can hold one value only, `[-1]` and
 * `[-1:]` too, is one place; behind the first that can hold several, all values are collected.
 *
 * @throws {ConfigError} when the text is not JSONPath, or has a script or a filter
 */
export function parseJsonPath(path: string, at?: string): JsonPath {
  const segments = segmentsOf(path, at);
  const many = segments.findIndex((segment) => placeOf(segment) === undefined);
  const singles = many < 0 ? segments : segments.slice(0, many);
  const head = singles.map(placeOf).filter((place) => place !== undefined);
  if (many < 0) return { head };
  const tail = `$${segments
    .slice(many)
    .map((segment) => textOf(segment, path, at))
    .join('')}`;
  return { head, gather: (value) => gather(tail, value) };
}

/** Part of the path: `.name`, `[0, -1]`, `..id`. */
export interface PathSegment {
  /** True when the selectors match at any depth below. */
  readonly isDeep: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly text: string }
  | { readonly kind: 'all' };

const DOT = /(?<deep>\.?)\.(?:(?<all>\*)|(?<name>[^\s.[\]*'"()?,~^]+))/y;
const OPEN = /(?<deep>\.\.)?\[/y;

/** @throws {ConfigError} */
export function segmentsOf(path: string, at?: string): readonly PathSegment[] {
  const segments: PathSegment[] = [];
  for (let from = 1; from < path.length;) {
    const dot = matchAt(DOT, path, from);
    if (dot !== null) {
      const { all, name = '', deep } = dot.groups ?? {};
      const selector: Selector = all === undefined ? { kind: 'name', name } : { kind: 'all' };
      segments.push({ isDeep: deep !== '', selectors: [selector] });
      from += dot[0].length;
      continue;
    }
    const open = matchAt(OPEN, path, from);
    if (open === null) throw notJsonPath(path, path.slice(from), at);
    from += open[0].length;
    const selectors: Selector[] = [];
    // here and not above, as its tables of letters would be made at each start
    const selector =
      /\s*(?:(?<all>\*)|(?<slice>-?\d*:-?\d*(?::-?\d*)?)|(?<index>-?\d+)|'(?<single>(?:[^'\\]|\\.)*)'|"(?<double>(?:[^"\\]|\\.)*)"|(?<name>[\p{L}_][\p{L}\d_-]*))\s*(?<end>[,\]])/uy;
    for (let end: string | undefined; end !== ']';) {
      const found = matchAt(selector, path, from);
      if (found?.groups === undefined) throw notJsonPath(path, path.slice(from), at);
      selectors.push(selectorOf(found.groups));
      end = found.groups['end'];
      from += found[0].length;
    }
    segments.push({ isDeep: open.groups?.['deep'] !== undefined, selectors });
  }
  return segments;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function selectorOf({
  all,
  slice,
  index,
  single,
  double,
  name,
}: Record<string, string | undefined>): Selector {
  if (all !== undefined) return { kind: 'all' };
  if (slice !== undefined) return { kind: 'slice', text: slice };
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  return {
    kind: 'name',
    name: name ?? (single ?? double ?? '').replace(/\\u([\da-fA-F]{4})|\\(.)/gu, unescape),
  };
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescape(_escape: string, code: string | undefined, char: string): string {
  return code === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(parseInt(code, 16));
}

/** Returns the one place that a segment can lead to; undefined when it can lead to several. */
function placeOf({ isDeep, selectors: [selector, second] }: PathSegment): string | number | undefined {
  if (isDeep || selector === undefined || second !== undefined) return undefined;
  if (selector.kind === 'name') return selector.name;
  if (selector.kind === 'all') return undefined;
  const index = selector.kind === 'index' ? selector.index : onlyIndex(selector.text);
  return index === undefined || index < 0 ? index : String(index);
}

/** Returns the index of a slice that can hold one item: `-1:`, `2:3`, `:1`. */
function onlyIndex(slice: string): number | undefined {
  const [start = '', end = '', by = ''] = slice.split(':');
  const from = Number(start === '' ? 0 : start);
  if (by !== '' && by !== '1') return undefined;
  if (from === -1 && end === '') return from;
  const isOne = end !== '' && Number(end) === from + 1 && Number(end) !== 0;
  return isOne ? from : undefined;
}

// ---- several values: by the evaluator

/**
 * Returns a segment in the syntax of the evaluator: names are quoted so that they have no special meaning, indexes from
 * the end are slices.
 */
function textOf({ isDeep, selectors }: PathSegment, path: string, at: string | undefined): string {
  const isUnion = selectors.length > 1;
  const texts = selectors.map((selector) => {
    if (selector.kind === 'all') return '*';
    if (selector.kind === 'slice') return selector.text;
    if (selector.kind === 'index')
      return selector.index < 0 ? sliceOf(selector.index) : String(selector.index);
    // The evaluator gives these characters a meaning of its own in a name.
    if (/['"\]\\;,#]/.test(selector.name)) throw notJsonPath(path, selector.name, at);
    return isUnion ? `'${selector.name}'` : `'\`${selector.name}'`;
  });
  return `${isDeep ? '..' : ''}[${texts.join(',')}]`;
}

function sliceOf(index: number): string {
  return index === -1 ? '-1:' : `${index}:${index + 1}`;
}

function gather(tail: string, value: Json): readonly Json[] {
  // The evaluator knows objects and lists only.
  if (!isObject(value) && !isList(value)) return [];
  evaluator ??= (createRequire(import.meta.url)('jsonpath-plus') as { JSONPath: typeof JsonPathEvaluator })
    .JSONPath;
  const json = plainOf(value) as object; // it is an object or a list, as the value is
  const pointers: unknown = evaluator({ path: tail, json, resultType: 'pointer', eval: false, wrap: true });
  return Array.isArray(pointers) ? pointers.map((pointer) => valueAt(String(pointer), value) ?? null) : [];
}

// Evaluator, loaded at the first path that needs it.
let evaluator: typeof JsonPathEvaluator | undefined;

/** Copies a value without our own classes, to find places in it; the values are then taken from the original. */
function plainOf(value: Json): unknown {
  if (value instanceof JsonNumber) return value.value;
  if (isList(value)) return value.map(plainOf);
  if (isObject(value)) return Object.fromEntries(entriesOf(value).map(([key, item]) => [key, plainOf(item)]));
  return value;
}

/** Returns the value at a JSON Pointer (RFC 6901). */
function valueAt(pointer: string, value: Json): Json | undefined {
  let here: Json | undefined = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    here = isList(here) ? here[Number(key)] : isObject(here) ? getKey(here, key) : undefined;
  }
  return here;
}

function notJsonPath(path: string, rest: string, at: string | undefined): ConfigError {
  return new ConfigError(
    'config.invalid',
    `The path “${path}” is not JSONPath that can be used here: “${rest}”`,
    {
      ...(at === undefined ? {} : { where: { path: at } }),
      hint: 'Use names, indexes, wildcards, slices and “..”; filters and scripts are not evaluated.',
    },
  );
}
