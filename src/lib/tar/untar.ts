import type { FileHandle } from 'node:fs/promises';

/** File in a tar archive, as the reader meets it. */
export interface ReadEntry {
  readonly name: string;
  readonly bytes: number;
  /** All blocks in front of its content, those of a pax header among them. */
  readonly head: Buffer;
  /** Offset of its content in the archive. */
  readonly start: number;
  /** Content; to be read to its end before the next entry is read. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Returns the zeros behind the content, once it was read. */
  readonly padding: () => Buffer;
}

const BLOCK = 512;
const CHUNK = 1024 * 1024;
const MAX_PAX = 64 * 1024;

/**
 * Reads the files of an archive that `tar.ts` wrote: ustar, with names and sizes in a pax header where they are long.
 *
 * @throws {RangeError} when the file ends too early
 * @throws {SyntaxError} when it is no such archive
 */
export async function* readTar(file: FileHandle): AsyncGenerator<ReadEntry> {
  for (let start = 0; ;) {
    let block = await readWhole(file, BLOCK);
    const head = [block];
    if (block.every((byte) => byte === 0)) return;
    let pax: Readonly<Record<string, string>> = {};
    if (typeOf(block) === 'x') {
      const bytes = sizeOf(block);
      if (bytes > MAX_PAX) throw new SyntaxError('a header of it is too long');
      const padded = await readWhole(file, bytes + paddingOf(bytes));
      pax = recordsOf(padded.subarray(0, bytes));
      block = await readWhole(file, BLOCK);
      head.push(padded, block);
    }
    if (typeOf(block) !== '0') throw new SyntaxError('it has something other than files');
    const name = pax['path'] ?? textOf(block, 0, 100);
    const bytes = pax['size'] === undefined ? sizeOf(block) : Number(pax['size']);
    let left = bytes;
    let padding: Buffer | undefined;
    async function* content(): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        const chunk = await readWhole(file, Math.min(left, CHUNK));
        left -= chunk.length;
        yield chunk;
      }
      padding = await readWhole(file, paddingOf(bytes));
    }
    const all = Buffer.concat(head);
    start += all.length;
    yield {
      name,
      bytes,
      start,
      head: all,
      content: content(),
      padding() {
        if (padding === undefined) throw new Error('The content was not read.');
        return padding;
      },
    };
    start += bytes + paddingOf(bytes);
  }
}

async function readWhole(file: FileHandle, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes);
  for (let done = 0; done < bytes;) {
    const { bytesRead } = await file.read(buffer, done, bytes - done);
    if (bytesRead === 0) throw new RangeError('its end is missing');
    done += bytesRead;
  }
  return buffer;
}

function paddingOf(bytes: number): number {
  return (BLOCK - (bytes % BLOCK)) % BLOCK;
}

function typeOf(block: Buffer): string {
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (textOf(block, 257, 5) !== 'ustar' || Number.parseInt(textOf(block, 148, 8), 8) !== sum)
    throw new SyntaxError('it is damaged, or no tar file');
  return textOf(block, 156, 1);
}

function sizeOf(block: Buffer): number {
  return Number.parseInt(textOf(block, 124, 12), 8);
}

/** Returns the text up to the first NUL. */
function textOf(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? length : end).toString();
}

/** Parses `<length> <key>=<value>\n`, one behind the other. */
function recordsOf(bytes: Buffer): Record<string, string> {
  const records: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.subarray(at, space).toString());
    if (space < 0 || !(length > 0)) throw new SyntaxError('a header of it is damaged');
    const [key = '', ...value] = bytes
      .subarray(space + 1, at + length - 1)
      .toString()
      .split('=');
    records[key] = value.join('=');
    at += length;
  }
  return records;
}
