import { RecordError } from '../../../lib/errors.ts';
import {
  compilePath,
  getKey,
  isObject,
  isScalar,
  type Json,
  type JsonText,
} from '../../../lib/json/index.ts';
import type { ColumnEntry, EntryPlace } from './mapping.ts';
import type { CellText, MappedPage } from './mapped-page.ts';
import { isTyped, typedCell } from './typed-cells.ts';

/**
 * Seconds since 1970 of a date in any of the forms that the configuration's functions read; undefined when the text
 * is no date.
 */
export type ParseCellTime = (text: string) => number | undefined;

export type Pick = (row: Json) => Json | undefined;

/** How values become the text of cells. */
export interface CellTexts {
  readonly parseTime: ParseCellTime;
  readonly jsonText: JsonText;
}

/** Compiles a cell, with what becomes of a value that does not fit the type of its column. */
export function compileCell(entry: ColumnEntry, table: string, texts: CellTexts): CellText {
  const text = compileText(entry, table, texts);
  return isTyped(entry) ? typedCell(entry, table, text) : text;
}

/** Compiles the text of a cell, of whatever type it is. */
export function compileText(entry: ColumnEntry, table: string, texts: CellTexts): CellText {
  if (entry.kind === 'user') return userCell(entry, table, texts);
  const pick = compilePick(entry);
  const { jsonText } = texts;
  if (entry.kind === 'date')
    return (row, page) => dateText(textOf(pick(row), entry, table, { ...texts, page }), texts.parseTime);
  return (row, page) => textOf(pick(row), entry, table, { jsonText, page });
}

/** Compiles the access to a path of the row. `.` and the empty path are the row itself if it is a scalar. */
export function compilePick({ path, delimiter, at }: EntryPlace): Pick {
  const { keys, find } = compilePath(path, { delimiter, at });
  if (keys?.length === 0) return (row) => row;
  if (path === '' || path === '.') return (row) => (isScalar(row) ? row : find(row));
  const [key = '', ...more] = keys ?? [];
  if (keys === undefined || more.length > 0) return find;
  return (row) => (isObject(row) ? getKey(row, key) : find(row));
}

/** Returns a value of the extra columns, the same for all rows of a page; their paths are separated by `/`. */
function userCell(entry: ColumnEntry, table: string, texts: CellTexts): CellText {
  const { find } = compilePath(entry.path, { delimiter: '/', at: entry.at });
  let last: MappedPage | undefined;
  let text = '';
  return (_row, page) => {
    if (page !== last) {
      text = textOf(find(page.extra), entry, table, { ...texts, page });
      last = page;
    }
    return text;
  };
}

function textOf(
  value: Json | undefined,
  entry: ColumnEntry,
  table: string,
  { jsonText, page }: { readonly jsonText: JsonText; readonly page: MappedPage },
): string {
  if (isTyped(entry)) {
    if (value === null || value === undefined) return '';
    if (entry.type === 'json') return jsonText(value);
    if (typeof value === 'boolean') return String(value);
  }
  if (typeof value === 'string') return value;
  if (value === undefined || value === null || isScalar(value)) return page.scalar(value);
  if (entry.forceType) return jsonText(value);
  const what = isObject(value) ? 'an object' : 'a list';
  throw new RecordError(
    'records.invalid',
    `The value for the column “${entry.column}” of the table “${table}” is ${what}, and a cell holds a single value`,
    {
      where: { path: entry.at },
      hint: 'Set "forceType": true to write it as JSON text, or map it with "type": "table".',
    },
  );
}

/** Converts a date to seconds since 1970; a text that is no date stays. */
function dateText(text: string, parseTime: ParseCellTime): string {
  const seconds = text === '' ? undefined : parseTime(text);
  return seconds === undefined ? text : String(seconds);
}
