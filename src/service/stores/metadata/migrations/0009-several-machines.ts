import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { postgresSchema } from '../dialect.ts';

/** What all processes of a service must agree on, and ids that no process waits for. */
export const severalMachines: Migration = {
  async up(db: Kysely<never>) {
    await db.schema
      .createTable('settings')
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('settings_key', ['name'])
      .execute();
    const schema = postgresSchema(db);
    if (schema !== undefined) await sql`create sequence ${sql.id(schema, 'ids')}`.execute(db);
  },
};
