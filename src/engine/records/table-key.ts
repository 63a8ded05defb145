import type { RecordError } from '../../lib/errors.ts';
import { nearest } from '../../lib/suggest.ts';
import { columnName, safeName } from './names.ts';
import { unusable } from './record-error.ts';

/** The primary key of a table as a job writes it. */
export interface WrittenKey {
  /** Paths in a row, or columns. */
  readonly names: readonly string[];
  /** Returns the name of a field in the table, by its path in an answer; undefined for one that is left out. */
  readonly fieldName: (path: string) => string | undefined;
  /** JSON path. */
  readonly at: string;
}

/**
 * Returns the columns that a primary key names: by their names, or by the path in a row.
 *
 * @throws {RecordError} for a name that is no column, or may be several
 */
export function keyColumns(
  { names, fieldName, at }: WrittenKey,
  table: string,
  columns: readonly string[],
): readonly string[] {
  const known = new Set(columns);
  const found = names.map((name, i) => {
    const place = names.length === 1 ? at : `${at}[${i}]`;
    if (known.has(name)) return name;
    const field = fieldName(name);
    if (field === undefined) throw leftOut(table, name, place);
    const column = [field, columnName(field.split('.')), safeName(field)].find((each) => known.has(each));
    if (column === undefined) {
      const near = nearest(field, columns) ?? nearest(columnName(field.split('.')), columns);
      throw unusable(
        `The primary key of “${table}” names “${name}”, and the table has no such column`,
        place,
        near === undefined ? `It has ${shown(columns)}.` : `Did you mean “${near}”?`,
      );
    }
    if (known.has(`${column}_u0`))
      throw unusable(
        `“${name}” in the primary key of “${table}” may be the column “${column}” or “${column}_u0”`,
        place,
        'Write it as the column is called.',
      );
    return column;
  });
  const twice = found.find((column, i) => found.indexOf(column) < i);
  if (twice === undefined) return found;
  throw unusable(
    `The primary key of “${table}” names the column “${twice}” twice`,
    at,
    'Leave one of them out.',
  );
}

/**
 * Checks what can be known of a key before there are rows.
 *
 * @param others names of columns that are no fields of the answer
 * @throws {RecordError} for a field that is left out
 */
export function checkKey(
  { names, fieldName, at }: WrittenKey,
  table: string,
  others: ReadonlySet<string>,
): void {
  for (const [i, name] of names.entries())
    if (fieldName(name) === undefined && !others.has(name))
      throw leftOut(table, name, names.length === 1 ? at : `${at}[${i}]`);
}

function leftOut(table: string, name: string, at: string): RecordError {
  return unusable(
    `The primary key of “${table}” names “${name}”, which is left out`,
    at,
    'Take it out of “exclude”.',
  );
}

const SHOWN = 20;

function shown(columns: readonly string[]): string {
  const names = columns.slice(0, SHOWN).join(', ');
  return columns.length > SHOWN ? `${names} and ${columns.length - SHOWN} more` : names || 'no columns';
}
