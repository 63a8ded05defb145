export interface FitOptions {
  /** Columns that stand at their right edge. */
  readonly right: readonly string[];
  /** Columns that are cut when the lines would be too long. */
  readonly elastic: readonly string[];
  /** Columns of the terminal; undefined for any number. */
  readonly width: number | undefined;
}

/** The least that is left of a column that is cut. */
const LEAST = 16;

/** Formats a table to fit into a width, its header first. Cells that are too long are cut in their middle. */
export function fitTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { right, elastic, width }: FitOptions,
): string[] {
  const natural = header.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const widths = width === undefined ? natural : fitted(header, natural, elastic, width - 1);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => {
        const room = widths[i] ?? 0;
        const text = middle(cell, room);
        return right.includes(header[i] ?? '') ? text.padStart(room) : text.padEnd(room);
      })
      .join('  ')
      .trimEnd();
  return [header, ...rows].map(line);
}

function fitted(
  header: readonly string[],
  natural: readonly number[],
  elastic: readonly string[],
  width: number,
): readonly number[] {
  const isElastic = (i: number): boolean => elastic.includes(header[i] ?? '');
  const gaps = (header.length - 1) * 2;
  const fixed = natural.reduce((sum, each, i) => sum + (isElastic(i) ? 0 : each), gaps);
  const widths = [...natural];
  let over = fixed + natural.reduce((sum, each, i) => sum + (isElastic(i) ? each : 0), 0) - width;
  // the widest gives first, so that what is short stays whole
  while (over > 0) {
    const widest = widths.reduce(
      (best, each, i) => (isElastic(i) && (best < 0 || each > (widths[best] ?? 0)) ? i : best),
      -1,
    );
    if (widest < 0 || (widths[widest] ?? 0) <= LEAST) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    over--;
  }
  return widths;
}

/** Shortens a text to its beginning and its end: addresses differ at their end. */
function middle(text: string, length: number): string {
  if (text.length <= length) return text;
  const tail = Math.ceil((length - 1) / 2);
  return `${text.slice(0, length - 1 - tail)}…${text.slice(text.length - tail)}`.toWellFormed();
}
