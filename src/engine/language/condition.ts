import {
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isObject,
  isScalar,
  keysOf,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { meantAndKnown, nearest } from '../../lib/suggest.ts';
import { COMPARISONS, textOf, type Comparison } from './compare.ts';
import { comparisonTest, WITH, type ComparingWord } from './comparison-tests.ts';
import { invalidSetting } from './value-settings.ts';
import { compileSource, isSourceObject } from './source.ts';
import { statusReading } from './status.ts';
import { needsOf, type ValueSource, type SourceNeeds, type SourceOptions } from './types.ts';
import type { View } from './view.ts';

/** Condition on an exchange or a row, compiled once (docs/language/stops.md). */
export interface Condition {
  /** In words, for messages: `meta.page is at least meta.pages`. */
  readonly text: string;
  readonly needs: SourceNeeds;
  holds(view: View): boolean;
  /** Returns the words with the values that were read, as evidence: `meta.page (3) is at least meta.pages (3)`. */
  describe(view: View): string;
  /** Sources that it reads. */
  readonly sources: readonly ValueSource[];
  /** Sources that are compared with a value: the condition never holds where one of them is never present. */
  readonly compared: readonly ValueSource[];
}

/** Tests of the value alone. */
const ALONE = {
  absent: 'is absent',
  present: 'is present',
  empty: 'is empty',
  notEmpty: 'is not empty',
  true: 'is true',
  false: 'is false',
} as const;

export const CONDITION_WORDS: readonly string[] = [...Object.keys(ALONE), ...Object.keys(WITH)];

/** Meaning of a list of conditions: any of them (stops, response rules), or all (rows). */
export type ListMeans = 'any' | 'all';

/**
 * Compiles a condition.
 *
 * ```
 * {"value": "meta.page", "is": "atLeast", "than": {"path": "meta.pages"}}
 * {"value": {"last": "updated_at"}, "is": "below", "than": {"state": "cursor"}}
 * {"status": "4xx"}   {"all": […]}   {"any": […]}   {"not": …}
 * ```
 *
 * @throws the error of the stage for what is no condition
 */
export function compileCondition(
  value: Json,
  options: SourceOptions,
  listMeans: ListMeans = 'any',
): Condition {
  const { at, invalid = invalidSetting } = options;
  if (isList(value)) return several(listMeans, value, options);
  if (!isObject(value))
    throw invalid(
      at,
      `A condition is an object, and here is ${kindOf(value)}.`,
      'Write {"value": "meta.more", "is": "false"}.',
    );
  const keys = keysOf(value);
  const [key] = keys;
  const inner = key === undefined ? undefined : getKey(value, key);
  if (keys.length === 1 && inner !== undefined) {
    if (key === 'all' || key === 'any')
      return several(key, isList(inner) ? inner : [inner], { ...options, at: `${at}.${key}` });
    if (key === 'not') return negated(compileCondition(inner, { ...options, at: `${at}.not` }));
    if (key === 'status') return statusCondition(inner, options);
  }
  return comparison(value, options);
}

function several(means: ListMeans, items: readonly Json[], options: SourceOptions): Condition {
  const { at, invalid = invalidSetting } = options;
  const parts = items.map((item, i) => compileCondition(item, { ...options, at: `${at}[${i}]` }));
  const [only] = parts;
  if (only === undefined)
    throw invalid(at, 'A list of conditions has none in it.', 'Write one, or leave the key out.');
  if (parts.length === 1) return only;
  const word = means === 'all' ? ' and ' : ' or ';
  return {
    text: parts.map(({ text }) => text).join(word),
    needs: needsOf(parts),
    sources: parts.flatMap(({ sources }) => sources),
    compared: parts.flatMap(({ compared }) => compared),
    holds: (view) =>
      means === 'all' ? parts.every((part) => part.holds(view)) : parts.some((part) => part.holds(view)),
    describe: (view) =>
      parts
        .filter((part) => part.holds(view))
        .map((part) => part.describe(view))
        .join(' and ') || parts.map((part) => part.describe(view)).join(word),
  };
}

function negated(part: Condition): Condition {
  return {
    ...part,
    text: `not: ${part.text}`,
    holds: (view) => !part.holds(view),
    describe: (view) => `not: ${part.describe(view)}`,
  };
}

function statusCondition(value: Json, options: SourceOptions): Condition {
  const { text, holds } = statusReading(value, options);
  return {
    text: `the status is ${text}`,
    needs: { headers: [], rows: false, origins: ['page'] },
    sources: [],
    compared: [],
    holds: (view) => holds(statusOf(view)),
    describe: (view) => `the status is ${statusOf(view)}`,
  };
}

function statusOf(view: View): number {
  return Number(view.answer?.('status') ?? 0);
}

function comparison(value: AnyObject, options: SourceOptions): Condition {
  const { at } = options;
  checkKeys(value, options);
  const source = compileSource(getKey(value, 'value') ?? null, { ...options, at: `${at}.value` });
  const word = wordOf(value, options);
  if (word in ALONE) return alone(source, word as keyof typeof ALONE); // `in` has seen it
  const than = getKey(value, 'than');
  const as = comparisonOf(value, options);
  return compared(source, word as ComparingWord, than, as, options); // it is one of the two
}

const KEYS = ['value', 'is', 'than', 'as'];

function checkKeys(value: AnyObject, { at, invalid = invalidSetting }: SourceOptions): void {
  const known = [...KEYS, 'status', 'all', 'any', 'not'];
  const strange = keysOf(value).find((key) => !KEYS.includes(key));
  const hasValue = getKey(value, 'value') !== undefined;
  if (strange === undefined && hasValue) return;
  const near = strange === undefined ? undefined : nearest(strange, known);
  throw invalid(
    strange === undefined ? at : `${at}.${strange}`,
    strange === undefined
      ? 'This condition does not say what is looked at.'
      : `“${strange}” is not known in a condition.`,
    near === undefined
      ? 'A condition has “value” and “is”, maybe “than”; or one of “status”, “all”, “any”, “not”.'
      : `Did you mean “${near}”?`,
  );
}

function wordOf(value: AnyObject, { at, invalid = invalidSetting }: SourceOptions): string {
  const given = getKey(value, 'is');
  const word = typeof given === 'boolean' ? String(given) : (given ?? 'present');
  if (typeof word === 'string' && CONDITION_WORDS.includes(word)) return word;
  throw invalid(
    `${at}.is`,
    `“is” cannot be ${isScalar(word) ? `“${toText(word)}”` : kindOf(word)}.`,
    meantAndKnown(word, CONDITION_WORDS),
  );
}

function comparisonOf(
  value: AnyObject,
  { at, invalid = invalidSetting }: SourceOptions,
): Comparison | undefined {
  const word = getKey(value, 'as');
  if (word === undefined || word === null) return undefined;
  const found = COMPARISONS.find((known) => known === word);
  if (found !== undefined) return found;
  throw invalid(`${at}.as`, 'Values cannot be compared like that.', `Known are ${COMPARISONS.join(', ')}.`);
}

function alone(source: ValueSource, word: keyof typeof ALONE): Condition {
  const text = `${source.text} ${ALONE[word]}`;
  return {
    text,
    needs: source.needs,
    sources: [source],
    compared: [],
    holds: (view) => TESTS[word](source.read(view)),
    describe: () => text,
  };
}

const TESTS: Readonly<Record<keyof typeof ALONE, (value: Json | undefined) => boolean>> = {
  absent: (value) => value === undefined || value === null,
  present: (value) => value !== undefined && value !== null,
  empty: isBlank,
  notEmpty: (value) => !isBlank(value),
  true: isTrue,
  false: (value) => value !== undefined && value !== null && !isTrue(value) && !(value === ''),
};

/** Tells whether a value is absent, null, an empty text, list or object. Zero and false are values. */
function isBlank(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (isList(value)) return value.length === 0;
  return isObject(value) && entriesOf(value).length === 0;
}

/**
 * Tells whether a value counts as true: all values do but 0, false, an empty one, and the texts "0", "false" and "no".
 */
function isTrue(value: Json | undefined): boolean {
  if (typeof value === 'string') return !['', '0', 'false', 'no'].includes(value.trim().toLowerCase());
  return !isEmpty(value);
}

function compared(
  source: ValueSource,
  word: ComparingWord,
  than: Json | undefined,
  as: Comparison | undefined,
  options: SourceOptions,
): Condition {
  const { at, invalid = invalidSetting } = options;
  if (than === undefined)
    throw invalid(
      `${at}.than`,
      `“${word}” needs something to compare with.`,
      'Write it as “than”: a value, or a source as an object.',
    );
  const other = isSourceObject(than) ? compileSource(than, { ...options, at: `${at}.than` }) : undefined;
  const named = other?.text ?? shown(than);
  const test = comparisonTest(word, than, { isRead: other !== undefined, as }, options);
  const read = (view: View): Json | undefined => (other === undefined ? than : other.read(view));
  return {
    text: `${source.text} ${WITH[word]} ${named}`,
    needs: needsOf(other === undefined ? [source] : [source, other]),
    sources: other === undefined ? [source] : [source, other],
    compared: word === 'differs' ? [] : other === undefined ? [source] : [source, other],
    holds(view) {
      const [value, wanted] = [source.read(view), read(view)];
      if (value === undefined || wanted === undefined) return word === 'differs' && value !== wanted;
      return test(value, wanted);
    },
    describe(view) {
      const wanted = other === undefined ? '' : ` ${seen(read(view))}`;
      return `${source.text} ${seen(source.read(view))} ${WITH[word]} ${named}${wanted}`;
    },
  };
}

/** Shows the value that was read, beside its name. */
function seen(value: Json | undefined): string {
  return `(${value === undefined ? 'absent' : shown(value)})`;
}

function shown(value: Json): string {
  const text = typeof value === 'string' ? `“${value}”` : textOf(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
