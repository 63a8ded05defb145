import type { PoolClient } from 'pg';
import { RunError } from '../../../../lib/errors.ts';
import { stateOf } from './failures.ts';

/** How many locks the database has room for. */
export interface LockRoom {
  /** `max_locks_per_transaction`. */
  readonly each: number;
  /** Number of transactions that together may have that many each. */
  readonly holders: number;
}

export async function lockRoom(client: Pick<PoolClient, 'query'>): Promise<LockRoom> {
  const { rows } = await client.query<LockRoom>(
    `SELECT current_setting('max_locks_per_transaction')::int AS each,
       current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int AS holders`,
  );
  return rows[0] ?? { each: 0, holders: 0 };
}

/** Share of the locks that is used at most: without room for a lock, any transaction that asks for one fails. */
const SHARE = 3 / 4;

/** @throws {RunError} `database.locks` when so many tables cannot be locked at a time */
export function requireRoom(count: number, room: LockRoom): void {
  if (count > room.each * room.holders * SHARE) throw tooMany(count, room);
}

/** Returns the error of a lock, with the message of {@link requireRoom} when others have taken the room. */
export function lockError(error: unknown, count: number, room: LockRoom): unknown {
  return stateOf(error) === OUT_OF_MEMORY ? tooMany(count, room, error) : error;
}

const OUT_OF_MEMORY = '53200';

function tooMany(count: number, { each, holders }: LockRoom, cause?: unknown): RunError {
  const wanted = Math.max(each * 2, 2 ** Math.ceil(Math.log2(count / holders / SHARE)));
  return new RunError(
    'database.locks',
    `All of ${count} tables are to be locked at one moment, and the database has room for ${each * holders} locks of everybody.`,
    {
      hint: `Set max_locks_per_transaction = ${wanted} in postgresql.conf, start PostgreSQL again, and then the backup.`,
      cause,
    },
  );
}
