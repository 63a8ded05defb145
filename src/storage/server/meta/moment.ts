import type { RawBuilder } from 'kysely';
import type { Env } from '../../../env.ts';
import { isoTime } from '../shapes/time.ts';

/** A time as the metadata keeps it (ISO 8601 text in UTC), or how the database is asked for it. */
export type Moment = RawBuilder<string> | string;

/** The moment that is so many milliseconds away from now; negative ones are past. */
export type Clock = (awayMs: number) => Moment;

/** The time of this process: all there is where it is alone. */
export const ownClock =
  (env: Env): Clock =>
  (awayMs) =>
    isoTime(env.now() + awayMs);
