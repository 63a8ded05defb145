import { closeSync, fdatasync, ftruncateSync, openSync, write, writeSync } from 'node:fs';
import { fileError, guard } from './file-error.ts';

const BUFFER_BYTES = 1 << 18;

/** Bytes that may wait for the disk. Beyond, `settle` makes the caller wait, and one large append writes at once. */
const MAX_WAITING_BYTES = 2 << 20;

/** Bytes of a file that is to stay, after which they are brought to the disk: little is left of it for the end. */
const SYNC_BYTES = 8 << 20;

/** One file at a time, so that the others, and look-ups of names, have threads of the runtime left. */
let isSyncing = false;

/** Buffers kept for the next writes: as many as may wait. */
const MAX_SPARE = MAX_WAITING_BYTES / BUFFER_BYTES;

/**
 * Writer that appends to one file through a buffer. Full buffers are written in the background, so that the disk works
 * while the next page is processed.
 */
export class Appender {
  readonly path: string;
  readonly #fd: number;
  readonly #stays: boolean;
  #buffer: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  readonly #spare: Buffer[] = [];
  #used = 0;
  /** Bytes handed to the disk, finished or not. */
  #flushed = 0;
  #waiting = 0;
  /** Bytes written since the file was last brought to the disk. */
  #unsynced = 0;
  #isSyncing = false;
  #failure: unknown;
  #wake: (() => void) | undefined;
  #closed = false;
  /** Writes at once instead of in the background. */
  direct = false;

  /** @param stays the file outlives the run: it is brought to the disk on the way, see {@link SYNC_BYTES} */
  constructor(path: string, stays = false) {
    this.path = path;
    this.#stays = stays;
    this.#fd = guard(path, () => openSync(path, 'w+'));
  }

  /** Returns the number of bytes appended so far. */
  get offset(): number {
    return this.#flushed + this.#used;
  }

  text(text: string): void {
    if (text.length * 3 > BUFFER_BYTES) {
      this.bytes(Buffer.from(text, 'utf8'));
      return;
    }
    if (text.length * 3 > BUFFER_BYTES - this.#used) this.#flush();
    this.#used += this.#buffer.write(text, this.#used, 'utf8');
  }

  /** Appends bytes, which are copied. */
  bytes(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      if (this.#used === BUFFER_BYTES) this.#flush();
      const part = bytes.subarray(from, from + BUFFER_BYTES - this.#used);
      this.#buffer.set(part, this.#used);
      this.#used += part.length;
      from += part.length;
    }
  }

  /** True when {@link settle} does more than to return. */
  get isBehind(): boolean {
    return this.#isBehind(false) || this.#failure !== undefined;
  }

  /** Waits while too much is on its way to the disk; with `all`, until everything appended is written. */
  async settle(all = false): Promise<void> {
    if (all) this.#flush();
    while (this.#isBehind(all)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw fileError(this.path, this.#failure);
  }

  /** Drops everything behind an offset that was given by `offset` before. Nothing may be on its way: `settle(true)`. */
  truncate(offset: number): void {
    if (offset > this.#flushed) {
      this.#used = offset - this.#flushed;
      return;
    }
    this.#used = 0;
    guard(this.path, () => ftruncateSync(this.#fd, offset));
    this.#flushed = offset;
  }

  /** Writes the rest and closes. Nothing may be on its way: `settle(true)`. Closing twice is harmless. */
  close(): void {
    if (this.#closed) return;
    this.direct = true;
    this.#flush();
    this.#closed = true;
    closeSync(this.#fd);
  }

  /** Closes without writing the rest. */
  async abandon(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#used = 0;
    await this.settle(true).catch(() => undefined);
    closeSync(this.#fd);
  }

  #isBehind(all: boolean): boolean {
    return all ? this.#waiting > 0 || this.#isSyncing : this.#waiting > MAX_WAITING_BYTES;
  }

  #flush(): void {
    const used = this.#used;
    if (used === 0) return;
    const buffer = this.#buffer;
    const at = this.#flushed;
    this.#used = 0;
    this.#flushed += used;
    if (this.direct || this.#waiting >= MAX_WAITING_BYTES) {
      guard(this.path, () => {
        for (let done = 0; done < used;) done += writeSync(this.#fd, buffer, done, used - done, at + done);
      });
      return;
    }
    this.#waiting += used;
    this.#buffer = this.#spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
    this.#writeBehind(buffer, 0, used, at);
  }

  #writeBehind(buffer: Buffer, from: number, length: number, at: number): void {
    write(this.#fd, buffer, from, length, at, (error, written) => {
      if (error === null && written < length) {
        this.#writeBehind(buffer, from + written, length - written, at + written);
        this.#waiting -= written;
        return;
      }
      this.#waiting -= length;
      this.#unsynced += length;
      if (this.#spare.length < MAX_SPARE) this.#spare.push(buffer);
      if (this.#stays && this.#unsynced >= SYNC_BYTES && !isSyncing) this.#syncBehind();
      this.#done(error);
    });
  }

  #syncBehind(): void {
    isSyncing = true;
    this.#isSyncing = true;
    this.#unsynced = 0;
    fdatasync(this.#fd, (error) => {
      isSyncing = false;
      this.#isSyncing = false;
      this.#done(error);
    });
  }

  #done(error: unknown): void {
    this.#failure ??= error ?? undefined;
    this.#wake?.();
    this.#wake = undefined;
  }
}
