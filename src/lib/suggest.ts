/**
 * Returns the candidate that a mistyped word most likely meant, or undefined when none is near.
 *
 * Case, `_`, `-` and spaces do not count; beyond that a word may have one slip for every three letters, three at most.
 * A candidate equal to the word is no suggestion. The first of equally near ones is taken.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = plain(word);
  let best: string | undefined;
  let limit = Math.min(3, Math.floor(wanted.length / 3));
  for (const candidate of candidates) {
    if (candidate === word) continue;
    const other = plain(candidate);
    if (Math.abs(other.length - wanted.length) > limit) continue;
    const slips = distance(wanted, other);
    // a word replaced letter by letter is another word
    if (slips > limit || (slips > 0 && slips >= Math.min(wanted.length, other.length))) continue;
    best = candidate;
    if (slips === 0) return best;
    limit = slips - 1;
  }
  return best;
}

/** Returns a hint for a mistyped word: the likely candidate, or else the known words. */
export function meantOr(
  word: string,
  known: readonly string[],
  otherwise = `Known are ${known.join(', ')}.`,
): string {
  const near = nearest(word, known);
  return near === undefined ? otherwise : `Did you mean “${near}”?`;
}

/** Returns a hint with both, the likely candidate and the known words. A value that is no text has no candidate. */
export function meantAndKnown(word: unknown, known: readonly string[]): string {
  const near = typeof word === 'string' ? nearest(word, known) : undefined;
  return `${near === undefined ? '' : `Did you mean “${near}”? `}Known are ${known.join(', ')}.`;
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[_\-\s]/g, '');
}

/** Returns the Damerau-Levenshtein distance, optimal string alignment: insert, drop, replace, swap two neighbours. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, cell(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return cell(last, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
