import type { Reading } from './reading.ts';

export type MatchGroups = Readonly<Record<string, string | undefined>>;

/** One form that a piece of a text may have, and what it says. */
export interface TimeRule {
  /** Sticky, with named groups. */
  readonly pattern: RegExp;
  readonly apply: (reading: Reading, groups: MatchGroups) => void;
}

export function rule(pattern: string, apply: TimeRule['apply']): TimeRule {
  return { pattern: new RegExp(pattern, 'y'), apply };
}

/** Alternatives in any case, the longest first: a scan takes the longest that fits. */
export function anyOf(words: Iterable<string>): string {
  return [...words]
    .sort((a, b) => b.length - a.length)
    .map(inAnyCase)
    .join('|');
}

/**
 * Returns a pattern for a word in any case; the flag `i` would affect parts of a pattern in which case distinguishes
 * forms.
 */
export function inAnyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

export function numberIn(groups: MatchGroups, name: string): number | undefined {
  const text = groups[name];
  return text === undefined ? undefined : Number(text);
}
