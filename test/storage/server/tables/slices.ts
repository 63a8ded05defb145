import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Slice } from '../../../../src/storage/server/tables/engine.ts';

/** The bytes of a slice of an export, however it is given. */
export async function bytesOf(slice: Slice): Promise<Buffer> {
  if (slice.kind === 'stream') return await buffer(slice.stream);
  const content = await readFile(slice.path);
  expect(content.length).toBe(slice.bytes);
  return content;
}
