import { createHash, type Hash } from 'node:crypto';
import type { ApiResponse, BodySink, LargeBody } from '../../shared/message.ts';
import { release } from '../../../lib/release.ts';
import { BodyBuffer } from './body-buffer.ts';

/** A body up to this size stays in memory. */
const HELD_BYTES = 2 ** 24;

/** Bytes of a large body that are shown where a whole one is expected. */
const BEGINNING_BYTES = 2 ** 16;

/** A received body: in memory, or in a file. */
export type ReceivedBody = Pick<ApiResponse, 'body' | 'large'>;

/** A reader of a body that may become large: beyond {@link HELD_BYTES} it goes to a file, and memory does not grow with it. */
export class BodyReader {
  readonly #open: (() => BodySink) | undefined;
  #held: BodyBuffer;
  #sink: BodySink | undefined;
  #beginning: Uint8Array = new Uint8Array(0);
  #sha1: Hash | undefined;
  #bytes = 0;

  /**
   * @param open makes the file; without it everything is held
   * @param announced bytes that are to come; 0 where it is not known
   */
  constructor(open: (() => BodySink) | undefined, announced = 0) {
    this.#open = open;
    this.#held = new BodyBuffer(open === undefined || announced <= HELD_BYTES ? announced : 0);
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#sink === undefined) {
      this.#held.add(part);
      if (this.#bytes > HELD_BYTES && this.#open !== undefined) this.#spill(this.#open());
    } else this.#write(this.#sink, part);
  }

  /** Returns the body. Nothing may be added afterwards. */
  take(): ReceivedBody {
    if (this.#sink === undefined) return { body: this.#held.take() };
    return { body: this.#beginning, large: this.#sink.end(this.#sha1?.digest('hex') ?? '') };
  }

  /** Removes the file of a body that is not needed any more, or that was used where its file is not kept. */
  abandon(): void {
    this.#sink?.abandon();
    this.#held = new BodyBuffer();
  }

  #spill(sink: BodySink): void {
    this.#sink = sink;
    this.#sha1 = createHash('sha1');
    const held = this.#held.take();
    this.#held = new BodyBuffer();
    this.#beginning = held.slice(0, BEGINNING_BYTES);
    this.#write(sink, held);
  }

  #write(sink: BodySink, part: Uint8Array): void {
    this.#sha1?.update(part);
    sink.write(part);
    release(part);
  }
}

/** Reads a body by position, in memory or in a file. */
export function readable({ body, large }: ReceivedBody): Pick<LargeBody, 'bytes' | 'read'> {
  return large ?? { bytes: body.length, read: (at, length) => body.subarray(at, at + length) };
}
