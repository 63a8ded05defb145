import { carryOver } from './carry-over.ts';
import { relation, type PostgresCatalogEntry } from './catalog.ts';
import { CHANGED_AT, column, columnList, literal, quoted, ROW } from './names.ts';
import { indexKey, indexRows, makeTable, placeBeside, textColumn } from './table.ts';
import type { PostgresSession } from './connection.ts';

/** Columns that were dropped count as well. */
const MAX_COLUMN_NUMBER = 1600;

/** Adds columns at the end; rows that are there are empty in them. Gives what is true of the table then. */
export async function addColumns(
  session: PostgresSession,
  entry: PostgresCatalogEntry,
  added: readonly string[],
): Promise<PostgresCatalogEntry> {
  if (added.length === 0) return entry;
  const roomy = await withRoom(session, entry, added.length);
  const { place, columns } = roomy;
  const parts = added.map((name) => `ADD COLUMN ${textColumn(name)} DEFAULT ''`);
  // For the rows that are there; a thousand of defaults would make the table slow to drop.
  const given = added.map((name) => `ALTER ${column(name)} DROP DEFAULT`);
  await session.change(
    `ALTER TABLE ${relation(place)} ${parts.join(', ')}; ALTER TABLE ${relation(place)} ${given.join(', ')}`,
  );
  return { ...roomy, columns: [...columns, ...added] };
}

/** Returns the table with room for more columns: rewritten when it has had too many. */
async function withRoom(
  session: PostgresSession,
  entry: PostgresCatalogEntry,
  more: number,
): Promise<PostgresCatalogEntry> {
  const { place, columns, primaryKey } = entry;
  const highest = await session.number(
    `SELECT max(attnum) FROM pg_attribute WHERE attrelid = ${literal(relation(place))}::regclass`,
  );
  if (highest + more <= MAX_COLUMN_NUMBER) return entry;
  const fresh = placeBeside(place);
  await makeTable(session, fresh, { columns, primaryKey });
  const names = `${columnList(columns)}, ${CHANGED_AT}, ${ROW}`;
  await session.run(`INSERT INTO ${relation(fresh)} (${names}) SELECT ${names} FROM ${relation(place)}`);
  await indexRows(session, fresh);
  const keyIndex = await indexKey(session, fresh, primaryKey);
  await carryOver(session, place, fresh);
  await session.change(`DROP TABLE ${relation(place)} CASCADE`);
  await session.run(`ALTER TABLE ${relation(fresh)} RENAME TO ${quoted(place.name)}`);
  return { ...entry, keyIndex };
}
