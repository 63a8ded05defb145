import { Readable } from 'node:stream';
import { constants, zstdCompressSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFramesDecompress, isOneFrame } from '../../src/lib/zstd-frames.ts';

const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

async function plain(packed: Uint8Array, size: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < packed.length; at += size) pieces.push(packed.subarray(at, at + size));
  const decoder = createFramesDecompress({ chunkSize: 1024 });
  const source = Readable.from(pieces);
  source.pipe(decoder);
  const got: Buffer[] = [];
  for await (const chunk of decoder as AsyncIterable<Buffer>) got.push(chunk);
  return Buffer.concat(got);
}

const frame = fc
  .record({
    content: fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.integer({ min: 1, max: 300_000 }).map((length) => new Uint8Array(length).fill(7)),
      fc.string({ maxLength: 40 }).map((text) => Buffer.from(text.repeat(2000))),
    ),
    hasSum: fc.boolean(),
    hasSize: fc.boolean(),
  })
  .map(({ content, hasSum, hasSize }) => ({
    content,
    packed: zstdCompressSync(content, {
      params: {
        [constants.ZSTD_c_checksumFlag]: Number(hasSum),
        [constants.ZSTD_c_contentSizeFlag]: Number(hasSize),
      },
    }),
  }));

test('frames one behind the other are one text, in whatever pieces they come', async () => {
  const all = fc.array(frame, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(all, fc.constantFrom(1, 2, 7, 1000, 1e7), async (frames, wanted) => {
      const packed = Buffer.concat(frames.map((each) => each.packed));
      const size = packed.length > 20_000 ? Math.max(wanted, 1000) : wanted;
      const content = Buffer.concat(frames.map((each) => each.content));
      expect(Buffer.compare(await plain(packed, size), content)).toBe(0);
      expect(isOneFrame(packed)).toBe(frames.length === 1);
      expect(isOneFrame(packed.subarray(0, -1))).toBe(false);
    }),
    { numRuns: 60 },
  );
});

test('a frame without content is passed over', async () => {
  const packed = Buffer.concat([
    skippable,
    zstdCompressSync('a'),
    skippable,
    zstdCompressSync('b'),
    skippable,
  ]);
  for (const size of [1, 5, 1000]) expect((await plain(packed, size)).toString()).toBe('ab');
});

test('what stands behind a frame and is none is an error, and so is a frame that is cut', async () => {
  const packed = zstdCompressSync('a,b\n'.repeat(100));
  await expect(plain(Buffer.concat([packed, Buffer.from('rest of it')]), 1000)).rejects.toThrow();
  await expect(plain(Buffer.concat([packed, packed.subarray(0, -2)]), 1000)).rejects.toThrow(
    /unexpected end/,
  );
});
