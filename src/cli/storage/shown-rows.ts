import { shownText } from '../../lib/shown-text.ts';

/** Formats rows below each other, as lines of column and value. */
export function verticalRows(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const name = Math.max(...columns.map(({ length }) => length));
  return rows
    .map((row, i) =>
      [
        `-- row ${i + 1}`,
        ...columns.map((column, at) =>
          `${column.padEnd(name)}  ${(row[at] ?? '')
            .split(/\r?\n/)
            .map(shownText)
            .join(`\n${' '.repeat(name + 2)}`)}`.trimEnd(),
        ),
      ].join('\n'),
    )
    .join('\n');
}

/** Cuts lines that are wider than the terminal, and says what to do. */
export function fitted(table: string, width: number | undefined, advice: string): string {
  const lines = table.split('\n');
  if (width === undefined || lines.every(({ length }) => length <= width)) return table;
  const cut = lines.map((line) =>
    line.length <= width ? line : `${line.slice(0, width - 1).toWellFormed()}…`,
  );
  return [...cut, `The table is wider than the terminal: ${advice}`].join('\n');
}
