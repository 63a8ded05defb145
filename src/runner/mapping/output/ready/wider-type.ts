import type { ColumnDefinition, DefinedColumn } from '../../../../storage/client/index.ts';

/** Types that hold all values of one, by the words of the API. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  INTEGER: ['FLOAT', 'NUMERIC', 'STRING'],
  FLOAT: ['NUMERIC', 'STRING'],
  NUMERIC: ['STRING'],
  BOOLEAN: ['STRING'],
  DATE: ['TIMESTAMP', 'STRING'],
  TIMESTAMP: ['STRING'],
};

/**
 * Returns the definition that a column of a typed table needs before rows of another type are loaded; undefined where it
 * stays as it is. It only ever becomes wider: its rows are there already.
 */
export function widerDefinition(
  stored: DefinedColumn,
  given: ColumnDefinition,
): ColumnDefinition | undefined {
  const from = typeOf(stored);
  const to = typeOf(given);
  if (from === undefined || to === undefined || from === to || !(from in WIDER)) return undefined;
  if (WIDER[from]?.includes(to) === true) return given;
  if (WIDER[to]?.includes(from) === true) return undefined;
  return { name: given.name, basetype: 'STRING' };
}

/** Returns the type of a column; one that has none, of a typed table, is text. */
function typeOf({
  definition,
  basetype,
}: Pick<ColumnDefinition, 'definition' | 'basetype'> | DefinedColumn): string | undefined {
  const type = definition?.['type'];
  return (typeof type === 'string' ? type : (basetype ?? undefined))?.toUpperCase();
}
