import type { Pool } from 'pg';
import { lockNumber } from '../postgres/buckets.ts';
import { createPlaces, createTurns } from '../turns.ts';
import type { LakePlace } from './place.ts';

/**
 * Locks by name, across all processes: of two that change one table, DuckLake would refuse one, whose work would be
 * lost. A process that is stopped in the middle loses its lock, and is kept from a commit by its fence.
 */
export interface LakeLocks {
  /** @param work is called with a check that the lock is still there; it throws when it is not */
  hold<T>(name: string, work: (check: () => void) => Promise<T>): Promise<T>;
}

/** Interval in which the database is told that this process lives, and silence after which it takes the lock away. */
const AWAKE_MS = 5000;
const SILENCE = '30s';

export function createLakeLocks(place: LakePlace): LakeLocks {
  const inTurn = createTurns();
  if (place.kind === 'folder') return { hold: (name, work) => inTurn(name, () => work(() => undefined)) };
  const { pool, schema } = place;
  // Each needs one more connection of the pool while it is held.
  const places = createPlaces(Math.max(1, Math.floor(pool.options.max / 2)));
  return {
    hold: (name, work) =>
      inTurn(name, () => places.use(() => locked(pool, lockNumber(`lake of ${schema}: ${name}`), work))),
  };
}

async function locked<T>(pool: Pool, lock: string, work: (check: () => void) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let lost: unknown;
  const onError = (error: unknown): void => {
    lost ??= error;
  };
  client.on('error', onError);
  let timer: NodeJS.Timeout | undefined;
  try {
    await client.query(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '${SILENCE}'; SELECT pg_advisory_xact_lock(${lock})`,
    );
    timer = setInterval(() => void client.query('SELECT 1').catch(onError), AWAKE_MS);
    return await work(() => {
      if (lost !== undefined)
        throw new Error('The lock of a table was lost: its database was not reached in time.', {
          cause: lost,
        });
    });
  } finally {
    clearInterval(timer);
    await client.query('ROLLBACK').catch(onError);
    client.off('error', onError);
    client.release(lost !== undefined);
  }
}
