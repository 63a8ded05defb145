import { RecordError } from '../../../lib/errors.ts';
import { holds, type ColumnType } from '../types/column-type.ts';
import { kindOfCell } from '../types/value-kind.ts';
import type { CellText, MappedPage } from './mapped-page.ts';
import type { ColumnEntry } from './mapping.ts';

/** An entry whose column has a type. */
export type TypedEntry = ColumnEntry & { readonly type: ColumnType };

export function isTyped(entry: ColumnEntry): entry is TypedEntry {
  return entry.type !== undefined && entry.type !== 'text';
}

/** Tells whether the text of a cell is one of the type; an empty one is null. */
function fits(text: string, type: ColumnType): boolean {
  if (text === '' || type === 'text' || type === 'json') return true;
  const kind = kindOfCell(text);
  return (kind & ~holdsByHand(type)) === 0;
}

/** Returns the kinds that a type takes where it is wanted: a double takes decimals, though not all of their digits. */
function holdsByHand(type: ColumnType): number {
  return type === 'double' ? holds(type) | holds('decimal(38,9)') : holds(type);
}

/**
 * Wraps the text of a cell so that what does not fit its type ends the run, or is null.
 *
 * @throws {RecordError} `records.misfit`, with the page and the row
 */
export function typedCell(entry: TypedEntry, table: string, text: CellText): CellText {
  const { type, misfit = 'fail' } = entry;
  return (row, page) => {
    const cell = text(row, page);
    if (fits(cell, type)) return cell;
    if (misfit === 'fail') throw misfitOf(entry, table, cell, page);
    page.note(entry, cell);
    return '';
  };
}

/** Tells whether a row is to be left out for a value that does not fit. */
export function leavesOut(
  entry: TypedEntry,
  text: CellText,
): (row: Parameters<CellText>[0], page: MappedPage) => boolean {
  return (row, page) => {
    const cell = text(row, page);
    if (fits(cell, entry.type)) return false;
    page.note(entry, cell);
    return true;
  };
}

function misfitOf(
  { type, column, at }: TypedEntry,
  table: string,
  cell: string,
  page: MappedPage,
): RecordError {
  const shown = cell.length > 60 ? `${cell.slice(0, 60)}…` : cell;
  return new RecordError(
    'records.misfit',
    `“${shown}” is no ${type}: it is for the column “${column}” of the table “${table}”, in ${page.place()}`,
    {
      where: { path: `${at}.mapping.type` },
      hint: 'Give the column a wider type, or say "misfit": "null" to leave the cell empty, or "skip" to leave the row out.',
    },
  );
}
