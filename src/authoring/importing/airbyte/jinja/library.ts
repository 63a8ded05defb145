import { createHash } from 'node:crypto';
import { loadRe2 } from '../../../../lib/on-demand.ts';
import { Float, isItems, isMapping, type Constant } from './ast.ts';
import { jsonText, pythonText } from '../../../../lib/python-literal.ts';
import { isEqual, isTruthy, limited, NOT_SAID, refuseLength, type NotSaid } from './values.ts';

type LibraryFunction = (...args: Constant[]) => Constant | NotSaid;

/** Filters that can be worked out at once. The present time and chance are not among them. */
export const FILTERS: Readonly<Record<string, LibraryFunction>> = {
  default: defaultOf,
  d: defaultOf,
  // what is no text is written in quotes, so that it is read as a text again
  string: (value) =>
    typeof value === 'string' ? value : value === undefined ? NOT_SAID : `"""${jsonText(value)}"""`,
  int: (value, fallback) => toInteger(value, fallback),
  float: (value) => toFloat(value),
  lower: (value) => pythonText(value).toLowerCase(),
  upper: (value) => pythonText(value).toUpperCase(),
  trim: (value, chars) => (chars === undefined ? pythonText(value).trim() : NOT_SAID),
  replace: (value, from, to) => replaced(pythonText(value), pythonText(from), pythonText(to)),
  join: (value, by, attribute) =>
    attribute !== undefined ? NOT_SAID : isItems(value) ? joined(value, pythonText(by)) : NOT_SAID,
  length: lengthOf,
  count: lengthOf,
  first: (value) => (isItems(value) || typeof value === 'string' ? value[0] : NOT_SAID),
  last: (value) => (isItems(value) || typeof value === 'string' ? value.at(-1) : NOT_SAID),
  list: (value) => (isItems(value) ? value : isMapping(value) ? Object.keys(value) : NOT_SAID),
  abs: (value) => (typeof value === 'number' ? Math.abs(value) : NOT_SAID),
  base64encode: (value) => Buffer.from(pythonText(value)).toString('base64'),
  base64decode: (value) => Buffer.from(pythonText(value), 'base64').toString(),
  base64binascii_decode: (value) => Buffer.from(pythonText(value)).toString('base64'),
  hash: (value, type = 'md5', salt = '') => hashOf(pythonText(value), pythonText(type), pythonText(salt)),
  urlencode: (value) =>
    typeof value === 'string' ? encodeURIComponent(value).replaceAll('%2F', '/') : NOT_SAID,
  safe: (value) => value,
  capitalize: (value) =>
    typeof value === 'string' ? value.charAt(0).toUpperCase() + value.slice(1).toLowerCase() : NOT_SAID,
  sort: (value, isReverse, isCaseKept, attribute) => {
    if (isCaseKept !== undefined || attribute !== undefined) return NOT_SAID;
    const sorted = isItems(value) ? inOrder(value) : undefined;
    return sorted === undefined ? NOT_SAID : isTruthy(isReverse) ? sorted.toReversed() : sorted;
  },
  unique: (value, ...more) =>
    isItems(value) && more.length === 0
      ? value.filter((item, index) => value.findIndex((other) => isSameText(item, other)) === index)
      : NOT_SAID,
  max: (value, ...more) =>
    isItems(value) && more.length === 0 ? (inOrder(value)?.at(-1) ?? NOT_SAID) : NOT_SAID,
  min: (value, ...more) =>
    isItems(value) && more.length === 0 ? (inOrder(value)?.at(0) ?? NOT_SAID) : NOT_SAID,
  select: (value, test, ...more) => chosen(value, (item) => item, true, test, more),
  reject: (value, test, ...more) => chosen(value, (item) => item, false, test, more),
  selectattr: (value, key, test, ...more) => chosen(value, (item) => partOf(item, key), true, test, more),
  rejectattr: (value, key, test, ...more) => chosen(value, (item) => partOf(item, key), false, test, more),
  regex_search: (value, pattern) =>
    typeof value === 'string' && typeof pattern === 'string' ? firstGroup(value, pattern) : NOT_SAID,
};

/** Returns the filter `map`, whose first argument, or whose argument `attribute`, says what becomes of each item. */
export function mapped(
  value: Constant,
  {
    name,
    attribute,
    more,
  }: { readonly name: Constant; readonly attribute: Constant; readonly more: readonly Constant[] },
): Constant | NotSaid {
  if (!isItems(value)) return NOT_SAID;
  if (attribute !== undefined) return value.map((item) => partOf(item, attribute));
  const filter = typeof name === 'string' && Object.hasOwn(FILTERS, name) ? FILTERS[name] : undefined;
  if (filter === undefined) return NOT_SAID;
  const made = value.map((item) => filter(item, ...more));
  const known = made.filter((item) => item !== NOT_SAID);
  return known.length === made.length ? known : NOT_SAID;
}

function partOf(item: Constant, key: Constant): Constant {
  if (typeof key === 'number' && isItems(item)) return item[key];
  if (typeof key !== 'string') return undefined;
  let part = item;
  for (const name of key.split('.'))
    part = isMapping(part) && Object.hasOwn(part, name) ? part[name] : undefined;
  return part;
}

/** Returns the items that a test keeps, or those that it does not; without a test those that count as true. */
function chosen(
  value: Constant,
  of: (item: Constant) => Constant,
  isKept: boolean,
  test: Constant,
  more: readonly Constant[],
): Constant | NotSaid {
  if (!isItems(value)) return NOT_SAID;
  if (test === undefined) return value.filter((item) => isTruthy(of(item)) === isKept);
  const known = typeof test === 'string' && Object.hasOwn(TESTS, test) ? TESTS[test] : undefined;
  return known === undefined ? NOT_SAID : value.filter((item) => known(of(item), ...more) === isKept);
}

/** Returns texts or numbers in their order, without regard to case; undefined for a mixture. */
function inOrder(items: readonly Constant[]): readonly Constant[] | undefined {
  const texts = items.filter((item) => typeof item === 'string');
  const numbers = items.filter((item) => typeof item === 'number');
  if (texts.length === items.length)
    return texts.toSorted((x, y) => {
      const [a, b] = [x.toLowerCase(), y.toLowerCase()];
      return a < b ? -1 : Number(a > b);
    });
  return numbers.length === items.length ? numbers.toSorted((a, b) => a - b) : undefined;
}

function isSameText(a: Constant, b: Constant): boolean {
  return typeof a === 'string' && typeof b === 'string' ? a.toLowerCase() === b.toLowerCase() : isEqual(a, b);
}

/** Returns the first group of what an expression finds: an empty text where it finds nothing, or has none. */
function firstGroup(text: string, pattern: string): Constant | NotSaid {
  // classes of letters and digits reach further in the other language
  if (/[^ -~]/.test(text)) return NOT_SAID;
  const { RE2JS } = loadRe2();
  try {
    const matcher = RE2JS.compile(pattern).matcher(text);
    return matcher.find() && matcher.groupCount() > 0 ? matcher.group(1) : '';
  } catch {
    // what looks around has no counterpart
    return NOT_SAID;
  }
}

export const TESTS: Readonly<Record<string, (...args: Constant[]) => boolean>> = {
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: (value) => value === null,
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' || typeof value === 'boolean' || value instanceof Float,
  integer: (value) => typeof value === 'number' || typeof value === 'boolean',
  float: (value) => value instanceof Float,
  boolean: (value) => typeof value === 'boolean',
  true: (value) => value === true,
  false: (value) => value === false,
  mapping: (value) => isMapping(value),
  sequence: (value) => isItems(value) || typeof value === 'string' || isMapping(value),
  iterable: (value) => isItems(value) || typeof value === 'string' || isMapping(value),
  equalto: (value, other) => isEqual(value, other),
  eq: (value, other) => isEqual(value, other),
  ne: (value, other) => !isEqual(value, other),
};

export const FUNCTIONS: Readonly<Record<string, LibraryFunction>> = {
  max: (...args) => extreme(args, Math.max),
  min: (...args) => extreme(args, Math.min),
  camel_case_to_snake_case: (value) =>
    pythonText(value)
      .replace(/(?<!^)(?=[A-Z])/g, '_')
      .toLowerCase(),
  sanitize_url: (value) => encodeURIComponent(pythonText(value)).replaceAll('%20', '+'),
};

/** Methods of texts, lists and maps. */
export function callMethod(self: Constant, name: string, args: readonly Constant[]): Constant | NotSaid {
  const [first, second] = args;
  if (isMapping(self)) {
    if (name === 'get')
      return typeof first === 'string' && Object.hasOwn(self, first) ? self[first] : (second ?? null);
    if (name === 'keys') return Object.keys(self);
    if (name === 'values') return Object.values(self);
    if (name === 'items') return Object.entries(self);
    return NOT_SAID;
  }
  if (typeof self !== 'string') return NOT_SAID;
  if (args.length > 2) return NOT_SAID;
  const textMethod = Object.hasOwn(TEXT_METHODS, name) ? TEXT_METHODS[name] : undefined;
  return textMethod === undefined ? NOT_SAID : textMethod(self, first, second);
}

const TEXT_METHODS: Readonly<
  Record<string, (self: string, first: Constant, second: Constant) => Constant | NotSaid>
> = {
  lower: (self) => self.toLowerCase(),
  upper: (self) => self.toUpperCase(),
  strip: (self, chars) => stripped(stripped(self, chars, true), chars, false),
  lstrip: (self, chars) => stripped(self, chars, true),
  rstrip: (self, chars) => stripped(self, chars, false),
  replace: (self, from, to) =>
    typeof from === 'string' && typeof to === 'string' ? replaced(self, from, to) : NOT_SAID,
  split: (self, by, most) =>
    most !== undefined
      ? NOT_SAID
      : by === undefined
        ? self.trim().split(/\s+/)
        : typeof by === 'string' && by !== ''
          ? self.split(by)
          : NOT_SAID,
  startswith: (self, start) => (typeof start === 'string' ? self.startsWith(start) : NOT_SAID),
  endswith: (self, end) => (typeof end === 'string' ? self.endsWith(end) : NOT_SAID),
  capitalize: (self) => self.charAt(0).toUpperCase() + self.slice(1).toLowerCase(),
  join: (self, list) => (isItems(list) ? joined(list, self) : NOT_SAID),
};

/** Replaces every occurrence literally: `$&` has no meaning here. */
function replaced(text: string, from: string, to: string): string {
  refuseLength((text.length / Math.max(1, from.length)) * to.length);
  return text.replaceAll(from, () => to);
}

function joined(items: readonly Constant[], by: string): string {
  return items.reduce((text: string, item, i) => limited(text + (i === 0 ? '' : by) + pythonText(item)), '');
}

function stripped(self: string, chars: Constant, isStart: boolean): string {
  if (typeof chars !== 'string') return isStart ? self.trimStart() : self.trimEnd();
  const has = (char: string | undefined): boolean => char !== undefined && chars.includes(char);
  let [from, to] = [0, self.length];
  if (isStart) while (from < to && has(self[from])) from++;
  else while (to > from && has(self[to - 1])) to--;
  return self.slice(from, to);
}

function defaultOf(value: Constant, fallback: Constant = '', isFalsyToo: Constant = false): Constant {
  return value === undefined || (isTruthy(isFalsyToo) && !isTruthy(value)) ? fallback : value;
}

function lengthOf(value: Constant): Constant | NotSaid {
  if (typeof value === 'string' || isItems(value)) return value.length;
  return isMapping(value) ? Object.keys(value).length : NOT_SAID;
}

function toInteger(value: Constant, fallback: Constant = 0): Constant {
  if (typeof value === 'boolean') return Number(value);
  const number =
    value instanceof Float
      ? value.value
      : typeof value === 'string' && value.trim() !== ''
        ? Number(value)
        : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.trunc(number) : fallback;
}

function toFloat(value: Constant): Constant {
  const number = value instanceof Float ? value.value : Number(value);
  return new Float(Number.isFinite(number) ? number : 0);
}

function hashOf(text: string, type: string, salt: string): Constant | NotSaid {
  if (!['md5', 'sha1', 'sha256', 'sha512'].includes(type)) return NOT_SAID;
  return createHash(type).update(text).update(salt).digest('hex');
}

function extreme(args: readonly Constant[], pick: (...values: number[]) => number): Constant | NotSaid {
  const [only] = args;
  const values: readonly Constant[] = args.length === 1 && isItems(only) ? only : args;
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length === values.length && numbers.length > 0 ? pick(...numbers) : NOT_SAID;
}
