interface Step {
  /** Most letters of a text. */
  readonly letters: number;
  /** Most items of a list. */
  readonly items: number;
}

const STEPS: readonly Step[] = [
  { letters: 2000, items: 100 },
  { letters: 500, items: 50 },
  { letters: 200, items: 20 },
  { letters: 100, items: 10 },
  { letters: 50, items: 3 },
];

/**
 * Shortens a JSON text: the ends of long texts and of long lists are left out, each with a mark in its place.
 *
 * @returns the longest form of at most so many characters; undefined where none is that short
 */
export function shortenedJson(json: string, most: number): string | undefined {
  for (const step of STEPS) {
    const short = JSON.stringify(JSON.parse(json, (_key, each: unknown) => shortened(each, step)));
    if (short.length <= most) return short;
  }
  return undefined;
}

function shortened(value: unknown, { letters, items }: Step): unknown {
  if (typeof value === 'string' && value.length > letters)
    return `${value.slice(0, letters).toWellFormed()}… ${value.length - letters} more characters`;
  if (Array.isArray(value) && value.length > items) {
    const kept: readonly unknown[] = value.slice(0, items);
    return [...kept, `… ${value.length - items} more`];
  }
  return value;
}
