import { closeSync, mkdirSync, openSync, readSync, renameSync } from 'node:fs';
import path from 'node:path';
import { csvText } from '../../lib/csv/write.ts';
import { SinkError } from '../../lib/errors.ts';
import { Appender } from './appender.ts';
import { guard } from './file-error.ts';

/** Columns of a table, in header order. */
export interface Layout {
  readonly name: string;
  readonly columns: readonly string[];
  readonly primaryKey?: readonly string[];
}

/** A finished table: a whole CSV file in the work folder. */
export interface FinishedTable extends Layout {
  readonly file: string;
  readonly rows: number;
  /** NUL characters that became U+FFFD. */
  readonly nuls: number;
}

interface TableFile {
  readonly name: string;
  columns: readonly string[];
  primaryKey: readonly string[] | undefined;
  file: Appender;
  rows: number;
  /** Offset up to which the file is to be written again; 0 when all of it is right. */
  stale: number;
  /** Rows in the stale part. */
  staleRows: number;
  /** NUL characters that were replaced, and those of them in the stale part. */
  nuls: number;
  staleNuls: number;
  /** Writer of the part that replaces the stale one. */
  again: Appender | undefined;
}

/**
 * Tables of one bucket while a run writes them. All files lie in a work folder; nothing enters the output folder before
 * the run has succeeded. Memory does not grow with the rows.
 *
 * A table whose layout changes keeps its content and records how much of it is stale. That part is written again at the
 * end, in front of the rest.
 */
export class Sink {
  readonly #folder: string;
  readonly #tables = new Map<string, TableFile>();

  /** @param folder made when it is missing; must be on the file system of the final place */
  constructor(folder: string) {
    this.#folder = folder;
    guard(folder, () => mkdirSync(folder, { recursive: true }));
  }

  open(layout: Layout): void {
    const known = this.#tables.get(layout.name);
    if (known !== undefined) {
      if (sameColumns(known.columns, layout.columns)) return;
      throw new SinkError(
        'output.failed',
        `Two sources write the table “${layout.name}” with different columns`,
        {
          hint: `One has ${known.columns.join(', ')}; the other has ${layout.columns.join(', ')}. Give one of them another name.`,
        },
      );
    }
    const file = new Appender(path.join(this.#folder, `${this.#tables.size}.csv`), true);
    file.text(csvText([layout.columns]));
    const { name, columns, primaryKey } = layout;
    this.#tables.set(name, {
      name,
      columns,
      primaryKey,
      file,
      rows: 0,
      stale: 0,
      staleRows: 0,
      nuls: 0,
      staleNuls: 0,
      again: undefined,
    });
  }

  /**
   * Appends rows. NUL characters become U+FFFD: no database has texts with them, and each would refuse the whole table.
   */
  append(name: string, lines: string | Uint8Array, rows: number): void {
    const table = this.#table(name);
    const file = table.again ?? table.file;
    if (hasNul(lines)) this.#appendWithoutNuls(table, file, lines);
    else if (typeof lines === 'string') file.text(lines);
    else file.bytes(lines);
    table.rows += rows;
  }

  #appendWithoutNuls(table: TableFile, file: Appender, lines: string | Uint8Array): void {
    const text = typeof lines === 'string' ? lines : Buffer.from(lines).toString('utf8');
    const parts = text.split('\0');
    table.nuls += parts.length - 1;
    file.text(parts.join('\uFFFD'));
  }

  /**
   * Changes the layout of a table. When the table is already being written again, this must come before its first row.
   */
  relayout(layout: Layout): void {
    const table = this.#table(layout.name);
    table.columns = layout.columns;
    if (table.again !== undefined) {
      table.again.truncate(0);
      table.again.text(csvText([layout.columns]));
      return;
    }
    if (table.rows === 0) {
      // Only a header was written, which is still in the buffer.
      table.file.truncate(0);
      table.file.text(csvText([layout.columns]));
    }
    table.stale = table.file.offset;
    table.staleRows = table.rows;
    table.staleNuls = table.nuls;
  }

  /** Starts writing stale parts again. Writes go to the disk at once from now on. */
  rewrite(): void {
    for (const table of this.#tables.values()) {
      table.file.direct = true;
      if (table.stale === 0) continue;
      table.again = new Appender(`${table.file.path}.again`);
      table.again.direct = true;
      table.again.text(csvText([table.columns]));
      table.rows -= table.staleRows;
      table.nuls -= table.staleNuls;
    }
  }

  /** Returns the number of rows of all tables. */
  get rows(): number {
    let rows = 0;
    for (const table of this.#tables.values()) rows += table.rows;
    return rows;
  }

  /** See {@link Appender.isBehind}. */
  get isBehind(): boolean {
    for (const { file } of this.#tables.values()) if (file.isBehind) return true;
    return false;
  }

  /** Waits for the files, see {@link Appender.settle}. */
  async settle(all = false): Promise<void> {
    for (const { file } of this.#tables.values()) await file.settle(all);
  }

  /** Finishes every file. The files stay in the work folder. */
  async close(): Promise<FinishedTable[]> {
    await this.settle(true);
    return [...this.#tables.values()].map((table) => {
      const file = this.#finish(table);
      const { name, columns, primaryKey, rows, nuls } = table;
      return { name, columns, rows, nuls, file, ...(primaryKey === undefined ? {} : { primaryKey }) };
    });
  }

  /** Releases all files; their content is left to the code that removes the work folder. */
  async abandon(): Promise<void> {
    for (const table of this.#tables.values()) {
      await table.file.abandon();
      await table.again?.abandon();
    }
  }

  #finish(table: TableFile): string {
    const { file, again, stale } = table;
    file.close();
    if (again === undefined) return file.path;
    copyTail(file.path, stale, again);
    again.close();
    guard(file.path, () => renameSync(again.path, file.path));
    return file.path;
  }

  #table(name: string): TableFile {
    const table = this.#tables.get(name);
    if (table === undefined)
      throw new SinkError('internal', `The table “${name}” is not open`, { audience: 'application' });
    return table;
  }
}

function hasNul(lines: string | Uint8Array): boolean {
  if (typeof lines === 'string') return lines.includes('\0');
  // a Buffer looks for a byte many times faster than its superclass
  return Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength).includes(0);
}

function sameColumns(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((column, i) => column === b[i]);
}

function copyTail(from: string, offset: number, to: Appender): void {
  const fd = guard(from, () => openSync(from, 'r'));
  try {
    const buffer = Buffer.allocUnsafe(1 << 18);
    for (let at = offset; ;) {
      const count = readSync(fd, buffer, 0, buffer.length, at);
      if (count === 0) return;
      to.bytes(buffer.subarray(0, count));
      at += count;
    }
  } finally {
    closeSync(fd);
  }
}
