import { sql } from 'kysely';
import { isReadOnly } from '../../platform/database/failures.ts';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';

/**
 * Tells whether a PostgreSQL database accepts writes. It asks as a write would, without writing: a connection to a
 * server that has become a replica is not used again then, and the next one may lead to its successor.
 */
export async function isWritable(meta: Meta): Promise<boolean> {
  const schema = postgresSchema(meta);
  if (schema === undefined) return true;
  try {
    await sql`select from ${sql.table(`${schema}.counters`)} where false for update`.execute(meta);
    return true;
  } catch (error) {
    if (isReadOnly(error)) return false;
    throw error;
  }
}
