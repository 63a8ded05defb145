import {
  entriesOf,
  getKey,
  isList,
  isNumber,
  isObject,
  JsonNumber,
  keysOf,
  numberFrom,
  numberOf,
  sizeOf,
  type Json,
} from '../../../lib/json/index.ts';
import { Float, floatText, jsonText, quoted } from '../../../lib/python-literal.ts';

/** A number of Python: whole ones have any size, the others binary digits. */
type Numeral = bigint | Float;

/** Makes what Python makes of values; null where it has an error. */
type Operation = (values: readonly Json[]) => Json;

/** Longest text or list that is repeated, and most digits of a power. */
const MOST = 100_000;

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  '+': ([a = null, b = null]) => {
    if (typeof a === 'string' && typeof b === 'string') return a + b;
    if (isList(a) && isList(b)) return [...a, ...b];
    return reckoned(
      a,
      b,
      (x, y) => x + y,
      (x, y) => x + y,
    );
  },
  '-': ([a = null, b = null]) =>
    reckoned(
      a,
      b,
      (x, y) => x - y,
      (x, y) => x - y,
    ),
  '*': ([a = null, b = null]) =>
    repeated(a, b) ??
    repeated(b, a) ??
    reckoned(
      a,
      b,
      (x, y) => x * y,
      (x, y) => x * y,
    ),
  '/': ([a = null, b = null]) => {
    const [x, y] = [numeralOf(a), numeralOf(b)];
    if (x === undefined || y === undefined || fractionOf(y) === 0) return null;
    return written(new Float(fractionOf(x) / fractionOf(y)));
  },
  '//': ([a = null, b = null]) => reckoned(a, b, (x, y) => (x - modulo(x, y)) / y, quotient, true),
  '%': ([a = null, b = null]) => reckoned(a, b, modulo, remainder, true),
  '**': ([a = null, b = null]) => {
    const [x, y] = [numeralOf(a), numeralOf(b)];
    if (x === undefined || y === undefined) return null;
    if (typeof x === 'bigint' && typeof y === 'bigint' && y >= 0n)
      return BigInt(x.toString().length) * y > MOST ? null : numberFrom((x ** y).toString());
    return fractionOf(x) === 0 && fractionOf(y) < 0
      ? null
      : written(new Float(fractionOf(x) ** fractionOf(y)));
  },
  abs: ([value = null]) => {
    const number = numeralOf(value);
    if (number === undefined) return null;
    if (number instanceof Float) return written(new Float(Math.abs(number.value)));
    return numberFrom((number < 0n ? -number : number).toString());
  },
  or: ([a = null, b = null]) => (isTrue(a) ? a : b),
  slice: ([value = null, from = null, to = null, step = null]) => {
    const [start, end, by = 1] = [from, to, step].map(wholeOf);
    if (typeof value === 'string') return sliced(Array.from(value), start, end, by).join('');
    return isList(value) ? sliced(value, start, end, by) : null;
  },
  first: ([value = null]) => itemsOf(value)?.[0] ?? null,
  last: ([value = null]) => itemsOf(value)?.at(-1) ?? null,
  list: ([value = null]) => itemsOf(value) ?? null,
  join: ([value = null, by = '']) => itemsOf(value)?.map(pythonText).join(pythonText(by)) ?? null,
  '==': ([a = null, b = null]) => isSame(a, b),
  in: ([item = null, of = null]) => {
    if (typeof of === 'string') return typeof item === 'string' ? of.includes(item) : null;
    if (isList(of)) return of.some((each) => isSame(each, item));
    return isObject(of) && typeof item === 'string' && getKey(of, item) !== undefined;
  },
  int: ([value = null, fallback = 0]) => {
    const number = numeralOf(value) ?? (typeof value === 'string' ? readNumber(value) : undefined);
    if (number === undefined) return fallback;
    if (typeof number === 'bigint') return numberFrom(number.toString());
    return Number.isFinite(number.value) ? numberFrom(BigInt(Math.trunc(number.value)).toString()) : fallback;
  },
  float: ([value = null, fallback = new JsonNumber('0.0')]) => {
    const number = numeralOf(value) ?? (typeof value === 'string' ? readNumber(value) : undefined);
    if (number === undefined) return fallback;
    const float = fractionOf(number);
    return Number.isFinite(float) ? written(new Float(float)) : floatText(float);
  },
  json: ([value = null]) => jsonOf(value),
  text: ([value = null]) => pythonText(value),
};

function isTrue(value: Json): boolean {
  if (typeof value === 'string') return value !== '';
  if (isNumber(value)) return numberOf(value) !== 0;
  if (isList(value)) return value.length > 0;
  return isObject(value) ? sizeOf(value) > 0 : value === true;
}

/** Writes a value into a text, as Python does. */
export function pythonText(value: Json): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (isList(value)) return `[${value.map(inText).join(', ')}]`;
  if (isObject(value))
    return `{${entriesOf(value)
      .map(([key, item]) => `${quoted(key)}: ${inText(item)}`)
      .join(', ')}}`;
  return numberText(value);
}

function inText(value: Json): string {
  return typeof value === 'string' ? quoted(value) : pythonText(value);
}

/** Writes a value as the JSON of Python. */
function jsonOf(value: Json): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return jsonText(value);
  if (isList(value)) return `[${value.map(jsonOf).join(', ')}]`;
  if (isObject(value))
    return `{${entriesOf(value)
      .map(([key, item]) => `${jsonText(key)}: ${jsonOf(item)}`)
      .join(', ')}}`;
  return numberText(value);
}

function numberText(value: number | JsonNumber): string {
  const literal = literalOf(value);
  return /[.eE]/.test(literal) ? floatText(Number(literal)) : literal;
}

/** Returns a number as it was written: `1.0` has a fraction. */
function literalOf(value: number | JsonNumber): string {
  return value instanceof JsonNumber ? value.literal : String(value);
}

/** Returns a number, and true and false as 1 and 0; undefined for anything else. */
function numeralOf(value: Json): Numeral | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  if (!isNumber(value)) return undefined;
  const literal = literalOf(value);
  return /[.eE]/.test(literal) ? new Float(Number(literal)) : BigInt(literal);
}

function fractionOf(number: Numeral): number {
  return typeof number === 'bigint' ? Number(number) : number.value;
}

/** @param isDivision the second number must not be zero */
function reckoned(
  a: Json,
  b: Json,
  whole: (a: bigint, b: bigint) => bigint,
  fraction: (a: number, b: number) => number,
  isDivision = false,
): Json {
  const [x, y] = [numeralOf(a), numeralOf(b)];
  if (x === undefined || y === undefined || (isDivision && fractionOf(y) === 0)) return null;
  if (typeof x === 'bigint' && typeof y === 'bigint') return numberFrom(whole(x, y).toString());
  return written(new Float(fraction(fractionOf(x), fractionOf(y))));
}

/** Returns a number with its fraction, also where that is zero. */
function written({ value }: Float): Json {
  return Number.isFinite(value) ? numberFrom(floatText(value)) : null;
}

/** Returns what is left of a division, with the sign of the second number. */
function modulo(a: bigint, b: bigint): bigint {
  return ((a % b) + b) % b;
}

function remainder(a: number, b: number): number {
  const left = a % b;
  return left !== 0 && left < 0 !== b < 0 ? left + b : left;
}

function quotient(a: number, b: number): number {
  const exact = (a - remainder(a, b)) / b;
  const whole = Math.floor(exact);
  return exact - whole > 0.5 ? whole + 1 : whole;
}

/** Returns a text or a list so many times; undefined for anything else. */
function repeated(value: Json, count: Json): Json | undefined {
  const size = typeof value === 'string' || isList(value) ? value.length : undefined;
  const times = numeralOf(count);
  if (size === undefined) return undefined;
  if (typeof times !== 'bigint' || times * BigInt(size) > BigInt(MOST)) return null;
  const length = Math.max(0, Number(times));
  if (typeof value === 'string') return value.repeat(length);
  return isList(value) ? Array.from({ length }, () => value).flat() : undefined;
}

/** Returns the whole number of a bound; undefined for none. */
function wholeOf(value: Json): number | undefined {
  const number = numeralOf(value);
  return typeof number === 'bigint' ? Number(number) : undefined;
}

function sliced<T>(
  items: readonly T[],
  from: number | undefined,
  to: number | undefined,
  step: number,
): readonly T[] {
  if (step === 1) return items.slice(from ?? 0, to);
  const size = items.length;
  const [least, most] = step > 0 ? [0, size] : [-1, size - 1];
  const bound = (at: number | undefined, otherwise: number): number =>
    at === undefined ? otherwise : Math.min(Math.max(at < 0 ? at + size : at, least), most);
  const [start, end] = [bound(from, step > 0 ? 0 : most), bound(to, step > 0 ? most : -1)];
  const part: T[] = [];
  if (step === 0) return part;
  for (let at = start; step > 0 ? at < end : at > end; at += step) {
    const item = items[at];
    if (item !== undefined) part.push(item);
  }
  return part;
}

/** Returns the characters of a text, the items of a list, the keys of an object; undefined for what has none. */
function itemsOf(value: Json): readonly Json[] | undefined {
  if (typeof value === 'string') return Array.from(value);
  if (isList(value)) return value;
  return isObject(value) ? keysOf(value) : undefined;
}

function isSame(one: Json, other: Json): boolean {
  const [a, b] = [numeralOf(one), numeralOf(other)];
  if (a !== undefined && b !== undefined)
    return typeof a === typeof b && typeof a === 'bigint' ? a === b : fractionOf(a) === fractionOf(b);
  if (isList(one) && isList(other))
    return one.length === other.length && one.every((item, index) => isSame(item, other[index] ?? null));
  if (!isObject(one) || !isObject(other)) return one === other;
  const keys = keysOf(one);
  const inOther = (key: string): Json | undefined => getKey(other, key);
  return (
    keys.length === keysOf(other).length &&
    entriesOf(one).every(([key, item]) => {
      const value = inOther(key);
      return value !== undefined && isSame(item, value);
    })
  );
}

/** Reads a text as `int` and `float` do. */
function readNumber(text: string): Numeral | undefined {
  const bare = text.trim();
  if (/^[+-]?\d+(?:_\d+)*$/.test(bare)) return BigInt(bare.replaceAll('_', '').replace(/^\+/, ''));
  const word = /^([+-]?)(?:(inf(?:inity)?)|nan)$/i.exec(bare);
  if (word !== null) return new Float(word[2] === undefined ? NaN : word[1] === '-' ? -Infinity : Infinity);
  if (!/^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/.test(bare))
    return undefined;
  return new Float(Number(bare.replaceAll('_', '')));
}
