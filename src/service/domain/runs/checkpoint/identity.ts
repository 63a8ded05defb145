import { statSync, type BigIntStats } from 'node:fs';

/** File or folder at one time. */
export interface Seen {
  /** Tells it from a later one of the same name. */
  readonly identity: string;
  /** Changes with what is written into it, or with what is in the folder. */
  readonly state: string;
}

/** Returns the identity and state of a file or a folder; undefined when there is none. */
export function look(file: string): Seen | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : seenOf(stats);
}

export function seenOf({ dev, ino, birthtimeNs, size, mtimeNs }: BigIntStats): Seen {
  return { identity: `${dev}/${ino}/${birthtimeNs}`, state: `${size}/${mtimeNs}` };
}
