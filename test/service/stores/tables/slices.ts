import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import { bytesOfSlice } from '../../../../src/service/stores/tables/slice.ts';
import type { ExportedSlice } from '../../../../src/service/stores/tables/engine.ts';

/** The bytes of a slice of an export, however it is given. */
export async function bytesOf(slice: ExportedSlice): Promise<Buffer> {
  const content = await buffer(bytesOfSlice(slice));
  if (slice.kind === 'file') expect(content.length).toBe(slice.bytes);
  return content;
}
