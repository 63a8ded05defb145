import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Runs of configurations, their logs in pieces of whole lines, their schedules; tokens that are of a run alone. */
export const runs: Migration = {
  async up(db: Kysely<never>) {
    await withColumns(db.schema.createTable('runs'), {
      id: 'bigint',
      ...CONFIGURATION,
      lock_key: 'text',
      status: 'text',
      asked: 'text',
      schedule_id: 'bigint?',
      occurrence: 'text?',
      created: 'text',
      started: 'text?',
      ended: 'text?',
      cancel_asked: 'text?',
      attempt: 'integer',
      runner: 'text?',
      beat: 'bigint',
      fencing: 'bigint',
      token_id: 'bigint?',
      verdict: 'text?',
      exit_code: 'integer?',
      error: 'text?',
      report: 'text?',
      log_lines: 'bigint',
      log_bytes: 'bigint',
      ...AUTHOR,
    })
      .addPrimaryKeyConstraint('runs_key', ['id'])
      .execute();
    await withColumns(db.schema.createTable('run_log'), {
      run_id: 'bigint',
      first_line: 'bigint',
      lines: 'integer',
      text: 'text',
    })
      .addPrimaryKeyConstraint('run_log_key', ['run_id', 'first_line'])
      .execute();
    await withColumns(db.schema.createTable('schedules'), {
      id: 'bigint',
      ...CONFIGURATION,
      cron: 'text',
      time_zone: 'text',
      rows: 'text',
      is_enabled: 'integer',
      next_occurrence: 'text?',
      last_occurrence: 'text?',
      created: 'text',
      ...AUTHOR,
    })
      .addPrimaryKeyConstraint('schedules_key', ['id'])
      .execute();
    // Whatever two runners believe: of one configuration one run at a time.
    await db.schema
      .createIndex('runs_one')
      .on('runs')
      .column('lock_key')
      .unique()
      .where('status' as never, '=', 'processing') // no table has a type here
      .execute();
    await db.schema.createIndex('runs_occurrence').on('runs').column('occurrence').unique().execute();
    for (const [name, table, columns] of INDEXES)
      await db.schema
        .createIndex(name)
        .on(table)
        .columns([...columns])
        .execute();
    await db.schema.alterTable('tokens').addColumn('run_limits', 'text').execute();
  },
};

const CONFIGURATION = { branch_id: 'bigint', component_id: 'text', configuration_id: 'text' };
const AUTHOR = { creator_id: 'bigint', creator_description: 'text' };

const INDEXES: readonly (readonly [string, string, readonly string[]])[] = [
  ['runs_status', 'runs', ['status', 'id']],
  ['runs_lock', 'runs', ['lock_key', 'status', 'id']],
  ['runs_ended', 'runs', ['ended']],
  ['runs_schedule', 'runs', ['schedule_id', 'status']],
  ['runs_configuration', 'runs', ['branch_id', 'component_id', 'configuration_id', 'id']],
  ['schedules_configuration', 'schedules', ['branch_id', 'component_id', 'configuration_id']],
  ['schedules_next', 'schedules', ['next_occurrence']],
];

/** `?` marks what may be null. */
function withColumns(
  table: CreateTableBuilder<string>,
  columns: Readonly<Record<string, string>>,
): CreateTableBuilder<string, string> {
  let made: CreateTableBuilder<string, string> = table;
  for (const [column, notation] of Object.entries(columns)) {
    const type = notation.replace('?', '') as 'bigint' | 'integer' | 'text';
    made = made.addColumn(column, type, (definition) =>
      notation.endsWith('?') ? definition : definition.notNull(),
    );
  }
  return made;
}
