import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { parseExact, type Json } from '../lib/json/index.ts';

/** Reads the schema of configurations in this package, for the catalogue of the service. */
export async function readSchema(): Promise<Json> {
  const file = createRequire(import.meta.url).resolve('generic-extractor/schemas/config.schema.json');
  return parseExact(await readFile(file, 'utf8'));
}
