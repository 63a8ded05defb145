import type { ColumnType } from '../types/column-type.ts';

/** How the records of one table become its rows. Made by `parseMapping`. */
export interface Mapping {
  /** Name of the table, used as it is. */
  readonly table: string;
  /** In the order of the configuration, which is the order of the columns. */
  readonly entries: readonly MappingEntry[];
  /** The last column, holding the key of the row that these rows were found in; child tables only. */
  readonly parentLink: ParentLink | undefined;
  /** JSON path of the mapping. */
  readonly at: string;
}

export type MappingEntry = ColumnEntry | MappedTable | SelfEntry;

export interface EntryPlace {
  /** Path of the value in the row, or, for `user`, in the extra columns. */
  readonly path: string;
  readonly delimiter: string;
  readonly at: string;
}

export interface ColumnEntry extends EntryPlace {
  readonly kind: 'column' | 'user' | 'date';
  readonly column: string;
  readonly primaryKey: boolean;
  /** Lists and objects are written as JSON text. */
  readonly forceType: boolean;
  /** Type of the column; undefined where the mapping does not say it. */
  readonly type?: ColumnType;
  /** Fate of a value that does not fit: the run fails (the default), the cell is null, or the row is left out. */
  readonly misfit?: 'fail' | 'null' | 'skip';
  /** The `type` as written, where it is none that is known; the entry is read as a column. */
  readonly unknownType: string | undefined;
}

export interface MappedTable extends EntryPlace {
  readonly kind: 'table';
  readonly mapping: Mapping;
}

/** Rows inside of rows that go into the same table with the same mapping. */
export interface SelfEntry extends EntryPlace {
  readonly kind: 'self';
}

export interface ParentLink {
  readonly column: string;
  readonly primaryKey: boolean;
}

/** Mappings by data type. */
export type Mappings = ReadonlyMap<string, Mapping>;
