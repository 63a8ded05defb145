import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Jobs are taken by workers of their kind, may be tried again after a while, given up, cancelled and given again. */
export const queues: Migration = {
  async up(db: Kysely<never>) {
    const table = db.schema.alterTable('jobs');
    await table.addColumn('queue', 'text', (column) => column.notNull().defaultTo('storage')).execute();
    await table.addColumn('retries', 'integer', (column) => column.notNull().defaultTo(0)).execute();
    await table.addColumn('is_cancelled', 'integer', (column) => column.notNull().defaultTo(0)).execute();
    await table.addColumn('is_given_up', 'integer', (column) => column.notNull().defaultTo(0)).execute();
    await table.addColumn('ticket', 'text').execute();
  },
};
