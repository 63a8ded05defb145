import type { ColumnDefinition, DeleteRows, MetadataPair } from '../../../../storage/client/index.ts';

/** Plan of a push, as plain data: tables and files with their destinations. */
export interface OutputPlan {
  /** In the order of the names of their sources. */
  readonly tables: readonly PlannedOutputTable[];
  readonly files: readonly PlannedOutputFile[];
  /** Warnings about odd things that do not stop the push. */
  readonly warnings: readonly string[];
}

/** Source found in `out/tables` or `out/files`. */
interface PlannedSource {
  /** Its name there. */
  readonly source: string;
  readonly path: string;
  /** Names of the slices, in order; undefined for one file. */
  readonly slices: readonly string[] | undefined;
  readonly bytes: number;
  /** Size and time of change: tells one content from another. */
  readonly content: string;
}

export interface PlannedOutputTable extends PlannedSource {
  /** True when it is gzip already. */
  readonly isGzip: boolean;
  /** Id of the table, such as `in.c-main.users`. */
  readonly destination: string;
  /** Id of its bucket. */
  readonly bucket: string;
  /** Name of the table in the bucket. */
  readonly name: string;
  /** Names of the columns as they are in the table, in the order of the file. */
  readonly columns: readonly string[];
  /** True when the names come from the first line of the file, and not from the mapping or the manifest. */
  readonly isHeader: boolean;
  /** Lines to skip at the start of a file whose columns are given all the same. */
  readonly skippedLines: number;
  /** The same columns with their types, where a `schema` gives any: for a table that is to be made. */
  readonly definitions: readonly ColumnDefinition[];
  readonly primaryKey: readonly string[];
  readonly incremental: boolean;
  readonly delimiter: string;
  readonly enclosure: string;
  /** Rows to delete before the load. */
  readonly deleteRows: readonly DeleteRows[];
  readonly metadata: readonly MetadataPair[];
  readonly columnMetadata: readonly { readonly column: string; readonly metadata: readonly MetadataPair[] }[];
}

export interface PlannedOutputFile extends PlannedSource {
  readonly tags: readonly string[];
  readonly isPublic: boolean;
  readonly isPermanent: boolean;
  readonly isEncrypted: boolean;
  readonly notify: boolean;
}
