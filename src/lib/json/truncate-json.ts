/** Limits of the parameters stored with a finished job, and of those shown in lists. */
const BRIEF_CHARS = 16_384;
const BRIEF_ITEMS = 20;
const BRIEF_TEXT = 1000;

/** Longest text that is parsed for truncation. */
const READ_CHARS = 4 * 1024 * 1024;

/**
 * Truncates JSON text: of long lists to the first items and the number of the others, of long texts to the beginning.
 * Short text is returned as it is.
 */
export function brief(json: string): string {
  if (json.length <= BRIEF_CHARS) return json;
  if (json.length > READ_CHARS) return JSON.stringify({ shortened: `${json.length} characters` });
  for (let items = BRIEF_ITEMS; items > 0; items = Math.floor(items / 4)) {
    // Plain values that the service wrote.
    const text = JSON.stringify(shortened(JSON.parse(json), items));
    if (text.length <= BRIEF_CHARS) return text;
  }
  return JSON.stringify({ shortened: `${json.length} characters` });
}

function shortened(value: unknown, items: number): unknown {
  if (typeof value === 'string')
    return value.length <= BRIEF_TEXT ? value : `${value.slice(0, BRIEF_TEXT).toWellFormed()}…`;
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) {
    const entries = Object.entries(value).slice(0, BRIEF_ITEMS * 10);
    return Object.fromEntries(entries.map(([key, item]) => [key, shortened(item, items)]));
  }
  const list: readonly unknown[] = value;
  const first = list.slice(0, items).map((item) => shortened(item, items));
  return list.length <= items ? first : [...first, `… and ${list.length - items} more`];
}
