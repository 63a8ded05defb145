import { hash } from 'node:crypto';

const MAX_LENGTH = 64;

/**
 * Makes the name of a table or column safe for storage: every byte outside `A-Za-z0-9-` becomes `_`, names over 64
 * characters are cut in front, runs of `_` collapse.
 */
export function safeName(raw: string): string {
  const underscored = Buffer.from(raw, 'utf8')
    .toString('latin1')
    .replace(/[^A-Za-z0-9-]/g, '_');
  return shorten(underscored).replace(/_+/g, '_').replace(/^_|_$/g, '');
}

/** Returns the header of a property reached through objects: the path from its item, `[].` in front. */
export function columnName(path: readonly string[]): string {
  return safeName(`[].${path.join('.')}`);
}

function shorten(name: string): string {
  if (name.length <= MAX_LENGTH) return name;
  const prefix = `${wordCount(name) > 1 ? initials(name) : hash('md5', name)}_`;
  const from = name.indexOf('_', Math.max(0, name.length - (MAX_LENGTH - prefix.length)));
  return from < 0 ? prefix : prefix + name.slice(from);
}

/** Words are runs of letters and hyphens; hyphens at the very ends of the text belong to none. */
function wordCount(name: string): number {
  return (
    name
      .replace(/^-+/, '')
      .replace(/-$/, '')
      .match(/[A-Za-z-]+/g)?.length ?? 0
  );
}

/** Returns the first character of each run of word characters (`_` is one of them). */
function initials(name: string): string {
  return (name.match(/\b\w/g) ?? []).join('');
}

/** Names in use in one table, compared case-sensitively. */
export class NameScope {
  readonly #used = new Set<string>();
  /** By name: numbers below are taken, for none is ever given back. */
  readonly #next = new Map<string, number>();

  /** Takes a free name: the name itself, or with `_u0`, `_u1` … when it is taken. */
  take(name: string): string {
    let free = name;
    let i = this.#next.get(name) ?? 0;
    for (; this.#used.has(free); i++) free = `${name}_u${i}`;
    if (free !== name) this.#next.set(name, i);
    this.#used.add(free);
    return free;
  }

  reserve(name: string): void {
    this.#used.add(name);
  }
}
