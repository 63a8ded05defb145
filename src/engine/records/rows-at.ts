import {
  compilePath,
  entriesOf,
  getKey,
  isEmpty,
  isList,
  isNumber,
  isObject,
  isScalar,
  keysOf,
  toText,
  type AnyObject,
  type Json,
  type Path,
} from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { meantAndKnown, meantOr } from '../../lib/suggest.ts';
import { unusable } from './record-error.ts';

/** Source of the column names, when rows are lists of cells, or columns are lists of cells. */
export type Header =
  | { readonly kind: 'first' }
  | { readonly kind: 'given'; readonly names: readonly string[] }
  | { readonly kind: 'path'; readonly path: Path };

/** How rows come out of what is at the place of the rows (`rowsAt`), where they do not stand there as a list. */
export type RowsAt =
  | { readonly form: 'values'; readonly key: string | undefined }
  | { readonly form: 'entries'; readonly key: string; readonly value: string }
  | { readonly form: 'cells'; readonly header: Header }
  | { readonly form: 'columns'; readonly header: Header | undefined };

export const FORMS = ['values', 'entries', 'cells', 'columns'] as const;
type Form = (typeof FORMS)[number];

/**
 * Reads `rowsAt` of a job: the name of a form, or an object with further settings of it.
 *
 * @param at JSON path of the setting
 * @throws {RecordError} for what is no form of rows
 */
export function compileRowsAt(node: Json | undefined, at: string): RowsAt | undefined {
  if (node === undefined || isEmpty(node)) return undefined;
  const settings = isObject(node) ? node : { form: node };
  const form = formOf(getKey(settings, 'form') ?? null, isObject(node) ? `${at}.form` : at);
  const known = KEYS[form];
  const strange = keysOf(settings).find((key) => key !== 'form' && !known.includes(key));
  if (strange !== undefined)
    throw unusable(
      `“${strange}” means nothing for rows at “${form}”`,
      `${at}.${strange}`,
      meantOr(strange, known, `It has ${known.join(' and ')}.`),
    );
  return READERS[form](settings, at);
}

/** Readers of the settings of each form. */
const READERS: Readonly<Record<Form, (settings: AnyObject, at: string) => RowsAt>> = {
  values: (settings, at) => ({
    form: 'values',
    key: getKey(settings, 'key') === null ? undefined : nameIn(settings, 'key', at),
  }),
  entries(settings, at) {
    const [key, value] = [nameIn(settings, 'key', at), nameIn(settings, 'value', at)];
    if (key !== value) return { form: 'entries', key, value };
    throw unusable(`“key” and “value” are both “${key}”`, `${at}.value`, 'Give them two names.');
  },
  cells(settings, at) {
    const header = headerOf(getKey(settings, 'header'), `${at}.header`);
    if (header !== undefined) return { form: 'cells', header };
    throw unusable('The names of the cells are missing', `${at}.header`, HEADER_HINT);
  },
  columns(settings, at) {
    const header = headerOf(getKey(settings, 'header'), `${at}.header`);
    if (header?.kind !== 'first') return { form: 'columns', header };
    throw unusable('The lists of columns have no first row', `${at}.header`, HEADER_HINT);
  },
};

const KEYS: Readonly<Record<Form, readonly string[]>> = {
  values: ['key'],
  entries: ['key', 'value'],
  cells: ['header'],
  columns: ['header'],
};

const HEADER_HINT =
  'Set “header” to "first", to a path in the response such as "$.columns[*].name", or to a list of names.';

function formOf(value: Json, at: string): Form {
  const form = FORMS.find((known) => known === value);
  if (form !== undefined) return form;
  throw unusable(
    typeof value === 'string'
      ? `“${value}” is no form of rows`
      : `A form of rows is a text, and here is ${kindOf(value)}`,
    at,
    meantAndKnown(value, FORMS),
  );
}

/** Returns the name of a column; by default that of the setting. */
function nameIn(settings: AnyObject, key: 'key' | 'value', at: string): string {
  const value = getKey(settings, key);
  if (value === undefined) return key;
  if ((typeof value === 'string' && value !== '') || isNumber(value)) return toText(value);
  throw unusable(`“${key}” needs the name of a column, and here is ${kindOf(value)}`, `${at}.${key}`);
}

function headerOf(value: Json | undefined, at: string): Header | undefined {
  if (value === undefined || isEmpty(value)) return undefined;
  if (value === 'first') return { kind: 'first' };
  if (typeof value === 'string') return { kind: 'path', path: compilePath(value, { at }) };
  if (isList(value)) return { kind: 'given', names: namesFrom(value) };
  throw unusable(`“header” cannot be ${kindOf(value)}`, at, HEADER_HINT);
}

/**
 * Returns names of columns: one that is missing gets the number of its column, one that comes twice a number of its
 * own.
 */
export function namesFrom(cells: readonly Json[]): readonly string[] {
  const used = new Set<string>();
  return cells.map((cell, i) => {
    const text = isScalar(cell) ? toText(cell) : isObject(cell) ? nameInObject(cell) : '';
    const name = text.trim() === '' ? `column_${i + 1}` : text;
    let free = name;
    for (let n = 0; used.has(free); n++) free = `${name}_u${n}`;
    used.add(free);
    return free;
  });
}

/** Returns the name in an object such as `{"name": "id", "type": "integer"}`, by which many APIs describe a column. */
function nameInObject(cell: AnyObject): string {
  const found = ['name', 'id', 'key', 'field', 'label', 'title'].map((key) => getKey(cell, key));
  const [name] = [...found, ...entriesOf(cell).map(([, value]) => value)].filter((value) => isScalar(value));
  return name === undefined ? '' : toText(name);
}
