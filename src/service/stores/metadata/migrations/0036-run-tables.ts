import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { postgresSchema } from '../dialect.ts';
import { tablesIn } from '../loaded-tables.ts';

/**
 * Adds the tables that each run has loaded, what its time was spent on, and that schedules may be paused. Of runs that
 * have ended the tables are taken from what they gave.
 */
export const runTables: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('run_tables')
      .addColumn('run_id', 'bigint', (column) => column.notNull())
      .addColumn('branch_id', 'bigint', (column) => column.notNull())
      .addColumn('component_id', 'text', (column) => column.notNull())
      .addColumn('configuration_id', 'text', (column) => column.notNull())
      .addColumn('table_id', 'text', (column) => column.notNull())
      .addColumn('row_id', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('rows', 'bigint', (column) => column.notNull())
      .addColumn('loaded', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('run_tables_key', ['branch_id', 'table_id', 'run_id', 'row_id', 'name'])
      .execute();
    // Does not begin with the branch: SQLite would read all of it by this index for the sources of one table.
    await db.schema
      .createIndex('run_tables_configuration')
      .on('run_tables')
      .columns(['component_id', 'configuration_id', 'branch_id', 'table_id', 'run_id'])
      .execute();
    await db.schema.createIndex('run_tables_run').on('run_tables').column('run_id').execute();
    await db.schema.alterTable('runs').addColumn('spent', 'text').execute();
    await db.schema
      .alterTable('schedules')
      .addColumn('is_paused', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await fillFromReports(db);
  },
};

interface EndedRun {
  readonly id: number | string;
  readonly branch_id: number;
  readonly component_id: string;
  readonly configuration_id: string;
  readonly ended: string;
  readonly report: string;
}

const AT_ONCE = 100;

async function fillFromReports(db: Kysely<never>): Promise<void> {
  const schema = postgresSchema(db);
  const table = (name: string) => sql.table(schema === undefined ? name : `${schema}.${name}`);
  for (let after = 0; ;) {
    const { rows: runs } =
      await sql<EndedRun>`select id, branch_id, component_id, configuration_id, ended, report
      from ${table('runs')} where id > ${after} and ended is not null and report like '[%' order by id limit ${AT_ONCE}`.execute(
        db,
      );
    for (const run of runs) {
      for (const { row_id, name, table_id, rows } of tablesIn(run.report))
        await sql`insert into ${table('run_tables')}
          (run_id, branch_id, component_id, configuration_id, table_id, row_id, name, rows, loaded)
          values (${run.id}, ${run.branch_id}, ${run.component_id}, ${run.configuration_id}, ${table_id}, ${row_id},
            ${name}, ${rows}, ${run.ended})`.execute(db);
      after = Number(run.id);
    }
    if (runs.length < AT_ONCE) return;
  }
}
