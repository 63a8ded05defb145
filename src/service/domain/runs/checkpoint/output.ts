import { createReadStream, mkdirSync, readdirSync, statSync } from 'node:fs';
import { open, utimes, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { KeptOutput, OutputFile } from './kept.ts';
import type { Put } from './segments.ts';
import { DamagedError } from './store.ts';

/** Stores a finished output, without the journal of its push, which still changes. */
export async function keepOutput(
  folder: string,
  { put, segmentBytes, journal }: { put: Put; segmentBytes: number; journal: string },
): Promise<KeptOutput> {
  const files = filesIn(folder).filter((file) => file.path !== journal);
  const pieces: string[] = [];
  for await (const piece of inPieces(bytesOf(folder, files), segmentBytes)) pieces.push(await put(piece));
  return { kind: 'output', pieces, files };
}

/** Writes an output as it was. @param get the bytes of a piece */
export async function restoreOutput(
  folder: string,
  { pieces, files }: KeptOutput,
  get: (key: string) => Promise<Uint8Array>,
): Promise<number> {
  const rest = [...files];
  let written = 0;
  let current: { readonly file: OutputFile; readonly handle: FileHandle; left: number } | undefined;
  mkdirSync(folder, { recursive: true });
  /** Ends the file whose bytes are there, and begins the next; files without bytes by the way. */
  const next = async (): Promise<void> => {
    while (current === undefined || current.left === 0) {
      if (current !== undefined) await finish(folder, current);
      const file = rest.shift();
      current = file && { file, handle: await begin(folder, file), left: file.bytes };
      if (current === undefined) return;
    }
  };
  try {
    await next();
    for (const key of pieces) {
      for (let bytes = await get(key); bytes.length > 0;) {
        if (current === undefined) throw new DamagedError(`What is kept of ${folder} is too long.`);
        const part = bytes.subarray(0, current.left);
        await current.handle.writeFile(part);
        current.left -= part.length;
        written += part.length;
        bytes = bytes.subarray(part.length);
        await next();
      }
    }
    if (current !== undefined) throw new DamagedError(`What is kept of ${folder} is too short.`);
    return written;
  } finally {
    await current?.handle.close();
  }
}

function filesIn(folder: string): readonly OutputFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const { size, mtimeMs } = statSync(file);
      return { path: path.relative(folder, file).split(path.sep).join('/'), bytes: size, mtimeMs };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function* bytesOf(folder: string, files: readonly OutputFile[]): AsyncGenerator<Buffer> {
  for (const file of files) {
    if (file.bytes === 0) continue;
    let bytes = 0;
    const stream = createReadStream(path.join(folder, file.path), {
      end: file.bytes - 1,
      highWaterMark: 1 << 20,
    });
    for await (const chunk of stream) {
      bytes += (chunk as Buffer).length; // a stream of bytes
      yield chunk as Buffer;
    }
    if (bytes < file.bytes) throw new Error(`${file.path} was changed while it was kept`);
  }
}

async function* inPieces(bytes: AsyncIterable<Buffer>, pieceBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    length += chunk.length;
    if (length < pieceBytes) continue;
    yield Buffer.concat(chunks);
    chunks = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(chunks);
}

async function begin(folder: string, file: OutputFile): Promise<FileHandle> {
  const target = path.join(folder, file.path);
  mkdirSync(path.dirname(target), { recursive: true });
  return await open(target, 'w');
}

/** The times stay as they were: by them a push knows that a table is what it has sent. */
async function finish(
  folder: string,
  { file, handle }: { readonly file: OutputFile; readonly handle: FileHandle },
): Promise<void> {
  await handle.close();
  const seconds = (file.mtimeMs + 0.001) / 1000; // or a millisecond might be lost in the fraction
  await utimes(path.join(folder, file.path), seconds, seconds);
}
