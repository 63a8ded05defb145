import { RunError } from '../../lib/errors.ts';
import { nearest } from '../../lib/suggest.ts';
import type { Table } from '../../storage/client/index.ts';
import { formatTable } from '../format.ts';
import { number } from '../storage/facts.ts';
import type { SqlPlace } from './answer.ts';

/** Lists the tables, by the names that a query has for them. */
export async function describeTables({ client }: SqlPlace): Promise<string> {
  const tables = await client.tables.list();
  if (tables.length === 0) return 'There are no tables.';
  return formatTable(
    ['table', 'rows'],
    tables.map((table) => [sqlName(table.id), number(table.rowsCount)]),
    ['rows'],
  );
}

/**
 * Lists the columns of a table with the types that a query sees.
 *
 * @param named id, as a query has it, or its name alone where no other table has that
 * @throws {RunError} `command.invalid` for a name that none or several have
 */
export async function describeTable(
  { client }: SqlPlace,
  named: string,
  signal: AbortSignal,
): Promise<string> {
  const { id, primaryKey } = findTable(await client.tables.list(), named);
  const { columns } = await client.sql.query(`SELECT * FROM ${sqlName(id)}`, { limit: 1, signal });
  const rows = columns.map(({ name, type }) => [name, type, primaryKey.includes(name) ? 'key' : '']);
  return formatTable(['column', 'type', ''], rows);
}

function findTable(tables: readonly Table[], named: string): Table {
  const wanted = named.replaceAll('"', '').replace(/;$/, '').toLowerCase();
  const byId = tables.filter(({ id }) => id.toLowerCase() === wanted);
  const meant = byId.length > 0 ? byId : tables.filter(({ name }) => name.toLowerCase() === wanted);
  const [table, ...others] = meant;
  if (table !== undefined && others.length === 0) return table;
  if (table !== undefined)
    throw new RunError('command.invalid', `Several tables are called ${named}.`, {
      hint: `Name one of them with its bucket: ${meant.map(({ id }) => sqlName(id)).join(', ')}.`,
    });
  const near = nearest(
    wanted,
    tables.flatMap(({ id, name }) => [id, name]),
  );
  throw new RunError('command.invalid', `There is no table ${named}.`, {
    hint: near === undefined ? String.raw`\d lists them.` : `Did you mean ${near}?`,
  });
}

/** Returns the name of a table as a query has it: `"in.c-main"."users"`. */
function sqlName(id: string): string {
  const parts = id.split('.');
  return [parts.slice(0, 2).join('.'), parts.slice(2).join('.')].map((part) => `"${part}"`).join('.');
}
