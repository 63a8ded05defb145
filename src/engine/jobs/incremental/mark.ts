import { isNumber, toText, type Json } from '../../../lib/json/index.ts';
import { compareInstants, readInstant, type Instant } from '../../language/index.ts';
import { momentOf } from '../moment.ts';
import { trimEnd } from '../../../lib/trim.ts';

/** How the values of a cursor are compared. */
export const MARK_KINDS = ['time', 'number', 'text'] as const;
export type MarkKind = (typeof MARK_KINDS)[number];

/** A value of a cursor, read once to be compared often. */
export type Mark =
  | { readonly kind: 'time'; readonly value: Json; readonly instant: Instant }
  | { readonly kind: 'number'; readonly value: Json; readonly decimal: DecimalMark }
  | { readonly kind: 'text'; readonly value: Json; readonly text: string };

/** A decimal number of any length, without zeros that say nothing. */
export interface DecimalMark {
  readonly isNegative: boolean;
  readonly whole: string;
  readonly fraction: string;
}

/**
 * Reads a value of a cursor; undefined for one that cannot be compared in this way.
 *
 * @param as by default numbers and numerals are numbers, ISO 8601 and HTTP dates are times, and all else is text
 */
export function markOf(value: Json, as?: MarkKind): Mark | undefined {
  if (!isNumber(value) && typeof value !== 'string') return undefined;
  const text = toText(value);
  if (as === 'text') return { kind: 'text', value, text };
  if (as === 'time') return timeMark(value, momentOf(value));
  const decimal = decimalOf(text);
  if (decimal !== undefined) return { kind: 'number', value, decimal };
  if (as === 'number') return undefined;
  return timeMark(value, readInstant(value)) ?? { kind: 'text', value, text };
}

/** Compares marks: below 0, 0 or above 0; undefined for marks of different kinds. */
export function compareMarks(a: Mark, b: Mark): number | undefined {
  if (a.kind === 'time' && b.kind === 'time') return compareInstants(a.instant, b.instant);
  if (a.kind === 'number' && b.kind === 'number') return compareDecimals(a.decimal, b.decimal);
  if (a.kind === 'text' && b.kind === 'text') return compareTexts(a.text, b.text);
  return undefined;
}

function timeMark(value: Json, instant: Instant | undefined): Mark | undefined {
  return instant === undefined ? undefined : { kind: 'time', value, instant };
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?$/;
const EXPONENT = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)e[+-]?\d+\s*$/i;

function decimalOf(text: string): DecimalMark | undefined {
  if (EXPONENT.test(text)) {
    const plain = String(Number(text));
    return plain.includes('e') || !/\d/.test(plain) ? undefined : decimalOf(plain);
  }
  const found = /\d/.test(text) ? DECIMAL.exec(text.trim()) : null;
  if (found === null) return undefined;
  const [, sign, padded = '', places = ''] = found;
  const whole = padded.replace(/^0+/, '');
  const fraction = trimEnd(places, '0');
  return { isNegative: sign === '-' && whole + fraction !== '', whole, fraction };
}

function compareDecimals(a: DecimalMark, b: DecimalMark): number {
  if (a.isNegative !== b.isNegative) return a.isNegative ? -1 : 1;
  const size = a.whole.length - b.whole.length || order(a.whole, b.whole) || order(a.fraction, b.fraction);
  return a.isNegative ? -size : size;
}

function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/**
 * Compares texts by code points, as UTF-8 and databases order them; only texts with surrogate pairs need more than the
 * built-in order.
 */
function compareTexts(a: string, b: string): number {
  return SURROGATE.test(a) || SURROGATE.test(b)
    ? Buffer.compare(Buffer.from(a), Buffer.from(b))
    : order(a, b);
}

const SURROGATE = /[\ud800-\udfff]/;
