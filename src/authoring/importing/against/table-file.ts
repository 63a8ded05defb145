import { createReadStream, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createDialect } from '../../../lib/csv/dialect.ts';
import { recordsOf } from '../../../lib/csv/records.ts';
import { PARENT_COLUMN } from '../../../engine/records/chunk-lines.ts';
import { safeName } from '../../../engine/records/names.ts';

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
    const below = `${name}_${column}`;
    if (column === PARENT_COLUMN || !names.has(below)) continue;
    const table = await readTable(folder, below, names);
    if (table.columns.includes(PARENT_COLUMN)) lists.set(column, table);
  }
  return { file, columns, lists };
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
