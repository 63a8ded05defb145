import { newForms, type ColumnTypes } from '../column-types.ts';
import { TableError } from '../table-error.ts';
import { relation, type PostgresCatalogEntry } from './catalog.ts';
import { examine, storedCells, textsOf, valued } from './cells.ts';
import { CHANGED_AT, ROW } from './names.ts';
import { takePlace } from './place.ts';
import { indexKey, indexRows, makeTable, placeBeside } from './table.ts';
import type { PostgresSession } from './connection.ts';

/**
 * Stores the columns of a table in the types that they are to have: another one takes its place, with all that people
 * have granted and written about it. While a view depends on a table of texts, it stays one.
 *
 * @returns what is true of the table then
 * @throws {TableError} when a view depends on a table of types, or a query reads it for long
 */
export async function reshape(
  session: PostgresSession,
  entry: PostgresCatalogEntry,
  wanted: ColumnTypes,
): Promise<PostgresCatalogEntry> {
  const { place, columns, primaryKey } = entry;
  const texts = textsOf(relation(place), columns, entry.forms);
  // A subquery may have one alias only.
  const from = entry.forms.types.size === 0 ? texts : `(SELECT * FROM ${texts})`;
  const { forms, changed } = await newForms(
    entry,
    wanted,
    async (types) => await examine(session, { from, values: [] }, types),
  );
  if (changed.length === 0) return entry;
  const fresh = placeBeside(place);
  await makeTable(session, fresh, { columns, primaryKey, forms });
  const rows = valued(from, columns, forms.types);
  const { names, cells } = storedCells(columns, forms, rows, 's');
  await session.run(
    `INSERT INTO ${relation(fresh)} (${[...names, CHANGED_AT, ROW].join(', ')}) ` +
      `SELECT ${[...cells, `s.${CHANGED_AT}`, `s.${ROW}`].join(', ')} FROM ${rows.from} s`,
  );
  await indexRows(session, fresh);
  const keyIndex = await indexKey(session, fresh, { primaryKey, forms });
  const refusal = await takePlace(session, fresh, { place, old: entry, isNew: false });
  if (refusal === undefined) return { ...entry, forms, keyIndex };
  await session.run(`DROP TABLE ${relation(fresh)}`);
  if (changed.every((name) => !entry.forms.types.has(name))) return entry;
  throw new TableError(
    'storage.tables.notAllowed',
    `The type of the column "${changed[0] ?? ''}" cannot change now: a view depends on the table, or a query is reading it. Drop the view, or try again.`,
    { cause: refusal },
  );
}
