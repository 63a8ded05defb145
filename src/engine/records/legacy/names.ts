import { md5 } from '../../../lib/json/index.ts';
import { trimBoth } from '../../../lib/trim.ts';

const MAX_LENGTH = 64;

/**
 * Returns the name of a table or column as the legacy parser makes it: a name over 64 bytes is first shortened as it
 * is, then every byte outside `A-Za-z0-9-` becomes `_`; only the ends are trimmed of `_`.
 */
export function legacyName(raw: string): string {
  // one character for each byte of the UTF-8 text
  const bytes = Buffer.from(raw, 'utf8').toString('latin1');
  return trimBoth(shorten(bytes, raw).replace(/[^A-Za-z0-9-]/g, '_'), '_');
}

/** Shortens a name to the first letters of its words, or a digest, and its end from the first gap that fits. */
function shorten(bytes: string, raw: string): string {
  if (bytes.length <= MAX_LENGTH) return bytes;
  const prefix = `${wordCount(bytes) > 1 ? (bytes.match(/\b\w/g) ?? []).join('') : md5(raw)}_`;
  const from = Math.max(0, bytes.length - (MAX_LENGTH - prefix.length));
  const space = bytes.indexOf(' ', from);
  const gap = space < 0 ? bytes.indexOf('_', from) : space;
  return gap < 0 ? prefix : prefix + bytes.slice(gap);
}

/** Words are runs of letters, `'` and `-`; at the very ends of the name these two belong to none. */
function wordCount(bytes: string): number {
  const inner = bytes.replace(/^['-]+/, '').replace(/-$/, '');
  return inner.match(/[A-Za-z'-]+/g)?.length ?? 0;
}

/**
 * Returns the columns of a header: a raw name whose safe name is taken becomes its MD5, and that column stays blank.
 */
export function legacyHeader(raw: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const name of raw) {
    const safe = legacyName(name);
    names.add(names.has(safe) ? md5(name) : safe);
  }
  return [...names];
}
