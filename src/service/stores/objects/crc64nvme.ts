/** CRC-64/NVME (NVM Express command set 5.2.1.3.4); `123456789` gives ae8b14860a799888. */
export function createCrc64Nvme(): { update(bytes: Uint8Array): void; digest(): Buffer } {
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
