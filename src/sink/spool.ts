import { closeSync, openSync, readSync } from 'node:fs';
import { Appender } from './appender.ts';
import { guard } from './file-error.ts';

/** One page kept for a second reading: a line of JSON that says what the parts are, and the parts. */
export interface SpoolEntry {
  readonly head: string;
  readonly parts: readonly Uint8Array[];
}

/** Bytes to keep. They may be made when they are asked for, and are asked for once. */
export interface SpoolPart {
  readonly byteLength: number;
  readonly bytes: Uint8Array;
}

/** A file of pages, appended during the run and read from the start again. Memory does not grow with it. */
export class Spool {
  readonly #path: string;
  readonly #out: Appender;

  constructor(path: string) {
    this.#path = path;
    this.#out = new Appender(path);
  }

  get offset(): number {
    return this.#out.offset;
  }

  append(head: string, parts: readonly SpoolPart[]): void {
    const text = Buffer.from(head, 'utf8');
    this.#out.bytes(lengths([text.length, ...parts.map((part) => part.byteLength)]));
    this.#out.bytes(text);
    for (const part of parts) this.#out.bytes(part.bytes);
  }

  truncate(offset: number): void {
    this.#out.truncate(offset);
  }

  /** See {@link Appender.settle}. */
  async settle(all = false): Promise<void> {
    await this.#out.settle(all);
  }

  /** Reads every entry in order. Entries must be used before the next one is asked for; `settle(true)` first. */
  *entries(): Iterable<SpoolEntry> {
    const end = this.#out.offset;
    const fd = guard(this.#path, () => openSync(this.#path, 'r'));
    try {
      const cursor = { at: 0 };
      const take = (size: number): Buffer => {
        const bytes = Buffer.allocUnsafe(size);
        for (let done = 0; done < size;) {
          const count = readSync(fd, bytes, done, size - done, cursor.at + done);
          if (count === 0) throw new Error(`the spool ends at ${cursor.at + done} and not at ${end}`);
          done += count;
        }
        cursor.at += size;
        return bytes;
      };
      while (cursor.at < end) {
        const count = take(4).readUInt32LE(0);
        const sizes = take(count * 4);
        const parts = Array.from({ length: count }, (_, i) => take(sizes.readUInt32LE(i * 4)));
        const [head = Buffer.alloc(0), ...rest] = parts;
        yield { head: head.toString('utf8'), parts: rest };
      }
    } finally {
      closeSync(fd);
    }
  }

  async close(): Promise<void> {
    await this.#out.abandon();
  }
}

function lengths(sizes: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 + sizes.length * 4);
  bytes.writeUInt32LE(sizes.length, 0);
  sizes.forEach((size, i) => bytes.writeUInt32LE(size, 4 + i * 4));
  return bytes;
}
