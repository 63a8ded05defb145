/** Removes all repetitions of a character from the end. A pattern for it takes quadratic time. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

/** Removes all repetitions of a character from both ends. */
export function trimBoth(text: string, character: string): string {
  const kept = trimEnd(text, character);
  let start = 0;
  while (kept[start] === character) start++;
  return kept.slice(start);
}
