import { ByteWriter } from '../../lib/bytes.ts';
import type { AnyObject } from '../../lib/json/index.ts';
import type { PageExtras } from './extras.ts';
import type { ItemPlan } from './plan.ts';

/** A table that rows can be written to. */
export interface OpenTable {
  readonly name: string;
  readonly plan: ItemPlan;
  /** The extra columns that were given when it was opened last. */
  pageExtras: PageExtras;
}

/** Name of the extra column that links a nested row to its parent. */
export const PARENT_COLUMN = 'JSON_parentId';

/** Lines that follow each other in one table. */
export interface LineBatch {
  readonly table: OpenTable;
  readonly bytes: Uint8Array;
  readonly rows: number;
}

/** The lines of one table, of one chunk of rows. */
export interface Lines {
  readonly table: OpenTable;
  readonly out: ByteWriter;
  rows: number;
  /** End of the last whole line. */
  end: number;
  /** Name that the column of the link got when the table was opened. */
  alias: string | undefined;
  /** The order of lines among all tables of the same name. */
  order: LinePiece[] | undefined;
}

interface LinePiece {
  readonly lines: Lines;
  readonly from: number;
  readonly to: number;
}

/** Position of a chunk in a run, for rows that have links of their own. */
export interface ChunkPlace {
  /** Number of the page among all that the parser took, from 0. */
  readonly page: number;
  /** The first row of the chunk in its page, from 0. */
  readonly row: number;
}

/** The lines of one chunk of rows, by table. Reused for every chunk. */
export class ChunkLines {
  readonly #open: (plan: ItemPlan, extra: AnyObject) => OpenTable;
  readonly #alias: () => string | undefined;
  readonly #lines = new Map<ItemPlan, Lines>();
  readonly #writers = new Map<ItemPlan, ByteWriter>();

  /** @param alias what an earlier table renamed the column of the link to */
  constructor(open: (plan: ItemPlan, extra: AnyObject) => OpenTable, alias: () => string | undefined) {
    this.#open = open;
    this.#alias = alias;
  }

  /** Throws away the lines of the last chunk. */
  clear(): void {
    this.#lines.clear();
  }

  /** Forgets plans that are not used any more. */
  reset(): void {
    this.#lines.clear();
    this.#writers.clear();
  }

  /** Returns the lines of a table, which is opened at its first row of the chunk. */
  of(plan: ItemPlan, extra: AnyObject): Lines {
    let lines = this.#lines.get(plan);
    if (lines === undefined) {
      let out = this.#writers.get(plan);
      if (out === undefined) this.#writers.set(plan, (out = new ByteWriter()));
      out.length = 0;
      const table = this.#open(plan, extra);
      lines = { table, out, rows: 0, end: 0, alias: this.#alias(), order: this.#orderOf(table.name) };
      this.#lines.set(plan, lines);
    }
    return lines;
  }

  /** Returns the lines of a table of nested rows, and the name of its link. */
  ofNested(plan: ItemPlan, link: string): { readonly lines: Lines; readonly name: string } {
    const lines = this.#lines.get(plan) ?? this.of(plan, { [PARENT_COLUMN]: link });
    // Each list is written as by the names of its own moment: another table may have renamed the column meanwhile.
    if (lines.alias !== this.#alias()) {
      lines.alias = this.#alias();
      this.#open(plan, { [PARENT_COLUMN]: link });
    }
    return { lines, name: lines.table.pageExtras.entries[0]?.[0] ?? PARENT_COLUMN };
  }

  /** Ends a line that began at an offset. */
  endLine(lines: Lines, start: number): void {
    lines.out.newline();
    lines.rows++;
    lines.end = lines.out.length;
    lines.order?.push({ lines, from: start, to: lines.end });
  }

  /** Appends whole lines to those of a table that shares its name with no other. */
  addLines(lines: Lines, bytes: Uint8Array, rows: number): void {
    lines.out.bytes(bytes);
    lines.rows += rows;
    lines.end = lines.out.length;
  }

  /**
   * Yields the lines of the chunk, by table; valid until the next chunk. Lists whose tables have one name share a batch,
   * in which a row is behind the items of its own lists, as in the reference.
   */
  *batches(): Iterable<LineBatch> {
    const done = new Set<LinePiece[]>();
    for (const { table, out, rows, order } of this.#lines.values()) {
      if (order === undefined) yield { table, bytes: out.view(), rows };
      else if (!done.has(order)) {
        done.add(order);
        yield inOrder(table, order);
      }
    }
  }

  /** Returns the shared order of the tables of a name; undefined for the first table of it. */
  #orderOf(name: string): LinePiece[] | undefined {
    for (const lines of this.#lines.values()) {
      if (lines.table.name === name) return (lines.order ??= [{ lines, from: 0, to: lines.end }]);
    }
    return undefined;
  }
}

/** Writes so many blank cells to a line that began at an offset. */
export function blanks(out: ByteWriter, start: number, count: number): void {
  for (let i = 0; i < count; i++) {
    if (out.length > start) out.comma();
    out.cell('');
  }
}

/** Writes the cells behind the data. */
export function writeTail(out: ByteWriter, start: number, tail: Uint8Array | string | undefined): void {
  if (tail === undefined) return;
  if (out.length > start) out.comma();
  if (typeof tail === 'string') out.cell(tail);
  else out.slice(tail, 0, tail.length);
}

function inOrder(table: OpenTable, order: readonly LinePiece[]): LineBatch {
  const bytes = Buffer.concat(order.map(({ lines, from, to }) => lines.out.view().subarray(from, to)));
  const rows = new Set(order.map(({ lines }) => lines)).values().reduce((sum, lines) => sum + lines.rows, 0);
  return { table, bytes, rows };
}
