import type { Duplex } from 'node:stream';
import zlib, { type ZlibOptions } from 'node:zlib';
import { HttpError, SinkError } from '../../../lib/errors.ts';
import { createFramesDecompress, isOneFrame } from '../../../lib/zstd-frames.ts';
import type { FileRule } from '../../shared/message.ts';
import { BodyReader, type ReceivedBody } from './body-reader.ts';
import { CURL, failure, type FailedAttempt } from './network-error.ts';

/** Smaller bodies are decoded at once, unless they become large: a trip to the thread pool costs more. */
const SYNC_BYTES = 32_768;
const SYNC_DECODED_BYTES = 2 ** 22;

/** No text grows so much: what does is made to fill the memory of whoever unpacks it. */
const MOST_TIMES = 1000;
const HARMLESS_BYTES = 2 ** 26;

export const CHUNK_BYTES = 2 ** 17;

/**
 * Undoes `Content-Encoding`: gzip, deflate (with and without its zlib header), br, zstd, also one upon another.
 * An encoding that is not known is left as it is: some servers write a charset there. What is unpacked is counted
 * while it comes, so that never more than the limit is in memory.
 *
 * @throws {HttpError} retryable when the body was cut; `http.tooLarge` beyond `maxBytes`, or beyond 64 MiB when that
 *   is more than 1000 times what was received
 */
export function decodeBody(
  body: Uint8Array,
  encoding: string | undefined,
  options: DecodeOptions,
): ReceivedBody | Promise<ReceivedBody> {
  if (!isEncoded(encoding) || body.length === 0) return { body };
  return decodeAll(body, encoding.toLowerCase().split(','), options);
}

/** Tells whether a header names an encoding to undo. */
export function isEncoded(encoding: string | undefined): encoding is string {
  return encoding !== undefined && encoding !== 'identity';
}

export interface DecodeOptions {
  readonly maxBytes: number;
  /** Makes the file of what is too large for memory; without it everything is held. */
  readonly open: FileRule['open'];
  readonly attempt: FailedAttempt;
}

async function decodeAll(
  body: Uint8Array,
  encodings: readonly string[],
  { maxBytes, open, attempt }: DecodeOptions,
): Promise<ReceivedBody> {
  const bounds = { maxBytes, believableBytes: Math.max(HARMLESS_BYTES, body.length * MOST_TIMES) };
  let decoded: ReceivedBody = { body };
  for (let i = encodings.length - 1; i >= 0; i--) {
    const encoding = encodings[i]?.trim() ?? '';
    const held = decoded.body;
    const codec = codecOf(encoding, held);
    if (codec === undefined) continue;
    try {
      const now = decodeNow(codec, held, maxBytes);
      decoded =
        now === undefined
          ? await decodeLater(codec, held, { ...bounds, open: i === 0 ? open : undefined, attempt })
          : { body: now };
    } catch (error) {
      throw error instanceof HttpError || error instanceof SinkError
        ? error
        : decodeError(error, encoding, attempt);
    }
  }
  return decoded;
}

/** Decodes a small body at once; undefined for a body that is large, or becomes it. */
function decodeNow(codec: Codec, body: Uint8Array, maxBytes: number): Uint8Array | undefined {
  if (body.length > SYNC_BYTES) return undefined;
  try {
    return codec.sync(body, { maxOutputLength: Math.min(SYNC_DECODED_BYTES, maxBytes) });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw error;
  }
}

interface LaterOptions extends DecodeOptions {
  readonly believableBytes: number;
}

async function decodeLater(
  codec: Codec,
  body: Uint8Array,
  { maxBytes, believableBytes, open, attempt }: LaterOptions,
): Promise<ReceivedBody> {
  const stream = codec.stream({ chunkSize: CHUNK_BYTES });
  stream.end(body);
  const decoded = new BodyReader(open);
  try {
    // leaving the loop destroys the stream
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      const size = decoded.bytes + chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes, attempt);
      if (size > believableBytes) throw growsTooMuch(attempt);
      decoded.add(chunk);
    }
    return decoded.take();
  } catch (error) {
    decoded.abandon();
    throw error;
  }
}

interface Codec {
  /** Undefined for a body that only the stream takes. */
  sync(body: Uint8Array, options: { readonly maxOutputLength: number }): Uint8Array | undefined;
  stream(options: Pick<ZlibOptions, 'chunkSize'>): Duplex;
}

const GZIP: Codec = { sync: zlib.gunzipSync, stream: zlib.createGunzip };
const INFLATE: Codec = { sync: zlib.inflateSync, stream: zlib.createInflate };
const INFLATE_RAW: Codec = { sync: zlib.inflateRawSync, stream: zlib.createInflateRaw };
const BROTLI: Codec = { sync: zlib.brotliDecompressSync, stream: zlib.createBrotliDecompress };
const ZSTD: Codec = {
  sync: (body, options) => (isOneFrame(body) ? zlib.zstdDecompressSync(body, options) : undefined),
  stream: createFramesDecompress,
};

export function codecOf(encoding: string, body: Uint8Array): Codec | undefined {
  if (encoding === 'gzip' || encoding === 'x-gzip') return GZIP;
  if (encoding === 'br') return BROTLI;
  if (encoding === 'zstd') return ZSTD;
  if (encoding === 'deflate') return hasZlibHeader(body) ? INFLATE : INFLATE_RAW;
  return undefined;
}

/**
 * Tells whether a body has a zlib header (RFC 1950 section 2.2): method 8, and the first two bytes are a multiple of
 * 31.
 */
function hasZlibHeader(body: Uint8Array): boolean {
  const [first = 0, second = 0] = body;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

export function decodeError(cause: unknown, encoding: string, attempt: FailedAttempt): HttpError {
  const { code } = cause as { code?: string };
  const wasCut = code === 'Z_BUF_ERROR' || /unexpected end/.test((cause as Error).message);
  if (wasCut)
    return failure(
      CURL.receive,
      `The response was cut off by ${attempt.origin} (its ${encoding} data ends too early).`,
      { cause },
    );
  return failure(CURL.encoding, `The response of ${attempt.origin} says it is ${encoding}, and is not.`, {
    cause,
    hint: 'Set the header Accept-Encoding to "identity" in api.http.headers.',
  });
}

export function tooLarge(maxBytes: number, attempt: FailedAttempt): HttpError {
  return new HttpError(
    'http.tooLarge',
    `The response of ${attempt.origin} is larger than ${maxBytes} bytes.`,
    {
      hint: 'Ask for smaller pages: lower the limit of the pagination.',
      details: { curl: CURL.tooLarge, maxBytes },
    },
  );
}

/** Watches how much a body grows while it is unpacked as it comes. */
export class Growth {
  readonly #attempt: FailedAttempt;
  #packed = 0;
  #unpacked = 0;

  constructor(attempt: FailedAttempt) {
    this.#attempt = attempt;
  }

  /** Counts what is received. */
  async *packed(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#packed += chunk.length;
      yield chunk;
    }
  }

  /** Counts what was unpacked. @throws {HttpError} as {@link grow} */
  async *unpacked(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.grow(chunk.length);
      yield chunk;
    }
  }

  /** @throws {HttpError} when more comes out than any text grows to */
  grow(bytes: number): void {
    this.#unpacked += bytes;
    if (this.#unpacked > Math.max(HARMLESS_BYTES, this.#packed * MOST_TIMES))
      throw growsTooMuch(this.#attempt);
  }
}

function growsTooMuch(attempt: FailedAttempt): HttpError {
  return new HttpError(
    'http.tooLarge',
    `The response of ${attempt.origin} grows to more than ${MOST_TIMES} times its size when it is unpacked.`,
    {
      hint: 'Nothing but a trap does. If the API is to be trusted, set the header Accept-Encoding to "identity" in api.http.headers.',
      details: { curl: CURL.tooLarge },
    },
  );
}
