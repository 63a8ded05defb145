import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CsvError } from './csv-error.ts';

/**
 * Returns the plain bytes of a file that may be gzip, recognized by its first two bytes (RFC 1952), not by its name.
 * Several gzip members in a row are one file. Broken gzip, and a file that is compressed in another way, throws CsvError
 * (`compression`).
 */
export async function* decompressed(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  try {
    const head = await firstBytes(chunks, 4);
    const whole = chain(head, chunks);
    const other = OTHERS.find(({ sign }) => sign.equals(head.subarray(0, sign.length)));
    if (other !== undefined)
      throw new CsvError(
        'compression',
        `The file is ${other.name}; only gzip is supported. Upload it as plain CSV or gzip.`,
      );
    if (head[0] === 0x1f && head[1] === 0x8b) yield* gunzip(whole);
    else yield* whole;
  } finally {
    await chunks.return?.();
  }
}

/** Files that are no CSV, by their first bytes (RFC 8878 has those of Zstandard). */
const OTHERS = [
  { sign: Buffer.from('PK\u0003\u0004'), name: 'a zip archive' },
  { sign: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), name: 'compressed with Zstandard' },
];

async function* gunzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const packed = Readable.from(source);
  const plain = createGunzip({ chunkSize: 256 * 1024 });
  packed.once('error', (error) => plain.destroy(error));
  packed.pipe(plain);
  try {
    // A zlib stream yields buffers.
    let bytes = 0;
    for await (const chunk of plain as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > Math.max(ALWAYS_UNPACKED, plain.bytesWritten * MOST_TIMES)) throw unpacksToMore();
      yield chunk;
    }
  } catch (error) {
    if (!isZlibError(error)) throw error;
    throw new CsvError(
      'compression',
      'The file is not complete gzip: it is cut or damaged. Compress and upload it again.',
      { cause: error },
    );
  } finally {
    packed.destroy();
    plain.destroy();
  }
}

/**
 * Limits of an unpacked file: so many bytes however small it is, and beyond that so many times its packed size. Rows of
 * a real table shrink to a twentieth; a few kB made for the purpose could fill a disk.
 */
const ALWAYS_UNPACKED = 64 * 1024 * 1024;
const MOST_TIMES = 500;

function unpacksToMore(): CsvError {
  return new CsvError(
    'compression',
    `The file unpacks to more than ${MOST_TIMES} times its size. Upload it as plain CSV if that is meant.`,
  );
}

function isZlibError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_')
  );
}

async function firstBytes(chunks: AsyncIterator<Uint8Array>, count: number): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < count) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  return head;
}

async function* chain(head: Uint8Array, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  for (;;) {
    const next = await chunks.next();
    if (next.done === true) return;
    yield next.value;
  }
}
