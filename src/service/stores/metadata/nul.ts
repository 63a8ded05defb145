// PostgreSQL stores no U+0000 in a text, SQLite does. So it is written as two characters of an unused private area, and
// a text that contains the first of them is escaped in the same way: every text is read as it was stored.

const MARK = '\u{F8D0}';
export const NUL = `${MARK}0`;
const ITSELF = `${MARK}1`;

/** Returns a text in the form that PostgreSQL can store. */
export function writeText(text: string): string {
  if (!text.includes('\0') && !text.includes(MARK)) return text;
  return text.replaceAll(MARK, ITSELF).replaceAll('\0', NUL);
}

/** The text that was written. */
export function readText(stored: string): string {
  return stored.includes(MARK) ? stored.replaceAll(NUL, '\0').replaceAll(ITSELF, MARK) : stored;
}
