import { RecordError } from '../../errors.ts';
import {
  dig,
  digKeys,
  getKey,
  isObject,
  isScalar,
  splitPath,
  toJsonText,
  toText,
  type AnyObject,
  type Json,
} from '../../json/index.ts';
import type { PageTables } from '../lines.ts';
import type { ColumnEntry } from './mapping.ts';

/** What belongs to all rows of a page. */
export interface MappedPage {
  /** Extra columns by raw name. */
  readonly extra: AnyObject;
  /** The extra columns as part of a generated key; empty text when there are none. */
  extraText(): string;
  readonly tables: PageTables;
}

/**
 * Seconds since 1970 of a date in any of the forms that the configuration's functions read; undefined when the text
 * is no date.
 */
export type ParseTime = (text: string) => number | undefined;

export type Pick = (row: Json) => Json | undefined;
/** The text of a cell, before it is quoted. */
export type CellText = (row: Json, page: MappedPage) => string;

export function compileCell(entry: ColumnEntry, table: string, parseTime: ParseTime): CellText {
  if (entry.kind === 'user') return userCell(entry, table);
  const pick = compilePick(entry.path, entry.delimiter);
  if (entry.kind === 'date') return (row) => dateText(textOf(pick(row), entry, table), parseTime);
  return (row) => textOf(pick(row), entry, table);
}

/** The value at a path of the row. `.` and the empty path are the row itself where it is a scalar. */
export function compilePick(path: string, delimiter: string): Pick {
  const keys = splitPath(path, delimiter);
  const [key = ''] = keys;
  if (keys.length === 0) return (row) => row;
  if (path === '' || path === '.') return (row) => (isScalar(row) ? row : digKeys(keys, row));
  if (keys.length === 1) return (row) => (isObject(row) ? getKey(row, key) : digKeys(keys, row));
  return (row) => digKeys(keys, row);
}

/** A value of the extra columns; their paths are separated by `/`. The same for all rows of a page. */
function userCell(entry: ColumnEntry, table: string): CellText {
  let last: MappedPage | undefined;
  let text = '';
  return (_row, page) => {
    if (page !== last) {
      text = textOf(dig(entry.path, page.extra, '/'), entry, table);
      last = page;
    }
    return text;
  };
}

function textOf(value: Json | undefined, entry: ColumnEntry, table: string): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (isScalar(value)) return toText(value);
  if (entry.forceType) return toJsonText(value);
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

/** Seconds since 1970; a text that is no date stays. */
function dateText(text: string, parseTime: ParseTime): string {
  const seconds = text === '' ? undefined : parseTime(text);
  return seconds === undefined ? text : String(seconds);
}
