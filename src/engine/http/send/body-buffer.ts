import { release } from '../../../lib/release.ts';

/** A body under this size is gathered from its parts; a larger one is written into one buffer as it comes. */
const SMALL_BYTES = 2 ** 20;

/**
 * Gathers the parts of a body, which are its own from then on. Parts that wait for the end, or for a collection, take
 * the memory of the body twice: beyond the first megabyte they are written into one buffer, which doubles where the size
 * is not known, and what was copied is given back at once.
 */
export class BodyBuffer {
  readonly #announced: number;
  #parts: Uint8Array[] = [];
  #buffer: Uint8Array | undefined;
  #size = 0;

  /** @param announced bytes that are to come; 0 where it is not known */
  constructor(announced = 0) {
    this.#announced = announced;
  }

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

  /** Returns the body. Nothing may be added afterwards. */
  take(): Uint8Array {
    if (this.#buffer !== undefined) return this.#buffer.subarray(0, this.#size);
    const [only] = this.#parts;
    if (this.#parts.length === 1 && only !== undefined) return only;
    return moved(this.#parts, this.#size);
  }

  #write(part: Uint8Array, size: number): void {
    let buffer = this.#buffer;
    if (buffer === undefined || size > buffer.length) {
      const space = Math.max(size, 2 * (buffer?.length ?? 0), this.#announced, 4 * SMALL_BYTES);
      buffer = moved(buffer === undefined ? this.#parts.splice(0) : [buffer], space);
      this.#buffer = buffer;
    }
    buffer.set(part, this.#size);
    release(part);
  }
}

/** Copies parts into a new buffer; the system gives memory only for the written part, however large the buffer is. */
function moved(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const buffer = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    buffer.set(part, at);
    at += part.length;
    release(part);
  }
  return buffer;
}
