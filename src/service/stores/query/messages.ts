import type { NativeType } from '../tables/column-types.ts';

/** Format of a result. */
export const QUERY_FORMATS = ['json', 'jsonl', 'csv', 'parquet'] as const;
export type QueryFormat = (typeof QUERY_FORMATS)[number];

/** Most that a query may use. */
export interface QueryLimits {
  /** Milliseconds from its start to its result. */
  readonly milliseconds: number;
  /** Memory of the engine, in megabytes; the process as a whole may have twice as much and 256 MB. */
  readonly memoryMb: number;
  /** Bytes of the tables it reads, as CSV. */
  readonly inputBytes: number;
  /** Bytes of the files that it makes on its way: copies of tables, intermediate results, the result. */
  readonly diskBytes: number;
  readonly rows: number;
  readonly threads: number;
}

/** Table as a query names it. */
export interface NamedTable {
  readonly schema: string;
  readonly table: string;
}

/** Place in the text of a query, from 1. */
export interface QueryPlace {
  readonly line: number;
  readonly column: number;
}

/** Reading that a query needs, as its parsed tree tells. */
export interface NeededTables {
  readonly tables: readonly (NamedTable & { readonly place?: QueryPlace | undefined })[];
  /** Names in small letters of all columns that it may mean; undefined: all there are. */
  readonly columns: readonly string[] | undefined;
  /** Rows that are enough of its only table, whichever they are. */
  readonly rows: number | undefined;
}

export interface QueryTable extends NamedTable {
  readonly columns: readonly QueryTableColumn[];
}

export interface QueryTableColumn {
  readonly name: string;
  /** Type that it is stored with; undefined: a text. */
  readonly type?: NativeType | undefined;
}

/** Rows of a table as CSV, every cell quoted, without a header. */
export interface QueryRows extends NamedTable {
  readonly files: readonly string[];
  readonly rows: number;
}

/** Task and answers to a process: one message each, in this order. */
export type ToQuery =
  | {
      readonly kind: 'ask';
      readonly sql: string;
      readonly folder: string;
      readonly format: QueryFormat;
      /** Rows of the result at most; more are left out, and the result says so. */
      readonly limit: number | undefined;
      readonly limits: QueryLimits;
    }
  | { readonly kind: 'bind'; readonly tables: readonly QueryTable[] }
  | { readonly kind: 'fill'; readonly tables: readonly QueryRows[] };

export interface QueryColumn {
  readonly name: string;
  /** As the engine calls it: `VARCHAR`, `BIGINT`, `DECIMAL(18,3)`. */
  readonly type: string;
}

/** Outcome of a query; its file is `result` in its folder. */
export interface QueryOutcome {
  readonly columns: readonly QueryColumn[];
  readonly rows: number;
  /** True when rows were left out because of the limit that was asked for. */
  readonly hasMore: boolean;
}

/** Problem of a query. */
export interface QueryProblem {
  readonly code: QueryErrorCode;
  readonly message: string;
  /** Undefined when it is about the whole. */
  readonly place?: QueryPlace | undefined;
}

export type QueryErrorCode =
  | 'storage.sql.invalid'
  | 'storage.sql.noTable'
  | 'storage.sql.refused'
  | 'storage.sql.failed'
  | 'storage.sql.tooLarge'
  | 'storage.sql.tooLong';

export type FromQuery =
  | ({ readonly kind: 'needs' } & NeededTables)
  | { readonly kind: 'bound' }
  | ({ readonly kind: 'done' } & QueryOutcome)
  | ({ readonly kind: 'problem' } & QueryProblem);

/** Mistake in a query, or a limit that it passed; the message is for the person who wrote it. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly problem: QueryProblem;

  constructor(problem: QueryProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Name of the file with the result, in the folder for results. */
export const RESULT_FILE = 'out/result';
