import { createHash } from 'node:crypto';
import { ObjectError } from '../errors.ts';
import { isSame } from '../key-ring.ts';
import type { Signer } from './authenticate.ts';
import { EMPTY_HASH, scopeText, sha256Hex, sign } from './sigv4.ts';

/** Reads lines and pieces from a stream of bytes, whatever the sizes in which it comes. */
interface ByteReader {
  /** Up to a line feed, without it and the carriage return before it; undefined at the end of the stream. */
  line(maxBytes: number): Promise<string | undefined>;
  /** Between one byte and `maxBytes`; undefined at the end. */
  take(maxBytes: number): Promise<Uint8Array | undefined>;
}

function createByteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let current: Uint8Array = new Uint8Array();
  /** Fetches the next chunk if needed; tells whether there is something to read. */
  const fill = async (): Promise<boolean> => {
    while (current.length === 0) {
      const next = await iterator.next();
      if (next.done === true) return false;
      current = next.value;
    }
    return true;
  };
  return {
    async line(maxBytes) {
      const parts: Uint8Array[] = [];
      let length = 0;
      while (await fill()) {
        const end = current.indexOf(LINE_FEED);
        const part = end < 0 ? current : current.subarray(0, end);
        length += part.length;
        if (length > maxBytes) throw new ObjectError('InvalidRequest', 'A line in the body is too long.');
        parts.push(part);
        current = current.subarray(end < 0 ? current.length : end + 1);
        if (end >= 0) return Buffer.concat(parts).toString('latin1').replace(/\r$/, '');
      }
      return length === 0 ? undefined : Buffer.concat(parts).toString('latin1');
    },
    async take(maxBytes) {
      if (!(await fill())) return undefined;
      const piece = current.subarray(0, maxBytes);
      current = current.subarray(piece.length);
      return piece;
    },
  };
}

const LINE_FEED = 0x0a;

/**
 * Decodes `aws-chunked`: `<hex size>[;chunk-signature=…]CRLF <data> CRLF`, ended by a chunk of size 0 and, perhaps,
 * trailers. With `signer`, each chunk and the trailers must carry their signature in the chain that begins with the
 * request's. Bytes are given on before their chunk is known to be right; the stream fails if it is not.
 */
export async function* decodeChunked(
  source: AsyncIterable<Uint8Array>,
  options: {
    readonly signer?: Signer | undefined;
    readonly onTrailer?: (name: string, value: string) => void;
  } = {},
): AsyncGenerator<Uint8Array> {
  const reader = createByteReader(source);
  const chain = options.signer === undefined ? undefined : createChain(options.signer);
  for (;;) {
    const { size, signature } = readChunkHead(await line(reader));
    const hash = chain === undefined ? undefined : createHash('sha256');
    for (let left = size; left > 0;) {
      const piece = await reader.take(left);
      if (piece === undefined) throw incomplete();
      hash?.update(piece);
      left -= piece.length;
      yield piece;
    }
    if (hash !== undefined) chain?.checkChunk(hash.digest('hex'), signature);
    if (size === 0) break;
    if ((await line(reader)) !== '') throw malformed('a chunk is longer than it says');
  }
  await readTrailers(reader, chain, options.onTrailer);
}

const MAX_LINE = 8 * 1024;
const MAX_TRAILERS = 32;

function readChunkHead(text: string): { size: number; signature: string } {
  const match = /^([0-9a-fA-F]{1,13})\s*(?:;\s*chunk-signature=([0-9a-f]{64})\s*)?(?:;.*)?$/.exec(text);
  if (match === null) throw malformed('a chunk does not begin with its size');
  return { size: Number.parseInt(match[1] ?? '', 16), signature: match[2] ?? '' };
}

async function readTrailers(
  reader: ByteReader,
  chain: Chain | undefined,
  onTrailer: ((name: string, value: string) => void) | undefined,
): Promise<void> {
  let signed = '';
  for (let count = 0; ; count++) {
    // The empty line at the end is left out by some clients.
    const text = await reader.line(MAX_LINE);
    if (text === undefined || text === '') break;
    const colon = text.indexOf(':');
    if (colon < 1 || count === MAX_TRAILERS) throw malformed('a trailer is no name with a value');
    const name = text.slice(0, colon).trim().toLowerCase();
    const value = text.slice(colon + 1).trim();
    if (name === 'x-amz-trailer-signature') {
      chain?.checkTrailers(signed, value);
      signed = '';
      continue;
    }
    signed += `${name}:${value}\n`;
    onTrailer?.(name, value);
  }
  if (chain !== undefined && signed !== '')
    throw new ObjectError('SignatureDoesNotMatch', 'The trailers of the body are not signed.');
}

interface Chain {
  checkChunk(hash: string, signature: string): void;
  checkTrailers(text: string, signature: string): void;
}

function createChain({ identity, scope, signature: seed }: Signer): Chain {
  let previous = seed;
  const check = (algorithm: string, hashes: readonly string[], signature: string): void => {
    const text = [algorithm, scope.time, scopeText(scope), previous, ...hashes].join('\n');
    const made = sign(text, identity.secretAccessKey, scope);
    if (!isSame(made, signature))
      throw new ObjectError('SignatureDoesNotMatch', 'The signature of a part of the body is wrong.');
    previous = made;
  };
  return {
    checkChunk: (hash, signature) => check('AWS4-HMAC-SHA256-PAYLOAD', [EMPTY_HASH, hash], signature),
    checkTrailers: (text, signature) => check('AWS4-HMAC-SHA256-TRAILER', [sha256Hex(text)], signature),
  };
}

async function line(reader: ByteReader): Promise<string> {
  const text = await reader.line(MAX_LINE);
  if (text === undefined) throw incomplete();
  return text;
}

function incomplete(): ObjectError {
  return new ObjectError('IncompleteBody', 'The body ended before its last chunk.');
}

function malformed(what: string): ObjectError {
  return new ObjectError('InvalidRequest', `The body is not well-formed aws-chunked: ${what}.`);
}
