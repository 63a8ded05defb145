import { keyOf, sameConfiguration } from './configuration-key.ts';
import type { Meta } from './database.ts';
import { tablesIn } from './loaded-tables.ts';
import type { ConfigurationKey, Flag, RunRow, RunTableRow, TableRow } from './tables.ts';

/** Rows of one statement: databases take so many values at once. */
const AT_ONCE = 100;

/** Notes the tables that a run has loaded. Must run in the transaction that ends it. */
export async function insertRunTables(
  tx: Meta,
  run: Pick<RunRow, 'branch_id' | 'component_id' | 'configuration_id' | 'id'>,
  { report, loaded }: { readonly report: string | null; readonly loaded: string },
): Promise<void> {
  const rows = tablesIn(report).map((table) => ({ ...keyOf(run), ...table, run_id: run.id, loaded }));
  for (let at = 0; at < rows.length; at += AT_ONCE)
    await tx
      .insertInto('run_tables')
      .values(rows.slice(at, at + AT_ONCE))
      .execute();
}

/** The newest load of a table by an output of a configuration, and how many there were. */
export interface NewestLoad extends RunTableRow {
  readonly runs: number;
  /** Null of a run that is no longer kept. */
  readonly status: RunRow['status'] | null;
  readonly verdict: string | null;
  readonly version: number | null;
  /** Name of the configuration; null when it is gone for good. */
  readonly configuration_name: string | null;
  readonly is_disabled: Flag | null;
  readonly is_deleted: Flag | null;
}

/** A configuration fills some tables, and a table has few sources: more are not looked at. */
const MOST = 1000;

/** Returns the tables that a configuration has filled, the last loaded first. */
export async function loadsOfConfiguration(meta: Meta, key: ConfigurationKey): Promise<NewestLoad[]> {
  return await newest(
    meta,
    outputs(meta).where((where) => where.and(keyOf(key))),
  );
}

/** Returns what has filled a table since it was made, the last load first. */
export async function loadsOfTable(
  meta: Meta,
  { branch_id, id, created }: Pick<TableRow, 'branch_id' | 'created' | 'id'>,
): Promise<NewestLoad[]> {
  return await newest(
    meta,
    outputs(meta)
      .where('branch_id', '=', branch_id)
      .where('table_id', '=', id)
      .where('loaded', '>=', created),
  );
}

const OUTPUT = ['branch_id', 'component_id', 'configuration_id', 'table_id', 'row_id', 'name'] as const;

function outputs(meta: Meta) {
  return meta
    .selectFrom('run_tables')
    .select([
      ...OUTPUT,
      ({ fn }) => fn.max('run_id').as('last'),
      ({ fn }) => fn.countAll<number | string>().as('runs'),
    ])
    .groupBy(OUTPUT);
}

async function newest(meta: Meta, asked: ReturnType<typeof outputs>): Promise<NewestLoad[]> {
  const found = await meta
    .selectFrom(asked.as('g'))
    .innerJoin('run_tables as t', (join) =>
      join
        .onRef('t.branch_id', '=', 'g.branch_id')
        .onRef('t.table_id', '=', 'g.table_id')
        .onRef('t.run_id', '=', 'g.last')
        .onRef('t.row_id', '=', 'g.row_id')
        .onRef('t.name', '=', 'g.name'),
    )
    .leftJoin('runs as r', 'r.id', 't.run_id')
    .leftJoin('configurations as c', (join) => sameConfiguration(join, 'c', 't'))
    .leftJoin('configuration_versions as v', (join) =>
      sameConfiguration(join, 'v', 'c', { version: 'version' }),
    )
    .selectAll('t')
    .select(['g.runs', 'r.status', 'r.verdict', 'r.version'])
    .select(['v.name as configuration_name', 'v.is_disabled', 'c.is_deleted'])
    .orderBy('t.run_id', 'desc')
    .orderBy('t.table_id')
    .limit(MOST)
    .execute();
  return found.map((load) => ({ ...load, runs: Number(load.runs) }));
}

/**
 * Forgets the tables of runs that are forgotten, but for the newest load of each table by each output: where a table
 * comes from stays known for as long as it is there.
 */
export async function forgetRunTables(tx: Meta, runs: readonly number[]): Promise<void> {
  await tx
    .deleteFrom('run_tables')
    .where('run_id', 'in', runs)
    .where((where) =>
      where.exists(
        where
          .selectFrom('run_tables as later')
          .select('later.run_id')
          .whereRef('later.branch_id', '=', 'run_tables.branch_id')
          .whereRef('later.table_id', '=', 'run_tables.table_id')
          .whereRef('later.component_id', '=', 'run_tables.component_id')
          .whereRef('later.configuration_id', '=', 'run_tables.configuration_id')
          .whereRef('later.row_id', '=', 'run_tables.row_id')
          .whereRef('later.name', '=', 'run_tables.name')
          .whereRef('later.run_id', '>', 'run_tables.run_id'),
      ),
    )
    .execute();
}
