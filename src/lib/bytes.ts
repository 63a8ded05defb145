const QUOTE = 0x22;
const COMMA = 0x2c;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const SEMICOLON = 0x3b;
const SMALL_E = 0x65;
const SMALL_S = 0x73;

/** Digits of a number that is surely written with the digits that it came with; the point counts as one. */
const MOST_DIGITS = 15;

/** Bytes around a text that is written with its length. */
const MOST_AROUND = 24;

/** Length up to which views are kept: to make one takes as long as to hash a hundred bytes. */
const KEPT_VIEW = 2048;

/** Length up to which a text is copied faster by a loop than by a call into the runtime. */
const SHORT = 40;

/** Length up to which bytes are copied faster by a loop than by a call into the runtime. */
const LONG = 128;

/**
 * Growing buffer of UTF-8 bytes: the hot path of CSV lines and hashes. No string is built on the way, because ropes of
 * small strings cost more than the bytes themselves.
 */
export class ByteWriter {
  #bytes: Buffer;
  /** Views of the first bytes, by their number. */
  #views: Buffer[] = [];
  length = 0;

  constructor(capacity = 1 << 16) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  /** Returns a view of the bytes written so far; valid until the next write. */
  view(from = 0): Buffer {
    const { length } = this;
    if (from > 0 || length >= KEPT_VIEW) return this.#bytes.subarray(from, length);
    return (this.#views[length] ??= this.#bytes.subarray(0, length));
  }

  byte(byte: number): void {
    if (this.length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.length++] = byte;
  }

  comma(): void {
    this.byte(COMMA);
  }

  newline(): void {
    this.byte(NEWLINE);
  }

  bytes(bytes: Uint8Array): void {
    this.slice(bytes, 0, bytes.length);
  }

  /** Appends a text as UTF-8. */
  text(text: string): void {
    const { length } = text;
    this.#grow(length * 3);
    if (length > SHORT) {
      this.length += this.#bytes.write(text, this.length, 'utf8');
      return;
    }
    const bytes = this.#bytes;
    const start = this.length;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        this.length = start + bytes.write(text, start, 'utf8');
        return;
      }
      bytes[start + i] = code;
    }
    this.length = start + length;
  }

  /**
   * Appends an ASCII text between two others. Returns false, and writes nothing, when the text in the middle is not
   * ASCII.
   */
  framed(head: string, text: string, tail: string): boolean {
    const { length } = text;
    this.#grow(head.length + length + tail.length);
    const bytes = this.#bytes;
    let at = this.length;
    for (let i = 0; i < head.length; i++) bytes[at++] = head.charCodeAt(i);
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at++] = code;
    }
    for (let i = 0; i < tail.length; i++) bytes[at++] = tail.charCodeAt(i);
    this.length = at;
    return true;
  }

  /** Appends a CSV cell: quoted, inner quotes doubled. */
  cell(text: string): void {
    const { length } = text;
    this.#grow(length * 3 + 2);
    const bytes = this.#bytes;
    let at = this.length;
    bytes[at++] = QUOTE;
    if (length > SHORT) at += bytes.write(text.includes('"') ? text.replaceAll('"', '""') : text, at, 'utf8');
    else {
      for (let i = 0; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code > 0x7f || code === QUOTE) {
          at += bytes.write(text.slice(i).replaceAll('"', '""'), at, 'utf8');
          break;
        }
        bytes[at++] = code;
      }
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /**
   * Appends a JSON text that has no escapes: with its quotes it is a CSV cell as it stands.
   *
   * @param at offset of the opening quote
   * @returns the offset behind the closing one; −1, and nothing is appended, for a text with escapes, or none
   */
  jsonText(source: Uint8Array, at: number): number {
    const start = this.length;
    this.byte(QUOTE);
    let from = at + 1;
    while (from < source.length) {
      if (this.length === this.#bytes.length) this.#grow(1);
      const bytes = this.#bytes;
      const end = Math.min(source.length, from + bytes.length - this.length);
      let to = this.length;
      while (from < end) {
        const byte = source[from++] ?? 0;
        if (byte === BACKSLASH || byte < SPACE) {
          this.length = start;
          return -1;
        }
        bytes[to++] = byte;
        if (byte === QUOTE) {
          this.length = to;
          return from;
        }
      }
      this.length = to;
    }
    this.length = start;
    return -1;
  }

  /**
   * Appends a JSON number as a CSV cell, if its literal is the text that it has there.
   *
   * @returns the offset behind it; −1, and nothing is appended, where the number has another text, or is none
   */
  jsonNumber(source: Uint8Array, at: number): number {
    this.#grow(MOST_DIGITS + 5);
    const bytes = this.#bytes;
    let to = this.length;
    let from = at;
    bytes[to++] = QUOTE;
    if (source[from] === MINUS) bytes[to++] = source[from++] ?? 0;
    const first = from;
    let byte = source[from] ?? 0;
    while (byte >= ZERO && byte <= NINE && from - first <= MOST_DIGITS) {
      bytes[to++] = byte;
      byte = source[++from] ?? 0;
    }
    const whole = from - first;
    const isZero = source[first] === ZERO;
    if (whole === 0 || whole > MOST_DIGITS || (isZero && whole > 1)) return -1;
    if (byte === POINT) {
      bytes[to++] = byte;
      const point = from;
      let isSmall = isZero;
      byte = source[++from] ?? 0;
      while (byte >= ZERO && byte <= NINE && from - first <= MOST_DIGITS) {
        if (byte !== ZERO && from - point <= 3) isSmall = false;
        bytes[to++] = byte;
        byte = source[++from] ?? 0;
      }
      if (isSmall || from - point < 2 || source[from - 1] === ZERO || from - first > MOST_DIGITS) return -1;
    } else if (isZero && first > at) return -1;
    if ((byte | 0x20) === SMALL_E || byte === POINT || (byte >= ZERO && byte <= NINE)) return -1;
    bytes[to++] = QUOTE;
    this.length = to;
    return from;
  }

  /** Appends a part of other bytes. */
  slice(source: Uint8Array, from: number, end: number): void {
    this.#grow(end - from);
    const bytes = this.#bytes;
    if (end - from > LONG) bytes.set(source.subarray(from, end), this.length);
    else for (let at = from, to = this.length; at < end;) bytes[to++] = source[at++] ?? 0;
    this.length += end - from;
  }

  /**
   * Appends a JSON text that has no escapes as `s:<bytes>:"<text>";`.
   *
   * @param at offset of the opening quote
   * @returns the offset behind the closing one; 0, and nothing is appended, for a text with escapes, and −1 for none
   */
  serializedText(source: Uint8Array, at: number): number {
    let end = at + 1;
    for (let byte = source[end]; byte !== QUOTE; byte = source[++end]) {
      if (byte === undefined) return -1;
      if (byte === BACKSLASH) return 0;
    }
    const count = end - at - 1;
    this.#grow(count + MOST_AROUND);
    const bytes = this.#bytes;
    let to = this.length;
    bytes[to++] = SMALL_S;
    bytes[to++] = COLON;
    if (count < 10) bytes[to++] = ZERO + count;
    else if (count < 100) {
      const tens = Math.floor(count / 10);
      bytes[to++] = ZERO + tens;
      bytes[to++] = ZERO + count - 10 * tens;
    } else for (const digit of String(count)) bytes[to++] = ZERO + Number(digit);
    bytes[to++] = COLON;
    for (let from = at; from <= end; from++) bytes[to++] = source[from] ?? 0;
    bytes[to++] = SEMICOLON;
    this.length = to;
    return end + 1;
  }

  /** Replaces what was appended from one offset to another by an ASCII text. */
  replace(from: number, end: number, text: string): void {
    const more = text.length - (end - from);
    if (more > 0) this.#grow(more);
    const bytes = this.#bytes;
    if (more !== 0) bytes.copyWithin(end + more, end, this.length);
    for (let i = 0; i < text.length; i++) bytes[from + i] = text.charCodeAt(i);
    this.length += more;
  }

  /** Ensures room for so many more bytes. */
  #grow(count: number): void {
    const needed = this.length + count;
    if (needed <= this.#bytes.length) return;
    const next = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(next, 0, 0, this.length);
    this.#bytes = next;
    this.#views = [];
  }
}
