import { sql, type OperationNodeSource } from 'kysely';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';

/** A statement that writes, as it is before it is executed. */
export interface Write extends OperationNodeSource {
  execute(): Promise<unknown>;
}

/**
 * Executes statements of which none needs to see what another wrote, and no two change the same row: PostgreSQL takes
 * them as one statement, so that they go to it and come back once. SQLite is in the same process: there they are
 * executed one after the other.
 */
export async function writeTogether(tx: Meta, writes: readonly Write[]): Promise<void> {
  if (postgresSchema(tx) === undefined || writes.length < 2) {
    for (const write of writes) await write.execute();
    return;
  }
  const named = writes.map((write, i) => sql`${sql.id(`write${i}`)} as (${write})`);
  await sql`with ${sql.join(named)} select 1`.execute(tx);
}
