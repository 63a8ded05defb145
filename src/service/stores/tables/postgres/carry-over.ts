import { relation, type TablePlace } from './catalog.ts';
import { literal } from './names.ts';
import type { PostgresSession } from './connection.ts';

/**
 * Gives a table that takes the place of another one what people have granted and written about that one: who may do what
 * with it and with its columns, and the comments. What is granted by default in the schema, and was taken back from
 * the old table, is taken back from the new one.
 */
export async function carryOver(session: PostgresSession, from: TablePlace, to: TablePlace): Promise<void> {
  const rows = await session.rows(statements(from, to));
  if (rows.length > 0) await session.run(rows.map(([sql]) => String(sql)).join('; '));
}

/** The statements are written by the database, which knows the names of roles and how to quote what is in a comment. */
function statements(from: TablePlace, to: TablePlace): string {
  const [old, fresh] = [from, to].map((place) => `${literal(relation(place))}::regclass`);
  const target = literal(relation(to));
  const grantee = `CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END`;
  const option = `CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END`;
  // The owner may do everything with a new table.
  const isOthers = 'a.grantee <> c.relowner';
  const isColumn = `t.attrelid = ${old} AND t.attnum > 0 AND NOT t.attisdropped`;
  const isThere = `EXISTS (SELECT 1 FROM pg_attribute n WHERE n.attrelid = ${fresh} AND n.attname = t.attname AND NOT n.attisdropped)`;
  const parts = [
    `SELECT DISTINCT format('REVOKE ALL ON %s FROM %s', ${target}, ${grantee}) AS sql, 1 AS turn ` +
      `FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = ${fresh} AND ${isOthers}`,
    `SELECT format('GRANT %s ON %s TO %s%s', a.privilege_type, ${target}, ${grantee}, ${option}), 2 ` +
      `FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = ${old} AND ${isOthers}`,
    `SELECT format('GRANT %s (%I) ON %s TO %s%s', a.privilege_type, t.attname, ${target}, ${grantee}, ${option}), 2 ` +
      `FROM pg_class c, pg_attribute t, aclexplode(t.attacl) a WHERE c.oid = ${old} AND ${isColumn} AND ${isOthers} AND ${isThere}`,
    `SELECT format('COMMENT ON TABLE %s IS %L', ${target}, obj_description(${old}, 'pg_class')), 2 ` +
      `WHERE obj_description(${old}, 'pg_class') IS NOT NULL`,
    `SELECT format('COMMENT ON COLUMN %s.%I IS %L', ${target}, t.attname, col_description(${old}, t.attnum)), 2 ` +
      `FROM pg_attribute t WHERE ${isColumn} AND col_description(${old}, t.attnum) IS NOT NULL AND ${isThere}`,
  ];
  return `SELECT sql FROM (${parts.join(' UNION ALL ')}) all_of_them ORDER BY turn`;
}
