import { quoted } from './identifiers.ts';

interface Session {
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<readonly (readonly unknown[])[]>;
}

/**
 * Copies all tables, with their rows in their order, into another attached database, as the transaction of the session
 * sees them. `COPY FROM DATABASE` would do it too, but wants to change settings within a transaction, and ours are locked.
 *
 * @param name of the attached database, quoted
 */
export async function copyTables(session: Session, name: string): Promise<void> {
  const columns = await session.rows(
    `SELECT schema_name, table_name, column_name, data_type, column_default FROM duckdb_columns()
     WHERE database_name = 'tables' AND NOT internal ORDER BY schema_oid, table_oid, column_index`,
  );
  const texts = columns.map((row) => row.map((cell) => (typeof cell === 'string' ? cell : undefined)));
  const byTable = Map.groupBy(texts, ([schema = '', table = '']) => `${quoted(schema)}.${quoted(table)}`);
  const schemas = new Set(texts.map(([schema = '']) => schema));
  for (const schema of schemas)
    if (schema !== 'main') await session.run(`CREATE SCHEMA ${name}.${quoted(schema)}`);
  for (const [table, described] of byTable) {
    const definitions = described.map(
      ([, , column = '', type = '', value]) =>
        `${quoted(column)} ${type}${value === undefined ? '' : ` DEFAULT ${value}`}`,
    );
    await session.run(`CREATE TABLE ${name}.${table} (${definitions.join(', ')})`);
    await session.run(`INSERT INTO ${name}.${table} SELECT * FROM tables.${table}`);
  }
}
