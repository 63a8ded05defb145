import type { OpenTable } from './chunk-lines.ts';
import type { TableExtras } from './extras.ts';
import type { ItemPlan } from './plan.ts';
import type { StructureNode } from './structure.ts';

/** The table of a list: its columns, and the file that it is written to. */
export interface RecordTable extends OpenTable {
  readonly node: StructureNode;
  plan: ItemPlan;
  extras: TableExtras;
  readonly file: TableFile;
}

/** File of a table. Types whose names are the same when made safe share one, as in the reference. */
export interface TableFile {
  /** Type whose columns are the header: the first that is written. */
  owner: StructureNode;
  columns: readonly string[];
  /** Pages before this one must be written again. */
  staleBefore: number;
  rows: number;
  /** Lone values that became a list belong among its rows: all of it is written again, and the first may be another. */
  isMixed: boolean;
}

/** Returns the columns of the records, then the extra ones. */
export function columnsOf(table: RecordTable): readonly string[] {
  return [...table.plan.row.headers, ...table.extras.headers];
}
