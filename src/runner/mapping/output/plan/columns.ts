import { createReadStream } from 'node:fs';
import { CsvError } from '../../../../lib/csv/csv-error.ts';
import { decompressed } from '../../../../lib/csv/decompress.ts';
import type { CsvDialect } from '../../../../lib/csv/dialect.ts';
import { readRows } from '../../../../lib/csv/read-csv.ts';
import { columnName, columnNameProblem } from '../../../../lib/names.ts';
import { reasonOf } from '../../../../lib/errors.ts';

/** A first line that is longer is a file without line ends, or without the quote that ends a name. */
const MAX_HEADER_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 16 * 1024;

export interface LineProblem {
  readonly problem: string;
  readonly line?: number | undefined;
  /** Hint, if the file itself is wrong. */
  readonly hint?: string;
}

/** Reads the names in the first line of a file, which may be gzip; no more of it is read than necessary. */
export async function readHeader(
  file: string,
  dialect: CsvDialect,
): Promise<readonly string[] | LineProblem> {
  const stream = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  try {
    for await (const names of readRows(upTo(MAX_HEADER_BYTES, decompressed(stream)), dialect)) return names;
    return { problem: 'is empty: it has not even a line with the names of its columns' };
  } catch (error) {
    if (error instanceof TooLong)
      return { problem: `has a first line of more than ${MAX_HEADER_BYTES / 1024 / 1024} MiB` };
    if (error instanceof CsvError)
      return {
        problem: `cannot be read as CSV: ${error.message.replace(/\.$/, '')}`,
        line: error.line,
        hint:
          error.problem === 'nul'
            ? 'Write the file without NUL bytes, such as with U+FFFD in their place.'
            : 'Write the file as CSV by RFC 4180, in UTF-8.',
      };
    return { problem: `cannot be read: ${reasonOf(error)}` };
  } finally {
    stream.destroy();
  }
}

/** Returns the names that columns have in a table, or a description of their problems. */
export function tableColumns(
  names: readonly string[],
): { readonly columns: readonly string[] } | { readonly problems: readonly string[] } {
  const columns = names.map(columnName);
  const seen = new Map<string, number>();
  const problems = columns.flatMap((column, i) => {
    const given = names[i] ?? '';
    if (given.toLowerCase() === '_timestamp')
      return [`column ${i + 1} is “${given}”, which the storage keeps for itself`];
    const problem = columnNameProblem(column);
    if (problem !== undefined)
      return [
        `the name of column ${i + 1}, ${JSON.stringify(given)}, ${column === '' && given !== '' ? 'has no letter or digit' : problem}`,
      ];
    const first = seen.get(column.toLowerCase());
    if (first !== undefined)
      return [
        `columns ${first + 1} and ${i + 1} have one name: ${JSON.stringify(names[first])}, ${JSON.stringify(given)}`,
      ];
    seen.set(column.toLowerCase(), i);
    return [];
  });
  return problems.length === 0 ? { columns } : { problems };
}

class TooLong extends Error {}

async function* upTo(limit: number, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > limit) throw new TooLong();
    yield chunk;
  }
}
