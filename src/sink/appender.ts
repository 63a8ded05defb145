import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { SinkError } from '../errors.ts';

const BUFFER_BYTES = 1 << 18;

/**
 * Appends to one file through a buffer. Writes are synchronous: they go to the page cache, and order, offsets and
 * rollback stay simple. Closing twice is harmless.
 */
export class Appender {
  readonly path: string;
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #used = 0;
  #flushed = 0;
  #closed = false;

  constructor(path: string) {
    this.path = path;
    this.#fd = guard(path, () => openSync(path, 'w+'));
  }

  /** Bytes appended so far. */
  get offset(): number {
    return this.#flushed + this.#used;
  }

  text(text: string): void {
    if (text.length * 3 > BUFFER_BYTES) {
      this.bytes(Buffer.from(text, 'utf8'));
      return;
    }
    if (text.length * 3 > BUFFER_BYTES - this.#used) this.flush();
    this.#used += this.#buffer.write(text, this.#used, 'utf8');
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length > BUFFER_BYTES - this.#used) this.flush();
    if (bytes.length > BUFFER_BYTES) this.#write(bytes);
    else {
      this.#buffer.set(bytes, this.#used);
      this.#used += bytes.length;
    }
  }

  flush(): void {
    const used = this.#used;
    this.#used = 0;
    if (used > 0) this.#write(this.#buffer.subarray(0, used));
  }

  /** Drops everything behind an offset that was given by `offset` before. */
  truncate(offset: number): void {
    this.flush();
    guard(this.path, () => ftruncateSync(this.#fd, offset));
    this.#flushed = offset;
  }

  close(): void {
    if (this.#closed) return;
    this.flush();
    this.#closed = true;
    closeSync(this.#fd);
  }

  /** Closes without writing what is buffered. */
  abandon(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  #write(bytes: Uint8Array): void {
    let done = 0;
    while (done < bytes.length) {
      done += guard(this.path, () => writeSync(this.#fd, bytes, done, bytes.length - done, this.#flushed + done));
    }
    this.#flushed += bytes.length;
  }
}

/** Runs a file operation; its failure says which file and what to do. */
export function guard<T>(path: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw fileError(path, error);
  }
}

export function fileError(path: string, error: unknown): SinkError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const hint = HINTS[code];
  const reason = error instanceof Error ? error.message : String(error);
  return new SinkError('output.failed', `“${path}” could not be written: ${reason}`, {
    cause: error,
    where: { file: path },
    hint: hint ?? 'Check that the data folder exists and can be written.',
  });
}

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space and run again. No table of this run was changed.',
  EDQUOT: 'The disk quota is used up: free some space and run again. No table of this run was changed.',
  EACCES: 'This user may not write there: check the permissions of the data folder.',
  EPERM: 'This user may not write there: check the permissions of the data folder.',
  EROFS: 'The file system is read-only: give a data folder that can be written with --data.',
  EMFILE: 'Too many files are open: raise the limit (ulimit -n).',
};
