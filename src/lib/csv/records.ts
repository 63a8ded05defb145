import { CsvScanner } from './scan.ts';
import { splitRecord } from './split.ts';
import type { CsvDialect } from './dialect.ts';

/** Record with the physical line on which it starts. */
export interface CsvRecord {
  readonly cells: readonly string[];
  readonly line: number;
}

/**
 * Reads the records of bytes that `checkCsv` has accepted, chunk by chunk.
 *
 * @param firstLine gives the physical line of the first byte, from 1; called when the first chunk has come
 */
export async function* recordsOf(
  data: AsyncIterable<Uint8Array>,
  dialect: CsvDialect,
  firstLine: () => number,
): AsyncGenerator<readonly CsvRecord[]> {
  let scanner: CsvScanner | undefined;
  let pending: Uint8Array[] = [];
  let found: { end: number; line: number }[] = [];
  for await (const chunk of data) {
    scanner ??= new CsvScanner({ dialect, firstLine: firstLine() });
    scanner.onRecord = (end, line) => found.push({ end, line });
    found = [];
    scanner.push(chunk);
    let start = 0;
    const records: CsvRecord[] = [];
    for (const { end, line } of found) {
      const bytes = Buffer.concat([...pending, chunk.subarray(start, end)]);
      records.push({ cells: splitRecord(bytes, dialect), line });
      pending = [];
      start = end;
    }
    if (start < chunk.length) pending.push(chunk.subarray(start));
    if (records.length > 0) yield records;
  }
  found = [];
  scanner?.end();
  const [last] = found;
  if (last !== undefined) yield [{ cells: splitRecord(Buffer.concat(pending), dialect), line: last.line }];
}
