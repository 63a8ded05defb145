/** Creates a CRC-32C (Castagnoli), RFC 3720 appendix B.4; `123456789` gives e3069283. */
export function createCrc32c(): { update(bytes: Uint8Array): void; digest(): Buffer } {
  let value = 0xffffffff;
  return {
    update(bytes) {
      let crc = value;
      for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ at(TABLE, (crc ^ at(bytes, i)) & 0xff);
      value = crc;
    },
    digest() {
      const out = Buffer.alloc(4);
      out.writeUInt32BE(~value >>> 0);
      return out;
    },
  };
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  return crc;
});

// The index is in range by construction; `as number` keeps a check out of the loop over every byte.
const at = (list: Uint8Array | Uint32Array, index: number): number => list[index] as number;
