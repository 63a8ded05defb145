import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds a second threshold for what is late, columns whose newest value is watched, and what is about a table or a token. */
export const kindsOfAlerts: Migration = {
  async up(db: Kysely<never>) {
    for (const [table, column, type] of [
      ['alerts', 'late_error_minutes', 'integer'],
      ['alerts', 'columns', 'text'],
      ['alerts', 'ending_days', 'integer'],
      ['alert_states', 'severity', 'text'],
      ['alert_states', 'place', 'text'],
      ['alert_states', 'detail', 'text'],
      ['alert_causes', 'severity', 'text'],
    ] as const)
      await db.schema.alterTable(table).addColumn(column, type).execute();
  },
};
