import type { Readable } from 'node:stream';
import type { ColumnTypes, NativeType, WantedTypes } from './column-types.ts';
import type { TableSummary } from './profile.ts';
import type { RowFilter, RowQuery } from './row-query.ts';

/** One table. Both parts may be any text; an engine maps them to safe names of its own. */
export interface TableId {
  /** Bucket, such as `in.c-main`; a service with branches or projects puts these in front. */
  readonly bucket: string;
  readonly table: string;
}

export interface TableDefinition {
  /** In table order. */
  readonly columns: readonly string[];
  /** Empty: no primary key. */
  readonly primaryKey: readonly string[];
  /** Types of the columns. Default: all are texts. */
  readonly types?: WantedTypes;
}

export interface TableDescription extends Omit<TableDefinition, 'types'> {
  /** Types that the columns are stored with; undefined: all are texts. */
  readonly types?: ColumnTypes;
  readonly rows: number;
  /** The last import, when it had a mark. */
  readonly lastImport?: LastImport | undefined;
  /** About the size of all values in bytes; above 0 as soon as there is a row. */
  readonly bytes: number;
}

export interface LastImport {
  readonly mark: string;
  readonly outcome: ImportOutcome;
}

/** Bytes of one part of a file, as stored; read once. */
export type ByteSlice = AsyncIterable<Uint8Array>;

export interface CsvLayout {
  /** One character; the two characters `\t` mean a tab. Default `,`. */
  readonly delimiter?: string;
  /** One character, or empty for no quoting at all. Default `"`. */
  readonly enclosure?: string;
  /** One character; makes the next one data. Only without an enclosure. Default none. */
  readonly escapedBy?: string;
}

/** Fence of a change: it is made only while the job still belongs to that worker. */
export interface Fence {
  readonly jobId: number;
  /** The number that the job had when the worker took it. */
  readonly fencing: number;
  /** A second worker may get the same number when a standby of the database has taken over. */
  readonly worker: string | null;
}

/** Origin of a change, for an engine that keeps the history of its tables. */
export interface ChangeOrigin {
  /** Id of the run, as the client names it. */
  readonly run?: string | undefined;
  readonly component?: string | undefined;
  readonly configuration?: string | undefined;
  /** Row of the configuration. */
  readonly row?: string | undefined;
  /** Version of the configuration. */
  readonly version?: number | undefined;
}

export interface TableWriteOptions {
  /**
   * Checked in the transaction of the change, by an engine that several processes share; others don't need it.
   * `LeaseLost` when another worker has the job: nothing is changed then.
   */
  readonly fence?: Fence | undefined;
  readonly origin?: ChangeOrigin | undefined;
}

export interface NewColumnOptions extends TableWriteOptions {
  /** Default: a text. */
  readonly type?: NativeType | 'time' | undefined;
}

/** Options of an import. */
export interface ImportRequest extends CsvLayout, TableWriteOptions {
  /** The time rows get as their change time. */
  readonly importedAt: Date;
  /** Microseconds of that time behind its milliseconds, by which loads at the same time are told apart. Default 0. */
  readonly importMicros?: number;
  /** False: the table is emptied first. True: rows are added, or put in place of those with the same key. Default false. */
  readonly incremental?: boolean;
  /** `insert` adds rows without looking at the primary key. Default `upsert`. */
  readonly deduplicationStrategy?: 'upsert' | 'insert';
  /**
   * Names of the columns in file order; the file then has no header, and in an import that makes a table one that says
   * the same is left out. The change time may follow them unnamed.
   */
  readonly columns?: readonly string[];
  /** The file has no header; its columns are those of the table by position. Default false. */
  readonly withoutHeaders?: boolean;
  /** The file is sliced: no slice has a header, so `columns` or `withoutHeaders` must be given. Default false. */
  readonly isSliced?: boolean;
  /** Physical lines skipped unread at the start of the first slice; when above 0, `withoutHeaders` is ignored. */
  readonly ignoredLinesCount?: number;
  /** Values stored as empty. */
  readonly treatValuesAsNull?: readonly string[];
  /** The column `_timestamp` of the file is the change time of its row. Default false. */
  readonly useTimestampFromDataFile?: boolean;
  /**
   * Name of this piece of work. When it was the last import of the table already, nothing is done and the outcome of
   * that time is given: so work that a killed process had finished without knowing is not done twice.
   */
  readonly mark?: string;
  /**
   * Outcome to remember in place of this import, which copies a table: work that was under way there is not done twice.
   */
  readonly lastImport?: LastImport | undefined;
  /**
   * Types of the columns, and texts for those without; what is stored otherwise is changed with the import. A column
   * whose rows do not all fit stays one of texts, until a full load. Default: as they are stored.
   */
  readonly types?: WantedTypes | undefined;
  /** Makes the table from the columns of the file; nothing is left of it when the import fails. */
  readonly create?: { readonly primaryKey: readonly string[] };
}

export interface ImportOutcome {
  /** Names as stored, in file order, new ones included. */
  readonly importedColumns: readonly string[];
  /** Columns that the table did not have before (none when it was made by this import). */
  readonly newColumns: readonly string[];
  /** Rows read from the file. */
  readonly importedRows: number;
  /** Bytes of these rows as CSV, decompressed. */
  readonly importedBytes: number;
  /** Rows of the table afterwards. */
  readonly totalRows: number;
  /** Size of the table afterwards, as `TableDescription.bytes`. */
  readonly totalBytes: number;
  readonly columns: readonly string[];
  readonly primaryKey: readonly string[];
}

export interface SliceOptions {
  readonly gzip: boolean;
  /** A slice ends at about this many bytes, counted before compression. */
  readonly targetBytes: number;
}

/**
 * A slice of an export: bytes that come while they are taken, or a whole file of this machine. The stream must be read
 * to its end; the file may be moved away, and what is left of it is removed afterwards.
 */
export type ExportedSlice =
  | { readonly kind: 'stream'; readonly stream: Readable }
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number };

/** An error ends the export with that error. */
export type TakeSlice = (slice: ExportedSlice, index: number) => Promise<void>;

export interface ExportOutcome {
  readonly rows: number;
  /** Bytes written, compressed where asked for. */
  readonly bytes: number;
  readonly slices: number;
}

/** Tables that are only read. */
export type TableReader = Pick<TableEngine, 'describe' | 'export'>;

/**
 * Store of the rows of tables. All values go in and come out as texts; empty and NULL are one. Columns with a type are
 * stored as values, for others that read the store; what is filtered, sorted, compared and given is their texts.
 * Errors that a user can act on are `TableError`s with a code of the public API.
 * Writes to one table run one after another; readers see the table as it was before or after a write, never between.
 */
export interface TableEngine {
  /** True when several processes may use one store at a time. */
  readonly isShared: boolean;

  /** Opens the engine, before anything else; removes the remains of a killed process. */
  open(): Promise<void>;
  /** Closes the engine, after work in progress. */
  close(): Promise<void>;

  /**
   * Makes an empty table. Whether a table exists is the catalogue's to say: one of the same id,
   * left by a process that was killed before the catalogue knew of it, is replaced.
   */
  create(table: TableId, definition: TableDefinition, options?: TableWriteOptions): Promise<void>;
  /** Nothing happens when there is none. */
  drop(table: TableId, options?: TableWriteOptions): Promise<void>;
  /**
   * Drops the engine's own data of a bucket without tables. Does nothing when the bucket has tables, or there is no
   * such data.
   */
  dropBucket(bucket: string, options?: TableWriteOptions): Promise<void>;
  describe(table: TableId): Promise<TableDescription | undefined>;

  /** Adds a column at the end; rows get an empty value. */
  addColumn(table: TableId, column: string, options?: NewColumnOptions): Promise<void>;
  dropColumn(table: TableId, column: string, options?: TableWriteOptions): Promise<void>;
  /** Sets the key, or removes it with `[]`. Rows that share a key: `storage.tables.primaryKeyDuplicateValues`. */
  setPrimaryKey(table: TableId, columns: readonly string[], options?: TableWriteOptions): Promise<void>;

  /** All or nothing. Gzip is detected in each slice; slices are read in order. */
  import(table: TableId, request: ImportRequest, slices: AsyncIterable<ByteSlice>): Promise<ImportOutcome>;

  /**
   * Gives CSV slices without header to `take`, one after another: every cell quoted, `,`, LF. Concatenated in
   * order they are the result: sorted by `orderBy`, else in the order of insertion. No rows: no slice.
   */
  export(table: TableId, query: RowQuery, options: SliceOptions, take: TakeSlice): Promise<ExportOutcome>;
  /** `query.limit` rows (100 by default, 1,000 at most), behind the first `query.offset`. */
  preview(
    table: TableId,
    query: RowQuery,
  ): Promise<{ columns: readonly string[]; rows: readonly (readonly string[])[] }>;
  /** Counts the rows that match. */
  count(table: TableId, filter: RowFilter): Promise<number>;
  /** Summarizes the values of columns. @throws TableError for unknown columns, or too many */
  profile(table: TableId, query: Pick<RowQuery, 'columns' | 'where'>): Promise<TableSummary>;
  /** Deletes the rows that match and counts them; without a filter all of them. */
  deleteRows(table: TableId, filter: RowFilter, options?: TableWriteOptions): Promise<number>;

  /** Returns the earlier versions of tables; undefined when the engine keeps none. */
  versions(): Promise<TableVersions | undefined>;

  /** Returns what finds files that no table has; undefined when the engine keeps no files of tables. */
  orphans(): Promise<OrphanedFiles | undefined>;

  /** Gives space of deleted rows back to the disk when it is much; waits for what is running. */
  compact(): Promise<{ readonly freedBytes: number }>;
}

/** Files that no version of any table names: a killed process left them, or a change that failed. */
export interface OrphanedFiles {
  /** Lists those from before a moment, as an earlier list says it. Default: two days ago, so that no load is at work on them. */
  list(before?: string): Promise<OrphanList>;
  /** Deletes what was listed, and returns what that was. @throws when there is more than was listed */
  remove(listed: Pick<OrphanList, 'before' | 'count'>): Promise<OrphanList>;
}

export interface OrphanList {
  /** Moment from before which they are, by the clock of the database. */
  readonly before: string;
  readonly count: number;
  /** The first thousand of them. */
  readonly files: readonly OrphanedFile[];
}

export interface OrphanedFile {
  readonly path: string;
  readonly bytes: number;
  readonly time: Date;
}

/** Earlier versions of tables, of an engine that keeps them for a while. Numbers go up with time. */
export interface TableVersions {
  /** Returns the changes of a table, the newest first. */
  history(table: TableId, query: HistoryQuery): Promise<readonly VersionEntry[]>;
  /** Returns the number of the version that was there at a time; undefined when none is kept from then. */
  versionAt(time: Date): Promise<number | undefined>;
  /** Returns the version that was there before one; undefined when none is kept from then. */
  previous(version: number): Promise<number | undefined>;
  /** Returns all tables as they were at a version. */
  at(version: number): TablesAtVersion;
  /**
   * Compares the rows of two versions: by the primary key where both have the same, else row by row. Change times are
   * not compared.
   *
   * @throws TableError (`storage.tables.versionNotFound`, `storage.tables.differenceTooLarge`)
   */
  difference(table: TableId, query: VersionRange): Promise<VersionDifference>;
  /**
   * Gives a table the columns, the key and the rows of a version, as a change like others.
   *
   * @throws TableError (`storage.tables.versionNotFound`)
   */
  restore(table: TableId, version: number, options: TableWriteOptions): Promise<TableDescription>;
}

export type TablesAtVersion = Pick<TableEngine, 'count' | 'describe' | 'export' | 'preview'>;

export interface HistoryQuery {
  readonly limit: number;
  /** Only versions below this number. */
  readonly before?: number | undefined;
  /** Only changes of this run. */
  readonly run?: string | undefined;
}

/** A change of a table. */
export interface VersionEntry {
  readonly version: number;
  readonly time: Date;
  /** Such as `import`, `replace`, `delete rows of`. */
  readonly change: string;
  /** Rows afterwards; undefined when that is not known. */
  readonly rows?: number | undefined;
  /** Rows of the file that was loaded. */
  readonly importedRows?: number | undefined;
  readonly addedColumns: readonly string[];
  readonly droppedColumns: readonly string[];
  /** The storage job. */
  readonly job?: number | undefined;
  readonly origin: ChangeOrigin;
}

export interface VersionRange {
  readonly from: number;
  readonly to: number;
  /** Rows that are given at most. */
  readonly limit: number;
}

export interface VersionDifference {
  /** Columns of both versions; a row is empty in one that its version does not have. */
  readonly columns: readonly string[];
  /** The key by which rows were compared; empty: none. */
  readonly primaryKey: readonly string[];
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly rows: readonly RowDifference[];
}

/** A row that differs; one that was added has no `before`, and one that was removed no `after`. */
export interface RowDifference {
  readonly before?: readonly string[] | undefined;
  readonly after?: readonly string[] | undefined;
}
