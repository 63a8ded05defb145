import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../../lib/errors.ts';
import { entriesOf, getKey, isObject, parseExact, type Json } from '../../../lib/json/index.ts';
import { DEFAULT_FIELDS } from './built-in.ts';
import type { ComponentEntry } from './catalogue.ts';

/**
 * Components from a folder: every `*.json` is one entry, or a list of them, in the form of the index.
 *
 * @throws {ConfigError} naming the file that is no component
 */
export async function readComponents(dir: string): Promise<ComponentEntry[]> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.json')).sort();
  const found = await Promise.all(files.map(async (file) => await readEntries(join(dir, file))));
  return found.flat();
}

async function readEntries(file: string): Promise<ComponentEntry[]> {
  let document: Json;
  try {
    document = parseExact(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new ConfigError('config.syntax', 'A component of the catalogue cannot be read.', {
      where: { file },
      cause,
    });
  }
  const entries: readonly Json[] = Array.isArray(document) ? (document as readonly Json[]) : [document];
  return entries.map((entry) => entryOf(entry, file));
}

function entryOf(entry: Json, file: string): ComponentEntry {
  const id = isObject(entry) ? getKey(entry, 'id') : undefined;
  if (!isObject(entry) || typeof id !== 'string' || id === '' || id.includes('/'))
    throw new ConfigError('config.invalid', 'A component of the catalogue needs an `id`.', {
      where: { file },
      hint: 'Write an object with `id`, `type` and `name`, in the form of the index.',
    });
  const { id: _id, type, name, ...fields } = Object.fromEntries(entriesOf(entry));
  return {
    id,
    type: typeof type === 'string' ? type : 'other',
    name: typeof name === 'string' ? name : id,
    fields: { ...DEFAULT_FIELDS, ...fields },
  };
}
