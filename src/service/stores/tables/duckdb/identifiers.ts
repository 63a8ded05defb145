import { createHash } from 'node:crypto';
import { TIMESTAMP_COLUMN } from '../import-plan.ts';
import type { TableId } from '../engine.ts';

/** The table as it is named in SQL: `"in.c-main"."users"`. */
export function tableName({ bucket, table }: TableId): string {
  return `${schemaName(bucket)}.${quoted(physicalTable(table))}`;
}

/** Name of a table in its schema, without quotes. */
export function physicalTable(table: string): string {
  return physical(table, /^[a-z0-9_-]+$/);
}

/** The place where a full load is made before it takes the table's. `~` is in no other name but behind `~` and a digest. */
export function loadingName({ bucket, table }: TableId): { name: string; bare: string; target: string } {
  const target = physicalTable(table);
  const bare = quoted(`${target}~load`);
  return { name: `${schemaName(bucket)}.${bare}`, bare, target: quoted(target) };
}

export function schemaName(bucket: string): string {
  return quoted(physicalSchema(bucket));
}

/** Name of the schema of a bucket, without quotes. Bucket ids hold a dot, so none is a schema of the database's own. */
export function physicalSchema(bucket: string): string {
  return physical(bucket, /^[a-z0-9_-]+\.[a-z0-9_.-]+$/);
}

/** A column as named in SQL. */
export function columnIdentifier(column: string): string {
  return quoted(physicalColumn(column));
}

/** Name of a column in its table, without quotes. `rowid` would hide the number of a row, which we need. */
export function physicalColumn(column: string): string {
  return column.toLowerCase() === 'rowid' ? `${column}~` : column;
}

/** The column with the change time; no user's column starts with an underscore. */
export const CHANGED_AT = quoted(TIMESTAMP_COLUMN);

export function literal(text: string): string {
  // The text of a statement ends at a NUL; no value in a table holds one.
  return text.includes('\0')
    ? `(${text
        .split('\0')
        .map((part) => `'${part.replaceAll("'", "''")}'`)
        .join(' || chr(0) || ')})`
    : `'${text.replaceAll("'", "''")}'`;
}

/** @param micros behind the milliseconds of the time */
export function timestampLiteral(time: Date, micros = 0): string {
  const digits = String(micros).padStart(3, '0');
  return `TIMESTAMP ${literal(time.toISOString().replace('T', ' ').replace('Z', digits))}`;
}

/** Terms joined in pairs of pairs: a chain of as many as a table may have columns is nested too deep for the parser. */
export function balanced(terms: readonly string[], operator: string): string {
  if (terms.length < 2) return terms[0] ?? '';
  const middle = terms.length >> 1;
  return `(${balanced(terms.slice(0, middle), operator)}${operator}${balanced(terms.slice(middle), operator)})`;
}

/** Any name, for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The database doesn't tell capitals from small letters, ids do: a digest keeps such names apart. */
function physical(name: string, plain: RegExp): string {
  if (plain.test(name) && name.length <= 200) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]/g, '-')
    .slice(0, 200)}~${digest}`;
}
