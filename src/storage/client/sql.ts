import type { Readable } from 'node:stream';
import type { SqlQuery, SqlResult } from '../protocol/index.ts';
import type { ApiCall, ApiCore } from './api-core.ts';
import { shaped } from './shape.ts';

export interface SqlOptions {
  /** Rows at most. Default: 1,000 in a document, all in a file. */
  readonly limit?: number | undefined;
  /** Ends the query, at the service too. */
  readonly signal?: AbortSignal | undefined;
}

/** Queries over the tables that the token may read. */
export interface SqlOperations {
  /**
   * Answers one SELECT statement. Cells are texts, so that numbers of any size stay exact.
   *
   * @throws {StorageError} for a query that is wrong, refused or too large, with its place in the text
   */
  query(sql: string, options?: SqlOptions): Promise<SqlResult>;
}

/** Queries whose result is a file as well. */
export interface Sql extends SqlOperations {
  /** The result as a file; the caller reads it to its end or destroys it. */
  read(sql: string, format: Exclude<SqlQuery['format'], undefined>, options?: SqlOptions): Promise<Readable>;
}

export function createSqlOperations(api: ApiCore): SqlOperations {
  return {
    query: async (sql, options = {}) =>
      shaped<SqlResult>(await api.call(callOf(sql, 'json', options)), 'result', {
        columns: 'list',
        rows: 'list',
        hasMore: 'boolean',
      }),
  };
}

export function createSql(api: ApiCore & { open(call: ApiCall): Promise<Readable> }): Sql {
  return {
    ...createSqlOperations(api),
    read: async (sql, format, options = {}) => await api.open(callOf(sql, format, options)),
  };
}

function callOf(query: string, format: SqlQuery['format'], { limit, signal }: SqlOptions): ApiCall {
  const body = { query, format, ...(limit === undefined ? {} : { limit }) };
  return { method: 'POST', path: 'sql', body, signal };
}
