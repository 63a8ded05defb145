import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { toTableError } from './failures.ts';
import type { TurnPlaces } from '../turns.ts';

/** Statements of one connection. */
export interface DuckSession {
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<DuckDBValue[][]>;
  /** The only value of the only row, as a number. */
  number(sql: string): Promise<number>;
}

/** @param onError is called with each error as the database gives it */
export function sessionOf(
  connection: DuckDBConnection,
  statements: TurnPlaces,
  onError: (error: unknown) => void,
): DuckSession {
  const rows = async (sql: string): Promise<DuckDBValue[][]> => {
    try {
      return (await statements.use(() => connection.runAndReadAll(sql))).getRows();
    } catch (error) {
      onError(error);
      throw toTableError(error);
    }
  };
  return {
    rows,
    run: async (sql) => void (await rows(sql)),
    number: async (sql) => Number((await rows(sql))[0]?.[0] ?? 0),
  };
}

/** Does the work in one transaction: all of it is stored, or nothing when it throws. */
export async function inTransaction<T>(
  session: DuckSession,
  commits: TurnPlaces,
  work: (session: DuckSession) => Promise<T>,
): Promise<T> {
  await session.run('BEGIN TRANSACTION');
  try {
    const result = await work(session);
    await commits.use(() => session.run('COMMIT'));
    return result;
  } catch (error) {
    // A failed COMMIT has rolled back by itself.
    await session.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
