import { createHash } from 'node:crypto';
import { TIMESTAMP_COLUMN } from '../import-plan.ts';

/** PostgreSQL cuts longer names. */
const MAX_NAME_BYTES = 63;

/** Character that cannot be in the name of a bucket, a table or a column. */
const MARK = '~';

/** Column with the change time, and the one with the order of the rows; no user's column starts with `_`. */
export const CHANGED_AT = quoted(TIMESTAMP_COLUMN);
export const ROW = '"_row"';

/** Returns the physical name of a column or a table: as in the storage, or cut and with a digest if it is too long. */
export function physicalName(name: string): string {
  return fits(name) && !name.includes(MARK) ? name : cut(name, name);
}

/** A column as named in SQL. */
export function column(name: string): string {
  return quoted(physicalName(name));
}

export function columnList(names: readonly string[]): string {
  return names.map(column).join(', ');
}

/** A name beside that of a table, for what belongs to it. */
export function besideName(name: string, what: string): string {
  return cut(name, `${what} ${name}`);
}

/**
 * The schema of a bucket, without signs that need quotes: `gex_in_c_main` in that of the service `gex`.
 * Several buckets may give the same.
 */
export function schemaOfBucket(service: string, bucket: string): string {
  const plain = `${service}_${bucket}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  return fits(plain) ? plain : cutPlain(plain, bucket);
}

/** Returns the schema with a digest, for a bucket whose schema name another bucket has already. */
export function schemaWithDigest(service: string, bucket: string): string {
  return cutPlain(`${service}_${bucket}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_'), bucket);
}

/**
 * The role that may read a bucket: roles belong to a server, so the database is in its name. PostgreSQL keeps names that
 * begin with `pg_` for its own roles.
 */
export function readerOfSchema(database: string, schema: string): string {
  const named = `${database}_${schema}_read`;
  const plain = named.startsWith('pg_') ? `_${named}` : named;
  return fits(plain) ? plain : cutPlain(plain, plain);
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text in SQL, whatever `standard_conforming_strings` says. It must hold no NUL. */
export function literal(text: string): string {
  const plain = text.replaceAll("'", "''");
  return plain.includes('\\') ? ` E'${plain.replaceAll('\\', '\\\\')}'` : `'${plain}'`;
}

/** @param micros behind the milliseconds of the time */
export function timestampLiteral(time: Date, micros = 0): string {
  const digits = String(micros).padStart(3, '0');
  return `timestamp ${literal(time.toISOString().replace('T', ' ').replace('Z', digits))}`;
}

/** Tells whether the database keeps a name whole. */
export function fits(name: string): boolean {
  return Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

function cut(name: string, digested: string): string {
  const end = `${MARK}${digest(digested)}`;
  return `${start(name, MAX_NAME_BYTES - end.length)}${end}`;
}

function cutPlain(name: string, digested: string): string {
  return `${start(name, MAX_NAME_BYTES - 13)}_${digest(digested)}`;
}

/** As many whole characters as fit. */
function start(name: string, bytes: number): string {
  let length = 0;
  let kept = '';
  for (const character of name) {
    length += Buffer.byteLength(character);
    if (length > bytes) break;
    kept += character;
  }
  return kept;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
