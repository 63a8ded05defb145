/** The type that all values of a column fit. */
export type ColumnType =
  | 'text'
  | 'boolean'
  | 'bigint'
  | 'double'
  | 'decimal(38,9)'
  | 'date'
  | 'timestamp'
  | 'timestamptz'
  | 'json';

/**
 * Kinds of values that a column had, as a set of bits: two sets are joined by “or”, so neither the order of pages nor how
 * often one is read can change the type.
 */
export const VALUE = {
  boolean: 1,
  /** A whole number up to 2^53, which a double holds, too. */
  integer: 2,
  /** A whole number of 64 bits beyond it. */
  large: 4,
  /** A whole number of up to 29 digits beyond 64 bits. */
  huge: 8,
  /** A fraction that a double holds and a decimal, too: up to 15 digits, 9 of them behind the point. */
  fraction: 16,
  /** A fraction that a double holds, and no decimal. */
  float: 32,
  /** A fraction that a decimal holds, and no double. */
  precise: 64,
  date: 128,
  timestamp: 256,
  timestamptz: 512,
  json: 1024,
  /** Anything else. */
  text: 2048,
} as const;

const { integer, large, huge, fraction, float, precise } = VALUE;
const BIGINT = integer | large;
const DOUBLE = integer | fraction | float;
const DECIMAL = BIGINT | huge | fraction | precise;

/** Types and the kinds of values that they hold, the narrowest first. */
const TYPES: readonly (readonly [ColumnType, number])[] = [
  ['boolean', VALUE.boolean],
  ['bigint', BIGINT],
  ['double', DOUBLE],
  ['decimal(38,9)', DECIMAL],
  ['date', VALUE.date],
  ['timestamp', VALUE.date | VALUE.timestamp],
  ['timestamptz', VALUE.timestamptz],
  ['json', VALUE.json],
];

/** The types, for whoever gives one by hand. */
export const COLUMN_TYPES: readonly ColumnType[] = ['text', ...TYPES.map(([type]) => type)];

/** Returns the kinds of values that a type holds. */
export function holds(type: ColumnType): number {
  return TYPES.find(([each]) => each === type)?.[1] ?? -1;
}

/** Returns the type of a column whose values were of these kinds; undefined while it had none but null. */
export function typeOf(kinds: number): ColumnType | undefined {
  if (kinds === 0) return undefined;
  return TYPES.find(([, holds]) => (kinds & ~holds) === 0)?.[0] ?? 'text';
}

/** Returns the names of the kinds, as the state keeps them. */
export function kindNames(kinds: number): readonly string[] {
  return Object.entries(VALUE).flatMap(([name, bit]) => ((kinds & bit) === 0 ? [] : [name]));
}

/** Reads the names of kinds; one that is not known, from a later version, makes the column text. */
export function kindsFrom(names: readonly string[]): number {
  const bits: Readonly<Record<string, number>> = VALUE;
  return names.reduce(
    (kinds, name) => kinds | (Object.hasOwn(bits, name) ? (bits[name] ?? 0) : VALUE.text),
    0,
  );
}
