import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { postgresSchema } from '../dialect.ts';

/**
 * Jobs are taken from their rows, in PostgreSQL too: each has a key, waits for its time, and is found by its key for as
 * long as it has not ended. What waits was in the rows before; the tickets that led to it are dropped with their schema.
 */
export const queueInRows: Migration = {
  async up(db: Kysely<never>) {
    const table = db.schema.alterTable('jobs');
    await table.addColumn('not_before', 'text').execute();
    await table.dropColumn('ticket').execute();
    const schema = postgresSchema(db);
    const jobs = sql.table(schema === undefined ? 'jobs' : `${schema}.jobs`);
    await sql`update ${jobs} set lock_key = 'job ' || id where lock_key is null and ended is null`.execute(
      db,
    );
    // Guarantees one job at a time for a key, even if two workers disagree.
    await db.schema
      .createIndex('jobs_one')
      .on('jobs')
      .column('lock_key')
      .unique()
      .where('status' as never, '=', 'processing') // no table has a type here
      .execute();
    await db.schema
      .createIndex('jobs_unfinished')
      .on('jobs')
      .columns(['queue', 'lock_key', 'status', 'id'])
      .where('ended' as never, 'is', null)
      .execute();
    await db.schema.dropIndex('jobs_lock').execute();
    if (schema !== undefined) await dropTickets(db, `${schema}_queue`);
  },
};

/** Drops only objects that pg-boss has made: another application may have a schema of that name. */
async function dropTickets(db: Kysely<never>, schema: string): Promise<void> {
  const names = ['version', 'queue', 'job'].map((table) => `${schema}.${table}`);
  const found = names.map((name) => sql`to_regclass(${name}) is not null`);
  const { rows } = await sql<{ isThere: number }>`select ${sql.join(found, sql` and `)} as "isThere"`.execute(
    db,
  );
  if (rows[0]?.isThere === 1) await sql`drop schema ${sql.id(schema)} cascade`.execute(db);
}
