import { ROWS } from './rows.generated.ts';

/** Places in the memory of rows.wat, which says what is there. */
const COLUMNS_AT = 0x30;
const COLUMN_BYTES = 16;
const SOURCE_AT = 0x10000;
const SPANS_AT = 0x21000;
const NOTED_AT = 0x29000;
const LINES_AT = 0x39000;
const LINES_END = 0x80000;

/** Bytes of rows that are in the memory at once. */
const SOURCE_BYTES = 0x10000;

/** Rows that are written at once, and values of them that are noted. */
const MOST_ROWS = (NOTED_AT - SPANS_AT) / 8;
const MOST_NOTED = (LINES_AT - NOTED_AT) / 4;

/** Room that a line may need beyond the bytes of its row. */
const MOST_ROOM = 0x10000;

/** Bytes that are read and written beyond what is there. */
const SLACK = 32;

/** A row that was read up to so many bytes from the end of what is in the memory may go on behind it. */
const NEAR_END = 64;

/** Bytes in which a row begins that is skipped with others; a larger one is left out. */
const NEXT_BYTES = 0x2000;

/** How rows without objects and lists in them become lines. */
export interface LineLayout {
  readonly columns: readonly LayoutColumn[];
  /** Cells of the words. */
  readonly words: { readonly null: Uint8Array; readonly true: Uint8Array; readonly false: Uint8Array };
  /** Cells behind those of each row. */
  readonly tail: Uint8Array | undefined;
  /** Number of values that are noted in each row. */
  readonly noted: number;
}

export interface LayoutColumn {
  /** Name in quotes, as it is in the rows. */
  readonly name: Uint8Array;
  /** Which of the noted values it is. */
  readonly slot: number | undefined;
  /** Nothing but null may come. */
  readonly isNull: boolean;
}

/** Lines of rows that follow each other; valid until the next call. */
export interface LinesOfRows {
  readonly rows: number;
  /** Offset behind the last row, or where it began when there is none. */
  readonly at: number;
  readonly lines: Uint8Array;
  /** Begin and end of each row, and begin of each noted value (0: missing), counted from {@link from}. */
  readonly spans: Int32Array;
  readonly noted: Int32Array;
  readonly from: number;
  /** More rows may be written at once. */
  readonly goesOn: boolean;
}

/** Rows that were skipped. */
export interface SkippedRows {
  readonly rows: number;
  /** Offset of the next row, or of the bracket behind the last one. */
  readonly at: number;
  /** Offset behind the last row. */
  readonly behind: number;
  /** The plain parse loses nothing of them. */
  readonly plain: boolean;
}

interface Code {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly at: { readonly value: number };
  readonly out: { readonly value: number };
  readonly reached: { readonly value: number };
  readonly behind: { readonly value: number };
  readonly plain: { readonly value: number };
  write(at: number, end: number, isFirst: number, most: number, out: number, outEnd: number): number;
  skip(at: number, until: number, mostLevels: number): number;
}

/** The part of the platform's WebAssembly that is used; its types come with those of the browser alone. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/**
 * Reads and writes many rows at once, as far as they are of the usual form: the code in rows.wat, which takes sixteen
 * bytes at a time, and needs no practice. What it leaves is for the code that takes one row after the other.
 */
export class ManyRows {
  readonly #code: Code;
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  /** The bytes whose part is in the memory, and where it begins and ends there. */
  #source: Uint8Array | undefined;
  #from = 0;
  #to = 0;
  /** The layout that is in the memory. */
  #layout: LineLayout | undefined;
  /** Values that are noted in each row. */
  #noted = 0;

  private constructor(code: Code) {
    this.#code = code;
    this.#bytes = new Uint8Array(code.memory.buffer);
    this.#words = new Int32Array(code.memory.buffer);
  }

  /** Creates it; undefined where the runtime, or the machine, does not take the code. */
  static create(): ManyRows | undefined {
    try {
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(ROWS, 'base64')));
      return new ManyRows(exports as Code); // what rows.wat exports
    } catch {
      return undefined;
    }
  }

  /** Begins with rows of a layout; false where it has no room for them. */
  begin(layout: LineLayout): boolean {
    this.#source = undefined;
    if (layout === this.#layout) return true;
    const { columns, words, tail, noted } = layout;
    const longest = Math.max(words.null.length, words.true.length, words.false.length);
    const room = columns.length * (longest + 4) + (tail?.length ?? 0) + 2 * SLACK;
    const texts = [...columns.map(({ name }) => name), words.null, words.true, words.false, tail ?? NOTHING];
    const end = COLUMNS_AT + columns.length * COLUMN_BYTES;
    const size = texts.reduce((sum, { length }) => sum + length, end + SLACK);
    if (columns.length === 0 || room > MOST_ROOM || size > SOURCE_AT || noted > MOST_NOTED) return false;
    let at = end;
    const places = texts.map((text) => {
      this.#bytes.set(text, at);
      at += text.length;
      return [at - text.length, text.length];
    });
    const around = places.splice(columns.length).flat();
    this.#words.set([end, room, ...around, noted], 0);
    for (const [i, { slot = -1, isNull }] of columns.entries())
      this.#words.set([...(places[i] ?? []), slot, isNull ? 1 : 0], (COLUMNS_AT + i * COLUMN_BYTES) / 4);
    this.#noted = noted;
    this.#layout = layout;
    return true;
  }

  /**
   * Writes the lines of rows, the first of which begins at an offset, behind the comma in front of it if it is the first
   * of all.
   *
   * @param end offset behind the last of all rows
   */
  write(bytes: Uint8Array, at: number, end: number, isFirst: boolean, rows: number): LinesOfRows {
    const most = Math.min(rows, MOST_ROWS, Math.floor(MOST_NOTED / Math.max(1, this.#noted)));
    for (;;) {
      const isNew = this.#source !== bytes || at < this.#from || at >= this.#to;
      if (isNew) this.#load(bytes, at, Math.min(end, at + SOURCE_BYTES));
      const from = this.#from;
      const last = SOURCE_AT + this.#to - from;
      const code = this.#code;
      const done = code.write(SOURCE_AT + at - from, last, isFirst ? 1 : 0, most, LINES_AT, LINES_END);
      const isCut = this.#to < end && code.reached.value > last - NEAR_END;
      if (done === 0 && isCut && !isNew) {
        this.#source = undefined;
        continue;
      }
      return {
        rows: done,
        at: code.at.value - SOURCE_AT + from,
        lines: this.#bytes.subarray(LINES_AT, code.out.value),
        spans: this.#words.subarray(SPANS_AT / 4, SPANS_AT / 4 + 2 * done),
        noted: this.#words.subarray(NOTED_AT / 4, NOTED_AT / 4 + this.#noted * done),
        from,
        goesOn: done > 0 && isCut,
      };
    }
  }

  /**
   * Skips rows of a list that begin between two offsets, the first of them at the first one.
   *
   * @param mostLevels levels that a row may have
   */
  skip(bytes: Uint8Array, at: number, until: number, mostLevels: number): SkippedRows {
    const to = Math.min(bytes.length, until + NEXT_BYTES, at + SOURCE_BYTES);
    this.#load(bytes, at, to);
    this.#source = undefined;
    const code = this.#code;
    const rows = code.skip(SOURCE_AT, SOURCE_AT + Math.min(until, to) - at, mostLevels);
    return {
      rows,
      at: code.at.value - SOURCE_AT + at,
      behind: code.behind.value - SOURCE_AT + at,
      plain: code.plain.value === 1,
    };
  }

  #load(bytes: Uint8Array, from: number, to: number): void {
    const end = SOURCE_AT + to - from;
    this.#bytes.set(bytes.subarray(from, to), SOURCE_AT);
    this.#bytes.fill(0, end, end + SLACK);
    this.#source = bytes;
    this.#from = from;
    this.#to = to;
  }
}

const NOTHING = new Uint8Array(0);

let shared: { readonly code: ManyRows | undefined } | undefined;

/** Returns the one of this thread; undefined where there is none. */
export function manyRows(): ManyRows | undefined {
  return (shared ??= { code: ManyRows.create() }).code;
}
