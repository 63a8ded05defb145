import { TableError } from './table-error.ts';

/** Types that a column is stored with; one without is a text. */
export type NativeType = 'bigint' | 'boolean' | 'date' | 'decimal' | 'double' | 'timestamp' | 'timestamptz';

/** Types by the names of columns. */
export type ColumnTypes = ReadonlyMap<string, NativeType>;

/** Types that columns are to have; a time is one with an offset as long as all of its texts have one. */
export type WantedTypes = ReadonlyMap<string, NativeType | 'time'>;

/**
 * How the cells of a table are stored. A cell of a type is the value, which databases compute with; and where the text
 * that it came as is not the one which its value is written as, that text is stored beside, in a column of its own. So
 * every text comes out as it went in, and a table whose texts are all the usual ones has no other column.
 */
export interface ColumnForms {
  readonly types: ColumnTypes;
  /** Columns that have one beside with texts. */
  readonly texts: ReadonlySet<string>;
}

/** The forms of a table of texts. */
export const TEXTS: ColumnForms = { types: new Map(), texts: new Set() };

/** Marks the name of the column with the texts of another one; no name that a user gives has such a sign. */
export const TEXT_SUFFIX = '~text';

const YEAR = '(000[1-9]|00[1-9][0-9]|0[1-9][0-9][0-9]|[1-9][0-9][0-9][0-9])';
const DAY = `${YEAR}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])`;
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?';
const NUMBER = '[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?';

/**
 * Texts that may be values of a type, as regular expressions for a whole text, in words that all databases know; a day or
 * a number that is not there is found when it is read.
 */
export const PATTERNS = {
  bigint: '[+-]?[0-9]{1,40}',
  number: NUMBER,
  date: DAY,
  /** Without an offset; a day alone is its first moment. */
  timestamp: `${DAY}([T ]${TIME})?`,
  /** With an offset. */
  moment: `${DAY}[T ]${TIME}(Z|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)`,
} as const;

/** Returns those of the types whose columns a table has. */
export function typesOf<T>(
  columns: readonly string[],
  types: ReadonlyMap<string, T>,
): ReadonlyMap<string, T> {
  return new Map(
    columns.flatMap((column) => {
      const type = types.get(column);
      return type === undefined ? [] : [[column, type] as const];
    }),
  );
}

/**
 * Returns types in place of those that depend on the texts of a file.
 *
 * @param stored types of the rows that stay
 * @param examine looks at the texts of the file
 */
export async function resolveTimes(
  wanted: WantedTypes,
  stored: ColumnTypes,
  examine: (types: ColumnTypes) => Promise<Examined>,
): Promise<ColumnTypes> {
  const times = [...wanted].filter(([, type]) => type === 'time').map(([column]) => column);
  const { misfits } =
    times.length === 0 ? NOTHING : await examine(new Map(times.map((column) => [column, 'timestamptz'])));
  return new Map(
    [...wanted].map(([column, type]) => {
      if (type !== 'time') return [column, type];
      const isPlain = misfits.includes(column) || stored.get(column) === 'timestamp';
      return [column, isPlain ? 'timestamp' : 'timestamptz'];
    }),
  );
}

/** Returns the types of a table without rows. */
export function typesOfEmpty(wanted: WantedTypes): ColumnTypes {
  return new Map([...wanted].map(([column, type]) => [column, nativeOf(type)]));
}

function nativeOf(type: NativeType | 'time'): NativeType {
  return type === 'time' ? 'timestamptz' : type;
}

/** Returns the forms of the columns of a table, without those that it does not have. */
export function formsOf(columns: readonly string[], { types, texts }: ColumnForms): ColumnForms {
  return {
    types: typesOf(columns, types),
    texts: new Set(columns.filter((column) => texts.has(column))),
  };
}

/** Returns forms with one more column. */
export function withType(
  { types, texts }: ColumnForms,
  column: string,
  type: NativeType | 'time' | undefined,
): ColumnForms {
  return type === undefined
    ? { types, texts }
    : { types: new Map([...types, [column, nativeOf(type)]]), texts };
}

/** Forms as a catalogue keeps them; null for a table of texts. */
export function formsText({ types, texts }: ColumnForms): string | null {
  return types.size === 0 ? null : JSON.stringify({ types: [...types], texts: [...texts] });
}

/** Reads what `formsText` wrote. */
export function formsFrom(text: unknown): ColumnForms {
  if (typeof text !== 'string') return TEXTS;
  const { types, texts } = JSON.parse(text) as { types: [string, NativeType][]; texts: string[] };
  return { types: new Map(types), texts: new Set(texts) };
}

/** Findings about texts that are to become values of their types. */
export interface Examined {
  /** Columns with a text that is no value of its type. */
  readonly misfits: readonly string[];
  /** Columns with a text that has to be stored beside its value. */
  readonly odd: readonly string[];
}

const NOTHING: Examined = { misfits: [], odd: [] };

/** Forms that a table is to be stored in. */
export interface NewForms {
  readonly forms: ColumnForms;
  /** Columns that are stored in another type until then. */
  readonly changed: readonly string[];
}

/**
 * Returns the forms of a table for the types that its columns are to have. One with a text that is no value of its type
 * is stored as texts: nothing is lost, and its definition is true once all rows of the table are loaded anew.
 *
 * @param examine looks at the texts that the table has in columns that get a type
 */
export async function newForms(
  { columns, forms }: { readonly columns: readonly string[]; readonly forms: ColumnForms },
  wanted: ColumnTypes,
  examine: (types: ColumnTypes) => Promise<Examined>,
): Promise<NewForms> {
  const changes = changedTypes(columns, forms.types, wanted);
  const typed = new Map([...changes].filter((each): each is [string, NativeType] => each[1] !== undefined));
  const { misfits, odd } = await examine(typed);
  const types = new Map(forms.types);
  const texts = new Set(forms.texts);
  for (const [column, type] of changes) {
    texts.delete(column);
    if (type === undefined || misfits.includes(column)) types.delete(column);
    else {
      types.set(column, type);
      if (odd.includes(column)) texts.add(column);
    }
  }
  const changed = [...changes.keys()].filter((column) => forms.types.get(column) !== types.get(column));
  return { forms: { types, texts }, changed };
}

/** Columns whose type is to be another one than they are stored with; undefined means text. */
function changedTypes(
  columns: readonly string[],
  stored: ColumnTypes,
  wanted: ColumnTypes,
): ReadonlyMap<string, NativeType | undefined> {
  return new Map(
    columns
      .filter((column) => stored.get(column) !== wanted.get(column))
      .map((column) => [column, wanted.get(column)] as const),
  );
}

/** Names of the types in sentences. */
const SHOWN: Readonly<Record<NativeType, string>> = {
  bigint: 'whole number of 64 bits',
  boolean: 'truth value',
  date: 'date such as 2024-02-29',
  decimal: 'decimal with up to 29 digits in front of the point and 9 behind it',
  double: 'number that a double holds',
  timestamp: 'time such as 2024-02-29T10:00:00',
  timestamptz: 'time with an offset such as 2024-02-29T10:00:00Z',
};

/** Characters of a value that a message shows. */
const SHOWN_LENGTH = 100;

export function misfit({
  row,
  column,
  type,
  value,
}: {
  /** Number of the row in the file, from 1. */
  readonly row: number;
  readonly column: string;
  readonly type: NativeType;
  readonly value: string;
}): TableError {
  const shown = value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value;
  return new TableError(
    'csvImport.invalidValue',
    `Load error: row ${row}: the value "${shown}" of the column "${column}" is no ${SHOWN[type]}, which its definition says it is. Mend the value, or make the definition of the column wider, such as STRING.`,
    { results: { row, column, value: shown } },
  );
}
