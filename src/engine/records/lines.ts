import type { TableLayout, TableOutput } from './parser.ts';

/** Characters that are gathered before they are handed on. */
const BATCH = 64 * 1024;

/** Gathers the lines of one table, so that the output is called for batches and not for every row. */
export class TableLines {
  readonly #table: string;
  readonly #out: TableOutput;
  #pending = '';
  #rows = 0;

  constructor(table: string, out: TableOutput) {
    this.#table = table;
    this.#out = out;
  }

  /** Adds a line with its line end. */
  add(line: string): void {
    this.#pending += line;
    this.#rows++;
    if (this.#pending.length >= BATCH) this.flush();
  }

  flush(): void {
    if (this.#rows === 0) return;
    this.#out.append(this.#table, this.#pending, this.#rows);
    this.#pending = '';
    this.#rows = 0;
  }
}

/**
 * The open tables of one page. A page that fails takes its gathered lines with it, and tables are opened again for
 * each page.
 */
export class PageTables {
  readonly #out: TableOutput;
  readonly #lines = new Map<string, TableLines>();
  readonly #opened = new Set<TableLayout>();

  constructor(out: TableOutput) {
    this.#out = out;
  }

  open(layout: TableLayout): TableLines {
    if (!this.#opened.has(layout)) {
      this.#out.open(layout);
      this.#opened.add(layout);
    }
    let lines = this.#lines.get(layout.name);
    if (lines === undefined) {
      lines = new TableLines(layout.name, this.#out);
      this.#lines.set(layout.name, lines);
    }
    return lines;
  }

  flush(): void {
    for (const lines of this.#lines.values()) lines.flush();
  }
}
