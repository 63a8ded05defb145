import { RecordError } from '../../lib/errors.ts';
import {
  entriesOf,
  getKey,
  isList,
  isObject,
  objectOf,
  toText,
  type AnyObject,
  type Json,
} from '../../lib/json/index.ts';
import { kindOf } from '../../lib/read-settings.ts';
import { valuesPiece, type Page, type RowsPiece } from './page.ts';
import { namesFrom, type Header, type RowsAt } from './rows-at.ts';

/** The column of a row that is no object. */
export const DATA_COLUMN = 'data';

/**
 * Returns the page with the rows in the form that `rowsAt` describes. Lists of cells stay in their chunks; the other
 * forms are decoded as a whole.
 *
 * @throws {RecordError} `response.shape` for what has another form
 */
export function shapePage(page: Page, rowsAt: RowsAt): Page {
  if (page.pieces.length === 0) return page;
  const [first] = page.pieces;
  if (rowsAt.form === 'cells') {
    if (first?.single === true) throw notOfForm('cells', first.decode()[0], 'a list of lists of cells');
    return { ...page, ...cellPieces(page, rowsAt.header), isMade: true };
  }
  const values = page.pieces.flatMap((piece) => piece.decode());
  const value = first?.single === true ? (values[0] ?? null) : values;
  const rows = rowsOf(value, rowsAt, page);
  const shown = page.rowsAt?.length === 0 ? [] : page.envelope;
  const warning =
    rows.length === 0 ? (page.warning ?? `There are no ${rowsAt.form} at the place of the rows`) : undefined;
  const shaped: Page = {
    ...withoutWarning(page),
    envelope: shown,
    pieces: [valuesPiece(rows)],
    rows: rows.length,
  };
  return warning === undefined ? shaped : { ...shaped, pieces: [], warning };
}

function withoutWarning({ warning: _warning, ...page }: Page): Page {
  return page;
}

function rowsOf(value: Json, rowsAt: Exclude<RowsAt, { form: 'cells' }>, page: Page): readonly Json[] {
  if (rowsAt.form === 'columns') return rowsOfColumns(value, rowsAt.header, page);
  const maps = isList(value) ? value : [value];
  return maps.flatMap((map) => {
    if (!isObject(map)) throw notOfForm(rowsAt.form, map, 'an object of keys and values');
    return entriesOf(map).flatMap(([key, item]) =>
      rowsAt.form === 'entries'
        ? [
            objectOf([
              [rowsAt.key, key],
              [rowsAt.value, item],
            ]),
          ]
        : keyedRows(key, item, rowsAt.key),
    );
  });
}

/** Returns the rows under a key: one row, or a list of them. */
function keyedRows(key: string, value: Json, column: string | undefined): readonly Json[] {
  const rows = isList(value) ? value : [value];
  if (column === undefined) return rows;
  return rows.map((row) => {
    const object = isObject(row) ? row : row === null ? objectOf([]) : objectOf([[DATA_COLUMN, row]]);
    const own = getKey(object, column);
    if (own === undefined) return objectOf([[column, key], ...entriesOf(object)]);
    if (toText(own) === key) return object;
    throw new RecordError(
      'records.invalid',
      `The rows under keys have a field “${column}” of their own, and the key would take its place`,
      {
        hint: `Give the column of the key another name: "rowsAt": {"form": "values", "key": "${column}_key"}.`,
      },
    );
  });
}

/** Returns the rows of columns; a property that is no list applies to every row. */
function rowsOfColumns(value: Json, header: Header | undefined, page: Page): readonly Json[] {
  const columns = isObject(value) ? entriesOf(value) : namedLists(value, header, page);
  const lists = columns.filter((column): column is [string, readonly Json[]] => isList(column[1]));
  const [longest] = lists.toSorted(([, a], [, b]) => b.length - a.length);
  if (longest === undefined) return [];
  const odd = lists.find(([, list]) => list.length !== longest[1].length);
  if (odd !== undefined)
    throw new RecordError(
      'records.invalid',
      `The lists of columns are not equally long: “${longest[0]}” has ${longest[1].length} values and “${odd[0]}” has ${odd[1].length}`,
      { hint: 'Point “dataField” at the object that holds nothing but the columns of one table.' },
    );
  return longest[1].map((_, i) =>
    objectOf(columns.map(([name, cells]) => [name, isList(cells) ? (cells[i] ?? null) : cells] as const)),
  );
}

function namedLists(value: Json, header: Header | undefined, page: Page): [string, Json][] {
  if (!isList(value)) throw notOfForm('columns', value, 'an object whose values are lists');
  if (header === undefined)
    throw new RecordError('response.shape', 'The columns are a list, so their names are not known', {
      hint: 'Set “header” of “rowsAt” to a list of names, or to the path of the names in the response.',
    });
  const names = namesOf(header, page);
  if (names.length < value.length) throw tooManyCells(value.length, names);
  return value.map((column, i) => [names[i] ?? '', column]);
}

function cellPieces(page: Page, header: Header): Pick<Page, 'pieces' | 'rows'> {
  const [first, ...others] = page.pieces;
  if (header.kind !== 'first' || first === undefined) {
    const names = namesOf(header, page);
    return { pieces: page.pieces.map((piece) => cellsPiece(piece, names, 0)), rows: page.rows };
  }
  const [cells = null] = first.decode();
  const names = namesFrom(cellsOf(cells));
  const pieces = [cellsPiece(first, names, 1), ...others.map((piece) => cellsPiece(piece, names, 0))];
  return { pieces: pieces.filter(({ rows }) => rows > 0), rows: page.rows - 1 };
}

/** @param header how many rows in front are none */
function cellsPiece(piece: RowsPiece, names: readonly string[], header: number): RowsPiece {
  return {
    single: piece.single,
    rows: piece.rows - header,
    decode: () =>
      piece
        .decode()
        .slice(header)
        .map((row) => rowOfCells(cellsOf(row), names)),
  };
}

function rowOfCells(cells: readonly Json[], names: readonly string[]): AnyObject {
  if (cells.length > names.length) throw tooManyCells(cells.length, names);
  // Cells that are missing at the end are blank: spreadsheets leave them out.
  return objectOf(cells.map((cell, i) => [names[i] ?? '', cell] as const));
}

function cellsOf(row: Json): readonly Json[] {
  if (isList(row)) return row;
  throw notOfForm('cells', row, 'a list of lists of cells');
}

function namesOf(header: Header, page: Page): readonly string[] {
  if (header.kind === 'given') return header.names;
  if (header.kind === 'first') return [];
  const { path } = header;
  const found = path.find(
    page.rowsAt !== undefined && !path.needs(page.rowsAt) ? page.envelope : page.response(),
  );
  if (isList(found)) return namesFrom(found);
  if (isObject(found)) return namesFrom(entriesOf(found).map(([key]) => key));
  throw new RecordError(
    'response.shape',
    `The names of the columns are not at “${path.text}” in the response`,
    {
      hint: 'Point “header” of “rowsAt” at the list of names, or set it to "first" or to the names themselves.',
    },
  );
}

function tooManyCells(count: number, names: readonly string[]): RecordError {
  return new RecordError(
    'records.invalid',
    `A row has ${count} cells, and the header has ${names.length} name${names.length === 1 ? '' : 's'}: ${names.slice(0, 10).join(', ')}`,
    { hint: 'Name every cell in “header” of “rowsAt”.' },
  );
}

function notOfForm(form: RowsAt['form'], value: Json | undefined, what: string): RecordError {
  return new RecordError(
    'response.shape',
    `Rows at “${form}” need ${what}, and there is ${kindOf(value)} at the place of the rows`,
    { hint: 'Correct “dataField”, or “rowsAt”.' },
  );
}
