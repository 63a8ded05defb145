import { balanced, columnIdentifier, tableName } from './identifiers.ts';
import type { TableId } from '../engine.ts';
import type { Session } from './database.ts';

/** Bytes of all values, and one for each cell: above 0 as soon as there is a row. */
export async function sizeOf(session: Session, table: TableId, columns: readonly string[]): Promise<number> {
  return session.number(`SELECT ${sizeExpression(columns.map(columnIdentifier))} FROM ${tableName(table)}`);
}

export function sizeExpression(cells: readonly string[]): string {
  const lengths = cells.map((cell) => `strlen(${cell})`);
  return `coalesce(sum(${balanced(lengths, ' + ')} + ${cells.length}), 0)`;
}
