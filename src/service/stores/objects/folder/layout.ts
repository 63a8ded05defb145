/**
 * Path of an object in the folder. Every `/` of a key is a directory, so people find their way; a name on disk holds
 * only lower-case letters, digits, `-`, `_` and inner dots, all else as `%xx`. So no key leaves the folder, and none
 * meets another on a file system that ignores case or normalises Unicode. Kinds of names:
 *
 *     exp-15/578/files/          a directory: the key goes on after a slash
 *     236518630.some%46ile,o     an object
 *     aaaaaaaa…,c/               64 bytes of a longer segment: the key goes on without a slash
 *
 * A segment of 64 bytes or more always goes on in a `,c` directory. So the names of one directory, put in the order
 * of their bytes, give the keys in the order of theirs.
 */
export function objectPath(key: string): string {
  const segments = key.split('/');
  const last = segments.length - 1;
  return segments.map((segment, index) => segmentPath(Buffer.from(segment), index === last)).join('/');
}

export interface FolderEntry {
  readonly kind: 'object' | 'directory';
  /** The bytes that this name adds to the key; of a directory, all keys below begin with them. */
  readonly bytes: Buffer;
  readonly name: string;
}

/** Parses a name in the folder; undefined when this store did not make it. */
export function readEntry(name: string, isDirectory: boolean): FolderEntry | undefined {
  const kind = name.endsWith(',o') ? 'object' : 'directory';
  if ((kind === 'directory') !== isDirectory) return undefined;
  const goesOn = name.endsWith(',c');
  const text = kind === 'object' || goesOn ? name.slice(0, -2) : name;
  const bytes = decode(text === EMPTY ? '' : text);
  if (bytes === undefined) return undefined;
  return { kind, name, bytes: kind === 'object' || goesOn ? bytes : Buffer.concat([bytes, SLASH]) };
}

/** The key of an object by its path below the folder, with `/` between names; undefined for what is no object. */
export function keyOfPath(path: string): Buffer | undefined {
  const names = path.split('/');
  const entries = names.map((name, i) => readEntry(name, i < names.length - 1));
  const parts = entries.flatMap((entry) => (entry === undefined ? [] : [entry.bytes]));
  return parts.length === names.length ? Buffer.concat(parts) : undefined;
}

const PIECE_BYTES = 64;
const EMPTY = '%';
const SLASH = Buffer.from('/');

function segmentPath(segment: Buffer, isLast: boolean): string {
  const names: string[] = [];
  let rest = segment;
  for (; rest.length >= PIECE_BYTES; rest = rest.subarray(PIECE_BYTES))
    names.push(`${encode(rest.subarray(0, PIECE_BYTES))},c`);
  const name = encode(rest);
  names.push(isLast ? `${name},o` : name === '' ? EMPTY : name);
  return names.join('/');
}

function encode(bytes: Buffer): string {
  let name = '';
  for (let i = 0; i < bytes.length; i++) {
    const char = String.fromCharCode(bytes[i] ?? 0);
    const isInner = i > 0 && i < bytes.length - 1;
    name +=
      /[a-z0-9_-]/.test(char) || (char === '.' && isInner)
        ? char
        : `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  }
  return name;
}

function decode(name: string): Buffer | undefined {
  if (!/^(?:[a-z0-9_.-]|%[0-9a-f]{2})*$/.test(name)) return undefined;
  const bytes = name.replaceAll(/%(..)/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}
