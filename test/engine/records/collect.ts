import { rowLine } from '../../../src/lib/csv/write.ts';
import { RecordError } from '../../../src/lib/errors.ts';
import { parseExact, type AnyObject, type Json } from '../../../src/lib/json/index.ts';
import type { PageRows, RecordParser, TableLayout, TableOutput } from '../../../src/engine/records/parser.ts';

/** Tables in memory: opened once, equal columns or an error. */
export class Collected implements TableOutput {
  readonly layouts = new Map<string, TableLayout>();
  readonly #lines = new Map<string, string>();
  readonly #rows = new Map<string, number>();

  open(table: TableLayout): void {
    const known = this.layouts.get(table.name);
    if (known === undefined) this.layouts.set(table.name, table);
    else if (known.columns.join('\n') !== table.columns.join('\n')) {
      throw new RecordError('records.invalid', `The table “${table.name}” is there with other columns`);
    }
  }

  append(table: string, lines: string, rows: number): void {
    if (!this.layouts.has(table)) throw new Error(`The table “${table}” is not open`);
    this.#lines.set(table, (this.#lines.get(table) ?? '') + lines);
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + rows);
  }

  relayout(table: TableLayout): void {
    this.layouts.set(table.name, table);
  }

  rewrite(): void {
    this.#lines.clear();
  }

  /** The file of a table. */
  csv(table: string): string | undefined {
    const layout = this.layouts.get(table);
    return layout && rowLine(layout.columns) + (this.#lines.get(table) ?? '');
  }

  /** Lines as people write them: cells without quotes, joined by ` | `. */
  show(table: string): string[] {
    const layout = this.layouts.get(table);
    if (layout === undefined) return [];
    const lines = (this.#lines.get(table) ?? '').split('\n').slice(0, -1);
    return [layout.columns.join(' | '), ...lines.map((line) => line.slice(1, -1).split('","').join(' | '))];
  }

  rows(table: string): number {
    return this.#rows.get(table) ?? 0;
  }

  get names(): string[] {
    return [...this.layouts.keys()];
  }
}

/** A page whose rows are read from JSON text, one chunk for each text. */
export function page(dataType: string, chunks: string | readonly string[], extra: AnyObject = {}): PageRows {
  const lists = (typeof chunks === 'string' ? [chunks] : chunks).map(
    (text) => parseExact(text) as readonly Json[],
  ); // tests give lists
  return { dataType, extra, chunks: () => lists, count: lists.reduce((sum, list) => sum + list.length, 0) };
}

export function run(parser: RecordParser, pages: readonly PageRows[]): Collected {
  const out = new Collected();
  for (const each of pages) parser.take(each, out);
  parser.finish(() => pages, out);
  return out;
}
