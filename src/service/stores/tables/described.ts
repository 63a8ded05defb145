import type { ColumnForms } from './column-types.ts';
import type { TableDescription } from './engine.ts';

/** Returns the description of a table as an engine has it; one of texts alone has no types. */
export function described({
  columns,
  primaryKey,
  forms: { types },
  rows,
  bytes,
  lastImport,
}: Omit<TableDescription, 'types'> & { readonly forms: ColumnForms }): TableDescription {
  return {
    columns,
    primaryKey,
    ...(types.size === 0 ? {} : { types }),
    rows,
    bytes,
    ...(lastImport === undefined ? {} : { lastImport }),
  };
}
