import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Env } from '../../../lib/env.ts';
import { StorageError } from '../../../lib/errors.ts';
import { errnoOf } from './errors.ts';
import { moveDurably } from './folder/disk.ts';

const BYTES = 32;

/** The secret of a folder: read from the file, or made at the first start. Only its owner may read the file. */
export async function loadSecret(file: string, env: Pick<Env, 'randomBytes'>): Promise<Uint8Array> {
  const known = await readFile(file).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (known !== undefined) {
    if (known.length >= BYTES) return known;
    throw new StorageError('storage.damaged', `The secret in ${path.basename(file)} is not whole.`, {
      where: { file },
      hint: 'Restore it from a backup. Or delete the file: a new one is made, and credentials and signed addresses that were given out end.',
    });
  }
  const secret = env.randomBytes(BYTES);
  const temporary = `${file}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(secret);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await moveDurably(temporary, file);
  return secret;
}
