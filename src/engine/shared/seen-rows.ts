import type { Json } from '../../lib/json/index.ts';

/** Rows that are looked at: some of their values, which may be had without the rest, or all of a row. */
export interface SeenRows {
  readonly length: number;
  /** Returns a row, decoded. */
  at(row: number): Json;
  /** Returns a reader of the values of a property in the rows; undefined where only whole rows show them. */
  property(name: string): ((row: number) => Json | undefined) | undefined;
  /** Returns the rows that have no value of a property; undefined where only whole rows show it. */
  without?(name: string): readonly number[] | undefined;
  /** Returns the JSON of a row that is an object, in memory of its own; undefined for any other. */
  json?(row: number): Uint8Array | undefined;
  /** Returns a digest of the scalar values of a row; undefined where it is decoded for that. */
  digest?(row: number): number;
}

/** Returns rows that are decoded already. */
export function decodedRows(rows: readonly Json[]): SeenRows {
  return { length: rows.length, at: (row) => rows[row] ?? null, property: () => undefined };
}
