import { relation, type TablePlace } from './catalog.ts';
import { literal, physicalName } from './names.ts';
import type { PostgresSession } from './connection.ts';

/** Tells whether the database can spread tables over several servers. */
export async function isDistributed(session: PostgresSession): Promise<boolean> {
  return (await session.number(`SELECT count(*) FROM pg_extension WHERE extname = 'citus'`)) > 0;
}

/**
 * Spreads an empty table over the servers by the first column of its key, where there are several: rows of one key are
 * on one of them, so an import is merged where the rows are.
 */
export async function distribute(
  session: PostgresSession,
  place: TablePlace,
  key: readonly string[],
): Promise<void> {
  const [first] = key;
  if (!session.isDistributed || first === undefined) return;
  await session.rows(
    `SELECT pg_catalog.create_distributed_table(${literal(relation(place))}, ${literal(physicalName(first))})`,
  );
}
