import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { SqlQuery, SqlResult } from '../../../storage/protocol/sql.ts';
import type { TableQueries } from '../../domain/table-queries.ts';
import { attachmentOf } from '../../stores/objects/disposition.ts';
import type { QueryFormat } from '../../stores/query/messages.ts';
import { Answer } from '../answer.ts';
import { routesOf, type Route } from '../route.ts';
import { whileWaited } from '../waiting.ts';

const route = routesOf('SQL');

/** Rows of a document, unless it asks for more. */
const DOCUMENT_ROWS = 1000;

const TYPES: Readonly<Record<QueryFormat, string>> = {
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

/** Makes the route that answers queries in SQL. */
export function sqlRoutes(queries: TableQueries): Route[] {
  return [
    route('POST', '/sql', {
      isReading: true,
      summary: 'Answers a query in SQL over the tables that the token may read',
      body: SqlQuery,
      response: SqlResult,
      handle: async ({ body, caller, branch, request }) => {
        const { query: sql, format = 'json' } = body;
        const limit = body.limit ?? (format === 'json' ? DOCUMENT_ROWS : undefined);
        const result = await whileWaited(
          request.raw,
          async (signal) => await queries.run({ sql, format, limit, caller, branch, signal }),
        );
        const rows = createReadStream(result.file);
        rows.once('close', () => result.remove());
        return new Answer(200, rows, {
          'content-type': TYPES[format],
          'content-length': String((await stat(result.file)).size),
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          'x-result-rows': String(result.rows),
          'x-result-has-more': String(result.hasMore),
          ...(format === 'json' ? {} : { 'content-disposition': attachmentOf(`result.${format}`) }),
        });
      },
    }),
  ];
}
