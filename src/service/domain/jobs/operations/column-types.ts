import type { NativeType, WantedTypes } from '../../../stores/tables/column-types.ts';
import type { TableColumnRow } from '../../../stores/metadata/tables.ts';

/** Types by the general words of a definition. */
const BASE_TYPES: Readonly<Record<string, NativeType | 'time'>> = {
  INTEGER: 'bigint',
  NUMERIC: 'decimal',
  FLOAT: 'double',
  BOOLEAN: 'boolean',
  DATE: 'date',
  TIMESTAMP: 'time',
};

/** Types by the words of databases, besides the general ones; every other one, such as `VARCHAR` or `JSON`, is a text. */
const EXACT_TYPES: Readonly<Record<string, NativeType | 'time'>> = {
  ...BASE_TYPES,
  INT: 'bigint',
  INT64: 'bigint',
  BIGINT: 'bigint',
  SMALLINT: 'bigint',
  TINYINT: 'bigint',
  DECIMAL: 'decimal',
  NUMBER: 'decimal',
  DOUBLE: 'double',
  'DOUBLE PRECISION': 'double',
  FLOAT4: 'double',
  FLOAT8: 'double',
  FLOAT64: 'double',
  REAL: 'double',
  BOOL: 'boolean',
  DATETIME: 'timestamp',
  TIMESTAMP_NTZ: 'timestamp',
  TIMESTAMPTZ: 'timestamptz',
  TIMESTAMP_TZ: 'timestamptz',
  TIMESTAMP_LTZ: 'timestamptz',
};

/** Digits of a decimal as it is stored: behind the point, and in front of it. */
const [SCALE, WHOLE] = [9, 29];

/** Returns the types that a table is to store its columns with, by their definitions; undefined for a table without types. */
export function storedTypes({
  is_typed: isTyped,
  columns,
}: {
  readonly is_typed: number;
  readonly columns: readonly Pick<TableColumnRow, 'basetype' | 'definition' | 'name'>[];
}): WantedTypes | undefined {
  if (isTyped !== 1) return undefined;
  return new Map(
    columns.flatMap((column) => {
      const type = storedType(column);
      return type === undefined ? [] : [[column.name, type] as const];
    }),
  );
}

/** Returns the type that a column is to be stored with; undefined for a text. */
export function storedType({
  definition,
  basetype,
}: Pick<TableColumnRow, 'basetype' | 'definition'>): NativeType | 'time' | undefined {
  // A client may have sent anything as a definition.
  const given: unknown = definition === null ? null : JSON.parse(definition);
  const { type, length } = isRecord(given) ? given : {};
  if (typeof type !== 'string') return typeIn(BASE_TYPES, basetype ?? '');
  const found = typeIn(EXACT_TYPES, type);
  return found === 'decimal' && !isStorable(length) ? undefined : found;
}

function typeIn(
  types: Readonly<Record<string, NativeType | 'time'>>,
  word: string,
): NativeType | 'time' | undefined {
  const name = word.trim().toUpperCase();
  return Object.hasOwn(types, name) ? types[name] : undefined;
}

/** Tells whether decimals of a length, such as `38,9`, have no more digits than are stored. */
function isStorable(length: unknown): boolean {
  const text = typeof length === 'number' || typeof length === 'string' ? String(length) : '';
  const [, precision, scale = '0'] = /^\s*(\d{1,3})\s*(?:,\s*(\d{1,3})\s*)?$/.exec(text) ?? [];
  if (precision === undefined) return text === '';
  // One without a scale may have no fraction, and 38 digits: those that are too many are refused when they come.
  return Number(scale) <= SCALE && (scale === '0' || Number(precision) - Number(scale) <= WHOLE);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
