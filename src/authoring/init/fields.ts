import {
  entriesOf,
  isInteger,
  isList,
  isNumber,
  isObject,
  numberOf,
  toJsonText,
  type Json,
} from '../../lib/json/index.ts';

/** Kind of the values of a field; `mixed` if there are several. */
export type FieldKind =
  | 'integer'
  | 'number'
  | 'boolean'
  | 'time'
  | 'text'
  | 'list'
  | 'object'
  | 'null'
  | 'mixed';

/** A field of the rows, seen in all of them. */
export interface Field {
  /** Keys from the row: `id`, or `attributes.name` of an object inside. */
  readonly path: string;
  readonly kind: FieldKind;
  /** Rows that have it, with a value. */
  readonly filled: number;
  readonly rows: number;
  /** Different values, where they are scalars. */
  readonly distinct: number;
  /** Range of a field of times: the first, the last, and their order in the rows. */
  readonly least: string | undefined;
  readonly most: string | undefined;
  readonly order: 'ascending' | 'descending' | 'none';
}

/** Objects inside of rows that are looked into. */
const MAX_DEPTH = 2;
const MAX_FIELDS = 300;

/** Returns the fields of rows, in the order of their appearance. Pure; all in memory, as the rows of a trial are. */
export function fieldsOf(rows: readonly Json[]): readonly Field[] {
  const columns = new Map<string, Json[]>();
  for (const row of rows) collect(row, '', 0, columns);
  return [...columns].map(([path, values]) => fieldOf(path, values, rows.length));
}

function collect(value: Json, prefix: string, depth: number, columns: Map<string, Json[]>): void {
  if (!isObject(value)) return;
  for (const [key, item] of entriesOf(value)) {
    // a key with a dot could not be told from a path
    if (key.includes('.')) continue;
    const path = `${prefix}${key}`;
    if (isObject(item) && depth < MAX_DEPTH) collect(item, `${path}.`, depth + 1, columns);
    const values = columns.get(path);
    if (values !== undefined) values.push(item);
    else if (columns.size < MAX_FIELDS) columns.set(path, [item]);
  }
}

function fieldOf(path: string, values: readonly Json[], rows: number): Field {
  const filled = values.filter((value) => value !== null && value !== '');
  const kinds = new Set(filled.map(kindOf));
  if (kinds.has('integer') && kinds.has('number')) kinds.delete('integer');
  if (kinds.has('time') && kinds.has('text')) kinds.delete('time');
  const [first = 'null'] = kinds;
  const kind = kinds.size > 1 ? 'mixed' : isEpoch(path, first, filled) ? 'time' : first;
  const texts = filled.map((value) => (typeof value === 'string' ? value : toJsonText(value)));
  const moments = kind === 'time' ? filled.map((value) => momentOf(value)) : [];
  const sorted = moments.toSorted((a, b) => a - b);
  const textAt = (moment: number | undefined): string | undefined =>
    moment === undefined ? undefined : texts[moments.indexOf(moment)];
  return {
    path,
    kind,
    filled: filled.length,
    rows,
    distinct: new Set(texts).size,
    least: textAt(sorted[0]),
    most: textAt(sorted.at(-1)),
    order: orderOf(moments),
  };
}

function kindOf(value: Json): FieldKind {
  if (typeof value === 'boolean') return 'boolean';
  if (isList(value)) return 'list';
  if (isObject(value)) return 'object';
  if (isInteger(value)) return 'integer';
  if (isNumber(value)) return 'number';
  return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value)) ? 'time' : 'text';
}

const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?Z|\s?[+-]\d\d:?\d\d)?)?$/;
const TIME_NAME =
  /(?:^|[._])(?:time|timestamp|ts|date|created|updated|modified|changed|added|inserted|published|posted|registered|seen)(?:$|[._])|(?:_at|At|_on|Time|Date|Timestamp)$/i;

/**
 * Tells whether numbers are seconds or milliseconds since 1970, of the years 2001 to 2100, under a name that means a
 * time.
 */
function isEpoch(path: string, kind: FieldKind, values: readonly Json[]): boolean {
  if (kind !== 'integer' || !TIME_NAME.test(path)) return false;
  return values.every((value) => {
    const number = isNumber(value) ? numberOf(value) : 0;
    return (number >= 1e9 && number < 4.2e9) || (number >= 1e12 && number < 4.2e12);
  });
}

function momentOf(value: Json): number {
  if (typeof value === 'string') return Date.parse(value);
  const number = isNumber(value) ? numberOf(value) : 0;
  return number >= 1e12 ? number : number * 1000;
}

function orderOf(moments: readonly number[]): Field['order'] {
  if (moments.length < 3) return 'none';
  const steps = moments.slice(1).map((moment, i) => moment - (moments[i] ?? 0));
  if (steps.every((step) => step === 0)) return 'none';
  if (steps.every((step) => step >= 0)) return 'ascending';
  return steps.every((step) => step <= 0) ? 'descending' : 'none';
}
