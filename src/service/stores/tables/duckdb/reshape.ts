import { newForms, type ColumnForms, type ColumnTypes, type Examined } from '../column-types.ts';
import { cellText, examine, storedCells, textsOf, type TextRows } from './cells.ts';
import { CHANGED_AT, columnIdentifier, loadingName, tableName } from './identifiers.ts';
import { createEmpty } from './load.ts';
import type { TableId } from '../engine.ts';
import type { DuckSession } from './session.ts';

/** Looks at the texts that a table has in columns that get a type. @param name of the table in SQL */
export function examineStored(
  session: DuckSession,
  name: string,
  forms: ColumnForms,
): (types: ColumnTypes) => Promise<Examined> {
  const rows: TextRows = { from: name, text: (column) => cellText(column, forms) };
  return async (types) => await examine(session, rows, types);
}

/** Stores the columns of a table in the types that they are to have; gives the forms of the table then. */
export async function reshape(
  session: DuckSession,
  table: TableId,
  stored: { readonly columns: readonly string[]; readonly forms: ColumnForms },
  wanted: ColumnTypes,
): Promise<ColumnForms> {
  const name = tableName(table);
  const { forms, changed } = await newForms(stored, wanted, examineStored(session, name, stored.forms));
  if (changed.length === 0) return stored.forms;
  const loading = loadingName(table);
  await createEmpty(session, loading.name, stored.columns, forms);
  const { names, cells } = storedCells(stored.columns, forms, columnIdentifier);
  await session.run(
    `INSERT INTO ${loading.name} (${[...names, CHANGED_AT].join(', ')}) SELECT ${[...cells, CHANGED_AT].join(', ')} ` +
      `FROM ${textsOf(name, stored.columns, stored.forms)} ORDER BY rowid`,
  );
  await session.run(`DROP TABLE ${name}`);
  await session.run(`ALTER TABLE ${loading.name} RENAME TO ${loading.target}`);
  return forms;
}
