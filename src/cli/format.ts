import { inThousands } from '../lib/thousands.ts';

/** Formats a count: `12,345`. */
export function formatCount(value: number): string {
  return inThousands(String(Math.round(value)), ',');
}

/** Formats a count with its noun: `1 page`, `2 pages`. */
export function plural(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** Formats a size: `999 B`, `1.2 kB`, `34 MB`, in powers of ten, as networks count. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  return `${unit === 0 || value >= 9.95 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Formats columns to the width they need; those named in `right` are right-aligned. */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): string {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) =>
        right.includes(header[i] ?? '') ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [header, ...rows].map(line).join('\n');
}

/** A text in lines of at most so many characters, broken between words; a word that is longer stays whole. */
export function wrapped(text: string, most: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
