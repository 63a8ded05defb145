import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What is swept by its age is found by it. */
export const retention: Migration = {
  async up(db: Kysely<never>) {
    await db.schema.createIndex('jobs_ended').on('jobs').column('ended').execute();
    await db.schema.createIndex('events_created').on('events').column('created').execute();
  },
};
