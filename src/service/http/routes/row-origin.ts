import { Type } from 'typebox';
import { RowOrigin } from '../../../storage/protocol/row-origin.ts';
import { notFound } from '../../domain/api-error.ts';
import type { DataContext } from '../../domain/data-context.ts';
import { rowsOf } from '../../domain/jobs/operations/alias.ts';
import { engineTable, requireTableRow, splitTableId } from '../../domain/jobs/operations/table-place.ts';
import { readRowFilter, requireColumns, ROW_FILTER_FIELDS } from '../../domain/row-query.ts';
import { readRowOrigin } from '../../domain/runs/row-origin.ts';
import { requireBucket } from '../../domain/tokens/permissions.ts';
import { routesOf, type Route } from '../route.ts';
import { maySeeAnswers } from './run-records.ts';

const route = routesOf('Tables');

/** More columns are not looked at; those of the key always are. */
const MOST_COLUMNS = 100;
const CELL = 16_384;

/** Makes the route of where one row comes from. */
export function rowOriginRoutes(context: DataContext): Route[] {
  return [
    route('GET', '/tables/:table/row-origin', {
      summary:
        'Where a row comes from: the load that has written it last, its run, and the request whose answer has it, where a recording is kept',
      query: Type.Object(ROW_FILTER_FIELDS),
      response: RowOrigin,
      validationCode: 'storage.tables.validation',
      handle: async ({ params, query, caller, branch }) => {
        requireBucket(caller, branch.id, splitTableId(params.table).bucket, 'read');
        const asked = await requireTableRow(context.meta, context, branch.id, params.table);
        const rows = await rowsOf(context.meta, context, asked);
        const filter = readRowFilter(query, context.env.now());
        const names = asked.columns.map(({ name }) => name);
        requireColumns(filter, names, 'storage.tables.validation.columnNotExists');
        // Written by this service.
        const primaryKey = (JSON.parse(rows.table.primary_key) as readonly string[]).filter((name) =>
          names.includes(name),
        );
        const columns = names.filter((name, i) => i < MOST_COLUMNS || primaryKey.includes(name));
        const found = await context.engine.preview(
          engineTable(rows.table.branch_id, rows.table.id),
          rows.query({
            ...filter,
            columns,
            limit: 2,
            cellLength: CELL,
            includeInternalTimestamp: true,
            hasExactTimes: true,
          }),
        );
        const [row] = found.rows;
        if (row === undefined)
          throw notFound('No row of the table is as it was asked for.', 'storage.tables.rowNotFound');
        return await readRowOrigin(
          context,
          {
            table: rows.table,
            primaryKey,
            columns,
            values: row.slice(0, columns.length),
            changed: row.at(-1) ?? '',
            isOnly: found.rows.length === 1,
          },
          (run) => maySeeAnswers(caller, run),
        );
      },
    }),
  ];
}
