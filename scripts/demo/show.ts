import { styleText } from 'node:util';
import type { SeenRequest } from '../../src/cli/demo/library-api.ts';

const MOST_LINES = 4;
const WIDEST_CELL = 16;

/** A table as cells; the first line has the names of the columns. */
export type Cells = readonly (readonly string[])[];

export function title(text: string): void {
  console.log(`\n\n${styleText('bold', text)}\n`);
}

export function say(text: string): void {
  console.log(indented(text));
}

export function command(text: string): void {
  console.log(indented(`${styleText('dim', '$')} ${styleText('cyan', text)}`));
}

/** A command to be pasted into a shell. */
export function paste(text: string): void {
  console.log(indented(styleText('cyan', text)));
}

/** Prints the output of a command. */
export function output(text: string): void {
  console.log(`\n${indented(text.trimEnd(), 4)}`);
}

/** One line for each request: what was asked for, and what it brought. */
export function requests(seen: readonly SeenRequest[]): void {
  const lines = seen.map(({ line, body }) => `${line}${body === '' ? '' : ` ${body}`}`);
  const width = Math.max(...lines.map(({ length }) => length));
  console.log();
  for (const [i, { answer }] of seen.entries()) {
    console.log(`    ${(lines[i] ?? '').padEnd(width)}  ${styleText('dim', `→ ${answer}`)}`);
  }
}

/** The first rows of a table as a drawing. */
export function table(name: string, rows: Cells): void {
  const shown = rows.slice(0, MOST_LINES + 1).map((row) => row.map(shortened));
  const widths = (shown[0] ?? []).map((_, column) =>
    Math.max(...shown.map((row) => (row[column] ?? '').length)),
  );
  const ruler = (left: string, middle: string, right: string): string =>
    styleText('dim', left + widths.map((width) => '─'.repeat(width + 2)).join(middle) + right);
  const line = (row: readonly string[], isHeader: boolean): string => {
    const cells = widths.map((width, column) => ` ${(row[column] ?? '').padEnd(width)} `);
    const bar = styleText('dim', '│');
    return bar + cells.map((cell) => (isHeader ? styleText('bold', cell) : cell)).join(bar) + bar;
  };
  const [header = [], ...body] = shown;
  const more = rows.length - shown.length;
  const lines = [
    styleText('cyan', name),
    ruler('┌', '┬', '┐'),
    line(header, true),
    ruler('├', '┼', '┤'),
    ...body.map((row) => line(row, false)),
    ruler('└', '┴', '┘'),
    ...(more > 0 ? [styleText('dim', `  and ${more} more`)] : []),
  ];
  console.log(`\n${indented(lines.join('\n'), 4)}`);
}

/** The cells of a table as the service exports it: every cell is quoted, with quotes inside doubled. */
export function cellsOf(csv: string): Cells {
  return csv
    .trimEnd()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/"((?:[^"]|"")*)"/g)].map((match) => (match[1] ?? '').replaceAll('""', '"')),
    );
}

function shortened(cell: string): string {
  return cell.length > WIDEST_CELL ? `${cell.slice(0, WIDEST_CELL - 1)}…` : cell;
}

function indented(text: string, by = 2): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by));
}
