/** One file in a tar archive. */
export interface TarEntry {
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

const BLOCK = 512;
const MAX_NAME = 100;
const MAX_BYTES = 0o77777777777;

/** Returns the blocks before the bytes of a file (POSIX ustar; long names and sizes in a pax header in front). */
export function tarHeader(entry: TarEntry): Buffer {
  const records: string[] = [];
  if (Buffer.byteLength(entry.name) > MAX_NAME) records.push(record('path', entry.name));
  if (entry.bytes > MAX_BYTES) records.push(record('size', String(entry.bytes)));
  const plain = block({ ...entry, bytes: entry.bytes > MAX_BYTES ? 0 : entry.bytes }, '0');
  if (records.length === 0) return plain;
  const extra = Buffer.from(records.join(''));
  const head = block({ name: 'pax', bytes: extra.length, modifiedAt: entry.modifiedAt }, 'x');
  return Buffer.concat([head, extra, tarPadding(extra.length), plain]);
}

/** Returns the zeros up to the next block. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);
}

/** Returns the end of an archive. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

function block({ name, bytes, modifiedAt }: TarEntry, type: '0' | 'x'): Buffer {
  const head = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(head, 0, 0, MAX_NAME);
  head.write('0000600\0', 100);
  head.write('0000000\0', 108);
  head.write('0000000\0', 116);
  head.write(`${octal(bytes, 11)}\0`, 124);
  head.write(`${octal(Math.max(0, Math.floor(modifiedAt / 1000)), 11)}\0`, 136);
  head.write('        ', 148);
  head.write(type, 156);
  head.write('ustar\u000000', 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${octal(sum, 6)}\0 `, 148);
  return head;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** Formats `<length> <key>=<value>\n`, where the length counts itself. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}
