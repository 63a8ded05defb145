import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { errnoOf } from '../errors.ts';
import { readEntry, type FolderEntry } from './layout.ts';

/**
 * Files of objects whose keys begin with `prefix` and lie after `after`, in the order of their bytes. Only the names
 * of the directories on the way are held, and directories that cannot hold such a key are not opened.
 */
export async function* walkObjects(
  directory: string,
  prefix: Uint8Array,
  after: Uint8Array,
  head: Uint8Array = new Uint8Array(),
): AsyncGenerator<{ readonly key: Buffer; readonly file: string }> {
  for (const entry of await readEntries(directory)) {
    const key = Buffer.concat([head, entry.bytes]);
    const file = path.join(directory, entry.name);
    if (entry.kind === 'object') {
      if (startsWith(key, prefix) && Buffer.compare(key, after) > 0) yield { key, file };
    } else if (mayHold(key, prefix, after)) yield* walkObjects(file, prefix, after, key);
  }
}

/** Tells whether a key that begins with `head` can begin with `prefix`, too, and lie after `after`. */
function mayHold(head: Buffer, prefix: Uint8Array, after: Uint8Array): boolean {
  if (!startsWith(head, prefix) && !startsWith(prefix, head)) return false;
  return Buffer.compare(head, after) > 0 || startsWith(after, head);
}

async function readEntries(directory: string): Promise<FolderEntry[]> {
  const found = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  return found
    .map((item) => readEntry(item.name, item.isDirectory()))
    .filter((entry) => entry !== undefined)
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && Buffer.compare(bytes.subarray(0, prefix.length), prefix) === 0;
}
