import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import type { BodySink, LargeBody } from '../shared/message.ts';
import { guard } from '../sink/file-error.ts';
import type { Scratch } from '../../lib/scratch.ts';
import type { RecordFile } from './record-file.ts';

/** Bytes of the body in one `part`; the last one may have fewer. */
export const PART_BYTES = 1 << 20;

/** JSON of the exchange behind a large body: the place of that body in the recording. */
export interface StoredLarge {
  readonly bytes: number;
  readonly sha1: string;
  /** Start of the body of each part. */
  readonly parts: readonly number[];
}

/** A large body that was recorded. Good as long as the recording is open. */
export class RecordedBody implements LargeBody {
  readonly stored: StoredLarge;
  readonly #file: Pick<RecordFile, 'readInto'>;

  constructor(file: Pick<RecordFile, 'readInto'>, stored: StoredLarge) {
    this.#file = file;
    this.stored = stored;
  }

  get bytes(): number {
    return this.stored.bytes;
  }

  get sha1(): string {
    return this.stored.sha1;
  }

  read(at: number, length: number, into?: Scratch): Uint8Array {
    const end = Math.min(at + length, this.bytes);
    const size = Math.max(0, end - at);
    const bytes = into?.of(size) ?? Buffer.allocUnsafe(size);
    for (let from = at; from < end;) {
      const index = Math.floor(from / PART_BYTES);
      const place = this.stored.parts[index];
      if (place === undefined) throw new Error(`a recorded body has no part ${index}`);
      const to = Math.min(end, (index + 1) * PART_BYTES);
      this.#file.readInto(bytes.subarray(from - at, to - at), place + (from - index * PART_BYTES));
      from = to;
    }
    return bytes;
  }
}

/**
 * Appends a body to a recording while it comes, in parts, between which other records may stand. What is abandoned
 * stays there unused, unless it is the end of the file.
 */
export class PartSink implements BodySink {
  readonly #file: RecordFile;
  readonly #broken: (error: unknown) => void;
  readonly #buffer = Buffer.allocUnsafeSlow(PART_BYTES);
  readonly #parts: number[] = [];
  #used = 0;
  #bytes = 0;
  /** Start of the first of its parts, as long as nothing else follows them. */
  #from: number | undefined;
  #end: number | undefined;

  /** @param broken told when the file cannot be written */
  constructor(file: RecordFile, broken: (error: unknown) => void) {
    this.#file = file;
    this.#broken = broken;
  }

  write(part: Uint8Array): void {
    for (let from = 0; from < part.length;) {
      const piece = part.subarray(from, from + PART_BYTES - this.#used);
      this.#buffer.set(piece, this.#used);
      this.#used += piece.length;
      from += piece.length;
      if (this.#used === PART_BYTES) this.#flush();
    }
    this.#bytes += part.length;
  }

  end(sha1: string): RecordedBody {
    this.#flush();
    return new RecordedBody(this.#file, { bytes: this.#bytes, sha1, parts: this.#parts });
  }

  abandon(): void {
    if (this.#from !== undefined && this.#end === this.#file.end) this.#file.cut(this.#from);
  }

  #flush(): void {
    if (this.#used === 0) return;
    const isNext = this.#end === undefined || this.#end === this.#file.end;
    try {
      const { at, body } = this.#file.write('part', '', this.#buffer.subarray(0, this.#used));
      this.#parts.push(body.at);
      this.#from = this.#parts.length === 1 ? at : isNext ? this.#from : undefined;
      this.#end = this.#file.end;
    } catch (error) {
      this.#broken(error);
      throw error;
    }
    this.#used = 0;
  }
}

/** A file without a name, for what is needed while a body is received. */
export class ScratchSink implements BodySink {
  readonly #path: string;
  #fd: number | undefined;
  #bytes = 0;

  /** @param path that no other file has; it is gone as soon as the file is open, where the system admits it */
  constructor(path: string) {
    this.#path = path;
    this.#fd = guard(path, () => openSync(path, 'wx+', 0o600));
    this.#remove();
  }

  write(part: Uint8Array): void {
    const fd = this.#open();
    guard(this.#path, () => {
      for (let done = 0; done < part.length;)
        done += writeSync(fd, part, done, part.length - done, this.#bytes + done);
    });
    this.#bytes += part.length;
  }

  end(sha1: string): LargeBody {
    return {
      bytes: this.#bytes,
      sha1,
      read: (at, length) => this.#read(at, Math.min(length, this.#bytes - at)),
    };
  }

  abandon(): void {
    if (this.#fd === undefined) return;
    closeSync(this.#fd);
    this.#fd = undefined;
    this.#remove();
  }

  #read(at: number, length: number): Uint8Array {
    const fd = this.#open();
    const bytes = Buffer.allocUnsafe(Math.max(0, length));
    return guard(this.#path, () => {
      let done = 0;
      while (done < bytes.length) {
        const count = readSync(fd, bytes, done, bytes.length - done, at + done);
        if (count === 0) break;
        done += count;
      }
      return bytes.subarray(0, done);
    });
  }

  #remove(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // a system that keeps open files lets it go when it is closed
    }
  }

  #open(): number {
    if (this.#fd === undefined) throw new Error('a scratch file is used after its end');
    return this.#fd;
  }
}
