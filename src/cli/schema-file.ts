import { readFile } from 'node:fs/promises';
import { parseExact, type Json } from '../json/index.ts';

/** The schema of configurations that this package carries, for the catalogue of the service. */
export async function readSchema(): Promise<Json> {
  return parseExact(await readFile(new URL('../../schemas/config.schema.json', import.meta.url), 'utf8'));
}
