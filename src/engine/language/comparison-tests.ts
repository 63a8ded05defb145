import { equalJson, getKey, isList, isNumber, isObject, isScalar, type Json } from '../../lib/json/index.ts';
import { compareValues, textOf, type Comparison } from './compare.ts';
import { compilePattern } from './pattern.ts';
import { invalidSetting } from './value-settings.ts';
import type { SourceOptions } from './types.ts';

/** Tests of a value against another one, with their words. */
export const WITH = {
  equals: 'is',
  differs: 'is not',
  above: 'is above',
  atLeast: 'is at least',
  below: 'is below',
  atMost: 'is at most',
  contains: 'contains',
  startsWith: 'begins with',
  endsWith: 'ends with',
  in: 'is one of',
  matches: 'matches',
} as const;
export type ComparingWord = keyof typeof WITH;

export type Test = (value: Json, than: Json) => boolean;

export interface Comparing {
  /** True when the other value is a source, and not known beforehand. */
  readonly isRead: boolean;
  readonly as: Comparison | undefined;
}

/**
 * Returns the test of one word.
 *
 * @throws the error of the stage for a list or a regular expression that is none
 */
export function comparisonTest(
  word: ComparingWord,
  than: Json,
  { isRead, as }: Comparing,
  { at, invalid = invalidSetting }: SourceOptions,
): Test {
  if (word === 'matches') {
    if (isRead || typeof than !== 'string')
      throw invalid(`${at}.than`, '“matches” needs a regular expression as it stands.');
    const pattern = compilePattern(than, `${at}.than`, invalid);
    return (value) => pattern.test(textOf(value));
  }
  if (word === 'in' && !isRead && !isList(than))
    throw invalid(`${at}.than`, '“in” needs a list.', 'Write the values in brackets.');
  return TESTS[word](as);
}

const TESTS: Readonly<Record<Exclude<ComparingWord, 'matches'>, (as: Comparison | undefined) => Test>> = {
  equals: sameness,
  differs: (as) => {
    const same = sameness(as);
    return (value, than) => !same(value, than);
  },
  above: (as) => order(as, (found) => found > 0),
  atLeast: (as) => order(as, (found) => found >= 0),
  below: (as) => order(as, (found) => found < 0),
  atMost: (as) => order(as, (found) => found <= 0),
  contains: (as) => {
    const same = sameness(as);
    return (value, than) => {
      if (isList(value)) return value.some((item) => same(item, than));
      // an object contains its keys
      if (isObject(value)) return getKey(value, textOf(than)) !== undefined;
      return textOf(value).includes(textOf(than));
    };
  },
  startsWith: () => (value, than) => textOf(value).startsWith(textOf(than)),
  endsWith: () => (value, than) => textOf(value).endsWith(textOf(than)),
  in: (as) => {
    const same = sameness(as);
    return (value, than) => isList(than) && than.some((item) => same(value, item));
  },
};

function order(as: Comparison | undefined, holds: (order: number) => boolean): Test {
  return (value, than) => {
    const found = compareValues(value, than, as);
    return found !== undefined && holds(found);
  };
}

function sameness(as: Comparison | undefined): Test {
  return (value, than) =>
    isScalar(value) && isScalar(than) ? isSame(value, than, as) : equalJson(value, than);
}

/**
 * Tells whether two values are the same. 1 and "1" are, and so are true and "true": answers and settings use either.
 */
function isSame(a: Json, b: Json, as: Comparison | undefined): boolean {
  if (typeof a === 'boolean' || typeof b === 'boolean' || as === 'text') return textOf(a) === textOf(b);
  if (as === undefined && !isNumber(a) && !isNumber(b)) return a === b;
  return compareValues(a, b, as) === 0;
}
