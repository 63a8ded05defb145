import { manyRows } from '../wasm/rows.ts';
import type { ScannedList, RowChunk, RowCut, ListScan } from './found.ts';
import { Scratch } from '../scratch.ts';
import { JsonSyntaxError, MAX_DEPTH } from './parse.ts';
import { isIntegerKey, isMinusZero, isTelling, isWhite } from './scan-bytes.ts';

/** Bytes of rows that are decoded at once. */
export const CHUNK_BYTES = 1 << 20;

/** Bytes between two places where a chunk can be divided. */
const PART_BYTES = 1 << 15;

/** Bytes of a list from which on its rows are skipped many at once. */
const MANY_BYTES = 1 << 10;

/** Rows that could not be skipped with others, after which all are skipped one by one. */
const MOST_MISSES = 100;

/** Bytes of rows that are decoded at once in a large document, which itself needs much memory. */
const SMALL_CHUNK_BYTES = 1 << 16;
const LARGE_BYTES = 1 << 24;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Scans the bytes of a JSON document in one pass. It finds the list at `path` (keys; none is the root) and reports
 * which parts `JSON.parse` would not read exactly: integers beyond 15 digits, literals of 15 and more digits, `1.0`,
 * exponents, `-0`, integer-like keys, lone surrogates.
 *
 * It checks no more of the grammar than it needs to stay in step; the parts are parsed afterwards, and together they
 * are the whole document.
 *
 * @param path undefined finds every direct list of the root
 * @throws {JsonSyntaxError} when brackets or quotes do not pair up
 */
export function scanPage(bytes: Uint8Array, path: readonly string[] | undefined): ListScan {
  return new Scanner(bytes, path, bytes.length).run();
}

/** The bytes of a document that is larger than the memory it is to take. */
export interface DocumentBytes {
  readonly bytes: number;
  /** Reads a part, into this memory or its own; shorter where the document ends. */
  read(at: number, length: number, into: Scratch): Uint8Array;
}

/** Sizes of the part of a large document that is in memory while it is scanned. */
export interface WindowSizes {
  readonly first: number;
  /** Largest size, for what stands before the rows, for one of them, and for what follows. */
  readonly most: number;
}

const WINDOW_SIZES: WindowSizes = { first: 1 << 18, most: 1 << 25 };

/**
 * Scans a document as {@link scanPage} does, with one part of it in memory after the other.
 *
 * @returns undefined for a document that only {@link scanPage} can tell about: it is no JSON, or one of its parts is too
 *   large
 */
export function scanLarge(
  document: DocumentBytes,
  path: readonly string[] | undefined,
  sizes: WindowSizes = WINDOW_SIZES,
): ListScan | undefined {
  const memory = new Scratch();
  for (let size = sizes.first; ; size = 2 * size) {
    const window = new Window(document, Math.min(size, sizes.most), sizes.most, memory);
    try {
      return new Scanner(window.bytes, path, document.bytes, window).run();
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      if (window.isMoved || window.isLast || size >= sizes.most) return undefined;
    }
  }
}

/** The part of a document that is in memory, which moves on from row to row. */
class Window {
  readonly #document: DocumentBytes;
  readonly #size: number;
  readonly #most: number;
  readonly #memory: Scratch;
  bytes: Uint8Array;
  /** Offset of the part in the document. */
  base = 0;
  isMoved = false;

  constructor(document: DocumentBytes, size: number, most: number, memory: Scratch) {
    this.#document = document;
    this.#size = size;
    this.#most = most;
    this.#memory = memory;
    this.bytes = document.read(0, size, memory);
  }

  /** Tells whether the document ends with this part. */
  get isLast(): boolean {
    return this.base + this.bytes.length >= this.#document.bytes;
  }

  /** Tells whether so little is left behind an offset that a row may not fit. */
  isLow(at: number): boolean {
    return this.bytes.length - at < this.#size / 8 && !this.isLast;
  }

  /** Moves on to an offset in the part; if that is where the part begins, it grows. False beyond the largest size. */
  moveTo(at: number): boolean {
    const size = at === 0 ? 2 * this.bytes.length : this.#size;
    return size <= this.#most && this.#take(at, size);
  }

  /** Moves on to an offset in the part, and takes all that is behind it; false beyond the largest size. */
  takeRest(at: number): boolean {
    const size = this.#document.bytes - this.base - at;
    return size <= this.#most && this.#take(at, size);
  }

  #take(at: number, size: number): boolean {
    this.base += at;
    this.bytes = this.#document.read(this.base, size, this.#memory);
    this.isMoved = true;
    return true;
  }
}

class Scanner {
  #bytes: Uint8Array;
  readonly #documentBytes: number;
  readonly #window: Window | undefined;
  readonly #path: readonly string[] | undefined;
  readonly #lists = new Map<string, ScannedList>();
  #at = 0;
  /** Offset of the bytes in the document. */
  #base = 0;
  #plain = true;

  /** @param window of a large document, whose part the bytes are */
  constructor(
    bytes: Uint8Array,
    path: readonly string[] | undefined,
    documentBytes: number,
    window?: Window,
  ) {
    this.#bytes = bytes;
    this.#path = path;
    this.#documentBytes = documentBytes;
    this.#window = window;
  }

  run(): ListScan {
    this.#white();
    const first = this.#bytes[this.#at];
    if (first === undefined) this.#fail('The text ends too early');
    const root = first === OPEN_OBJECT ? 'object' : first === OPEN_LIST ? 'list' : 'scalar';
    if (this.#path === undefined && root === 'object') this.#object(1, (key) => this.#directValue(key));
    else this.#descend(this.#path ?? [], 0);
    this.#white();
    if (this.#at < this.#bytes.length) this.#fail('Unexpected text after the JSON value');
    if (this.#window?.isLast === false) this.#fail('The document goes on');
    return { root, lists: this.#lists, plain: this.#plain };
  }

  #directValue(key: string): void {
    this.#forget(key);
    if (this.#bytes[this.#at] === OPEN_LIST) this.#list(key, 1);
    else this.#skipValue(1);
  }

  /** Follows the path and skips everything beside it. */
  #descend(path: readonly string[], depth: number): void {
    const first = this.#bytes[this.#at];
    if (depth === path.length) {
      if (first === OPEN_LIST) this.#list(path.join('.'), depth);
      else this.#skipValue(depth);
      return;
    }
    const wanted = path[depth] ?? '';
    if (first === OPEN_OBJECT) {
      this.#object(depth + 1, (key) => {
        if (key !== wanted) return this.#skipValue(depth + 1);
        this.#forget(path.join('.'));
        this.#descend(path, depth + 1);
      });
    } else if (first === OPEN_LIST) {
      let index = 0;
      this.#items(() =>
        String(index++) === wanted ? this.#descend(path, depth + 1) : this.#skipValue(depth + 1),
      );
    } else this.#skipValue(depth);
  }

  /** Removes the list found for an earlier occurrence of the key: the last one counts. */
  #forget(name: string): void {
    const found = this.#lists.get(name);
    if (found === undefined) return;
    this.#lists.delete(name);
    this.#plain &&= found.chunks.every((chunk) => chunk.plain);
  }

  #object(depth: number, value: (key: string) => void): void {
    if (depth > MAX_DEPTH) this.#fail(`More than ${MAX_DEPTH} levels of nesting`);
    const bytes = this.#bytes;
    this.#at++;
    this.#white();
    while (bytes[this.#at] !== CLOSE_OBJECT) {
      if (bytes[this.#at] !== QUOTE) this.#fail('A property name in double quotes was expected');
      const from = this.#at;
      this.#string();
      const key = this.#keyText(from, this.#at);
      this.#white();
      if (bytes[this.#at] !== COLON) this.#fail('“:” was expected');
      this.#at++;
      this.#white();
      value(key);
      this.#separator(CLOSE_OBJECT);
    }
    this.#at++;
  }

  #items(item: () => void): void {
    this.#at++;
    this.#white();
    while (this.#bytes[this.#at] !== CLOSE_LIST) {
      item();
      this.#separator(CLOSE_LIST);
    }
    this.#at++;
  }

  /** Reads a comma before the next value, or stops at the closing bracket. */
  #separator(close: number): void {
    this.#white();
    const byte = this.#bytes[this.#at];
    if (byte === close) return;
    if (byte !== COMMA) this.#fail(`“,” or “${String.fromCharCode(close)}” was expected`);
    this.#at++;
    this.#white();
    if (this.#bytes[this.#at] === close) this.#fail('A JSON value was expected');
  }

  /** Reads a list of rows and records where its chunks begin and end. */
  #list(name: string, depth: number): void {
    const chunkBytes = this.#documentBytes > LARGE_BYTES ? SMALL_CHUNK_BYTES : CHUNK_BYTES;
    const outside = this.#plain;
    const start = this.#base + this.#at;
    const chunks: RowChunk[] = [];
    let rows = 0;
    let from = start + 1;
    let count = 0;
    let behind = from;
    let part = from;
    let cuts: RowCut[] = [];
    this.#plain = true;
    const close = (): void => {
      if (count > 0) chunks.push({ start: from, end: behind, rows: count, plain: this.#plain, cuts });
      this.#plain = true;
      count = 0;
      cuts = [];
    };
    const row = (at: number, end: number, number = 1): void => {
      if (count === 0) part = from = at;
      else if (at - part >= PART_BYTES) {
        cuts.push({ end: behind, start: at, rows: count });
        part = at;
      }
      behind = end;
      count += number;
      rows += number;
      if (behind - from >= chunkBytes) close();
    };
    if (this.#window === undefined) {
      const many = this.#bytes.length - this.#at < MANY_BYTES ? undefined : manyRows();
      let misses = 0;
      this.#items(() => {
        const at = this.#at;
        if (many !== undefined && misses < MOST_MISSES) {
          // no row begins where a chunk is divided or ends, so that these are rows of one part
          const isNew = count === 0 || at - part >= PART_BYTES;
          const until = Math.min((isNew ? at : part) + PART_BYTES, (count === 0 ? at : from) + chunkBytes);
          const skipped = many.skip(this.#bytes, at, until, MAX_DEPTH - depth - 1);
          if (skipped.rows > 0) {
            this.#at = skipped.behind;
            if (!skipped.plain) this.#plain = false;
            row(at, skipped.behind, skipped.rows);
            return;
          }
          misses++;
        }
        this.#skipValue(depth + 1);
        row(at, this.#at);
      });
    } else this.#itemsOf(this.#window, depth, row);
    close();
    this.#plain = outside;
    this.#lists.set(name, { start, end: this.#base + this.#at, rows, chunks });
  }

  /** Reads the items of a list in a large document; a row at which the part in memory ends is read again. */
  #itemsOf(window: Window, depth: number, row: (at: number, end: number) => void): void {
    this.#at++;
    for (;;) {
      if (window.isLow(this.#at)) this.#move(window);
      const at = this.#at;
      const plain = this.#plain;
      try {
        this.#white();
        if (this.#bytes[this.#at] === CLOSE_LIST) break;
        const from = this.#at;
        this.#skipValue(depth + 1);
        const end = this.#at;
        this.#separator(CLOSE_LIST);
        if (this.#at >= this.#bytes.length) this.#fail('The text ends too early');
        row(this.#base + from, this.#base + end);
      } catch (error) {
        if (!(error instanceof JsonSyntaxError) || window.isLast) throw error;
        this.#at = at;
        this.#plain = plain;
        this.#move(window);
      }
    }
    this.#at++;
    if (!window.isLast && !window.takeRest(this.#at)) this.#fail('What follows the rows is too large');
    else this.#take(window);
  }

  #move(window: Window): void {
    if (!window.moveTo(this.#at)) this.#fail('A row is too large');
    this.#take(window);
  }

  #take(window: Window): void {
    this.#at += this.#base - window.base;
    this.#base = window.base;
    this.#bytes = window.bytes;
  }

  /** Moves behind one value of any kind, and notes the parts that a plain parse would lose. */
  #skipValue(depth: number): void {
    const bytes = this.#bytes;
    const length = bytes.length;
    const base = depth;
    let level = depth;
    let at = this.#at;
    for (;;) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        const from = at;
        at++;
        for (;;) {
          let inside = 0;
          while (at < length && (inside = bytes[at] ?? 0) !== QUOTE && inside !== BACKSLASH) at++;
          if (at >= length) this.#fail('The text ends inside a string');
          if (inside === QUOTE) break;
          if (isTelling(bytes, at)) this.#plain = false;
          at += 2;
        }
        at++;
        const first = bytes[from + 1] ?? 0;
        if (first >= 0x30 && first <= 0x39 && at - from <= 12 && isIntegerKey(bytes, from, at))
          this.#plain = false;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
        at++;
        if (++level > MAX_DEPTH) this.#fail(`More than ${MAX_DEPTH} levels of nesting`);
        continue;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        if (level === base) {
          this.#at = at;
          this.#fail('A JSON value was expected');
        }
        at++;
        level--;
      } else if (byte === 0x2d || (byte !== undefined && byte >= 0x30 && byte <= 0x39)) {
        at = this.#number(at);
      } else if (byte === undefined) {
        this.#at = at;
        this.#fail('The text ends too early');
      } else if (byte === COMMA && level === base) {
        this.#at = at;
        this.#fail('A JSON value was expected');
      } else at++;
      // Words such as `true` leave the level unchanged: skip to their end.
      if (level === base) {
        if (byte !== undefined && byte >= 0x61 && byte <= 0x7a)
          while ((bytes[at] ?? 0) >= 0x61 && (bytes[at] ?? 0) <= 0x7a) at++;
        break;
      }
    }
    this.#at = at;
  }

  #number(start: number): number {
    const bytes = this.#bytes;
    let at = start;
    let digits = 0;
    let point = -1;
    let exponent = false;
    let fractionIsZero = true;
    if (bytes[at] === 0x2d) at++;
    for (;;) {
      const byte = bytes[at];
      if (byte === undefined) break;
      if (byte >= 0x30 && byte <= 0x39) {
        digits++;
        if (point >= 0 && byte !== 0x30) fractionIsZero = false;
      } else if (byte === 0x2e) point = at;
      else if (byte === 0x65 || byte === 0x45) exponent = true;
      else if (byte !== 0x2b && byte !== 0x2d) break;
      at++;
    }
    if (
      exponent ||
      digits > 15 ||
      (point >= 0 && (fractionIsZero || digits > 14)) ||
      isMinusZero(bytes, start, at)
    )
      this.#plain = false;
    return at;
  }

  #string(): void {
    const bytes = this.#bytes;
    const from = this.#at;
    let at = from + 1;
    while (bytes[at] !== QUOTE) {
      if (at >= bytes.length) this.#fail('The text ends inside a string');
      if (bytes[at] === BACKSLASH && isTelling(bytes, at)) this.#plain = false;
      at += bytes[at] === BACKSLASH ? 2 : 1;
    }
    this.#at = at + 1;
    const first = bytes[from + 1] ?? 0;
    if (first >= 0x30 && first <= 0x39 && isIntegerKey(bytes, from, this.#at)) this.#plain = false;
  }

  #keyText(from: number, end: number): string {
    const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + from, end - from).toString('utf8');
    if (!text.includes('\\')) return text.slice(1, -1);
    try {
      return String(JSON.parse(text));
    } catch {
      return this.#fail('A property name could not be read');
    }
  }

  #white(): void {
    while (isWhite(this.#bytes[this.#at])) this.#at++;
  }

  #fail(reason: string): never {
    const from = Math.max(0, this.#at - (1 << 20));
    const text = Buffer.from(
      this.#bytes.subarray(from, Math.min(this.#bytes.length, this.#at + 100)),
    ).toString('latin1');
    throw new JsonSyntaxError(reason, text, this.#at - from);
  }
}
