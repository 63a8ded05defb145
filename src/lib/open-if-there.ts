import { open, type FileHandle } from 'node:fs/promises';

/** Opens a file for reading; undefined when there is none. */
export async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
