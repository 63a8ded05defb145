import type { Readable } from 'node:stream';
import type {
  LoadOrigin,
  RowOrigin,
  Orphans,
  Table,
  TableBriefs,
  TableBriefsQuery,
  TableDifference,
  TableLoad,
  TableProfile,
  TableSources,
  TableVersion,
} from '../protocol/index.ts';
import type { Job } from './job.ts';
import type { WaitOptions } from './jobs.ts';
import type { Metadata } from './metadata.ts';
import type { OnceOptions } from './client-options.ts';
import type { ImportOnce } from './start-import.ts';
import type { TransferOptions } from './transfer/progress.ts';

/** How the text of a file is to be read. */
export interface CsvFormat {
  /** One character; default `,`. */
  readonly delimiter?: string | undefined;
  /** One character, default `"`; empty for files without quotes. */
  readonly enclosure?: string | undefined;
  readonly escapedBy?: string | undefined;
}

/** A table that is made from a file. */
export interface CreateTable extends CsvFormat {
  readonly name: string;
  /** The file with the rows. */
  readonly dataFileId: number;
  readonly primaryKey?: readonly string[] | undefined;
  /** Names of the columns of a file without a header, such as a sliced one. */
  readonly columns?: readonly string[] | undefined;
  /** The configuration that the rows come from. */
  readonly origin?: LoadOrigin | undefined;
}

/** A table that is made without rows; with types where the columns have them. */
export interface DefineTable {
  readonly name: string;
  readonly primaryKey?: readonly string[] | undefined;
  readonly columns: readonly (string | ColumnDefinition)[];
}

/** A column; `definition` and `basetype` make the table typed. */
export interface ColumnDefinition {
  readonly name: string;
  readonly definition?: Readonly<Record<string, unknown>> | undefined;
  readonly basetype?: string | undefined;
}

/** A file that is loaded into a table. */
export interface LoadTable extends CsvFormat {
  readonly dataFileId: number;
  /** Keeps the rows that are there; rows with a key that is there are replaced. Default: false. */
  readonly incremental?: boolean | undefined;
  /** Names of the columns of a file without a header. */
  readonly columns?: readonly string[] | undefined;
  readonly withoutHeaders?: boolean | undefined;
  readonly ignoredLinesCount?: number | undefined;
  readonly treatValuesAsNull?: readonly string[] | undefined;
  /** The configuration that the rows come from. */
  readonly origin?: LoadOrigin | undefined;
}

/** Result of a load. */
export interface ImportResult {
  /** Names in the order of the file. */
  readonly importedColumns: readonly string[];
  readonly newColumns?: readonly string[];
  /** Rows of the table afterwards. */
  readonly totalRowsCount: number;
  readonly importedRowsCount?: number;
  readonly totalDataSizeBytes?: number;
  readonly warnings: readonly unknown[];
}

/** A condition on the values of one column; several are joined by “and”. */
export interface WhereFilter {
  readonly column: string;
  /** `eq` (default), `ne` and `contains` take several values, the others one. */
  readonly operator?: 'contains' | 'eq' | 'ge' | 'gt' | 'le' | 'lt' | 'ne' | undefined;
  readonly values: readonly string[];
  /** Compares as numbers. */
  readonly dataType?: 'BIGINT' | 'DECIMAL' | 'DOUBLE' | 'INTEGER' | 'REAL' | undefined;
}

/** Which rows and columns. */
export interface RowsQuery {
  readonly columns?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** Unix time, or words such as `-2 days`. */
  readonly changedSince?: number | string | undefined;
  readonly changedUntil?: number | string | undefined;
  readonly whereFilters?: readonly WhereFilter[] | undefined;
  readonly orderBy?: readonly {
    readonly column: string;
    readonly order?: 'ASC' | 'DESC' | undefined;
    readonly dataType?: string | undefined;
  }[];
  /** Rows as they were, in a lake: number of a version, or a time such as `-2 hours`. Default: as they are. */
  readonly at?: string | undefined;
}

/** Which rows are looked at. */
export interface PreviewQuery extends RowsQuery {
  /** Rows that are passed over first. Default: 0. */
  readonly offset?: number | undefined;
  /** A text in any of the columns, in whatever case. */
  readonly search?: string | undefined;
  /** Characters of a cell that are given. Default: 16,384; `cut` says where there are more. */
  readonly cellLength?: number | undefined;
}

/** Selection and format of an export. */
export interface ExportOptions extends RowsQuery {
  /** A text in any of the columns, in whatever case. */
  readonly search?: string | undefined;
  /** Compresses the slices. Default: true; {@link Tables.read} takes the compression off again. */
  readonly gzip?: boolean | undefined;
  /**
   * Form of the slices: all but CSV have the types of the table, and are not compressed by `gzip`; lines of JSON and
   * workbooks are one slice. Default: `csv`.
   */
  readonly fileType?: 'csv' | 'jsonl' | 'parquet' | 'xlsx' | undefined;
}

/** Selection of rows, and how they are written as CSV. */
export interface ReadTableOptions extends RowsQuery, TransferOptions {
  /** True when the first line has the names of the columns. Default: true. */
  readonly header?: boolean | undefined;
  /** Deletes the exported file at the end, instead of leaving it to its two days. Default: false. */
  readonly deleteFile?: boolean | undefined;
}

/** A finished export. */
export interface TableExport {
  readonly fileId: number;
  readonly isCached: boolean;
  /** Columns of the file, of an export of an earlier version. */
  readonly columns?: readonly string[];
}

/** Which difference is asked for: of one version, of a run, or between two versions. */
export interface DifferenceQuery {
  readonly version?: number | undefined;
  readonly runId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Rows of each kind. Default: 50. */
  readonly limit?: number | undefined;
}

/** The first rows of a table. */
export interface Preview {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Positions of the cells whose value is longer than given here. */
  readonly cut: readonly { readonly row: number; readonly column: number }[];
}

/** Which rows are deleted; without any condition `allowTruncate` is needed. */
export interface DeleteRows {
  readonly changedSince?: number | string | undefined;
  readonly changedUntil?: number | string | undefined;
  readonly whereFilters?: readonly WhereFilter[] | undefined;
  /** Must be true to delete all rows, without a filter. */
  readonly allowTruncate?: boolean | undefined;
}

/** Operations on tables. Those that are jobs are waited for. */
export interface TableOperations {
  list(query?: {
    readonly bucket?: string | undefined;
    readonly include?: readonly string[] | undefined;
    /** Only so many, those that changed last; not of a bucket. */
    readonly changedLast?: number | undefined;
  }): Promise<Table[]>;
  /** Lists tables page by page, with what lists show of each. */
  brief(query?: TableBriefsQuery): Promise<TableBriefs>;
  detail(id: string): Promise<Table>;
  /** The table; undefined when there is none. */
  find(id: string): Promise<Table | undefined>;
  /** Makes a table from a file. */
  create(bucketId: string, table: CreateTable, options?: WaitOptions & ImportOnce): Promise<Table>;
  /** The same, without waiting: the job, to write its id down. */
  startCreate(
    bucketId: string,
    table: CreateTable,
    options?: ImportOnce & { readonly signal?: AbortSignal | undefined },
  ): Promise<Job>;
  /** Makes an empty table. */
  define(bucketId: string, table: DefineTable, options?: WaitOptions & OnceOptions): Promise<Table>;
  /**
   * Loads a file into a table, once only: when an answer is lost, the request is repeated under the same key on a
   * service that knows `Idempotency-Key`, and with any other `renew` sends the content again. Without it, it fails with
   * `storage.unsure`.
   */
  load(id: string, load: LoadTable, options?: WaitOptions & ImportOnce): Promise<ImportResult>;
  /** The same, without waiting. */
  startLoad(
    id: string,
    load: LoadTable,
    options?: ImportOnce & { readonly signal?: AbortSignal | undefined },
  ): Promise<Job>;
  /** Exports into a sliced file without a header. */
  export(id: string, options?: ExportOptions, wait?: WaitOptions): Promise<TableExport>;
  /** Rows behind the first `offset`: 100 without a limit, at most 1000. `search` finds a text in any column. */
  preview(
    id: string,
    query?: PreviewQuery,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<Preview>;
  /** Counts the rows that match. */
  count(
    id: string,
    query?: Pick<PreviewQuery, 'at' | 'changedSince' | 'changedUntil' | 'search' | 'whereFilters'>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<number>;
  /** Returns where the first row that matches comes from: its load, and the request whose answer has it. */
  rowOrigin(
    id: string,
    query: Pick<PreviewQuery, 'changedSince' | 'changedUntil' | 'whereFilters'>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<RowOrigin>;
  /** Returns the changes of a table, the newest first; of a lake. */
  versions(
    id: string,
    query?: {
      readonly limit?: number | undefined;
      readonly before?: number | undefined;
      readonly runId?: string | undefined;
    },
  ): Promise<TableVersion[]>;
  /** Returns the rows that changed; of a lake. */
  difference(
    id: string,
    query: DifferenceQuery,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<TableDifference>;
  /** Sets a table back to a version; of a lake. @param at number of a version, or a time */
  restore(
    id: string,
    at: string,
    options?: WaitOptions & OnceOptions,
  ): Promise<{ readonly version: number; readonly totalRowsCount: number }>;
  /** Lists the files of a lake that no table has, or deletes those that a job has listed; for the master token. */
  orphans(
    options?: WaitOptions & OnceOptions & { readonly jobId?: number | undefined },
  ): Promise<Orphans & { readonly jobId: Job['id'] }>;
  /** Looks at the values of 200 columns at most, by default of all. */
  profile(
    id: string,
    query?: { readonly columns?: readonly string[] | undefined },
    options?: WaitOptions,
  ): Promise<TableProfile>;
  /** The profile that was made last; undefined when there is none. */
  lastProfile(id: string): Promise<TableProfile | undefined>;
  /** Returns the configurations whose runs have loaded the table, the last one first. */
  sources(id: string): Promise<TableSources>;
  /** Lists its loads, by runs and by others, the newest first. */
  loads(
    id: string,
    query?: { readonly limit?: number | undefined; readonly offset?: number | undefined },
  ): Promise<TableLoad[]>;
  update(id: string, changes: { readonly displayName: string }): Promise<Table>;
  delete(id: string, options?: { readonly force?: boolean | undefined }): Promise<void>;
  addColumn(id: string, column: ColumnDefinition, options?: WaitOptions & OnceOptions): Promise<void>;
  /** Changes what a column of a typed table is said to hold. */
  defineColumn(id: string, column: ColumnDefinition, options?: WaitOptions & OnceOptions): Promise<void>;
  deleteColumn(
    id: string,
    column: string,
    options?: WaitOptions & { readonly force?: boolean | undefined },
  ): Promise<void>;
  setPrimaryKey(id: string, columns: readonly string[], options?: WaitOptions & OnceOptions): Promise<void>;
  deletePrimaryKey(id: string, options?: WaitOptions & OnceOptions): Promise<void>;
  deleteRows(
    id: string,
    rows: DeleteRows,
    options?: WaitOptions & OnceOptions,
  ): Promise<{ readonly deletedRows: number }>;
  metadata(id: string): Metadata;
  columnMetadata(id: string, column: string): Metadata;
}

/** With those that move the rows of a whole table. */
export interface Tables extends TableOperations {
  /** The rows as CSV, exported for this. */
  read(id: string, options?: ReadTableOptions): Promise<Readable>;
  /** Writes the rows as CSV into a file, which appears when it is complete. */
  exportTo(id: string, path: string, options?: ReadTableOptions): Promise<{ readonly bytes: number }>;
}
