// @module-tag thorough
import { spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { gzipped } from '../../../../src/service/stores/tables/gzip.ts';
import { bytesOf } from './slices.ts';

const noise = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let i = 0, x = 7; i < length; i++) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
};

const packed = async (...chunks: Buffer[]): Promise<Buffer> =>
  await bytesOf({ kind: 'stream', stream: Readable.from(gzipped(Readable.from(chunks))) });

async function* failing(): AsyncGenerator<Buffer> {
  yield await Promise.resolve(noise(2_000_000));
  throw new Error('The connection is lost.');
}

describe('gzip on several threads', () => {
  test.each([
    ['nothing', []],
    ['one byte', [Buffer.from('x')]],
    ['a text', [Buffer.from('"1","a"\n'.repeat(100))]],
    [
      'many blocks of text',
      Array.from({ length: 100 }, (_, i) => Buffer.from(`"${i}","a text"\n`.repeat(6000))),
    ],
    ['what cannot be compressed', [noise(3_000_000)]],
    ['blocks of exactly their size', [Buffer.alloc(1024 * 1024), Buffer.alloc(1024 * 1024)]],
  ])('gives one member with its bytes: %s', async (_, chunks) => {
    const plain = Buffer.concat(chunks);
    const file = await packed(...chunks);
    expect(gunzipSync(file).equals(plain)).toBe(true);
    // Readers that know of one member only have all of it: deflate ends where the trailer begins.
    const { engine, buffer } = inflateRawSync(file.subarray(10), { info: true }) as unknown as {
      readonly buffer: Buffer;
      readonly engine: { readonly bytesWritten: number };
    }; // the types of Node.js leave out what the option gives
    expect(buffer.equals(plain)).toBe(true);
    expect(engine.bytesWritten).toBe(file.length - 18);
    expect(spawnSync('gzip', ['-t'], { input: file })).toMatchObject({ status: 0 });
  });

  test('a failure of the content is that of the file', async () => {
    await expect(Readable.from(gzipped(failing())).toArray()).rejects.toThrow('The connection is lost.');
  });
});
