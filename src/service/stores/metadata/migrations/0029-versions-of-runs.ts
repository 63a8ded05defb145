import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Runs by the version that was there when they were asked for, schedules with the version that somebody approved, who
 * wrote a state, and what tokens might do that are gone. What was written before has none of it: such a run takes the
 * version that it finds, and needs the rights of everybody who made it.
 */
export const versionsOfRuns: Migration = {
  async up(db: Kysely<never>) {
    const added = [
      ['runs', 'version', 'bigint'],
      ['runs', 'version_identifier', 'text'],
      ['runs', 'approved_id', 'bigint'],
      ['schedules', 'approved_version', 'bigint'],
      ['schedules', 'approved_id', 'bigint'],
      ['configurations', 'state_writer', 'text'],
      ['configuration_rows', 'state_writer', 'text'],
    ] as const;
    for (const [table, column, type] of added)
      await db.schema.alterTable(table).addColumn(column, type).execute();
    await db.schema
      .createTable('deleted_tokens')
      .addColumn('id', 'bigint', (column) => column.notNull())
      .addColumn('is_master', 'integer', (column) => column.notNull())
      .addColumn('can_manage_buckets', 'integer', (column) => column.notNull())
      .addColumn('can_read_all_files', 'integer', (column) => column.notNull())
      .addColumn('bucket_permissions', 'text', (column) => column.notNull())
      .addColumn('bucket_branch_id', 'bigint', (column) => column.notNull())
      .addColumn('component_access', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('deleted_tokens_key', ['id'])
      .execute();
  },
};
