import type { AnyObject, Json } from '../../lib/json/index.ts';
import type { RowLook } from './look.ts';
import type { RawPage } from './raw-rows.ts';
import type { LineMakers } from './threads/messages.ts';
import type { ColumnType } from './types/column-type.ts';
import type { Widening } from './types/seen-values.ts';

/** The rows of one page of one job, with what belongs to all of them. */
export interface PageRows {
  /** Names the table, or the mapping. Raw text, not yet a file name. */
  readonly dataType: string;
  /** Extra columns by raw name: user data, then parent columns. */
  readonly extra: AnyObject;
  /** How they look in the table, where it is another way than usual. */
  readonly look?: RowLook | undefined;
  /**
   * Returns the rows after `dataField` and `responseFilter`, in chunks of bounded size. May be called again, and then
   * decodes anew; a chunk must not be kept.
   */
  chunks(): Iterable<readonly Json[]>;
  /** The same rows as bytes, for a parser that writes them without decoding; undefined where something changes them. */
  readonly raw?: RawPage | undefined;
  /** Page that they are of, for people. */
  readonly page?: string | undefined;
  /** Number of rows in all chunks; infinite where only reading several chunks would tell. */
  readonly count: number;
}

/** Output of a table. Names are file names, without the bucket. */
export interface TableOutput {
  /**
   * Says that a table exists. The first call fixes its place in the order of tables.
   *
   * @throws {RecordError} when the table is there with other columns
   */
  open(table: TableLayout): void;
  /** Appends CSV lines, each with its line end. The table must be open. Bytes are copied or written at once. */
  append(table: string, lines: string | Uint8Array, rows: number): void;
  /** Changes the columns of the table: lines written so far are stale and will be written again. */
  relayout(table: TableLayout): void;
  /** Moves the place of further lines in front of those that are not stale: the stale part is written again. */
  rewrite(): void;
}

/** A column, and the type of its values. */
export interface TypedColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Changes of the type in this run. */
  readonly widened: readonly Widening[];
}

export interface TableLayout {
  readonly name: string;
  readonly columns: readonly string[];
  readonly primaryKey?: readonly string[];
}

/**
 * Turns records into the lines of tables. Pages are given in the order of their arrival.
 *
 * A parser may need to see all pages before it can write the first one (a column that appears late). It then
 * learns in `take` and writes in `finish`, which can read every page again.
 */
export interface RecordParser {
  /** @throws {RecordError} when a value does not fit what was seen before */
  take(page: PageRows, out: TableOutput): void;
  /**
   * Begins to take a page whose lines other threads make; undefined for one that is to be taken here. Before it is done, no
   * other page may be taken.
   */
  takeAhead?(page: PageRows, out: TableOutput, threads: LineMakers): Promise<void> | undefined;
  /**
   * Finishes the parsing after the last page; called once. `pages` yields all pages that this parser took, in order,
   * again.
   */
  finish(pages: () => Iterable<PageRows>, out: TableOutput): void;
  /** Returns the types of the columns, by table, after the end; none where they are not wanted. */
  types?(): ReadonlyMap<string, readonly TypedColumn[]>;
  /** Value for `json_parser` of the state file; undefined leaves it as it was. */
  readonly struct: Json | undefined;
}
