/**
 * The value model of JSON documents (configuration and API responses).
 *
 * Plain JavaScript values, with two exceptions that keep a document exact:
 * - a number whose literal a double would not give back is a {@link JsonNumber};
 * - an object with a key that JavaScript would reorder (`"10"`) is a {@link JsonMap}.
 *
 * A plain `number` that is integral is an integer of the document; any other plain number is a fraction.
 * Objects are read through the helpers below: a plain object may own a key named `__proto__` or `toString`.
 */
export type Json = null | boolean | number | string | JsonNumber | readonly Json[] | JsonObject | JsonMap;
export interface JsonObject {
  readonly [key: string]: Json;
}
export type AnyObject = JsonObject | JsonMap;

/** Number literal kept as written: integers beyond 2^53, `1.0`, `1e3`, `-0`, 15 and more digits. */
export class JsonNumber {
  readonly literal: string;
  /** True for a literal without fraction and exponent that fits a signed 64-bit integer. */
  readonly isInteger: boolean;

  constructor(literal: string) {
    this.literal = literal;
    this.isInteger = /^-?\d+$/.test(literal) && fitsInt64(literal);
  }

  /** The nearest double. */
  get value(): number {
    return Number(this.literal);
  }

  /** Returns the literal itself, so that `JSON.stringify` loses nothing. */
  toJSON(): unknown {
    return rawJson.rawJSON(this.literal);
  }
}

/** Object whose source key order must be kept where a plain object would not keep it. */
export class JsonMap extends Map<string, Json> {}

// JSON.rawJSON is in every Node this package admits, and not yet in the compiler's library.
const rawJson = JSON as unknown as { rawJSON(text: string): unknown };

function fitsInt64(literal: string): boolean {
  if (literal.length < 19) return true;
  // the longest has 19 digits and a sign; converting a much longer one takes long
  if (literal.length > 20) return false;
  const value = BigInt(literal);
  return value >= -(2n ** 63n) && value < 2n ** 63n;
}

export function isNumber(value: Json | undefined): value is number | JsonNumber {
  return typeof value === 'number' || value instanceof JsonNumber;
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Tells whether a value is an object, of either form; a list is not one. */
export function isObject(value: Json | undefined): value is AnyObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

/** Tells whether a value is a string, number or boolean. */
export function isScalar(value: Json | undefined): value is string | number | boolean | JsonNumber {
  return value !== null && value !== undefined && (typeof value !== 'object' || value instanceof JsonNumber);
}

/** Tells whether a value is an integer of the document. */
export function isInteger(value: Json | undefined): value is number | JsonNumber {
  return typeof value === 'number' ? Number.isInteger(value) : value instanceof JsonNumber && value.isInteger;
}

export function numberOf(value: number | JsonNumber): number {
  return typeof value === 'number' ? value : value.value;
}

/** Returns the property, or undefined when the object has none of that name. */
export function getKey(object: AnyObject, key: string): Json | undefined {
  if (object instanceof JsonMap) return object.get(key);
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Returns the property when it is a text. */
export function textAt(object: AnyObject, key: string): string | undefined {
  const value = getKey(object, key);
  return typeof value === 'string' ? value : undefined;
}

export function keysOf(object: AnyObject): string[] {
  return object instanceof JsonMap ? [...object.keys()] : Object.keys(object);
}

export function entriesOf(object: AnyObject): [string, Json][] {
  return object instanceof JsonMap ? [...object] : Object.entries(object);
}

/** Returns the items of a list by their index, or the entries of an object; undefined for anything else. */
export function childrenOf(value: Json | undefined): [string, Json][] | undefined {
  if (isList(value)) return value.map((item, index) => [String(index), item]);
  return isObject(value) ? entriesOf(value) : undefined;
}

export function sizeOf(object: AnyObject): number {
  return object instanceof JsonMap ? object.size : Object.keys(object).length;
}

const INTEGER_LIKE = /^(?:0|[1-9]\d{0,9})$/;

/** Tells whether a plain object would move the key to the front. */
export function isIntegerLike(key: string): boolean {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && key.length < 11 && INTEGER_LIKE.test(key);
}

/** Builds an object in the given order; a key that comes twice keeps its first place and gets the last value. */
export function objectOf(entries: Iterable<readonly [string, Json]>): AnyObject {
  const list = [...entries];
  if (list.some(([key]) => isIntegerLike(key))) return new JsonMap(list);
  const object: Record<string, Json> = {};
  for (const [key, value] of list) {
    if (key === '__proto__') {
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    } else object[key] = value;
  }
  return object;
}

/** Returns a copy with one key set: in place when it exists, else at the end. */
export function withKey(object: AnyObject, key: string, value: Json): AnyObject {
  return objectOf([...entriesOf(object), [key, value]]);
}

/** Returns a copy without one key. */
export function withoutKey(object: AnyObject, key: string): AnyObject {
  return objectOf(entriesOf(object).filter(([name]) => name !== key));
}
