import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { createCrc32c } from '../../../lib/crc32c.ts';

/** CRC-64/NVME (NVM Express command set 5.2.1.3.4); `123456789` gives ae8b14860a799888. */
function createCrc64Nvme(): { update(bytes: Uint8Array): void; digest(): Buffer } {
  // Two halves of 32 bits: BigInt arithmetic for each byte would be a hundred times slower.
  let high = 0xffffffff;
  let low = 0xffffffff;
  return {
    update(bytes) {
      let h = high;
      let l = low;
      for (let i = 0; i < bytes.length; i++) {
        const index = (l ^ at(bytes, i)) & 0xff;
        l = ((l >>> 8) | (h << 24)) ^ at(LOW, index);
        h = (h >>> 8) ^ at(HIGH, index);
      }
      high = h;
      low = l;
    },
    digest() {
      const out = Buffer.alloc(8);
      out.writeUInt32BE(~high >>> 0, 0);
      out.writeUInt32BE(~low >>> 0, 4);
      return out;
    },
  };
}

const POLYNOMIAL = 0x9a6c9329ac4bc9b5n;
const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let crc = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) crc = (crc >> 1n) ^ (crc & 1n ? POLYNOMIAL : 0n);
  return crc;
});
const HIGH = Uint32Array.from(TABLE, (crc) => Number(crc >> 32n));
const LOW = Uint32Array.from(TABLE, (crc) => Number(crc & 0xffffffffn));

// The index is in range by construction; `as number` keeps a check out of the loop over every byte.
const at = (list: Uint8Array | Uint32Array, index: number): number => list[index] as number;

/** Checksums of the S3 protocol; `crc32` travels as `x-amz-checksum-crc32`, in base64, big-endian. */
export const CHECKSUM_NAMES = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const;
export type ChecksumName = (typeof CHECKSUM_NAMES)[number];
export type DigestName = ChecksumName | 'md5';

/** In base64; composite ones end with `-<number of parts>`. */
export type Checksums = Readonly<Partial<Record<ChecksumName, string>>>;

export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** Once, at the end. */
  digest(): Buffer;
}

/** Several digests of one stream. */
export interface Digests {
  update(bytes: Uint8Array): void;
  /** Returns the digests; called once, at the end. */
  finish(): ReadonlyMap<DigestName, Buffer>;
}

export function createDigests(names: Iterable<DigestName>): Digests {
  const running = new Map([...new Set(names)].map((name) => [name, createDigest(name)]));
  return {
    update(bytes) {
      for (const digest of running.values()) digest.update(bytes);
    },
    finish: () => new Map([...running].map(([name, digest]) => [name, digest.digest()])),
  };
}

export function createDigest(name: DigestName): RunningDigest {
  if (name === 'crc32') return createCrc32();
  if (name === 'crc32c') return createCrc32c();
  if (name === 'crc64nvme') return createCrc64Nvme();
  const hash = createHash(name);
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
}

/** Digests in base64, by name. */
export function checksumTexts(
  digests: ReadonlyMap<DigestName, Buffer>,
  names: readonly ChecksumName[],
): Checksums {
  const sums: Partial<Record<ChecksumName, string>> = {};
  for (const name of names) sums[name] = digests.get(name)?.toString('base64') ?? '';
  return sums;
}

export function digestLength(name: DigestName): number {
  return { crc32: 4, crc32c: 4, crc64nvme: 8, md5: 16, sha1: 20, sha256: 32 }[name];
}

export function isChecksumName(text: string): text is ChecksumName {
  return (CHECKSUM_NAMES as readonly string[]).includes(text);
}

function createCrc32(): RunningDigest {
  let value = 0;
  return {
    update: (bytes) => void (value = crc32(bytes, value)),
    digest() {
      const out = Buffer.alloc(4);
      out.writeUInt32BE(value);
      return out;
    },
  };
}
