import path from 'node:path';
import { Spool, type SpoolEntry, type SpoolPart } from './spool.ts';
import { TableFiles, type FinishedTable, type Layout, type Mark as TablesMark } from './table-files.ts';

/** A point that a sink can go back to. JSON: byte offsets, row counts, layouts. */
export interface Mark {
  readonly tables: TablesMark;
  readonly spool: number;
}

/**
 * The tables of one bucket while a run writes them. All of it lies in a work folder; nothing enters the output
 * folder before the run has succeeded. Memory does not grow with the rows.
 */
export class Sink {
  readonly #files: TableFiles;
  readonly #spool: Spool;

  /** @param folder made when missing; on the file system of the final place, so that renaming is atomic */
  constructor(folder: string) {
    this.#files = new TableFiles(folder);
    this.#spool = new Spool(path.join(folder, 'pages.spool'));
  }

  open(layout: Layout): void {
    this.#files.open(layout);
  }

  append(table: string, lines: string | Uint8Array, rows: number): void {
    this.#files.append(table, lines, rows);
  }

  relayout(layout: Layout): void {
    this.#files.relayout(layout);
  }

  rewrite(): void {
    this.#files.rewrite();
  }

  /** Keeps a page for a second reading. */
  keep(head: string, parts: readonly SpoolPart[]): void {
    this.#spool.append(head, parts);
  }

  /** The pages that were kept, in order. Everything must have settled. */
  kept(): Iterable<SpoolEntry> {
    return this.#spool.entries();
  }

  /** Rows written so far. */
  get rows(): number {
    return this.#files.rows;
  }

  /** Everything up to here is complete; what comes next can be taken back to this mark. */
  commit(): Mark {
    return { tables: this.#files.mark(), spool: this.#spool.offset };
  }

  async rollback(mark: Mark): Promise<void> {
    await this.#files.rollback(mark.tables);
    await this.#spool.settle(true);
    this.#spool.truncate(mark.spool);
  }

  /** Waits for the disk when too much is on its way; with `all`, until everything is written. */
  async settle(all = false): Promise<void> {
    await this.#files.settle(all);
    await this.#spool.settle(all);
  }

  /** Ends writing. The tables are whole files of the work folder. */
  async close(): Promise<FinishedTable[]> {
    const tables = await this.#files.close();
    await this.#spool.close();
    return tables;
  }

  /** Ends without finishing: for a run that failed. */
  async abandon(): Promise<void> {
    await this.#files.abandon();
    await this.#spool.close();
  }
}
