import { carryOver } from './carry-over.ts';
import { relation, type PostgresCatalogEntry, type TablePlace } from './catalog.ts';
import { HAS_DEPENDENTS, LOCK_NOT_AVAILABLE, stateOf } from './failures.ts';
import { quoted } from './names.ts';
import type { PostgresSession } from './connection.ts';

/** The table whose place is taken. */
export interface TakenPlace {
  readonly place: TablePlace;
  /** The existing table. */
  readonly old: PostgresCatalogEntry | undefined;
  /** True when nothing of the existing table is to remain. */
  readonly isNew: boolean;
}

/** How long readers may be in the way of a table that takes the place of another one. */
const PLACE_WAIT = '2s';

/**
 * Puts the new table in place; returns the obstacle when there is one: a view that depends on it, or a transaction left
 * open.
 */
export async function takePlace(
  session: PostgresSession,
  fresh: TablePlace,
  { place, old, isNew }: TakenPlace,
): Promise<Error | undefined> {
  const rename = `ALTER TABLE ${relation(fresh)} RENAME TO ${quoted(place.name)}`;
  if (old === undefined) {
    await session.run(rename);
    return undefined;
  }
  try {
    await session.attempt(async () => {
      await session.run(`SET LOCAL lock_timeout = '${PLACE_WAIT}'`);
      if (!isNew) await carryOver(session, place, fresh);
      await session.run(`DROP TABLE ${relation(place)}`);
      await session.run(rename);
      await session.run('SET LOCAL lock_timeout = 0');
    });
    return undefined;
  } catch (error) {
    const isInTheWay = [LOCK_NOT_AVAILABLE, HAS_DEPENDENTS].includes(stateOf(error));
    if (isInTheWay && error instanceof Error) return error;
    throw error;
  }
}
