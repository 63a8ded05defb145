/**
 * Compiles a pattern in which `%` stands for any run of characters except a line feed, and all else for itself. The
 * whole text must match. Takes time in proportion to the text, whatever the pattern is: no regular expression.
 */
export function compileWildcard(pattern: string): (text: string) => boolean {
  // No `%` reaches over a line feed, so each line of the text meets the line of the pattern at the same place.
  const lines = pattern.split('\n').map((line) => line.split('%'));
  return (text) => {
    const parts = text.split('\n');
    return parts.length === lines.length && parts.every((part, index) => matches(part, lines[index] ?? []));
  };
}

/**
 * Tells whether a text matches the pieces between wildcards: the first and the last are at the ends, the others as
 * early as possible.
 */
function matches(text: string, pieces: readonly string[]): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return text.length - from >= last.length && text.endsWith(last);
}
