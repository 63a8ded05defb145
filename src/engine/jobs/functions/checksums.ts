import { crc32 as crc32b } from 'node:zlib';
import { createCrc32c } from '../../../lib/crc32c.ts';

/** Checksums by the names PHP's `hash` has for them, as big-endian bytes. */
export const CHECKSUMS: Readonly<Record<string, (data: Uint8Array) => Uint8Array>> = {
  adler32: (data) => word(adler32(data)),
  // the polynomial of bzip2, whose bytes PHP gives from the lowest
  crc32: (data) => word(bzip2Crc(data)).reverse(),
  crc32b: (data) => word(crc32b(data)),
  crc32c,
  fnv132: (data) => fnv(data, FNV_32, false),
  fnv1a32: (data) => fnv(data, FNV_32, true),
  fnv164: (data) => fnv(data, FNV_64, false),
  fnv1a64: (data) => fnv(data, FNV_64, true),
  joaat: (data) => word(joaat(data)),
};

/** Computes Adler-32 (RFC 1950, 8.2). */
function adler32(data: Uint8Array): number {
  let low = 1;
  let high = 0;
  for (const byte of data) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return high * 65_536 + low;
}

function bzip2Crc(data: Uint8Array): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of data) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04_c1_1d_b7 : crc << 1;
    crc |= 0;
  }
  return ~crc;
}

function crc32c(data: Uint8Array): Uint8Array {
  const crc = createCrc32c();
  crc.update(data);
  return crc.digest();
}

interface FnvParameters {
  readonly bits: 32 | 64;
  readonly prime: bigint;
  readonly basis: bigint;
}

const FNV_32: FnvParameters = { bits: 32, prime: 0x01_00_01_93n, basis: 0x81_1c_9d_c5n };
const FNV_64: FnvParameters = { bits: 64, prime: 0x1_00_00_00_01_b3n, basis: 0xcb_f2_9c_e4_84_22_23_25n };

/** Computes Fowler–Noll–Vo hashes (RFC 9923): version 1a mixes the byte in before it multiplies. */
function fnv(data: Uint8Array, { bits, prime, basis }: FnvParameters, mixFirst: boolean): Uint8Array {
  let hash = basis;
  for (const byte of data) {
    if (mixFirst) hash ^= BigInt(byte);
    hash = BigInt.asUintN(bits, hash * prime);
    if (!mixFirst) hash ^= BigInt(byte);
  }
  return Buffer.from(hash.toString(16).padStart(bits / 4, '0'), 'hex');
}

/** Computes Bob Jenkins's one-at-a-time hash. */
function joaat(data: Uint8Array): number {
  let hash = 0;
  for (const byte of data) {
    hash = (hash + byte) | 0;
    hash = (hash + (hash << 10)) | 0;
    hash ^= hash >>> 6;
  }
  hash = (hash + (hash << 3)) | 0;
  hash ^= hash >>> 11;
  return (hash + (hash << 15)) | 0;
}

function word(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
