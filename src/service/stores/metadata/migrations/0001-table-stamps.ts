import { sql, type Kysely } from 'kysely';
import { postgresSchema } from '../dialect.ts';

/**
 * Gives each table a stamp, which is another after every change of what lists show of the table. The database sets it
 * itself, so that no writer can forget it, nor a process of the version before, nor a person with a query.
 */
export async function setTableStamps(db: Kysely<never>): Promise<void> {
  const schema = postgresSchema(db);
  for (const source of SOURCES)
    for (const statement of schema === undefined ? sqliteTriggers(source) : postgresTriggers(source, schema))
      await sql.raw(statement).execute(db);
}

interface Source {
  readonly name: string;
  /** Returns SQL, for either database, of the table that a row belongs to; null when it belongs to none. */
  readonly tableOf: (row: string, textBeforeDot: (text: string) => string) => string;
}

const SOURCES: readonly Source[] = [
  { name: 'tables', tableOf: (row) => `${row}.id` },
  { name: 'table_columns', tableOf: (row) => `${row}.table_id` },
  {
    name: 'metadata',
    // No name of a column has a dot.
    tableOf: (row, textBeforeDot) =>
      `case ${row}.scope when 'table' then ${row}.owner when 'column' then ${textBeforeDot(`${row}.owner`)} end`,
  },
];

// An unused number: a count would repeat in a copy that is restored under a process that continues to run.
// Not above what is exact in JSON.
const SQLITE_STAMP = 'random() & 9007199254740991';
const POSTGRES_STAMP = 'floor(random() * 9007199254740991)::bigint';

const SET_STAMP = 'on conflict (branch_id, table_id) do update set stamp = excluded.stamp';

/** Returns SQL for whether a table exists: its parts may be written before it, and removed after it. */
const isThere = (tables: string, branch: string, table: string): string =>
  `exists (select 1 from ${tables} t where t.branch_id = ${branch} and t.id = ${table})`;

/** SQLite has no expressions for patterns: all behind the last dot is trimmed, and the dot. */
const beforeDot = (text: string): string => `rtrim(rtrim(${text}, replace(${text}, '.', '')), '.')`;

function sqliteTriggers({ name, tableOf }: Source): string[] {
  const set = (row: string): string => {
    const table = tableOf(row, beforeDot);
    return `insert into table_stamps (branch_id, table_id, stamp)
      select ${row}.branch_id, ${table}, ${SQLITE_STAMP} where ${isThere('tables', `${row}.branch_id`, table)}
      ${SET_STAMP};`;
  };
  const removal = 'delete from table_stamps where branch_id = old.branch_id and table_id = old.id;';
  const work = {
    insert: set('new'),
    update: set('old') + set('new'),
    delete: name === 'tables' ? removal : set('old'),
  };
  return Object.entries(work).map(
    ([event, body]) => `create trigger ${name}_stamp_${event} after ${event} on ${name} begin ${body} end`,
  );
}

/** Once for each statement, however many rows it changes. */
function postgresTriggers({ name, tableOf }: Source, schema: string): string[] {
  const place = (of: string): string => `"${schema}"."${of}"`;
  const table = tableOf('r', (text) => `regexp_replace(${text}, '\\.[^.]*$', '')`);
  const isOfTables = name === 'tables';
  const [set, remove] = [`${name}_stamp`, `${name}_stamp_remove`];
  const work = [
    ['insert', 'new', set],
    ['update', 'old', set],
    ['update', 'new', set],
    ['delete', 'old', isOfTables ? remove : set],
  ];
  return [
    // In one order: two that change several tables never wait for each other.
    functionOf(
      place(set),
      `insert into ${place('table_stamps')} (branch_id, table_id, stamp)
      select branch_id, table_id, ${POSTGRES_STAMP}
      from (select distinct r.branch_id, ${table} as table_id from changed r) as those
      where ${isThere(place('tables'), 'those.branch_id', 'those.table_id')}
      order by branch_id, table_id ${SET_STAMP};`,
    ),
    ...(isOfTables
      ? [
          functionOf(
            place(remove),
            `delete from ${place('table_stamps')} s using changed r where s.branch_id = r.branch_id and s.table_id = r.id;`,
          ),
        ]
      : []),
    ...work.map(
      ([event, side, called]) => `create trigger ${set}_${event}_${side} after ${event} on ${place(name)}
        referencing ${side} table as changed for each statement execute function ${place(called ?? set)}()`,
    ),
  ];
}

const functionOf = (name: string, body: string): string =>
  `create function ${name}() returns trigger language plpgsql as $body$ begin ${body} return null; end $body$`;
