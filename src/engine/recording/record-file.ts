import { closeSync, ftruncateSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { guard } from '../sink/file-error.ts';
import { decodeHead, HEAD_BYTES, isWhole, RecordBuffer, type RecordingKind } from './format.ts';

/** One record, its body still in the file. */
export interface StoredRecord {
  readonly kind: RecordingKind;
  /** Start of the record in the file. */
  readonly at: number;
  readonly json: string;
  readonly body: BodyPlace;
  /** Start of the next record. */
  readonly end: number;
}

/** Place of a body in the file. */
export interface BodyPlace {
  readonly at: number;
  readonly bytes: number;
}

/** Read at once: the heads of many small exchanges, or the beginning of a large one. */
const BLOCK_BYTES = 1 << 16;
const CHECK_BYTES = 1 << 20;

/**
 * A recording on disk. What is appended is handed to the system before `append` returns, so that a process that is
 * killed has lost nothing that was appended. Reading and writing may mix.
 */
export class RecordFile {
  readonly path: string;
  readonly #fd: number;
  #end: number;
  #scratch = Buffer.alloc(0);
  /** The part of the file that was read last, in the scratch memory. */
  #block = Buffer.alloc(0);
  #blockAt = 0;
  #isClosed = false;

  private constructor(path: string, fd: number, end: number) {
    this.path = path;
    this.#fd = fd;
    this.#end = end;
  }

  /** Creates an empty file in place of an existing one; no other user may read it. */
  static create(path: string): RecordFile {
    return guard(path, () => new RecordFile(path, openSync(path, 'w+', 0o600), 0));
  }

  /** @param flags `r+` to append to it */
  static open(path: string, flags: 'r' | 'r+'): RecordFile {
    return guard(path, () => new RecordFile(path, openSync(path, flags), statSync(path).size));
  }

  /** Start of the next record to be written. */
  get end(): number {
    return this.#end;
  }

  /** Appends records at once, of which the last one may have a body. The buffer is empty afterwards. */
  append(records: RecordBuffer, body: Uint8Array = NOTHING): void {
    const isOnePiece = records.addBody(body);
    try {
      guard(this.path, () => {
        const end = this.#put(records.bytes, records.length, this.#end);
        this.#end = isOnePiece ? end : this.#put(body, body.length, end);
      });
    } finally {
      records.clear();
    }
  }

  /**
   * Appends one record and says where its body lies.
   *
   * @param before records that are written before it; the buffer is empty afterwards
   */
  write(
    kind: RecordingKind,
    json: string,
    body: Uint8Array = NOTHING,
    before = new RecordBuffer(),
  ): StoredRecord {
    const at = this.#end + before.length;
    before.add(kind, json, body);
    this.append(before, body);
    return { kind, at, json, body: { at: this.#end - body.length, bytes: body.length }, end: this.#end };
  }

  /** Returns the record at a place; undefined if none begins there, or it is incomplete. Its body is not checked. */
  recordAt(at: number): StoredRecord | undefined {
    const head = decodeHead(this.#read(at, HEAD_BYTES));
    if (head === undefined) return undefined;
    const bodyAt = at + HEAD_BYTES + head.jsonBytes;
    const end = bodyAt + head.bodyBytes;
    if (end > this.#end) return undefined;
    const bytes = this.#read(at, HEAD_BYTES + head.jsonBytes);
    if (!isWhole(bytes)) return undefined;
    const json = bytes.toString('utf8', HEAD_BYTES);
    return { kind: head.kind, at, json, body: { at: bodyAt, bytes: head.bodyBytes }, end };
  }

  /** Tells whether a body is as it was written. */
  isBodyWhole({ at, body }: StoredRecord): boolean {
    const head = decodeHead(this.#read(at, HEAD_BYTES));
    let check = 0;
    for (let from = body.at; from < body.at + body.bytes; from += CHECK_BYTES) {
      const size = Math.min(CHECK_BYTES, body.at + body.bytes - from);
      check = crc32(this.#read(from, size), check);
    }
    return check === head?.bodyCheck;
  }

  /** Reads a part of the file into memory of its own. */
  bytes(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    this.readInto(bytes, at);
    return bytes;
  }

  /** Reads a part of the file into memory that it fills. */
  readInto(bytes: Uint8Array, at: number): void {
    if (this.#fill(bytes, at) < bytes.length)
      throw new Error(`the recording ends before ${at + bytes.length}`);
  }

  /** Removes what is behind a place. */
  cut(end: number): void {
    guard(this.path, () => ftruncateSync(this.#fd, end));
    this.#end = end;
    this.#block = Buffer.alloc(0);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
  }

  /** Reads bytes into a buffer that is valid until the next call; shorter at the end of the file. */
  #read(at: number, length: number): Buffer {
    const from = at - this.#blockAt;
    if (from >= 0 && from + length <= this.#block.length) return this.#block.subarray(from, from + length);
    const size = Math.max(BLOCK_BYTES, length);
    if (this.#scratch.length < size) this.#scratch = Buffer.allocUnsafeSlow(size);
    const bytes = this.#scratch.subarray(0, Math.max(0, Math.min(size, this.#end - at)));
    this.#block = bytes.subarray(0, this.#fill(bytes, at));
    this.#blockAt = at;
    return this.#block.subarray(0, length);
  }

  /** Writes the first bytes of some memory at a place, and returns the place behind them. */
  #put(bytes: Uint8Array, length: number, at: number): number {
    let done = 0;
    while (done < length) done += writeSync(this.#fd, bytes, done, length - done, at + done);
    return at + length;
  }

  #fill(bytes: Uint8Array, at: number): number {
    return guard(this.path, () => {
      let done = 0;
      while (done < bytes.length) {
        const count = readSync(this.#fd, bytes, done, bytes.length - done, at + done);
        if (count === 0) break;
        done += count;
      }
      return done;
    });
  }
}

const NOTHING = new Uint8Array(0);
