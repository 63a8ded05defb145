import { sql } from 'kysely';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';

/**
 * How many rows runs have loaded into tables, or have got so far; none for those of which nothing is known. What was held
 * back is not among them. The database adds them up.
 */
export async function countRows(meta: Meta, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (ids.length === 0) return new Map();
  const count = postgresSchema(meta) === undefined ? SQLITE : POSTGRES;
  const found = await meta
    .selectFrom('runs')
    .select(['id', count.as('rows')])
    .where('id', 'in', ids)
    .where('report', 'is not', null)
    .execute();
  return new Map(found.flatMap(({ id, rows }) => (rows === null ? [] : [[id, Number(rows)]])));
}

// A list of what each row gave, or an object that says how far the run is.
const SQLITE = sql<number | string | null>`case substr(report, 1, 1)
  when '[' then (select coalesce(sum(iif(json_extract(value, '$.isHeld'), 0, json_extract(value, '$.rows'))), 0) from json_each(report))
  else json_extract(report, '$.rows') end`;

const POSTGRES = sql<number | string | null>`case substr(report, 1, 1)
  when '[' then (select coalesce(sum(case when (value ->> 'isHeld')::boolean then 0 else (value ->> 'rows')::bigint end), 0) from json_array_elements(report::json))
  else (report::json ->> 'rows')::bigint end`;
