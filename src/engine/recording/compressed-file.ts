import { createWriteStream, openSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import { fileError } from '../sink/file-error.ts';

/** A file that is compressed with Zstandard as it is written, under a temporary name; it gets its own in the end. */
export class CompressedFile {
  readonly #path: string;
  readonly #unfinished: string;
  readonly #input = new PassThrough();
  /** Undefined until there is something to write. */
  #written: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#unfinished = `${path}.${process.pid}.tmp`;
  }

  /**
   * Writes bytes. A failure is thrown at the end; from then on nothing is written. @returns false when nothing more is
   * of use
   */
  async write(bytes: Uint8Array): Promise<boolean> {
    this.#written ??= this.#write();
    // Thrown at the end; until then nobody looks at it.
    const ended = this.#written.catch(() => undefined);
    if (this.#input.destroyed) return false;
    if (this.#input.write(bytes)) return true;
    await Promise.race([new Promise((resolve) => this.#input.once('drain', resolve)), ended]);
    return true;
  }

  /**
   * Gives the file its name; there is none when nothing was written.
   *
   * @throws {SinkError} and there is then no file
   */
  async end(): Promise<void> {
    if (this.#written === undefined) return;
    this.#input.end();
    try {
      await this.#written;
      await rename(this.#unfinished, this.#path);
    } catch (error) {
      await rm(this.#unfinished, { force: true });
      throw fileError(this.#path, error);
    }
  }

  async #write(): Promise<void> {
    try {
      // At once: the folder is removed when nothing is in it any more.
      const fd = openSync(this.#unfinished, 'w', 0o600);
      await pipeline(this.#input, createZstdCompress(), createWriteStream(this.#unfinished, { fd }));
    } catch (error) {
      this.#input.destroy();
      throw error;
    }
  }
}
