const QUOTE = 0x22;
const COMMA = 0x2c;
const NEWLINE = 0x0a;

/** Length up to which a text is copied faster by a loop than by a call into the runtime. */
const SHORT = 40;

/**
 * Growing buffer of UTF-8 bytes: the hot path of CSV lines and hashes. No string is built on the way, because ropes of
 * small strings cost more than the bytes themselves.
 */
export class ByteWriter {
  #bytes: Buffer;
  length = 0;

  constructor(capacity = 1 << 16) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  /** Returns a view of the bytes written so far; valid until the next write. */
  view(from = 0): Buffer {
    return this.#bytes.subarray(from, this.length);
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
    this.#grow(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
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

  /** Ensures room for so many more bytes. */
  #grow(count: number): void {
    const needed = this.length + count;
    if (needed <= this.#bytes.length) return;
    const next = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(next, 0, 0, this.length);
    this.#bytes = next;
  }
}
