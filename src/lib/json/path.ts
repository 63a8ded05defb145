import { isJsonPath, parseJsonPath } from './json-path.ts';
import { getKey, isList, isObject, type Json } from './value.ts';

/**
 * Path to a value in a document, compiled once. Every setting that takes a path uses this type, so that `items.0.id`
 * and `$.items[0].id` can be written wherever either can.
 */
export interface Path {
  /** As written, for messages. */
  readonly text: string;
  /** Keys of the path, where they are known without a document; undefined for `$.items[-1]` and `$.items[*]`. */
  readonly keys: readonly string[] | undefined;
  /** Returns the value at the path: undefined where there is none, a list where the path leads to several places. */
  readonly find: (value: Json) => Json | undefined;
  /** Returns the keys to the value that `find` gives in this document; undefined where there is none, or several. */
  readonly placeIn: (value: Json) => readonly string[] | undefined;
  /** Tells whether a document without its part at `place` is not enough to find the value. */
  readonly needs: (place: readonly string[]) => boolean;
}

export interface PathOptions {
  /** Separator of the keys; `.` by default. */
  readonly delimiter?: string;
  /** True when a key equal to the whole text takes precedence over the path through several keys. */
  readonly isKeyFirst?: boolean;
  /** JSON path of the setting, for messages. */
  readonly at?: string | undefined;
}

/**
 * Compiles a path as it is written in a configuration: keys joined by a delimiter, where digits are an index in a list,
 * or JSONPath. No path, or the delimiter alone, is the whole value. A key that has the delimiter in its name is found
 * as it stands where the keys lead to nothing: `@odata.nextLink`.
 *
 * @throws {ConfigError} for a text that begins as JSONPath and is none that can be used here
 */
export function compilePath(text: string | null, options: PathOptions = {}): Path {
  const { delimiter = '.', isKeyFirst = false, at } = options;
  if (text === null || text === delimiter) return keysPath([], text ?? delimiter);
  if (isJsonPath(text)) return compileJsonPath(text, at);
  const keys = delimiter === '' ? [text] : text.split(delimiter);
  return keys.length === 1 ? keysPath(keys, text) : joinedPath(text, keys, delimiter, isKeyFirst);
}

/** Returns the path through exactly these keys. */
function keysPath(keys: readonly string[], text: string = keys.join('.')): Path {
  return {
    text,
    keys,
    find: (value) => follow(keys, value),
    placeIn: (value) => (follow(keys, value) === undefined ? undefined : keys),
    needs: (place) => sharesWay(keys, place),
  };
}

/**
 * Returns the path of joined keys: where they lead to nothing, some of them may be one key that has the delimiter in
 * its name.
 */
function joinedPath(text: string, keys: readonly string[], delimiter: string, isKeyFirst: boolean): Path {
  const walk = (value: Json, trail?: string[]): Json | undefined => {
    const whole = isKeyFirst && isObject(value) ? getKey(value, text) : undefined;
    if (whole === undefined) return walkJoined(value, names, 0, trail);
    trail?.push(text);
    return whole;
  };
  const names = keys.map((_, from) =>
    keys.slice(from).map((__, i) => keys.slice(from, from + i + 1).join(delimiter)),
  );
  return {
    text,
    keys,
    find: (value) => walk(value),
    placeIn(value) {
      const trail: string[] = [];
      return walk(value, trail) === undefined ? undefined : trail;
    },
    needs(place) {
      const other = place.join(delimiter);
      return startsWithKey(text, other, delimiter) || startsWithKey(other, text, delimiter);
    },
  };
}

/**
 * Follows joined keys, trying the names that contain the delimiter.
 *
 * @param names at each key, the names that begin with it: `a.b.c` has `[[a, a.b, a.b.c], [b, b.c], [c]]`
 * @param trail gets the keys that lead to the value found
 */
function walkJoined(
  value: Json,
  names: readonly (readonly string[])[],
  from: number,
  trail: string[] | undefined,
): Json | undefined {
  const here = names[from];
  if (here === undefined) return value;
  const reached = trail?.length ?? 0;
  for (const [i, name] of here.entries()) {
    const inner = step(name, value);
    if (inner === undefined) continue;
    trail?.push(name);
    const found = walkJoined(inner, names, from + i + 1, trail);
    if (found !== undefined) return found;
    if (trail !== undefined) trail.length = reached;
  }
  return undefined;
}

function compileJsonPath(text: string, at: string | undefined): Path {
  const { head, gather } = parseJsonPath(text, at);
  const known = head.filter((key) => typeof key === 'string');
  const isKnown = known.length === head.length;
  if (gather === undefined && isKnown) return keysPath(known, text);
  return {
    text,
    keys: undefined,
    find(value) {
      const start = follow(head, value);
      return gather === undefined ? start : start === undefined ? [] : gather(start);
    },
    placeIn: (value) => (gather === undefined ? resolve(head, value) : undefined),
    needs: (place) => sharesWay(head, place),
  };
}

/** Returns the value behind some keys; no keys give the whole value. */
export function digKeys(keys: readonly string[], value: Json): Json | undefined {
  return follow(keys, value);
}

/** Returns the value behind some keys, where a number below 0 counts from the end of a list. */
function follow(keys: readonly (string | number)[], value: Json): Json | undefined {
  let at: Json | undefined = value;
  for (const key of keys) {
    at = step(key, at);
    if (at === undefined) return undefined;
  }
  return at;
}

function resolve(keys: readonly (string | number)[], value: Json): readonly string[] | undefined {
  const trail: string[] = [];
  let at: Json | undefined = value;
  for (const key of keys) {
    trail.push(typeof key === 'number' && isList(at) ? String(at.length + key) : String(key));
    at = step(key, at);
    if (at === undefined) return undefined;
  }
  return trail;
}

/**
 * Returns the value of one key. A missing value is undefined, as is a list item that is null; a property with null is
 * null.
 */
function step(key: string | number, value: Json): Json | undefined {
  if (isList(value)) {
    if (typeof key === 'number') return value.at(key) ?? undefined;
    return /^(?:0|[1-9]\d*)$/.test(key) ? (value[Number(key)] ?? undefined) : undefined;
  }
  return isObject(value) ? getKey(value, String(key)) : undefined;
}

/** Tells whether one of the two leads through, or into, the place of the other. */
function sharesWay(keys: readonly (string | number)[], place: readonly string[]): boolean {
  const shared = Math.min(keys.length, place.length);
  for (let i = 0; i < shared; i++) {
    const key = keys[i];
    if (typeof key === 'number') return true;
    if (key !== place[i]) return false;
  }
  return true;
}

function startsWithKey(text: string, start: string, delimiter: string): boolean {
  return start === '' || text === start || text.startsWith(start + delimiter);
}
