import { carryOver } from './carry-over.ts';
import { relation, type PostgresCatalogEntry } from './catalog.ts';
import { formsOf, type ColumnForms } from '../column-types.ts';
import { definitions, storedColumns, textColumn } from './cells.ts';
import { CHANGED_AT, column, literal, quoted, ROW } from './names.ts';
import { indexKey, indexRows, makeTable, placeBeside } from './table.ts';
import type { PostgresSession } from './connection.ts';

/** Columns that were dropped count as well. */
const MAX_COLUMN_NUMBER = 1600;

/**
 * Adds columns at the end, which are empty in rows that are there, and those with the texts of others. Gives what is true
 * of the table then.
 *
 * @param wanted forms of the table with its new columns, and of the types that it has
 */
export async function addColumns(
  session: PostgresSession,
  entry: PostgresCatalogEntry,
  added: readonly string[],
  wanted: ColumnForms,
): Promise<PostgresCatalogEntry> {
  const beside = entry.columns.filter((name) => wanted.texts.has(name) && !entry.forms.texts.has(name));
  if (added.length + beside.length === 0) return entry;
  const roomy = await withRoom(session, entry, 2 * added.length + beside.length);
  const { place, columns } = roomy;
  const isText = (name: string): boolean => !wanted.types.has(name);
  const parts = [
    ...added.flatMap((name) =>
      definitions(name, wanted).map((each) => `${each}${isText(name) ? ` DEFAULT ''` : ''}`),
    ),
    ...beside.map((name) => `${textColumn(name)} text COLLATE "C"`),
  ].map((each) => `ADD COLUMN ${each}`);
  // For the rows that are there; a thousand of defaults would make the table slow to drop.
  const given = added.filter(isText).map((name) => `ALTER ${column(name)} DROP DEFAULT`);
  const alter = `ALTER TABLE ${relation(place)}`;
  await session.change(
    [parts, given].flatMap((each) => (each.length === 0 ? [] : [`${alter} ${each.join(', ')}`])).join('; '),
  );
  const names = [...columns, ...added];
  return {
    ...roomy,
    columns: names,
    forms: formsOf(names, { types: wanted.types, texts: new Set([...entry.forms.texts, ...wanted.texts]) }),
  };
}

/** Returns the table with room for more columns: rewritten when it has had too many. */
async function withRoom(
  session: PostgresSession,
  entry: PostgresCatalogEntry,
  more: number,
): Promise<PostgresCatalogEntry> {
  const { place, columns, primaryKey, forms } = entry;
  const highest = await session.number(
    `SELECT max(attnum) FROM pg_attribute WHERE attrelid = ${literal(relation(place))}::regclass`,
  );
  if (highest + more <= MAX_COLUMN_NUMBER) return entry;
  const fresh = placeBeside(place);
  await makeTable(session, fresh, { columns, primaryKey, forms });
  const stored = columns.flatMap((name) => storedColumns(name, forms));
  const names = [...stored, CHANGED_AT, ROW].join(', ');
  await session.run(`INSERT INTO ${relation(fresh)} (${names}) SELECT ${names} FROM ${relation(place)}`);
  await indexRows(session, fresh);
  const keyIndex = await indexKey(session, fresh, entry);
  await carryOver(session, place, fresh);
  await session.change(`DROP TABLE ${relation(place)} CASCADE`);
  await session.run(`ALTER TABLE ${relation(fresh)} RENAME TO ${quoted(place.name)}`);
  return { ...entry, keyIndex };
}
