import type { DuckSession } from './session.ts';

/**
 * Rows by their numbers: from `start` on and below `end`; there may be gaps. The numbers of rows that are not committed
 * begin where a double is not exact.
 */
export interface RowRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** Rows whose numbers are known. */
export interface FoundRows {
  readonly rows: number;
  /** Rows of the table, with those that a filter leaves out. */
  readonly allRows: number;
  /** Divides the rows into so many ranges, or fewer, of about as many rows. */
  readonly ranges: (count: number) => readonly RowRange[];
}

/** So many parts of a table tell where the rows are that a filter leaves. */
const PARTS = 10_000n;

/**
 * Looks where the rows of a table are. Their numbers go on from one full load to the next, so they may begin anywhere.
 *
 * @param where ` WHERE …` of a filter, whose rows may be anywhere among the others; empty: all rows
 */
export async function findRows(session: DuckSession, name: string, where: string): Promise<FoundRows> {
  const [all] = await partsOf(session, name);
  if (all === undefined) return { rows: 0, allRows: 0, ranges: () => [] };
  if (where === '')
    return { rows: all.rows, allRows: all.rows, ranges: (count) => equalRanges(all, BigInt(count)) };
  const size = (all.end - all.start) / PARTS + 1n;
  const parts = await partsOf(session, `${name}${where} GROUP BY rowid // ${size} ORDER BY 1`);
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  return { rows, allRows: all.rows, ranges: (count) => evenRanges(parts, rows / count) };
}

interface Part extends RowRange {
  readonly rows: number;
}

async function partsOf(session: DuckSession, from: string): Promise<Part[]> {
  const found = await session.rows(`SELECT min(rowid), max(rowid) + 1, count(*) FROM ${from}`);
  return found.flatMap(([start, end, rows]) =>
    typeof start === 'bigint' && typeof end === 'bigint' ? [{ start, end, rows: Number(rows) }] : [],
  );
}

/** Divides a range into so many, or fewer, of as many numbers. */
function equalRanges({ start, end }: RowRange, count: bigint): RowRange[] {
  const size = (end - start + count - 1n) / count;
  const ranges: RowRange[] = [];
  for (let from = start; from < end; from += size)
    ranges.push({ start: from, end: from + size < end ? from + size : end });
  return ranges;
}

/** Joins parts to ranges of so many rows, or a few more. */
function evenRanges(parts: readonly Part[], rows: number): RowRange[] {
  const ranges: RowRange[] = [];
  let range: Part | undefined;
  for (const part of parts) {
    range = { start: range?.start ?? part.start, end: part.end, rows: (range?.rows ?? 0) + part.rows };
    if (range.rows < rows) continue;
    ranges.push(range);
    range = undefined;
  }
  return range === undefined ? ranges : [...ranges, range];
}
