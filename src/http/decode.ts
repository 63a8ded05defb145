import { promisify } from 'node:util';
import zlib, { type ZlibOptions } from 'node:zlib';
import { HttpError } from '../errors.ts';
import { CURL, failure, type Attempt } from './network-error.ts';

/** Smaller bodies are decoded at once: a trip to the thread pool costs more. */
const SYNC_BYTES = 32_768;

/**
 * Undoes `Content-Encoding`: gzip, deflate (with and without its zlib header), br, zstd, also one upon another.
 * An encoding that is not known is left as it is: some servers write a charset there.
 *
 * @throws {HttpError} retryable when the body was cut; `http.tooLarge` beyond `maxBytes`
 */
export function decodeBody(
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
  attempt: Attempt,
): Uint8Array | Promise<Uint8Array> {
  if (encoding === undefined || encoding === 'identity' || body.length === 0) return body;
  return decodeAll(body, encoding.toLowerCase().split(',').reverse(), maxBytes, attempt);
}

async function decodeAll(
  body: Uint8Array,
  encodings: string[],
  maxBytes: number,
  attempt: Attempt,
): Promise<Uint8Array> {
  let decoded = body;
  for (const encoding of encodings) {
    const codec = codecOf(encoding.trim(), decoded);
    if (codec === undefined) continue;
    try {
      const options: ZlibOptions = { maxOutputLength: maxBytes };
      decoded =
        decoded.length <= SYNC_BYTES ? codec.sync(decoded, options) : await codec.later(decoded, options);
    } catch (error) {
      throw decodeError(error, encoding.trim(), maxBytes, attempt);
    }
  }
  return decoded;
}

interface Codec {
  sync(body: Uint8Array, options: ZlibOptions): Uint8Array;
  later(body: Uint8Array, options: ZlibOptions): Promise<Uint8Array>;
}

const GZIP: Codec = { sync: zlib.gunzipSync, later: promisify<Uint8Array, ZlibOptions, Buffer>(zlib.gunzip) };
const INFLATE: Codec = {
  sync: zlib.inflateSync,
  later: promisify<Uint8Array, ZlibOptions, Buffer>(zlib.inflate),
};
const INFLATE_RAW: Codec = {
  sync: zlib.inflateRawSync,
  later: promisify<Uint8Array, ZlibOptions, Buffer>(zlib.inflateRaw),
};
const BROTLI: Codec = {
  sync: (body, { maxOutputLength }) => zlib.brotliDecompressSync(body, limit(maxOutputLength)),
  later: (body, { maxOutputLength }) => promisify(zlib.brotliDecompress)(body, limit(maxOutputLength)),
};
const ZSTD: Codec = {
  sync: (body, { maxOutputLength }) => zlib.zstdDecompressSync(body, limit(maxOutputLength)),
  later: (body, { maxOutputLength }) => promisify(zlib.zstdDecompress)(body, limit(maxOutputLength)),
};

function limit(maxOutputLength: number | undefined): { maxOutputLength?: number } {
  return maxOutputLength === undefined ? {} : { maxOutputLength };
}

function codecOf(encoding: string, body: Uint8Array): Codec | undefined {
  if (encoding === 'gzip' || encoding === 'x-gzip') return GZIP;
  if (encoding === 'br') return BROTLI;
  if (encoding === 'zstd') return ZSTD;
  if (encoding === 'deflate') return hasZlibHeader(body) ? INFLATE : INFLATE_RAW;
  return undefined;
}

/** RFC 1950 section 2.2: method 8, and the first two bytes are a multiple of 31. */
function hasZlibHeader(body: Uint8Array): boolean {
  const [first = 0, second = 0] = body;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

function decodeError(cause: unknown, encoding: string, maxBytes: number, attempt: Attempt): HttpError {
  const { code } = cause as { code?: string };
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes, attempt);
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

export function tooLarge(maxBytes: number, attempt: Attempt): HttpError {
  return new HttpError(
    'http.tooLarge',
    `The response of ${attempt.origin} is larger than ${maxBytes} bytes.`,
    {
      hint: 'Ask for smaller pages: lower the limit of the pagination.',
      details: { curl: CURL.tooLarge, maxBytes },
    },
  );
}
