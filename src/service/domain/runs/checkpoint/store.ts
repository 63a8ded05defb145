import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

/**
 * Operations of an object store that checkpoints need; that of the service is one. A key without an object is an
 * error with the code `NoSuchKey`. A read after a write finds it.
 */
export interface KeptStore {
  readonly hasEncryption: boolean;
  read(key: string): Promise<Readable>;
  write(key: string, body: Readable | Uint8Array, options: { readonly encrypted: boolean }): Promise<unknown>;
  list(prefix: string): AsyncIterable<{ readonly key: string; readonly bytes: number }>;
  delete(keys: readonly string[]): Promise<void>;
}

/** An object that is not as it was written. */
export class DamagedError extends Error {}

/** An object that is not there. */
export class MissingError extends DamagedError {}

const LEVEL = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1, // as fast as a network
    [constants.ZSTD_c_checksumFlag]: 1,
  },
};
const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Writes one object, compressed and with a check sum. It is there whole, or not at all. */
export async function putObject(store: KeptStore, key: string, bytes: Uint8Array): Promise<void> {
  await store.write(key, await compress(bytes, LEVEL), { encrypted: store.hasEncryption });
}

/** @throws {DamagedError} */
export async function getObject(store: KeptStore, key: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of await store.read(key)) pieces.push(Buffer.from(piece as Uint8Array)); // a stream of bytes
  } catch (error) {
    if (isMissing(error)) throw new MissingError(`The object ${key} is not there.`, { cause: error });
    throw error;
  }
  try {
    return await decompress(Buffer.concat(pieces));
  } catch (error) {
    throw new DamagedError(`The object ${key} is damaged.`, { cause: error });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NoSuchKey';
}
