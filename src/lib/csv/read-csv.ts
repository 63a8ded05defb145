import { CsvScanner } from './scan.ts';
import { inPieces, withoutBom } from './source.ts';
import { splitRecord } from './split.ts';
import { Utf8Checker } from './utf8.ts';
import type { CsvDialect } from './dialect.ts';

/**
 * Reads the records of a CSV file as lists of texts, header included. For small files and tests: large ones go through
 * `checkCsv` untouched. Rules and errors are the same.
 */
export async function* readRows(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  dialect: CsvDialect,
): AsyncGenerator<string[]> {
  const scanner = new CsvScanner({ dialect });
  const encoding = new Utf8Checker();
  let pending: Uint8Array[] = [];
  let ends: number[] = [];
  scanner.onRecord = (end) => ends.push(end);

  for await (const chunk of withoutBom(inPieces(source))) {
    const badLine = encoding.push(chunk);
    scanner.push(badLine < 0 ? chunk : chunk.subarray(0, badLine));
    let start = 0;
    for (const end of ends) {
      yield splitRecord(Buffer.concat([...pending, chunk.subarray(start, end)]), dialect);
      pending = [];
      start = end;
    }
    ends = [];
    if (badLine >= 0) throw scanner.error('encoding', 'the text is not UTF-8; save the file as UTF-8');
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
  if (!encoding.end()) throw scanner.error('encoding', 'the text is not UTF-8; save the file as UTF-8');
  scanner.end();
  if (pending.length > 0) yield splitRecord(Buffer.concat(pending), dialect);
}

/**
 * Reads the records of bytes in memory at once.
 *
 * @throws CsvError
 */
export function parseRows(bytes: Uint8Array, dialect: CsvDialect): string[][] {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = isMarked ? bytes.subarray(3) : bytes;
  const scanner = new CsvScanner({ dialect });
  const encoding = new Utf8Checker();
  const rows: string[][] = [];
  let start = 0;
  scanner.onRecord = (end) => {
    rows.push(splitRecord(text.subarray(start, end < 0 ? text.length : end), dialect));
    start = end;
  };
  const badLine = encoding.push(text);
  scanner.push(badLine < 0 ? text : text.subarray(0, badLine));
  if (badLine >= 0 || !encoding.end())
    throw scanner.error('encoding', 'the text is not UTF-8; save the file as UTF-8');
  scanner.end();
  return rows;
}
