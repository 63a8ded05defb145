import {
  behindText,
  behindWord,
  plainTextBetween,
  scalarsDigestAt,
  valueBetween,
  type Json,
  type RowCut,
} from '../../lib/json/index.ts';
import type { Scratch } from '../../lib/scratch.ts';
import type { SeenRows } from '../shared/seen-rows.ts';

/** Bytes of JSON with whole rows in them. */
export interface RowBytes {
  readonly bytes: Uint8Array;
  /** Offset of the first row. */
  readonly start: number;
  /** Offset behind the last row. */
  readonly end: number;
}

/** Rows of one chunk, as the bytes of JSON that they came in; the plain parse reads them exactly. */
export interface RawRows {
  /** Number of bytes. */
  readonly size: number;
  readonly rows: number;
  /** Places where they can be divided; offsets count from the first row. */
  readonly cuts: readonly RowCut[];
  /** Returns the bytes; those of a body that is too large for memory are read anew each time, into this memory if given. */
  open(into?: Scratch): RowBytes;
  /** Decodes them, each time anew. */
  decode(): readonly Json[];
}

/** The rows of a page as bytes, where they are written as they came. */
export interface RawPage {
  readonly chunks: readonly RawRows[];
  /** Names of properties that somebody will look at. */
  wanted(): readonly string[];
  /** Takes what was seen of a chunk that was written; called once for each, in their order. */
  see(chunk: number, rows: SeenRows): void;
}

const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;

/** Offsets of rows and of values in them, see {@link RawSeen}. */
export interface SeenPlaces {
  readonly rows: Int32Array;
  readonly values: Int32Array;
}

/** Places of rows that were written from their bytes, and of some of their values, which can be looked at afterwards. */
export class RawSeen implements SeenRows {
  readonly #bytes: Uint8Array;
  readonly #width: number;
  /** Begin and end of each row; behind them the offset of each value that is wanted, and 0 where it is missing. */
  readonly #places: Int32Array;
  /** Place of the first of the values. */
  readonly #from: number;
  /** Which of the values a column is. */
  readonly #slots: readonly (number | undefined)[];
  readonly #columns: ReadonlyMap<string, number | undefined>;
  readonly length: number;

  /** @param columns numbers of the columns that are wanted, by name; −1 for those that no row has */
  constructor(
    { bytes, rows }: Pick<RowBytes, 'bytes'> & Pick<RawRows, 'rows'>,
    columns: ReadonlyMap<string, number | undefined>,
  ) {
    this.#bytes = bytes;
    this.length = rows;
    this.#columns = columns;
    const slots: (number | undefined)[] = [];
    let width = 0;
    for (const column of columns.values()) if (column !== undefined && column >= 0) slots[column] = width++;
    this.#slots = slots;
    this.#width = width;
    // in one piece of memory, as two would take twice as long
    this.#places = new Int32Array((2 + width) * rows);
    this.#from = 2 * rows;
  }

  /** Number of values that are noted in each row, and which of them a column is. */
  get noted(): { readonly width: number; readonly slots: readonly (number | undefined)[] } {
    return { width: this.#width, slots: this.#slots };
  }

  get places(): SeenPlaces {
    return { rows: this.#places.slice(0, this.#from), values: this.#places.slice(this.#from) };
  }

  /**
   * Adds the places of rows that were written by themselves.
   *
   * @param row the first of them
   * @param at where their bytes begin
   */
  add({ rows, values }: SeenPlaces, row: number, at: number): void {
    for (let i = 0, to = 2 * row; i < rows.length; i++) this.#places[to++] = (rows[i] ?? 0) + at;
    for (let i = 0, to = this.#from + this.#width * row; i < values.length; i++) {
      const place = values[i] ?? 0;
      this.#places[to++] = place === 0 ? 0 : place + at;
    }
  }

  begin(row: number, at: number): void {
    this.#places[2 * row] = at;
  }

  end(row: number, at: number): void {
    this.#places[2 * row + 1] = at;
  }

  value(row: number, column: number, at: number): void {
    const slot = this.#slots[column];
    if (slot !== undefined) this.#places[this.#from + row * this.#width + slot] = at;
  }

  /** Decodes a row. */
  at(row: number): Json {
    return valueBetween(this.#bytes, this.#places[2 * row] ?? 0, this.#places[2 * row + 1] ?? 0);
  }

  json(row: number): Uint8Array | undefined {
    const at = this.#places[2 * row] ?? 0;
    if (this.#bytes[at] !== OPEN_OBJECT) return undefined;
    return Buffer.from(this.#bytes.subarray(at, this.#places[2 * row + 1]));
  }

  digest(row: number): number {
    const at = this.#places[2 * row] ?? 0;
    return this.#bytes[at] === OPEN_OBJECT ? scalarsDigestAt(this.#bytes, at) : 0;
  }

  /** Returns a reader of the values of a property; undefined where only whole rows show them. */
  property(name: string): ((row: number) => Json | undefined) | undefined {
    const column = this.#columns.get(name);
    if (column === undefined) return undefined;
    const slot = this.#slots[column];
    if (slot === undefined) return () => undefined;
    return (row) => {
      const at = this.#places[this.#from + row * this.#width + slot] ?? 0;
      return at === 0 ? undefined : scalarAt(this.#bytes, at);
    };
  }

  without(name: string): readonly number[] | undefined {
    const column = this.#columns.get(name);
    if (column === undefined) return undefined;
    const slot = this.#slots[column] ?? -1;
    const rows: number[] = [];
    for (let row = 0; row < this.length; row++)
      if (slot < 0 || this.#places[this.#from + row * this.#width + slot] === 0) rows.push(row);
    return rows;
  }
}

function scalarAt(bytes: Uint8Array, at: number): Json {
  const first = bytes[at] ?? 0;
  let number = 0;
  let end = at;
  for (let byte = first; byte >= 0x30 && byte <= 0x39; byte = bytes[++end] ?? 0)
    number = 10 * number + byte - 0x30;
  const behind = bytes[end];
  if (end > at && (behind === 0x2c || behind === 0x7d)) return number;
  if (first !== QUOTE) return valueBetween(bytes, at, behindWord(bytes, at));
  const close = behindText(bytes, at);
  return plainTextBetween(bytes, at, close) ?? valueBetween(bytes, at, close);
}
