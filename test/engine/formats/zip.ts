import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipShape {
  /** The end says so; by default as many files as there are, counted in 16 bits. */
  readonly count?: number;
  /** Sizes and places are written in 64 bits, in extra fields and an end of their own. */
  readonly is64?: boolean;
  /** Sizes and check sums stand behind the files and not in front of them. */
  readonly hasDescriptors?: boolean;
  /** Index of a file that the directory lacks. */
  readonly unlisted?: number;
}

/** A zip archive; files whose name ends in `.stored` are not packed. */
export function zipOf(
  files: readonly (readonly [name: string, content: Uint8Array])[],
  shape: ZipShape = {},
): Buffer {
  const { is64 = false, hasDescriptors = false, unlisted } = shape;
  const { count = (files.length - (unlisted === undefined ? 0 : 1)) % 65_536 } = shape;
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [index, [name, content]] of files.entries()) {
    const method = name.endsWith('.stored') ? 0 : 8;
    const packed = method === 0 ? Buffer.from(content) : deflateRawSync(content);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(method, 8);
    if (hasDescriptors) head.writeUInt16LE(8, 6);
    else {
      head.writeUInt32LE(crc32(content), 14);
      head.writeUInt32LE(packed.length, 18);
      head.writeUInt32LE(content.length, 22);
    }
    const descriptor = Buffer.alloc(hasDescriptors ? 16 : 0);
    if (hasDescriptors) {
      descriptor.writeUInt32LE(0x08074b50, 0);
      descriptor.writeUInt32LE(crc32(content), 4);
      descriptor.writeUInt32LE(packed.length, 8);
      descriptor.writeUInt32LE(content.length, 12);
    }
    head.writeUInt16LE(Buffer.byteLength(name), 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(0x800, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(crc32(content), 16);
    const extra = Buffer.alloc(is64 ? 28 : 0);
    for (const [i, [value, offset]] of (
      [
        [content.length, 24],
        [packed.length, 20],
        [at, 42],
      ] as const
    ).entries()) {
      entry.writeUInt32LE(is64 ? 0xffffffff : value, offset);
      if (is64) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * i);
    }
    if (is64) {
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(24, 2);
      entry.writeUInt16LE(extra.length, 30);
    }
    entry.writeUInt16LE(Buffer.byteLength(name), 28);
    if (index !== unlisted) entries.push(entry, Buffer.from(name), extra);
    parts.push(head, Buffer.from(name), packed, descriptor);
    at += head.length + Buffer.byteLength(name) + packed.length + descriptor.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(is64 ? 0xffff : count, 8);
  end.writeUInt16LE(is64 ? 0xffff : count, 10);
  end.writeUInt32LE(is64 ? 0xffffffff : directory.length, 12);
  end.writeUInt32LE(is64 ? 0xffffffff : at, 16);
  return Buffer.concat([...parts, directory, ...(is64 ? [endOf64(count, directory.length, at)] : []), end]);
}

/** The end in 64 bits, and where it is. */
function endOf64(count: number, bytes: number, at: number): Buffer {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(bytes), 40);
  end.writeBigUInt64LE(BigInt(at), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(at + bytes), 64);
  end.writeUInt32LE(1, 72);
  return end;
}
