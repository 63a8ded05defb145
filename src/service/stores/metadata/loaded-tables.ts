import type { RunRowResult } from '../../../storage/protocol/run.ts';
import type { RunTableRow } from './tables.ts';

/** Table that a run has loaded, by what it gave. */
type LoadedTable = Pick<RunTableRow, 'name' | 'row_id' | 'rows' | 'table_id'>;

/** Returns the tables that a run has loaded: those of rows that were held back have not come. */
export function tablesIn(report: string | null): LoadedTable[] {
  if (report?.startsWith('[') !== true) return [];
  // Written by a run of this service.
  const rows = JSON.parse(report) as readonly RunRowResult[];
  const loaded = rows.flatMap((row) =>
    row.isHeld === true
      ? []
      : row.tables.flatMap(({ name, rows: count, destination }) =>
          destination === undefined
            ? []
            : [{ table_id: destination, row_id: row.id ?? '', name, rows: count }],
        ),
  );
  // One that came twice would be no key.
  return [
    ...new Map(
      loaded.map((table) => [JSON.stringify([table.table_id, table.row_id, table.name]), table]),
    ).values(),
  ];
}
