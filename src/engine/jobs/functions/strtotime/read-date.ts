import { DATE_RULES, DATED_TIME_RULES } from './dates.ts';
import { emptyReading, Unreadable, type Reading } from './reading.ts';
import type { MatchGroups, TimeRule } from './rule.ts';
import { KEYWORD_RULES, STEP_RULES, STEP_WORD_RULES } from './steps.ts';
import { TIME_RULES } from './times.ts';
import { ZONE_RULES } from './zones.ts';

/**
 * Reads a text piece by piece. At each place the rule that takes the longest piece counts; of equally long ones the
 * first in the list: `2020` is a time, `2099` a year, `may` a month and no time zone.
 *
 * @returns undefined when the text cannot be read
 */
export function read(text: string): Reading | undefined {
  if (text === '') return undefined;
  const line = firstLine(text);
  const reading = emptyReading();
  try {
    for (let at = skip(line, 0); at < line.length;) at = skip(line, at + readPiece(reading, line, at));
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
  return reading;
}

const RULES: readonly TimeRule[] = [
  ...KEYWORD_RULES,
  ...TIME_RULES,
  ...DATE_RULES,
  ...STEP_WORD_RULES,
  ...ZONE_RULES,
  ...DATED_TIME_RULES,
  ...STEP_RULES,
];

/** @returns the length of the piece */
function readPiece(reading: Reading, line: string, at: number): number {
  let best: { readonly rule: TimeRule; readonly length: number; readonly groups: MatchGroups } | undefined;
  for (const rule of RULES) {
    rule.pattern.lastIndex = at;
    const match = rule.pattern.exec(line);
    const length = match?.[0].length ?? 0;
    if (length > (best?.length ?? 0)) best = { rule, length, groups: match?.groups ?? {} };
  }
  if (best === undefined) throw new Unreadable('unknown piece');
  best.rule.apply(reading, best.groups);
  return best.length;
}

/** Returns the text without white space around it; a line end or a NUL in the middle ends it. */
function firstLine(text: string): string {
  let start = 0;
  while (isWhite(text, start)) start++;
  let end = text.length;
  while (end > start && isWhite(text, end - 1)) end--;
  return /^[^\n\0]*/.exec(text.slice(start, end))?.[0] ?? '';
}

function isWhite(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function skip(line: string, at: number): number {
  let next = at;
  while (' \t.,'.includes(line.charAt(next)) && next < line.length) next++;
  return next;
}
