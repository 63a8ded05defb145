import { quoted } from './names.ts';
import type { Store } from './store.ts';

/** Dead rows below this are left to the database's own cleaning, and so are fewer than there are living ones. */
const FROM_ROWS = 10_000;

/** Lets rows of tables that are mostly dead rows be written over, and gives the end of their files back to the disk. */
export async function compact({ connections, service }: Store): Promise<{ freedBytes: number }> {
  const tables = await connections.transaction((session) =>
    session.rows(
      `SELECT s.schemaname, s.relname, s.relid::oid::text FROM pg_stat_user_tables s JOIN ${quoted(service)}.table_catalog c ` +
        'ON c.schema_name = s.schemaname AND c.relation_name = s.relname ' +
        `WHERE s.n_dead_tup > greatest(${FROM_ROWS}, s.n_live_tup)`,
    ),
  );
  let freedBytes = 0;
  for (const [schema, name, oid] of tables) {
    const size = (): Promise<number> =>
      connections.transaction((session) =>
        session.number(`SELECT coalesce(pg_total_relation_size(${String(oid)}), 0)`),
      );
    const before = await size();
    await connections.alone(`VACUUM ${quoted(String(schema))}.${quoted(String(name))}`);
    freedBytes += Math.max(0, before - (await size()));
  }
  return { freedBytes };
}
