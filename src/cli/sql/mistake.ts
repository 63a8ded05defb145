import { StorageError } from '../../lib/errors.ts';
import { shownLines } from '../../lib/shown-text.ts';

/** Characters of a line, where the terminal says nothing of its width. */
const WIDTH = 100;

/** Adds the line of the query to an error that tells its place, with a mark below the column. */
export function withExcerpt(error: unknown, query: string, width = WIDTH): unknown {
  if (!(error instanceof StorageError)) return error;
  const { code, message, hint, details } = error;
  const { line, column } = details;
  if (typeof line !== 'number' || typeof column !== 'number') return error;
  const text = query.split('\n')[line - 1];
  if (text === undefined) return error;
  const [first = '', ...others] = message.split('\n');
  const lines = [...excerptOf(text, column, width - INDENT.length), ...others];
  return new StorageError(code, first, { lines, hint, details });
}

const INDENT = '  ';

/** Returns the part of a line around a column, and the mark. Tabs stay, so that both are moved alike. */
function excerptOf(line: string, column: number, width: number): string[] {
  const letters = Array.from(line.trimEnd());
  const from = column > width ? column - Math.ceil(width / 2) : 0;
  const shown = letters.slice(from, from + width);
  const start = from > 0 ? '…' : '';
  const end = from + shown.length < letters.length ? '…' : '';
  const before = shownLines(shown.slice(0, column - 1 - from).join('')).replace(/[^\t]/gu, ' ');
  return [`${INDENT}${start}${shown.join('')}${end}`, `${INDENT}${start && ' '}${before}^`];
}
