import { cellText } from './cells.ts';
import { balanced } from './identifiers.ts';
import type { ColumnForms } from '../column-types.ts';
import type { DuckSession } from './session.ts';

/** Bytes of all values, and one for each cell: above 0 as soon as there is a row. */
export async function sizeOf(
  session: DuckSession,
  name: string,
  columns: readonly string[],
  forms: ColumnForms,
): Promise<number> {
  const cells = columns.map((column) => cellText(column, forms));
  return session.number(`SELECT ${sizeExpression(cells)} FROM ${name}`);
}

/** So many rows tell how large all are; reading every cell takes a third of the time that writing them takes. */
const SAMPLE_ROWS = 60_000;

/** About the bytes of a result as CSV with every cell quoted. The cells are expressions over its table. */
export async function resultSize(
  session: DuckSession,
  name: string,
  cells: readonly string[],
): Promise<number> {
  const sizeOfRows = async (from: string): Promise<readonly [rows: number, bytes: number]> => {
    const [row] = await session.rows(`SELECT count(*), ${sizeExpression(cells)} FROM ${from}`);
    const rows = Number(row?.[0] ?? 0);
    return [rows, Number(row?.[1] ?? 0) + 2 * cells.length * rows];
  };
  const rows = await session.number(`SELECT count(*) FROM ${name}`);
  if (rows > 2 * SAMPLE_ROWS) {
    const percent = (100 * SAMPLE_ROWS) / rows;
    const [sampled, bytes] = await sizeOfRows(
      `${name} TABLESAMPLE system(${percent} PERCENT) REPEATABLE (1)`,
    );
    if (sampled > 0) return (bytes * rows) / sampled;
  }
  const [, bytes] = await sizeOfRows(name);
  return bytes;
}

function sizeExpression(cells: readonly string[]): string {
  const lengths = cells.map((cell) => `strlen(${cell})`);
  return `coalesce(sum(${balanced(lengths, ' + ')} + ${cells.length}), 0)`;
}
