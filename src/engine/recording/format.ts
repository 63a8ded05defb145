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

/** The check at the end of a head. */
const CHECK_BYTES = 4;

const MAGIC = 0x525847; // GXR

const FIRST_BYTES = 4096;
/** A larger body is written from where it is. */
const SMALL_BYTES = 32_768;
const MOST_KEPT_BYTES = 1 << 20;
const NOTHING = new Uint8Array(0);

/** Head of a record, without its JSON. */
export interface RecordHead {
  readonly kind: RecordingKind;
  readonly jsonBytes: number;
  readonly bodyBytes: number;
  readonly bodyCheck: number;
}

/** Encodes the head and the JSON of a record; the body follows them. */
export function encodeRecord(kind: RecordingKind, json: string, body?: Uint8Array): Buffer {
  const records = new RecordBuffer();
  records.add(kind, json, body);
  return records.bytes.subarray(0, records.length);
}

/** Gathers records to be written together, in memory that is used again. */
export class RecordBuffer {
  #bytes: Buffer<ArrayBuffer> = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Memory that begins with the records. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Appends the head and the JSON of a record; the body is to follow them. */
  add(kind: RecordingKind, json: string, body: Uint8Array = NOTHING): void {
    const at = this.#length;
    this.#reserve(HEAD_BYTES + 3 * json.length);
    const jsonBytes = this.#bytes.write(json, at + HEAD_BYTES);
    const lead = MAGIC + (KINDS.indexOf(kind) + 1) * 0x1000000;
    const bodyCheck = body.length === 0 ? 0 : crc32(body);
    // first right before the JSON, so that all that is checked is one piece
    this.#setHead(at + CHECK_BYTES, lead, jsonBytes, body.length, bodyCheck);
    const checked = new Uint8Array(
      this.#bytes.buffer,
      at + CHECK_BYTES,
      HEAD_BYTES - CHECK_BYTES + jsonBytes,
    );
    const check = crc32(checked);
    this.#setHead(at, lead, jsonBytes, body.length, bodyCheck);
    this.#view.setUint32(at + HEAD_BYTES - CHECK_BYTES, check, true);
    this.#length = at + HEAD_BYTES + jsonBytes;
  }

  /** Appends the body of the last record if it is small, and tells whether it did. */
  addBody(body: Uint8Array): boolean {
    if (body.length > SMALL_BYTES) return false;
    this.#reserve(body.length);
    this.#bytes.set(body, this.#length);
    this.#length += body.length;
    return true;
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#hold(Buffer.allocUnsafeSlow(FIRST_BYTES));
  }

  #setHead(at: number, lead: number, jsonBytes: number, bodyBytes: number, bodyCheck: number): void {
    this.#view.setUint32(at, lead, true);
    this.#view.setUint32(at + 4, jsonBytes, true);
    this.#view.setUint32(at + 8, bodyBytes, true);
    this.#view.setUint32(at + 12, bodyCheck, true);
  }

  #reserve(bytes: number): void {
    const wanted = this.#length + bytes;
    if (wanted <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#hold(grown);
  }

  #hold(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

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
