import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { createCrc32c } from '../../../lib/crc32c.ts';
import { createCrc64Nvme } from './crc64nvme.ts';

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
