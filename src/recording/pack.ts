import { closeSync, createReadStream, createWriteStream, openSync, readSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Secrets } from '../secrets.ts';
import { fileError } from '../sink/file-error.ts';
import { encodeRecord } from './format.ts';
import type { RecordFile } from './record-file.ts';
import { recordsOf, type Scan } from './scan.ts';

/**
 * One compressed file of recordings, one behind the other, that is made to be sent away. It is written under a temporary
 * name, and gets its own in the end. Digests of the configuration's values are left out: they serve for going on, and
 * might be guessed from. Secrets that an API repeats in its answers are masked.
 */
export class Pack {
  readonly #path: string;
  readonly #unfinished: string;
  readonly #input = new PassThrough();
  /** Undefined until there is something to write. */
  #written: Promise<void> | undefined;

  readonly #secrets: Secrets;

  constructor(path: string, secrets: Secrets) {
    this.#path = path;
    this.#secrets = secrets;
    this.#unfinished = `${path}.${process.pid}.tmp`;
  }

  async add(file: RecordFile, scanned: Scan): Promise<void> {
    this.#written ??= this.#write();
    const ended = this.#written.catch(() => undefined); // thrown at the end
    for (const bytes of recordBytes(file, scanned, this.#secrets)) {
      if (this.#input.destroyed) return;
      if (this.#input.write(bytes)) continue;
      await Promise.race([new Promise((resolve) => this.#input.once('drain', resolve)), ended]);
    }
  }

  /**
   * Gives the file its name; there is none when nothing was added.
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
    await pipeline(this.#input, createZstdCompress(), createWriteStream(this.#unfinished, { mode: 0o600 }));
  }
}

function* recordBytes(file: RecordFile, { head, from, end }: Scan, secrets: Secrets): Generator<Uint8Array> {
  const { keys: _, ...open } = head;
  yield encodeRecord('head', JSON.stringify(open));
  for (const { at, kind, json, body } of recordsOf(file, from)) {
    if (at >= end) return;
    const bytes = secrets.mask(file.bytes(body.at, body.bytes));
    yield encodeRecord(kind, Buffer.from(secrets.mask(Buffer.from(json))).toString('utf8'), bytes);
    if (bytes.length > 0) yield bytes;
  }
}

/** The plain form of a recording, which may be compressed. */
export async function unpack(source: string, target: string): Promise<void> {
  const steps = isCompressed(source) ? [createZstdDecompress()] : [];
  await pipeline([createReadStream(source), ...steps, createWriteStream(target, { mode: 0o600 })]);
}

const ZSTD = 0xfd2fb528;

function isCompressed(file: string): boolean {
  const bytes = Buffer.alloc(4);
  const fd = openSync(file, 'r');
  try {
    return readSync(fd, bytes) === bytes.length && bytes.readUInt32LE(0) === ZSTD;
  } finally {
    closeSync(fd);
  }
}
