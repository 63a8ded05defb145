import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createDigest,
  digestLength,
  type DigestName,
} from '../../../../src/service/stores/objects/checksums.ts';

test.each<[DigestName, string]>([
  ['crc32', 'cbf43926'],
  ['crc32c', 'e3069283'],
  ['crc64nvme', 'ae8b14860a799888'],
  ['md5', '25f9e794323b453885f5181f1b624d0b'],
  ['sha1', 'f7c3bc1d808e04732adf679965ccc34ca7ae3441'],
  ['sha256', '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225'],
])('%s of 123456789, in one piece and in any two', (name, expected) => {
  fc.assert(
    fc.property(fc.nat(9), (cut) => {
      const digest = createDigest(name);
      digest.update(Buffer.from('123456789').subarray(0, cut));
      digest.update(Buffer.from('123456789').subarray(cut));
      expect(digest.digest().toString('hex')).toBe(expected);
    }),
  );
  expect(digestLength(name)).toBe(expected.length / 2);
});
