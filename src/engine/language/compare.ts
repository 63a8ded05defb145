import { isNumber, isScalar, JsonNumber, toJsonText, toText, type Json } from '../../lib/json/index.ts';
import { isNumericText } from '../../lib/read-settings.ts';
import { compareInstants, instantOfSeconds, readInstant } from './instant.ts';

/** Types of comparison. Not set: as numbers where both read as numbers, as times where both do, else as text. */
export const COMPARISONS = ['number', 'text', 'time'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/**
 * Compares two values: below 0, 0 or above 0; undefined where the two cannot be compared in this way. Integers are
 * compared exactly, however long they are; texts by their code points.
 */
export function compareValues(a: Json, b: Json, as?: Comparison): number | undefined {
  if (as === 'text') return compareTexts(textOf(a), textOf(b));
  if (as === 'time') return compareTimes(a, b);
  const numbers = compareNumbers(a, b);
  if (numbers !== undefined || as === 'number') return numbers;
  if (typeof a === 'string' && typeof b === 'string') {
    const [x, y] = [readInstant(a), readInstant(b)];
    if (x !== undefined && y !== undefined) return compareInstants(x, y);
  }
  return isScalar(a) && isScalar(b) ? compareTexts(textOf(a), textOf(b)) : undefined;
}

function compareTimes(a: Json, b: Json): number | undefined {
  const [x, y] = [a, b].map((value) => readInstant(value) ?? instantOfSeconds(value));
  return x === undefined || y === undefined ? undefined : compareInstants(x, y);
}

const WHOLE = /^[+-]?\d+$/;

function compareNumbers(a: Json, b: Json): number | undefined {
  const [x, y] = [literalOf(a), literalOf(b)];
  if (x === undefined || y === undefined) return undefined;
  if (WHOLE.test(x) && WHOLE.test(y)) return sign(BigInt(x), BigInt(y));
  return sign(Number(x), Number(y));
}

function sign<T extends bigint | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function literalOf(value: Json): string | undefined {
  if (isNumber(value)) return value instanceof JsonNumber ? value.literal : String(value);
  if (typeof value !== 'string' || !isNumericText(value)) return undefined;
  return value.trim().replace(/^\+/, '');
}

/** Compares by code points, as UTF-8 and databases order them: not by the halves of surrogate pairs. */
function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function textOf(value: Json): string {
  return isScalar(value) || value === null ? toText(value) : toJsonText(value);
}
