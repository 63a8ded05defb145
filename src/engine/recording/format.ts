import { crc32 } from 'node:zlib';

/**
 * Kinds of the records of a recording, which are appended one after the other. Each is a head of {@link HEAD_BYTES}
 * bytes, a text of JSON in UTF-8 and a body, which only two kinds have: an exchange, and a part of a body that is too
 * large for memory:
 *
 * | bytes | |
 * |---|---|
 * | 0 to 2 | `GXR` |
 * | 3 | the kind, see {@link KINDS} |
 * | 4 to 7 | length of the JSON, little endian as all numbers here |
 * | 8 to 11 | length of the body |
 * | 12 to 15 | CRC-32 of the body |
 * | 16 to 19 | CRC-32 of the 16 bytes before, and of the JSON |
 *
 * Anything that does not fit this ends the recording: it is the rest of a write that was cut.
 */
export const KINDS = ['head', 'exchange', 'note', 'drop', 'session', 'end', 'part', 'limit'] as const;
export type RecordingKind = (typeof KINDS)[number];

/** Changes with the meaning of the records; a recording of another one is not read. */
export const FORMAT_VERSION = 1;

export const HEAD_BYTES = 20;

const MAGIC = 0x525847; // GXR

/** Head of a record, without its JSON. */
export interface RecordHead {
  readonly kind: RecordingKind;
  readonly jsonBytes: number;
  readonly bodyBytes: number;
  readonly bodyCheck: number;
}

/** Encodes the head and the JSON of a record; the body follows them. */
export function encodeRecord(kind: RecordingKind, json: string, body: Uint8Array = NOTHING): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + Buffer.byteLength(json));
  bytes.writeUInt32LE(MAGIC + (KINDS.indexOf(kind) + 1) * 0x1000000, 0);
  bytes.writeUInt32LE(bytes.length - HEAD_BYTES, 4);
  bytes.writeUInt32LE(body.length, 8);
  bytes.writeUInt32LE(body.length === 0 ? 0 : crc32(body), 12);
  bytes.write(json, HEAD_BYTES, 'utf8');
  bytes.writeUInt32LE(checkOf(bytes), 16);
  return bytes;
}

const NOTHING = new Uint8Array(0);

/** Decodes the head of a record; undefined when these bytes begin none. */
export function decodeHead(bytes: Buffer): RecordHead | undefined {
  if (bytes.length < HEAD_BYTES || (bytes.readUInt32LE(0) & 0xffffff) !== MAGIC) return undefined;
  const kind = KINDS[bytes.readUInt8(3) - 1];
  if (kind === undefined) return undefined;
  return {
    kind,
    jsonBytes: bytes.readUInt32LE(4),
    bodyBytes: bytes.readUInt32LE(8),
    bodyCheck: bytes.readUInt32LE(12),
  };
}

/** @param bytes head and JSON */
export function isWhole(bytes: Buffer): boolean {
  return bytes.readUInt32LE(16) === checkOf(bytes);
}

function checkOf(bytes: Buffer): number {
  return crc32(bytes.subarray(HEAD_BYTES), crc32(bytes.subarray(0, 16)));
}
