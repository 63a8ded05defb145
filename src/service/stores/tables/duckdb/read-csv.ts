import { literal } from './identifiers.ts';
import type { CsvDialect } from '../../../../lib/csv/dialect.ts';
import type { Spool } from './spool.ts';

/**
 * The rows of spooled files as a table of texts `c0`, `c1`, …, in the order of the files.
 * Every option is given, so nothing is guessed. `new_line` is not: with it the reader finds no rows.
 */
export function readCsv({ paths, dialect, columns, longestRecord, isLineWise }: Spool): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`);
  if (paths.length === 0) return `(SELECT ${names.map((name) => `'' AS ${name}`).join(', ')} LIMIT 0)`;
  const options = [
    `[${paths.map(literal).join(', ')}]`,
    'auto_detect = false',
    'header = true',
    'strict_mode = true',
    'ignore_errors = false',
    'null_padding = false',
    "compression = 'none'",
    "encoding = 'utf-8'",
    ...separators(dialect),
    `columns = {${names.map((name) => `${name}: 'VARCHAR'`).join(', ')}}`,
    // Both are needed for an empty cell to stay a text, unquoted and quoted.
    `force_not_null = [${names.map((name) => `'${name}'`).join(', ')}]`,
    'allow_quoted_nulls = false',
    // A thread that starts in the middle takes the next line end for that of a record; each has buffers of its own.
    `parallel = ${isLineWise && longestRecord < USUAL_LINE_BYTES}`,
    ...sizes(longestRecord),
  ];
  return `read_csv(${options.join(', ')})`;
}

function separators({ delimiter, enclosure }: CsvDialect): string[] {
  const quote = literal(enclosure === undefined ? '' : String.fromCharCode(enclosure));
  return [`delim = ${literal(String.fromCharCode(delimiter))}`, `quote = ${quote}`, `escape = ${quote}`];
}

const USUAL_LINE_BYTES = 2 * 1024 * 1024;

/** The reader refuses lines above 2 MB unless told, and holds some buffers for each thread. */
function sizes(longestRecord: number): string[] {
  const line = Math.max(longestRecord + 16, USUAL_LINE_BYTES);
  return [`max_line_size = ${line}`, `buffer_size = ${Math.max(line + 8192, 4 * USUAL_LINE_BYTES)}`];
}
