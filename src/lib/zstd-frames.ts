import { Duplex, pipeline, Readable } from 'node:stream';
import { createZstdDecompress, type ZstdOptions } from 'node:zlib';

/**
 * Decompresses Zstandard of any number of frames (RFC 8878, 3). The stream of the runtime ends at the first one, and
 * drops what stands behind it without an error.
 */
export function createFramesDecompress(options: Pick<ZstdOptions, 'chunkSize'>): Duplex {
  return Duplex.from((source: AsyncIterable<Uint8Array>) => decompressed(source, options));
}

async function* decompressed(
  source: AsyncIterable<Uint8Array>,
  options: Pick<ZstdOptions, 'chunkSize'>,
): AsyncGenerator<Buffer> {
  const input = new FramesInput(source[Symbol.asyncIterator]());
  try {
    do {
      const plain = createZstdDecompress(options);
      // A failure arrives at the reader of the plain bytes.
      pipeline(Readable.from(input.frame(), { objectMode: false }), plain, () => {});
      yield* plain as AsyncIterable<Buffer>; // a stream of zlib yields buffers
    } while (await input.hasMore());
  } finally {
    await input.end();
  }
}

/** Tells whether a whole body is one frame. */
export function isOneFrame(body: Uint8Array): boolean {
  return new FrameEnd().behind(body, 0) === body.length;
}

class FramesInput {
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** Bytes that have come behind the end of a frame. */
  #rest: Uint8Array = new Uint8Array(0);

  constructor(chunks: AsyncIterator<Uint8Array>) {
    this.#chunks = chunks;
  }

  async hasMore(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#rest = next.value;
    }
    return true;
  }

  /** Yields the bytes of the next frame. */
  async *frame(): AsyncGenerator<Uint8Array> {
    const end = new FrameEnd();
    while (await this.hasMore()) {
      const chunk = this.#rest;
      const at = end.behind(chunk, 0) ?? chunk.length;
      this.#rest = chunk.subarray(at);
      yield chunk.subarray(0, at);
      if (end.isReached) return;
    }
  }

  async end(): Promise<void> {
    await this.#chunks.return?.();
  }
}

/** Finds where a frame ends, in whatever pieces it comes. */
class FrameEnd {
  readonly #parts = partsOfFrame();
  #part: Part | undefined;
  /** Bytes of the part that have come, where they are read. */
  #read = Buffer.alloc(0);
  #passed = 0;

  constructor() {
    this.#next(Buffer.alloc(0));
  }

  get isReached(): boolean {
    return this.#part === undefined;
  }

  /** Returns the offset behind the end of the frame; undefined when it goes on behind these bytes. */
  behind(bytes: Uint8Array, from: number): number | undefined {
    let at = from;
    while (this.#part !== undefined) {
      const { count, isRead } = this.#part;
      const now = Math.min(count - this.#passed, bytes.length - at);
      if (isRead) this.#read = Buffer.concat([this.#read, bytes.subarray(at, at + now)]);
      at += now;
      this.#passed += now;
      if (this.#passed < count) return undefined;
      this.#next(this.#read);
    }
    return at;
  }

  #next(read: Buffer): void {
    const { done, value } = this.#parts.next(read);
    this.#part = done === true ? undefined : value;
    this.#read = Buffer.alloc(0);
    this.#passed = 0;
  }
}

interface Part {
  readonly count: number;
  /** The next part depends on these bytes. */
  readonly isRead: boolean;
}

const read = (count: number): Part => ({ count, isRead: true });
const passOver = (count: number): Part => ({ count, isRead: false });

const FRAME = 0xfd2fb528;
const SKIPPABLE = 0x184d2a5;
const RLE_BLOCK = 1;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const SIZE_BYTES = [0, 2, 4, 8];

/** Yields the parts of a frame, and gets the bytes of those that are read. What is no frame has no end. */
function* partsOfFrame(): Generator<Part, void, Buffer> {
  const magic = (yield read(4)).readUInt32LE();
  if (magic >>> 4 === SKIPPABLE) {
    yield passOver((yield read(4)).readUInt32LE());
    return;
  }
  if (magic !== FRAME) yield passOver(Infinity);
  const descriptor = (yield read(1)).readUInt8();
  const isSingle = (descriptor & 0x20) !== 0;
  const size = SIZE_BYTES[descriptor >> 6] ?? 0;
  const window = isSingle ? 0 : 1;
  yield passOver(window + (DICTIONARY_BYTES[descriptor & 3] ?? 0) + (size === 0 && isSingle ? 1 : size));
  for (;;) {
    const block = (yield read(3)).readUIntLE(0, 3);
    yield passOver(((block >> 1) & 3) === RLE_BLOCK ? 1 : block >> 3);
    if ((block & 1) === 1) break;
  }
  if ((descriptor & 4) !== 0) yield passOver(4);
}
