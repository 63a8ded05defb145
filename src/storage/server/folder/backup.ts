import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { systemEnv } from '../../../env.ts';
import { lockFolder } from './lock.ts';
import { openMeta, reclaimSpace } from '../meta/database.ts';
import { tarEnd, tarHeader, tarPadding } from '../files/tar.ts';

/** What belongs to a running process only. */
const LEFT_OUT = new Set(['service.lock', 'service.lock-journal', 'service.json']);

/**
 * Writes the whole folder of a service into one tar file; unpacked into an empty folder it is the same service.
 * The folder is held meanwhile, so that all parts are of one moment. The file appears when it is whole.
 *
 * @throws {RunError} `run.locked` while a service runs over the folder
 */
export async function backUp(dir: string, file: string): Promise<{ files: number; bytes: number }> {
  const lock = await lockFolder(dir, systemEnv.now());
  const temporary = `${file}.tmp`;
  try {
    // What is still in the log of the database goes into its file.
    const meta = await openMeta(join(dir, 'meta.sqlite'));
    while ((await reclaimSpace(meta)) > 0);
    await meta.destroy();
    const paths = await filesOf(dir, [file, temporary]);
    const target = await open(temporary, 'w', 0o600);
    let bytes = 0;
    try {
      for (const path of paths) bytes += await add(target, dir, path);
      await target.write(tarEnd());
      await target.sync();
    } finally {
      await target.close();
    }
    await rename(temporary, file);
    return { files: paths.length, bytes };
  } finally {
    await rm(temporary, { force: true });
    await lock.release();
  }
}

async function filesOf(dir: string, without: readonly string[]): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !without.includes(path) && !LEFT_OUT.has(relative(dir, path)))
    .toSorted();
}

async function add(target: FileHandle, dir: string, path: string): Promise<number> {
  const { size, mtimeMs } = await stat(path);
  const name = relative(dir, path).split(sep).join('/');
  await target.write(tarHeader({ name, bytes: size, modifiedAt: mtimeMs }));
  let written = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    await target.write(chunk);
    written += chunk.length;
  }
  if (written !== size) throw new Error(`${name} changed while it was copied.`);
  await target.write(tarPadding(size));
  return size;
}
