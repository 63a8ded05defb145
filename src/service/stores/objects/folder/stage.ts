import { open, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { createDigests, type DigestName } from '../checksums.ts';
import { createBlockSums, type BlockSums } from './blocks.ts';
import { trailerOf } from './object-file.ts';

/** A body that is on disk, but not yet under its name. */
export interface StagedBody {
  readonly file: string;
  readonly bytes: number;
  readonly digests: ReadonlyMap<DigestName, Buffer>;
}

/**
 * Writes a body to a new file, closes it with what `describe` says of it, and gives it to `publish`, which moves it
 * away. Whatever fails (the body, `describe`, `publish`), the file is gone afterwards.
 */
export async function stage<Result>(
  options: {
    readonly directory: string;
    readonly name: string;
    readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
    readonly digests: Iterable<DigestName>;
    /** True when the bytes must be on the disk itself before it is published. */
    readonly isDurable: boolean;
  },
  describe: (staged: StagedBody) => object,
  publish: (file: string) => Promise<Result>,
): Promise<Result> {
  const file = path.join(options.directory, options.name);
  const handle = await open(file, 'wx', 0o600);
  try {
    try {
      const digests = createDigests(options.digests);
      const sums = createBlockSums();
      const bytes = await copy(options.body, handle, (chunk) => {
        digests.update(chunk);
        sums.update(chunk);
      });
      const meta = describe({ file, bytes, digests: digests.finish() });
      await writeAll(handle, trailerOf(meta, sums.finish()));
      if (options.isDurable) await handle.sync();
    } finally {
      await handle.close();
    }
    return await publish(file);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** Writes what is known of it behind the bytes of a file, all of which is on the disk itself on return. */
export async function closeFile(file: string, meta: object): Promise<void> {
  const handle = await open(file, 'a+');
  try {
    await writeAll(handle, trailerOf(meta, await sumsOf(handle)));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sumsOf(handle: FileHandle): Promise<BlockSums> {
  const sums = createBlockSums();
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  for (let at = 0; ;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return sums.finish();
    sums.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

const READ_BYTES = 1024 * 1024;
const BATCH_BYTES = 256 * 1024;

/** Small chunks are written together: a body of many tiny pieces costs no more calls than a body of few. */
async function copy(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  handle: FileHandle,
  look: (chunk: Uint8Array) => void,
): Promise<number> {
  let bytes = 0;
  let batch: Uint8Array[] = [];
  let waiting = 0;
  const flush = async (): Promise<void> => {
    if (waiting > 0)
      await writeAll(handle, batch.length === 1 ? (batch[0] ?? EMPTY) : Buffer.concat(batch, waiting));
    batch = [];
    waiting = 0;
  };
  for await (const chunk of body) {
    look(chunk);
    bytes += chunk.length;
    batch.push(chunk);
    waiting += chunk.length;
    if (waiting >= BATCH_BYTES) await flush();
  }
  await flush();
  return bytes;
}

const EMPTY = new Uint8Array();

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await handle.write(bytes, done)).bytesWritten;
}
