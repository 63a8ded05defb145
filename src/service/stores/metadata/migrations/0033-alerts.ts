import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds alerts, what each has seen to be wrong, and the messages that are on their way. */
export const alerts: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('alerts')
      .addColumn('id', 'bigint', (column) => column.notNull().primaryKey())
      .addColumn('branch_id', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('kinds', 'text', (column) => column.notNull())
      .addColumn('component_id', 'text')
      .addColumn('configuration_id', 'text')
      .addColumn('late_minutes', 'integer')
      .addColumn('remind_minutes', 'integer')
      .addColumn('muted_until', 'text')
      .addColumn('is_enabled', 'integer', (column) => column.notNull())
      .addColumn('seen_until', 'text', (column) => column.notNull())
      .addColumn('created', 'text', (column) => column.notNull())
      .addColumn('creator_id', 'bigint', (column) => column.notNull())
      .addColumn('creator_description', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('alert_states')
      .addColumn('alert_id', 'bigint', (column) => column.notNull())
      .addColumn('lock_key', 'text', (column) => column.notNull())
      .addColumn('component_id', 'text', (column) => column.notNull())
      .addColumn('configuration_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('cause', 'text', (column) => column.notNull())
      .addColumn('run_id', 'bigint')
      .addColumn('error', 'text')
      .addColumn('since', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_states_key', ['alert_id', 'lock_key'])
      .execute();
    await db.schema
      .createTable('alert_causes')
      .addColumn('alert_id', 'bigint', (column) => column.notNull())
      .addColumn('cause', 'text', (column) => column.notNull())
      .addColumn('sources', 'text', (column) => column.notNull())
      .addColumn('told', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('alert_causes_key', ['alert_id', 'cause'])
      .execute();
    await db.schema
      .createTable('alert_messages')
      .addColumn('id', 'bigint', (column) => column.notNull().primaryKey())
      .addColumn('alert_id', 'bigint', (column) => column.notNull())
      .addColumn('uuid', 'text', (column) => column.notNull())
      .addColumn('event', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('status', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('not_before', 'text', (column) => column.notNull())
      .addColumn('answer', 'text')
      .addColumn('created', 'text', (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex('alert_messages_waiting')
      .on('alert_messages')
      .columns(['status', 'not_before'])
      .execute();
    await db.schema
      .createIndex('alert_messages_alert')
      .on('alert_messages')
      .columns(['alert_id', 'id'])
      .execute();
  },
};
