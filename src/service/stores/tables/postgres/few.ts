import { recordsOf } from '../../../../lib/csv/records.ts';
import { chain, type CsvContent } from './content.ts';

/** Limits up to which the rows of a file count as few, and are loaded without a table in between. */
export interface FewRows {
  readonly rows: number;
  readonly bytes: number;
}

/** Default limits: statements with so few rows stay small, and run faster than a table is created. */
export const FEW_ROWS: FewRows = { rows: 500, bytes: 64 * 1024 };

/** All records of a file that has few; else its chunks, of which nothing is lost. */
export type FewOrMany =
  | { readonly records: readonly (readonly string[])[]; readonly chunks?: never }
  | { readonly records?: never; readonly chunks: AsyncIterable<Uint8Array> };

/** Reads a file for as long as its rows may be few. */
export async function fewOrMany(content: CsvContent, few: FewRows): Promise<FewOrMany> {
  const chunks = content.chunks();
  const seen: Uint8Array[] = [];
  for (let bytes = 0; ;) {
    const next = await chunks.next();
    if (next.done === true) break;
    seen.push(next.value);
    bytes += next.value.length;
    if (bytes > few.bytes) return { chunks: chain(seen, chunks) };
  }
  if (content.counted.records > few.rows) return { chunks: chain(seen, chunks) };
  const records: (readonly string[])[] = [];
  for await (const found of recordsOf(chain(seen, chunks), content.dialect, () => 1))
    for (const { cells } of found) records.push(cells);
  if (records.length !== content.counted.records)
    throw new Error(`${records.length} rows were read of a file that has ${content.counted.records}.`);
  return { records };
}
