import { sql, type RawBuilder } from 'kysely';
import { isoTime } from '../../../lib/iso-time.ts';
import type { Meta } from './database.ts';
import { postgresSchema } from './dialect.ts';

/** A time as the metadata keeps it (ISO 8601 text in UTC), or how the database is asked for it. */
export type Moment = RawBuilder<string> | string;

/** The moment that is so many milliseconds away from now; negative ones are past. */
export type Clock = (awayMs: number) => Moment;

/** The time of PostgreSQL, which is one for all processes however wrong their own clocks are. */
export const databaseClock: Clock = (awayMs) =>
  sql<string>`to_char((clock_timestamp() + ${sql.lit(awayMs)} * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The moment that is so many milliseconds away from now, by the time that all processes over this database have. */
export function momentOf(meta: Meta, now: number, awayMs: number): Moment {
  return postgresSchema(meta) === undefined ? isoTime(now + awayMs) : databaseClock(awayMs);
}

/** Returns the time of PostgreSQL, in milliseconds since 1970. */
export async function databaseNow(meta: Meta): Promise<number> {
  const now = sql<{ now: number }>`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now`;
  const { rows } = await now.execute(meta);
  return rows[0]?.now ?? NaN;
}
