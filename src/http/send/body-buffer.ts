/** A body under this size is gathered from its parts; a larger one is written into one buffer as it comes. */
const SMALL_BYTES = 2 ** 20;

/**
 * Gathers the parts of a body. Parts that are kept until the end take the memory of the body twice; beyond the first
 * megabyte they go into one buffer that doubles, and the outgrown one is given back at once.
 */
export class BodyBuffer {
  #parts: Uint8Array[] = [];
  #buffer: ArrayBuffer | undefined;
  #size = 0;

  /** Bytes so far. */
  get size(): number {
    return this.#size;
  }

  add(part: Uint8Array): void {
    const size = this.#size + part.length;
    if (this.#buffer === undefined && size <= SMALL_BYTES) this.#parts.push(part);
    else this.#write(part, size);
    this.#size = size;
  }

  /** The body. Nothing may be added afterwards. */
  take(): Uint8Array {
    if (this.#buffer !== undefined) return new Uint8Array(this.#buffer, 0, this.#size);
    const [only] = this.#parts;
    return this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts, this.#size);
  }

  #write(part: Uint8Array, size: number): void {
    let buffer = this.#buffer ?? new ArrayBuffer(4 * SMALL_BYTES);
    if (size > buffer.byteLength) buffer = buffer.transfer(Math.max(size, buffer.byteLength * 2));
    this.#buffer = buffer;
    if (this.#parts.length > 0) {
      new Uint8Array(buffer).set(Buffer.concat(this.#parts));
      this.#parts = [];
    }
    new Uint8Array(buffer, this.#size).set(part);
  }
}
