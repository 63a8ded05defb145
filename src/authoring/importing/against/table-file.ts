import { createReadStream, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createDialect } from '../../../lib/csv/dialect.ts';
import { recordsOf } from '../../../lib/csv/records.ts';
import { PARENT_COLUMN } from '../../../engine/records/chunk-lines.ts';
import { safeName } from '../../../engine/records/names.ts';

/** Names that were cut in front have as many characters at least: one word less than the most. */
const SHORTENED = 32;

/** A table as a run writes it, with the tables of its lists. */
export interface OpenedTable {
  readonly file: string;
  readonly columns: readonly string[];
  /** Table of each column that is a list. */
  readonly lists: ReadonlyMap<string, OpenedTable>;
}

/** Opens the table of a data type in a folder of tables; undefined where there is none. */
export async function openTable(folder: string, dataType: string): Promise<OpenedTable | undefined> {
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder).filter((name) => !name.endsWith('.manifest'));
  const wanted = safeName(dataType);
  const name = names.find((each) => each === wanted) ?? names.find((each) => each.endsWith(`.${wanted}`));
  return name === undefined ? undefined : await readTable(folder, name, new Set(names));
}

async function readTable(folder: string, name: string, names: ReadonlySet<string>): Promise<OpenedTable> {
  const file = path.join(folder, name);
  const columns = await headerOf(file);
  const lists = new Map<string, OpenedTable>();
  for (const column of columns) {
    if (column === PARENT_COLUMN) continue;
    const below = names.has(`${name}_${column}`) ? `${name}_${column}` : shortened(name, column, names);
    if (below === undefined) continue;
    const table = await readTable(folder, below, names);
    if (table.columns.includes(PARENT_COLUMN)) lists.set(column, table);
  }
  return { file, columns, lists };
}

/** Returns the table of a list whose name was cut in front; undefined where none ends as the column does, or several do. */
function shortened(name: string, column: string, names: ReadonlySet<string>): string | undefined {
  const bucket = name.slice(0, name.lastIndexOf('.') + 1);
  const wanted = `_${column}`;
  const [only, ...others] = [...names].filter((each) => {
    if (!each.startsWith(bucket) || each.startsWith(`${name}_`)) return false;
    const rest = each.slice(each.indexOf('_', bucket.length));
    return each.length - bucket.length >= SHORTENED && (rest.endsWith(wanted) || wanted.endsWith(rest));
  });
  return others.length === 0 ? only : undefined;
}

async function headerOf(file: string): Promise<readonly string[]> {
  for await (const cells of linesOf(file)) return cells;
  return [];
}

/** Reads the lines of a table one after another, the header first. */
export async function* linesOf(file: string): AsyncGenerator<readonly string[]> {
  for await (const records of recordsOf(createReadStream(file), createDialect(), () => 1))
    for (const { cells } of records) yield cells;
}
